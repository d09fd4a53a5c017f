/// The bot as a service of a machine, from the package, with an account and an archive of its own. The machine has no other
/// at that time.
final class InstalledBot {
  let machine: Machine
  let account: Account
  /// The name of its unit, and of the folders that systemd makes for it.
  let unit: String
  let name: String
  private let server: Server

  /// Installed and configured, not started. `instance`: of xmppbotd@.service, beside the one that is there already.
  init(on server: Server, instance: String? = nil) throws {
    machine = try Machine.shared()
    self.server = server
    account = try server.account("bot")
    unit = instance.map { "xmppbotd@\($0).service" } ?? "xmppbotd.service"
    name = instance.map { "xmppbotd-\($0)" } ?? "xmppbotd"
    if instance == nil {
      try InstalledBot.install()
      try InstalledBot.reset()
    }
    configuration = instance.map { "/etc/xmppbotd/\($0).conf" } ?? "/etc/xmppbotd/xmppbotd.conf.d/test.conf"
    passwordFile = instance.map { "/etc/xmppbotd/\($0).password" } ?? "/etc/xmppbotd/password"
    try machine.write(contents(of: server.authority), to: "/etc/xmppbotd/test-ca.pem")
    try machine.write(account.password, to: passwordFile, mode: "600")
    try configure()
  }

  /// The file with what differs from the one that the package brings.
  let configuration: String
  let passwordFile: String
  var archive: String { "/var/lib/\(name)/archive.db" }

  /// Writes the configuration, with `sections` behind [account].
  func configure(_ sections: String = "") throws {
    try machine.write(
      """
      [account]
      jid = \(account.jid)
      host = \(server.host)
      port = \(server.port)
      tls = starttls
      ca-file = /etc/xmppbotd/test-ca.pem
      \(sections)
      """, to: configuration)
  }

  /// Installs the package, if it is not installed.
  static func install() throws {
    let machine = try Machine.shared()
    let (_, state) = try machine.attempt("dpkg-query", "--show", "--showformat=${db:Status-Status}", "xmppbotd")
    if state == "installed" { return }
    try Package.install(on: machine)
  }

  /// Takes away what an earlier bot left.
  static func reset() throws {
    try Machine.shared().run(
      "sh", "-c",
      """
      systemctl stop 'xmppbotd*'
      rm -rf /run/systemd/system/xmppbotd* /etc/systemd/system/multi-user.target.wants/xmppbotd* \
        /var/lib/xmppbotd* /var/lib/private/xmppbotd* /run/xmppbotd*.sock
      find /etc/xmppbotd -type f ! -name xmppbotd.conf ! -name uptime ! -name disk -delete
      systemctl daemon-reload
      systemctl reset-failed
      """)
  }

  /// A file beside the unit (systemctl edit), in force from its next start on. `unit`: its own unless one is named.
  func dropIn(_ text: String, unit other: String? = nil) throws {
    try machine.write(text, to: "/run/systemd/system/\(other ?? unit).d/test.conf")
    try machine.run("systemctl", "daemon-reload")
  }

  /// An executable file in commands.d that everyone may use, from the next start or reload on.
  func addCommand(_ name: String, _ script: String) throws {
    try machine.write(
      "#!/bin/sh\n# allow: everyone\n\(script)", to: "/etc/xmppbotd/commands.d/\(name)", mode: "755")
  }

  func start() throws { try machine.run("systemctl", "start", unit) }

  @discardableResult
  func startOnline() throws -> InstalledBot {
    try start()
    try awaitStatus("online as \(account.jid)/")
    return self
  }

  /// Waits until the STATUS of the unit begins so; returns it.
  @discardableResult
  func awaitStatus(_ start: String, within time: Duration = .seconds(30)) throws -> String {
    let look = { try self.property("StatusText") }
    return try machine.eventually("a status of \(unit) that begins with “\(start)”", within: time, instead: look) {
      let status = try look()
      return status.hasPrefix(start) ? status : nil
    }
  }

  /// Waits for another main process than `pid`, which is online.
  func awaitSuccessor(of pid: String) throws {
    try machine.eventually("\(unit) runs again as another process", instead: { try self.property("SubState") }) {
      let now = try property("MainPID")
      return now != pid && now != "0" ? now : nil
    }
    try awaitStatus("online as \(account.jid)/")
  }

  func property(_ name: String) throws -> String { try machine.property(name, of: unit) }

  /// What the journal has of an event since the last start; waits until there is something.
  func entry(_ event: String) throws -> String {
    try machine.eventually("an entry of \(unit) with XMPPBOT_EVENT=\(event)") {
      let invocation = "_SYSTEMD_INVOCATION_ID=\(try property("InvocationID"))"
      return try machine.journal("XMPPBOT_EVENT=\(event)", invocation).last?["MESSAGE"]?.stringValue
    }
  }

  /// Runs xmppbotctl in the machine, as root.
  func control(_ words: String...) throws -> (exit: Program.Exit, output: String) {
    let entry = name == "xmppbotd" ? [] : ["--config", configuration]
    return try machine.attempt(["xmppbotctl"] + entry + words)
  }

  /// Rows of the archive.
  func rows(_ query: String) throws -> String {
    try Program.run(["/usr/bin/sqlite3", "-readonly", machine.root + archive, query])
  }

  /// A contact with an account of its own, that has subscribed and sees the bot.
  func contact() throws -> Peer {
    let peer = try Peer(try server.account("alice"), on: server)
    peer.tell("subscribe \(account.jid)")
    _ = try presence(seenBy: peer) { $0 == "" }
    return peer
  }

  /// Sends the bot a text; its answer.
  func answer(to text: String, from peer: Peer) throws -> String {
    peer.send(text, to: account.jid)
    return try peer.message()
  }

  /// Waits for a presence of the bot's with a type that `matches`; "" is available.
  @discardableResult
  func presence(seenBy peer: Peer, _ matches: (String) -> Bool) throws -> String {
    let event = try peer.event("presence") {
      ($0["from"]?.stringValue ?? "").hasPrefix(account.jid + "/") && matches($0["type"]?.stringValue ?? "")
    }
    return event["type"]?.stringValue ?? ""
  }

  /// Whether a contact has ever seen the bot leave.
  func wasSeenLeaving(by peer: Peer) -> Bool {
    peer.events("presence").contains {
      ($0["from"]?.stringValue ?? "").hasPrefix(account.jid + "/") && $0["type"]?.stringValue == "unavailable"
    }
  }

  /// What is going on, for whoever reads of a failure.
  var situation: String {
    let words = ["show", "--property=ActiveState,SubState,Result,ExecMainStatus,NRestarts,StatusText", unit]
    let state = (try? machine.attempt(["systemctl"] + words))?.output ?? "no answer"
    return "\(unit):\n\(state)\(machine.lastLines)"
  }
}
