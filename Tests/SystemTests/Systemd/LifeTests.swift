import JSON
import Testing

extension RealSystemd {
  @Suite("Start, reload, end")
  struct LifeTests {
    @Test("it is ready while the server is down, says what it does about it, and is online when the server is there")
    func startsBeforeServer() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server)
      try server.stop()
      defer { try? server.start() }
      try bot.start()
      #expect(try bot.property("ActiveState") == "active", "\(bot.situation)")
      #expect(try bot.awaitStatus("offline: ").contains("next attempt in"), "\(bot.situation)")
      #expect(
        try bot.machine.attempt("systemctl", "is-system-running").output == "running\n",
        "a server that is down fails no boot: \(bot.situation)")
      try server.start()
      try bot.awaitStatus("online as \(bot.account.jid)/", within: .seconds(60))
    }

    @Test("a reload puts a good configuration into force, and fails on a bad one, which changes nothing")
    func reloads() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server).startOnline()
      let alice = try bot.contact()
      let process = try bot.property("MainPID")

      try bot.addCommand("late", "echo here")
      try bot.machine.run("systemctl", "reload", bot.unit)
      #expect(try bot.answer(to: "late", from: alice) == "here", "\(bot.situation)")

      try bot.configure("colour = blue")
      let reload = try bot.machine.attempt("systemctl", "reload", bot.unit)
      #expect(reload.exit == .code(1), "a wrong configuration: \(reload.output)\(bot.situation)")
      let complaint = try bot.entry("reload-failed")
      #expect(complaint.contains("\(bot.configuration):7: ") && complaint.contains("colour"), "\(complaint)")
      #expect(try bot.property("ActiveState") == "active", "\(bot.situation)")
      #expect(try bot.property("MainPID") == process, "\(bot.situation)")
      #expect(try bot.answer(to: "late", from: alice) == "here", "\(bot.situation)")
      #expect(!bot.wasSeenLeaving(by: alice), "\(bot.situation)")
    }

    @Test("a wrong configuration ends a start with 78, and it is not tried again; a killed daemon is")
    func exit78() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server)
      try bot.configure("colour = blue")
      let start = try bot.machine.attempt("systemctl", "start", bot.unit)
      #expect(start.exit == .code(1), "\(start.output)\(bot.situation)")
      #expect(try bot.property("ExecMainStatus") == "78", "\(bot.situation)")
      #expect(try bot.property("SubState") == "failed", "not auto-restart: \(bot.situation)")
      #expect(try bot.property("NRestarts") == "0", "\(bot.situation)")
      #expect(try bot.entry("config-invalid").contains("\(bot.configuration):7: "), "\(bot.situation)")

      try bot.configure()
      try bot.startOnline()
      let process = try bot.property("MainPID")
      try bot.machine.run("kill", "-KILL", process)
      try bot.awaitSuccessor(of: process)
      #expect(try bot.property("NRestarts") == "1", "\(bot.situation)")
    }

    @Test("check names what the sandbox would keep from the daemon, and what to do; the start fails until that is done")
    func sandbox() throws {
      let bot = try InstalledBot(on: try Server.shared(.prosody))
      try bot.machine.run("install", "--directory", "--owner=xmppbotd", "/srv/bot")
      try bot.machine.run("cp", "/etc/xmppbotd/test-ca.pem", "/tmp/ca.pem")
      try bot.configure("avatar = /tmp/ca.pem\n[archive]\npath = /srv/bot/archive.db")
      let check = try bot.control("check", "--offline")
      #expect(check.exit == .code(78), "\(check.output)")
      #expect(
        check.output.contains("/tmp/ca.pem: the service does not see it (PrivateTmp=yes of xmppbotd.service)"),
        "\(check.output)")
      let remedy = "below [Service], ReadWritePaths=/srv/bot"
      #expect(check.output.contains(remedy), "\(check.output)")

      try bot.configure("[archive]\npath = /srv/bot/archive.db")
      #expect(try bot.machine.attempt("systemctl", "start", bot.unit).exit == .code(1), "\(bot.situation)")
      #expect(try bot.entry("config-invalid").contains("name it in the unit's ReadWritePaths="), "\(bot.situation)")
      try bot.dropIn("[Service]\nReadWritePaths=/srv/bot\n")
      let again = try bot.control("check", "--offline")
      #expect(again.exit == .code(0), "\(again.output)")
      try bot.startOnline()
      try bot.machine.run("test", "-s", "/srv/bot/archive.db")
      try bot.machine.run("systemctl", "stop", bot.unit)
      try bot.machine.run("rm", "--recursive", "/srv/bot", "/tmp/ca.pem")
    }

    @Test("a daemon that hangs is ended by the watchdog and started again, and takes up its session")
    func watchdog() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server)
      try bot.dropIn("[Service]\nWatchdogSec=2s\n")
      try bot.startOnline()
      let process = try bot.property("MainPID")
      try bot.machine.run("kill", "-STOP", process)
      try bot.awaitSuccessor(of: process)
      #expect(try bot.property("NRestarts") == "1", "\(bot.situation)")
      #expect(
        try bot.machine.journal("UNIT=\(bot.unit)").contains {
          $0["MESSAGE"]?.stringValue?.contains("Watchdog timeout") == true
        }, "\(bot.situation)")
      #expect(try bot.entry("online").contains("the stream was resumed"), "\(bot.situation)")
    }

    @Test("contacts don't see a restart: the session is taken up; they do see a stop")
    func restartKeepsSession() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server).startOnline()
      let alice = try bot.contact()
      let process = try bot.property("MainPID")
      try bot.machine.run("systemctl", "restart", bot.unit)
      try bot.awaitSuccessor(of: process)
      let status = try bot.control("status").output
      #expect(status.contains("1 resumed, 0 reconnected"), "\(status)\(bot.situation)")
      #expect(try bot.answer(to: "ping", from: alice) == "pong", "\(bot.situation)")
      #expect(!bot.wasSeenLeaving(by: alice), "\(bot.situation)")

      try bot.machine.run("systemctl", "stop", bot.unit)
      try bot.presence(seenBy: alice) { $0 == "unavailable" }
      #expect(try bot.property("Result") == "success", "\(bot.situation)")
    }

    @Test("what root does to the archive while it is stopped leaves all files the bot's, and it starts as before")
    func rootsWork() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server).startOnline()
      let alice = try bot.contact()
      #expect(try bot.answer(to: "ping", from: alice) == "pong", "\(bot.situation)")
      try bot.machine.run("systemctl", "stop", bot.unit)
      let forgotten = try bot.control("forget-mechanism")
      #expect(forgotten.output.hasPrefix("forgotten: SCRAM-"), "\(forgotten.output)")
      #expect(try bot.control("archive", "prune", "--before", "90d").exit == .code(0))
      let others = try bot.machine.run("find", "/var/lib/xmppbotd", "!", "-user", "xmppbotd")
      #expect(others == "", "\(others)")
      try bot.startOnline()
      #expect(try bot.answer(to: "ping", from: alice) == "pong", "\(bot.situation)")
    }

    @Test("enabled, it comes up with the machine's other services")
    func enabled() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server)
      try bot.machine.run("systemctl", "enable", bot.unit)
      try bot.machine.run("systemctl", "start", "multi-user.target")
      let wants = try bot.machine.property("Wants", of: "multi-user.target")
      #expect(wants.split(separator: " ").contains("xmppbotd.service"), "\(wants)")
      try bot.machine.run("systemctl", "isolate", "multi-user.target")
      try bot.awaitStatus("online as \(bot.account.jid)/")
      try bot.machine.run("systemctl", "disable", "--now", bot.unit)
    }

    @Test("xmppbotd@second is a second bot with a configuration, a password, an archive and commands of its own")
    func secondAccount() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server).startOnline()
      let second = try InstalledBot(on: server, instance: "second").startOnline()
      try second.addCommand("who", "echo \"$XMPPBOT_STATE_DIR\"")
      for each in [bot, second] { try each.machine.run("systemctl", "reload", each.unit) }
      for each in [bot, second] {
        let alice = try each.contact()
        #expect(try each.answer(to: "ping", from: alice) == "pong", "\(each.situation)")
        #expect(try each.rows("SELECT count(*) FROM message WHERE body = 'ping'") == "1\n", "\(each.situation)")
        #expect(try each.control("status").output.contains(each.account.jid), "\(each.situation)")
        let folder = each.name.replacing("xmppbotd", with: "xmppbotd-commands")
        #expect(try each.answer(to: "who", from: alice).hasPrefix("/var/lib/\(folder)/"), "\(each.situation)")
      }
    }
  }
}
