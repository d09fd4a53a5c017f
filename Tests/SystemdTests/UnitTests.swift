import Testing

@Suite("The units")
struct UnitTests {
  private func lines(_ name: String) throws -> [String] {
    try text(of: repositoryPath("systemd/" + name)).split(separator: "\n").map(String.init)
  }

  @Test("xmppbotd@.service is xmppbotd.service with names of its own")
  func template() throws {
    #expect(
      try differences("xmppbotd.service", "xmppbotd@.service") == [
        "Description=XMPP bot (%i)", "Wants=xmppbotd-commands@%i.socket", "After=xmppbotd-commands@%i.socket",
        "ExecStart=xmppbotd --config /etc/xmppbotd/%i.conf",
        "ExecReload=xmppbotctl --config /etc/xmppbotd/%i.conf reload", "StateDirectory=xmppbotd-%i",
        "RuntimeDirectory=xmppbotd-%i",
        "LoadCredential=password:/etc/xmppbotd/%i.password",
      ])
  }

  @Test("the commands' template is the commands' service with names of its own")
  func commandsTemplate() throws {
    #expect(
      try differences("xmppbotd-commands.service", "xmppbotd-commands@.service") == [
        "Description=XMPP bot (%i), its commands", "PartOf=xmppbotd@%i.service", "Before=xmppbotd@%i.service",
        "Requires=xmppbotd-commands@%i.socket", "After=xmppbotd-commands@%i.socket",
        "StateDirectory=xmppbotd-commands-%i",
        "# What a command needs beyond this goes into a drop-in (systemctl edit xmppbotd-commands@), for instance",
        "InaccessiblePaths=-/var/lib/xmppbotd-%i -/run/xmppbotd-%i -/run/credentials -/etc/xmppbotd/%i.password",
      ])
    #expect(
      try differences("xmppbotd-commands.socket", "xmppbotd-commands@.socket") == [
        "Description=XMPP bot (%i), where its commands run", "ListenSequentialPacket=/run/xmppbotd-commands-%i.sock",
      ])
  }

  private func differences(_ first: String, _ second: String) throws -> [String] {
    let (single, template) = (try lines(first), try lines(second))
    #expect(single.count == template.count)
    return zip(single, template).filter { $0 != $1 }.map(\.1)
  }

  @Test(
    "the sandbox of commands has everything of the daemon's but what programs can't live with",
    arguments: ["xmppbotd-commands.service", "xmppbotd-commands@.service"])
  func sandbox(name: String) throws {
    let commands = Set(try lines(name))
    let daemon = try lines("xmppbotd.service").drop { !$0.hasPrefix("UMask") }.prefix { !$0.hasPrefix("[Install") }
    let loosened: Set = [
      "ProcSubset=pid", "MemoryDenyWriteExecute=yes", "SystemCallFilter=~@privileged @resources",
      "SystemCallFilter=setpriority",
    ]
    #expect(daemon.filter { !$0.hasPrefix("#") && !commands.contains($0) && !loosened.contains($0) } == [])
    #expect(commands.contains("User=xmppbotd-commands"))
  }

  @Test(
    "the notice of a failed unit runs as nobody in particular, who may read the journal and talk to the daemon's socket"
  )
  func notice() throws {
    let lines = Set(try lines("xmppbot-notify@.service"))
    for line in [
      "Type=oneshot", "DynamicUser=yes", "SupplementaryGroups=xmppbotd systemd-journal",
      "RestrictAddressFamilies=AF_UNIX",
      "CapabilityBoundingSet=", "StartLimitBurst=5",
    ] {
      #expect(lines.contains(line), "\(line)")
    }
  }

  @Test("what HTTP needs is in the daemon's sandbox: TCP and Unix sockets, and nothing that keeps the loopback away")
  func http() throws {
    let lines = try lines("xmppbotd.service")
    let families = try #require(lines.first { $0.hasPrefix("RestrictAddressFamilies=") })
    for family in ["AF_INET", "AF_INET6", "AF_UNIX"] { #expect(families.contains(family)) }
    #expect(!lines.contains { $0.hasPrefix("PrivateNetwork=yes") || $0.hasPrefix("SocketBindDeny=") })
    let denied = lines.contains { $0.hasPrefix("IPAddressDeny=any") }
    #expect(!denied || lines.contains { $0.hasPrefix("IPAddressAllow=") && $0.contains("localhost") })
  }

  @Test(
    "what the daemon relies on is in the unit",
    arguments: [
      "Type=notify", "ExecReload=xmppbotctl reload", "RestartPreventExitStatus=78", "WatchdogSec=60s",
      "StateDirectory=xmppbotd", "RuntimeDirectory=xmppbotd", "LoadCredential=password:/etc/xmppbotd/password",
      "OOMPolicy=continue", "KillMode=mixed", "Wants=xmppbotd-commands.socket", "After=xmppbotd-commands.socket",
    ])
  func setting(line: String) throws {
    #expect(try lines("xmppbotd.service").contains(line))
  }
}
