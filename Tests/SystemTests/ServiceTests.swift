import Glibc
import JSON
import Testing

extension SystemTests {
  @Suite("As a service")
  struct ServiceTests {
    @Test("the service manager hears READY while the server is down, and then how it goes")
    func notifications() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server)
      let manager = try NotifySocket(in: bot.scratch)
      try server.stop()
      defer { try? server.start() }
      try bot.start(environment: ["NOTIFY_SOCKET": manager.path])
      try manager.next("READY=1")
      let offline = try manager.next("STATUS=offline: ")
      #expect(offline.contains("next attempt in"))
      try server.start()
      try manager.next("STATUS=online as \(bot.account.jid)/", within: .seconds(60))
      bot.signal(SIGHUP)
      #expect(try manager.next("RELOADING=1").contains("MONOTONIC_USEC="))
      #expect(try manager.next("READY=1").contains("STATUS=online as "))
      bot.signal(SIGTERM)
      try manager.next("STOPPING=1")
      #expect(try bot.exit() == .code(0), "\(bot.log)")
    }

    @Test("the watchdog is fed as often as it asks")
    func watchdog() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server)
      let manager = try NotifySocket(in: bot.scratch)
      try bot.start(environment: ["NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "3000000"])
      for _ in 0..<3 { try manager.next("WATCHDOG=1", within: .seconds(3)) }
    }

    @Test(
      "SIGTERM: a running command's answer comes first, then the goodbye, then exit 0", arguments: Server.Kind.allCases)
    func terminates(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server)
      let gate = bot.scratch.file("gate")
      mkfifo(gate, 0o600)
      try bot.addCommand("wait", "# allow: everyone\nread -r word <\(gate)\necho \"$word\"")
      try bot.startOnline()
      let alice = try bot.peer(on: server)
      alice.tell("subscribe \(bot.account.jid)")
      _ = try alice.presence("")
      alice.send("wait")
      _ = try alice.event("message") { $0["chatstate"] == "composing" }
      bot.signal(SIGTERM)
      try bot.logged("stopping")
      try bot.scratch.write("done\n", to: "gate")
      #expect(try bot.exit(within: .seconds(10)) == .code(0))
      _ = try alice.presence("unavailable")
      #expect(try alice.message(within: .seconds(1)) == "done", "it came before the goodbye")
      #expect(try bot.rows("SELECT 1 FROM message WHERE body = 'done' AND state = 'acked'").count == 1)
    }

    @Test("SIGTERM does not wait for a command that goes on and on")
    func terminatesStubbornCommands() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server)
      try bot.addCommand("stubborn", "# allow: everyone\ntrap '' TERM\nwhile :; do /bin/sleep 1; done")
      try bot.startOnline()
      let alice = try bot.peer(on: server)
      alice.send("stubborn")
      _ = try alice.event("message") { $0["chatstate"] == "composing" }
      bot.signal(SIGTERM)
      #expect(try bot.exit(within: .seconds(10)) == .code(0))
      #expect(try alice.message().contains("interrupted"))
    }

    @Test("SIGHUP puts a new configuration into force without dropping the stream; a wrong one changes nothing")
    func reloads() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server)
      bot.set("status", "old")
      try bot.startOnline()
      let alice = try bot.peer(on: server)
      alice.tell("subscribe \(bot.account.jid)")
      #expect(try alice.presence("")["status"] == "old")

      try bot.addCommand("late", "# allow: everyone\necho here")
      bot.set("status", "new")
      try bot.writeConfiguration()
      bot.signal(SIGHUP)
      try bot.logged("reloaded: ")
      _ = try alice.event("presence") { $0["status"] == "new" }
      #expect(try alice.ask("late") == "here")

      bot.set("status", "newer")
      bot.set("pirority", "5")
      try bot.writeConfiguration()
      bot.signal(SIGHUP)
      let fault = try bot.logged("reload-failed: ")
      #expect(fault.contains("xmppbotd.conf:") && fault.contains("pirority") && fault.contains("priority"))
      #expect(try alice.ask("late") == "here")
      #expect(alice.events("presence").allSatisfy { $0["status"] != "newer" })
      #expect(!bot.log.contains("disconnected"))
    }
  }
}
