import Glibc
import Testing

extension RealSystemd {
  @Suite("The package")
  struct PackageTests {
    @Test(
      "is the same, byte for byte, when it is made again",
      .enabled(if: getenv("XMPPBOTD_DEB") == nil, "another package than ours is tried"))
    func reproducible() throws {
      let first = try Package.file.get()
      let second = try Package.build(into: "again")
      let compared = try Program.run(["/bin/sh", "-c", "cmp \"$1\" \"$2\" && echo same", "sh", first, second])
      #expect(compared == "same\n")
    }

    @Test("installed, it has its users and starts nothing, says what comes next, and its units are sound")
    func installs() throws {
      try removeAll()
      let machine = try Machine.shared()
      let said = try Package.install(on: machine)
      #expect(said.contains("systemctl enable --now xmppbotd"), "\(said)")
      #expect(try machine.run("getent", "passwd", "xmppbotd", "xmppbotd-commands").split(separator: "\n").count == 2)
      #expect(try machine.attempt("systemctl", "is-enabled", "xmppbotd").output == "disabled\n")
      #expect(try machine.property("ActiveState", of: "xmppbotd.service") == "inactive")
      let units = try machine.run("dpkg", "--listfiles", "xmppbotd").split(separator: "\n").map(String.init)
        .filter { $0.hasSuffix(".service") || $0.hasSuffix(".socket") }
        .map { $0.replacing("@.", with: "@name.") }.compactMap { $0.split(separator: "/").last.map(String.init) }
      #expect(units.count >= 6)
      let verified = try machine.attempt(["systemd-analyze", "verify", "--man=no"] + units)
      #expect(verified.exit == .code(0) && verified.output == "", "\(verified.output)")
      for program in ["xmppbotd", "xmppbotctl"] {
        #expect(try machine.run(program, "--version").hasPrefix("xmppbot"))
      }
      #expect(try machine.attempt("dpkg", "--verify", "xmppbotd").output == "", "files differ from the package's")
    }

    @Test("an upgrade keeps configuration and archive; a bot that runs takes up its session with the new version")
    func upgrades() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server).startOnline()
      let alice = try bot.contact()
      #expect(try bot.answer(to: "ping before", from: alice) == "pong before", "\(bot.situation)")
      let own = "/etc/xmppbotd/xmppbotd.conf"
      try bot.machine.run("sh", "-c", "echo '[keepalive]\ninterval = 50s' >>\(own)")
      let process = try bot.property("MainPID")

      try bot.machine.bring(try Package.successor.get(), to: "/root/successor.deb")
      try bot.machine.run("dpkg", "--install", "/root/successor.deb")
      try bot.awaitSuccessor(of: process)
      #expect(try bot.machine.run("cat", own).hasSuffix("interval = 50s\n"), "\(bot.situation)")
      #expect(try bot.answer(to: "search before", from: alice).contains("pong before"), "\(bot.situation)")
      #expect(!bot.wasSeenLeaving(by: alice), "the session was given up: \(bot.situation)")

      // One that does not run is not started by an upgrade.
      try bot.machine.run("systemctl", "stop", bot.unit)
      try bot.machine.run("dpkg", "--install", "/root/successor.deb")
      #expect(try bot.property("ActiveState") == "inactive", "\(bot.situation)")
      try removeAll()
    }

    @Test("removed, it stops all bots and leaves what is theirs; installed again, they go on; purged, secrets are gone")
    func removes() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server).startOnline()
      let second = try InstalledBot(on: server, instance: "second").startOnline()
      try bot.machine.run("systemctl", "enable", bot.unit, second.unit)
      let alice = try bot.contact()
      #expect(try bot.answer(to: "ping before", from: alice) == "pong before", "\(bot.situation)")

      try bot.machine.run("dpkg", "--remove", "xmppbotd")
      try bot.presence(seenBy: alice) { $0 == "unavailable" }
      let left = try bot.machine.run("sh", "-c", "systemctl list-units --plain --no-legend 'xmppbotd*'; ls /run")
      #expect(!left.contains("xmppbotd"), "\(left)")
      #expect(try bot.machine.attempt("sh", "-c", "command -v xmppbotd xmppbotctl").output == "")
      for file in [bot.archive, second.archive, bot.passwordFile, second.configuration] {
        #expect(try bot.machine.attempt("test", "-e", file).exit == .code(0), "\(file) is gone")
      }

      let again = try Package.install(on: bot.machine)
      #expect(again.contains("systemctl start xmppbotd"), "\(again)")
      try bot.startOnline()
      #expect(try bot.answer(to: "search before", from: alice).contains("pong before"), "\(bot.situation)")

      try bot.addCommand("mine", "echo mine")
      let purged = try bot.machine.run("dpkg", "--purge", "xmppbotd")
      #expect(purged.contains("Deleted with the configuration: \(second.configuration)\n"), "\(purged)")
      #expect(purged.contains("Kept, because it holds programs"), "\(purged)")
      #expect(try bot.machine.run("ls", "/etc/xmppbotd", "/etc/xmppbotd/commands.d").hasSuffix("\nmine\n"))
      #expect(purged.contains("rm -r /var/lib/xmppbotd /var/lib/xmppbotd-second"), "\(purged)")
      let traces = try bot.machine.attempt("sh", "-c", "ls -d /etc/systemd/system/*/xmppbotd*").output
      #expect(!traces.contains("\n/etc") && !traces.hasPrefix("/etc"), "\(traces)")
      let found = try bot.machine.attempt("grep", "-rlsF", second.account.password, "/etc", "/var/lib/xmppbotd-second")
      #expect(found.output == "", "\(found.output)")
      #expect(try bot.rows("SELECT count(*) FROM message WHERE body = 'ping before'") == "1\n")
    }

    /// So that nothing is there, as before the first installation.
    private func removeAll() throws {
      try Machine.shared().run(
        "sh", "-c",
        """
        dpkg --purge xmppbotd
        rm -rf /etc/xmppbotd /var/lib/xmppbotd* /var/lib/private/xmppbotd* /run/systemd/system/xmppbotd*
        systemctl daemon-reload
        """)
    }
  }
}
