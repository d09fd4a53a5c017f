import Testing

@Suite("The units")
struct UnitTests {
  private func lines(_ name: String) throws -> [String] {
    try text(of: repositoryPath("systemd/" + name)).split(separator: "\n").map(String.init)
  }

  @Test("xmppbotd@.service is xmppbotd.service with names of its own")
  func template() throws {
    let (single, template) = (try lines("xmppbotd.service"), try lines("xmppbotd@.service"))
    #expect(single.count == template.count)
    let differences = zip(single, template).filter { $0 != $1 }.map(\.1)
    #expect(
      differences == [
        "Description=XMPP bot (%i)", "ExecStart=xmppbotd --config /etc/xmppbotd/%i.conf",
        "ExecReload=xmppbotctl --config /etc/xmppbotd/%i.conf reload", "StateDirectory=xmppbotd-%i",
        "RuntimeDirectory=xmppbotd-%i",
        "LoadCredential=password:/etc/xmppbotd/%i.password",
      ])
  }

  @Test(
    "what the daemon relies on is in the unit",
    arguments: [
      "Type=notify", "ExecReload=xmppbotctl reload", "RestartPreventExitStatus=78", "WatchdogSec=60s",
      "StateDirectory=xmppbotd", "RuntimeDirectory=xmppbotd", "LoadCredential=password:/etc/xmppbotd/password",
      "OOMPolicy=continue", "KillMode=mixed",
    ])
  func setting(line: String) throws {
    #expect(try lines("xmppbotd.service").contains(line))
  }
}
