import BotKit
import EventLoop
import Glibc
import JID
import Systemd
import Testing
import XMPPTesting

@testable import Daemon

@Suite("A reload: each key is in force at once, or named as waiting for a restart")
struct ReloadTests {
  init() { LoopThread.start() }

  @Test("limits")
  @LoopActor func limits() async throws {
    let bench = try await DaemonBench()
    let faults = try bench.reload(
      "[limits]\nrate = 3/1m\ntimeout = 5s\nconcurrent = 2\nmax-age = 7s\noutput = 2K\n[command a]\nexec = /bin/true\n")
    #expect(faults.isEmpty)
    #expect(bench.daemon.flow.router.rate == RateLimit(count: 3, per: .seconds(60)))
    #expect(bench.daemon.flow.router.maxAge == .seconds(7))
    #expect(bench.daemon.dispatcher.limits == .init(concurrent: 2, timeout: .seconds(5)))
    #expect(try bench.reload("[limits]\nrate = unlimited\n").isEmpty)
    #expect(bench.daemon.flow.router.rate == nil)
  }

  @Test("commands, groups and who may use them")
  @LoopActor func commands() async throws {
    let bench = try await DaemonBench()
    #expect(bench.daemon.flow.router.commands["deploy"] == nil)
    #expect(
      try bench.reload("[group admins]\nmember = root@example.org\n[command deploy]\nexec = /bin/true\n").isEmpty)
    #expect(bench.daemon.flow.router.commands["deploy"]?.origin == "[command deploy]")
    #expect(bench.daemon.flow.router.access.isAdmin(try JID("root@example.org")))
    #expect(try bench.reload("").isEmpty)
    #expect(bench.daemon.flow.router.commands["deploy"] == nil)
    #expect(!bench.daemon.flow.router.access.isAdmin(try JID("root@example.org")))
  }

  @Test("files in commands.d")
  @LoopActor func commandFiles() async throws {
    let bench = try await DaemonBench()
    mkdir(bench.scratch.file("commands.d"), 0o755)
    try bench.scratch.write("#!/bin/sh\necho hi\n", to: "commands.d/hi", mode: 0o755)
    try bench.scratch.write("#!/bin/sh\necho hi\n", to: "commands.d/open", mode: 0o777)
    #expect(bench.reload().isEmpty)
    #expect(bench.daemon.flow.router.commands["hi"] != nil)
    #expect(bench.daemon.flow.router.commands["open"] == nil)
    #expect(bench.recording.messages(.commandFileRefused).count == 1)
  }

  @Test("subscriptions, with groups")
  @LoopActor func subscriptions() async throws {
    let bench = try await DaemonBench()
    let (friend, stranger) = (try JID("friend@example.net"), try JID("stranger@example.net"))
    #expect(bench.daemon.session.options.acceptsSubscription(stranger))
    #expect(
      try bench.reload(
        "[subscriptions]\naccept = @friends\ngroup = Friends\n[group friends]\nmember = friend@example.net\n"
      ).isEmpty)
    #expect(bench.daemon.session.options.acceptsSubscription(friend))
    #expect(!bench.daemon.session.options.acceptsSubscription(stranger))
    #expect(bench.daemon.session.options.group == "Friends")
    #expect(try bench.reload("[subscriptions]\naccept = none\n").isEmpty)
    #expect(!bench.daemon.session.options.acceptsSubscription(friend))
  }

  @Test("keepalive, log and raw XML")
  @LoopActor func quick() async throws {
    let bench = try await DaemonBench()
    #expect(
      try bench.reload(
        "[keepalive]\ninterval = 9s\ntimeout = 3s\n[log]\nlevel = error\nxml = yes\n[archive]\nraw-xml = yes\n"
      )
      .isEmpty)
    #expect(bench.daemon.session.options.keepaliveInterval == .seconds(9))
    #expect(bench.daemon.session.options.keepaliveTimeout == .seconds(3))
    #expect(bench.daemon.log.level == .error && bench.daemon.log.tracesStanzas)
    #expect(bench.daemon.flow.keepsRawXML)
  }

  @Test("what contacts see changes on the stream that stands")
  @LoopActor func presence() async throws {
    let bench = try await DaemonBench.online()
    #expect(try bench.reload("", account: "status = away\npriority = 3\n").isEmpty)
    try bench.play(
      """
      bot: <presence><status>away</status><priority>3</priority><c xmlns='http://jabber.org/protocol/caps' hash='sha-1'
       node='$any' ver='$any'/></presence>
      """)
    #expect(bench.daemon.session.isOnline)
  }

  @Test(
    "another server, resource or trust begins another stream",
    arguments: [
      "host = xmpp.example.net\n", "host = h\nport = 5\n", "tls = direct\n",
      "ca-file = /etc/ssl/certs/ca-certificates.crt\n",
    ])
  @LoopActor func stream(account: String) async throws {
    let bench = try await DaemonBench.online()
    #expect(try bench.reload("", account: account).isEmpty)
    #expect(!bench.daemon.session.isOnline)
    bench.clock.advance(by: .seconds(3))
    #expect(bench.dialer.requests.count == 2)
    #expect(bench.trusts == 1)
  }

  @Test("so does another password")
  @LoopActor func password() async throws {
    let bench = try await DaemonBench.online()
    try bench.scratch.write("other\n", to: "password", mode: 0o600)
    #expect(bench.reload().isEmpty)
    #expect(!bench.daemon.session.isOnline)
  }

  @Test("what needs a restart is named, and stays as it was, however often it is asked for")
  @LoopActor func restart() async throws {
    let bench = try await DaemonBench.online()
    let path = bench.daemon.settings.archive.path
    let text = """
      [account]
      jid = other@example.org
      password-file = \(bench.scratch.file("password"))
      resource = r
      [archive]
      path = /srv/other.db
      sync = normal
      [control]
      socket = /srv/other.sock
      """
    try bench.scratch.write(text, to: "bot.conf")
    for _ in 1...2 {
      #expect(bench.reload().isEmpty)
      #expect(
        bench.recording.messages(.reloaded).last
          == "the new configuration is in force; at the next restart: account.jid, archive.path, archive.sync, control.socket"
      )
    }
    #expect(bench.daemon.session.isOnline)
    #expect(bench.daemon.settings.archive.path == path)
    #expect(bench.daemon.settings.account.jid.description == "bot@example.org")
  }

  @Test("a configuration with faults changes nothing, and every fault is told")
  @LoopActor func faults() async throws {
    let bench = try await DaemonBench.online("[limits]\nconcurrent = 3\n")
    let faults = try bench.reload("[limits]\nconcurrent = none\nrate = much\n")
    #expect(faults.count == 2)
    #expect(bench.recording.messages(.reloadFailed) == faults)
    #expect(bench.daemon.dispatcher.limits.concurrent == 3)
    #expect(bench.daemon.session.isOnline)
  }

  @Test("a daemon that is stopping does not read it")
  @LoopActor func stopping() async throws {
    let bench = try await DaemonBench.online()
    bench.daemon.stop()
    #expect(bench.reload() == ["the bot is stopping"])
  }

  @Test("that commands run with the daemon's rights is said once, until that changes")
  @LoopActor func isolation() async throws {
    let bench = try await DaemonBench()
    let said = { bench.recording.messages(.commandsNotIsolated).count }
    #expect(said() == 1)
    #expect(try bench.reload("[limits]\ntimeout = 5s\n").isEmpty)
    #expect(said() == 1)
    #expect(try bench.reload("[commands]\nsocket = /nonexistent/commands.sock\n").isEmpty)
    #expect(bench.daemon.isIsolated)
    #expect(try bench.reload("").isEmpty)
    #expect(said() == 2)
  }
}
