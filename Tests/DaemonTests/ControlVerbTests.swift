import Archive
import CLinux
import EventLoop
import Glibc
import JID
import JSON
import SQLite
import Systemd
import Testing
import XMPPClient
import XMPPStanzas
import XMPPTesting

@testable import Daemon

@Suite("What xmppbotctl asks of a running daemon", .serialized)
struct ControlVerbTests {
  init() { LoopThread.start() }

  /// The answer to a request whose outcome does not depend on the scripted server.
  private func ask(_ bench: DaemonBench, _ request: JSON) throws -> (rows: [JSON], end: ControlMessage) {
    try ControlCaller(bench.socket).ask(request)
  }

  @Test("status tells what the daemon is doing, online and offline")
  func status() async throws {
    let bench = try await DaemonBench()
    let offline = try #require(try ask(bench, ["verb": "status"]).end.result)
    #expect(offline["state"] == "connecting" && offline["jid"] == "bot@example.org" && offline["outbox"] == 0)
    try await bench.goOnline()
    let online = try #require(try ask(bench, ["verb": "status"]).end.result)
    #expect(online["state"] == "online" && online["resource"] == "r" && online["tls"] == "TLSv1.3")
    #expect(online["online_since"] == "2001-09-09T01:46:40Z")
    #expect(online["server"]?.stringValue?.contains("xmpp.example.org") == true)
    #expect((online["archive_bytes"]?.intValue ?? 0) > 0)
    #expect(online["commands"] == 11)
  }

  @Test("a file that did not come with its request, or while the bot is offline, is not sent")
  func sendFile() async throws {
    let bench = try await DaemonBench.online()
    let without = try ask(bench, ["verb": "send", "to": "alice@example.net", "file": "x"])
    #expect(without.end.failure == ControlFailure(.usage, "the file did not come with the request"))
    let file = open(bench.scratch.file("bot.conf"), O_RDONLY)
    defer { close(file) }
    try await bench.play("the connection is lost")
    let caller = try ControlCaller(bench.socket)
    let line = Array(#"{"verb":"send","to":"alice@example.net","file":"x"}"#.utf8) + [0x0a]
    #expect(linux_send_descriptor(caller.descriptor, line, line.count, file) == line.count)
    #expect(try caller.line()?.contains("nothing was sent: the bot is not online") == true)
    #expect(try await bench.transcript().isEmpty)
  }

  @Test("send is done when the server has the message")
  func send() async throws {
    let bench = try await DaemonBench.online()
    let caller = try ControlCaller(bench.socket)
    caller.send(#"{"verb":"send","to":"alice@example.net","text":"hello"}"#)
    #expect(await bench.hears("ping"))
    try await bench.play(
      """
      bot: <message type='chat' to='alice@example.net' id='$m'><body>hello</body>
       <origin-id xmlns='urn:xmpp:sid:0' id='$m'/><request xmlns='urn:xmpp:receipts'/>
       <markable xmlns='urn:xmpp:chat-markers:0'/><active xmlns='http://jabber.org/protocol/chatstates'/></message>
      bot: <iq type='get' id='$p' to='example.org'><ping xmlns='urn:xmpp:ping'/></iq>
      server: <iq type='result' id='$p' from='example.org'/>
      """)
    #expect(try caller.line() == #"{"done":{"state":"acked"}}"#)
    #expect(bench.recording.messages(.messageSent).contains { $0.contains("sends a message to alice@example.net") })
  }

  @Test("a server that does not confirm is exit code 6, and the message stays in the outbox")
  func unconfirmed() async throws {
    let bench = try await DaemonBench.online()
    let caller = try ControlCaller(bench.socket)
    caller.send(#"{"verb":"send","to":"alice@example.net","text":"hello","timeout":5}"#)
    #expect(await bench.hears("ping"))
    await bench.clock.advance(by: .seconds(5))
    #expect(try caller.line()?.hasSuffix(#"until the server has it","code":6}"#) == true)
    #expect(try ask(bench, ["verb": "archive-export"]).rows.map { $0["state"] } == ["sent"])
  }

  @Test("who asked for no more than the outbox is told at once; without the bot online it is queued all the same")
  func queued() async throws {
    let bench = try await DaemonBench()
    let request: JSON = ["verb": "send", "to": "a@example.net", "text": "x", "wait": false]
    #expect(try ask(bench, request).end.result?["state"] == "queued")
    let failure = try ask(bench, ["verb": "send", "to": "a@example.net", "text": "y"]).end.failure
    #expect(failure?.code == .offline && failure?.reason.contains("the message is queued") == true)
    #expect(try ask(bench, ["verb": "archive-export"]).rows.map { $0["state"] } == ["queued", "queued"])
  }

  @Test("a message that comes back is exit code 1, with the reason")
  func bounced() async throws {
    let bench = try await DaemonBench.online()
    let caller = try ControlCaller(bench.socket)
    caller.send(#"{"verb":"send","to":"nobody@example.org","text":"hello"}"#)
    #expect(await bench.hears("ping"))
    try await bench.play(
      """
      bot: <message type='chat' to='nobody@example.org' id='$m'><body>hello</body>
       <origin-id xmlns='urn:xmpp:sid:0' id='$m'/><request xmlns='urn:xmpp:receipts'/>
       <markable xmlns='urn:xmpp:chat-markers:0'/><active xmlns='http://jabber.org/protocol/chatstates'/></message>
      server: <message type='error' from='nobody@example.org' id='$m'>
       <error type='cancel'><service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></message>
      """)
    #expect(try caller.line()?.contains(#"came back: service-unavailable"#) == true)
  }

  @Test("send refuses what can't be sent, and leaves nothing behind")
  func refusals() async throws {
    let bench = try await DaemonBench()
    for request: JSON in [
      ["verb": "send", "to": "a@@example.net", "text": "x"], ["verb": "send", "to": "a@example.net"],
      ["verb": "send", "to": "a@example.net", "text": ""], ["verb": "send", "text": "x"], ["verb": "send", "to": 5],
      ["verb": "nonsense"], [:], ["verb": "log-level", "level": "loud"], ["verb": "archive-search", "words": "*"],
    ] {
      #expect(try ask(bench, request).end.failure?.code == .usage, "\(request)")
    }
    #expect(try ask(bench, ["verb": "archive-export"]).rows.isEmpty)
  }

  @Test("a bare word is a name whose domain was forgotten, and the likely address is named")
  func forgottenDomain() async throws {
    let bench = try await DaemonBench()
    let failure = try ask(bench, ["verb": "send", "to": "alice", "text": "x", "wait": false]).end.failure
    #expect(failure?.code == .usage && failure?.reason.contains("write alice@example.org") == true)
    for to: JSON in ["example.net", "localhost", "[::1]"] {
      #expect(try ask(bench, ["verb": "send", "to": to, "text": "x", "wait": false]).end.failure == nil, "\(to)")
    }
    #expect(try ask(bench, ["verb": "archive-export"]).rows.count == 3)
  }

  @Test("a server of one label is one where the account is on it, or where it is a contact")
  func knownDomain() throws {
    let (lan, account) = (try JID("lan"), try JID("bot@example.org"))
    let roster = Roster(items: [RosterItem(jid: lan)])
    #expect(ForgottenDomain.meant(by: lan, account: account, roster: Roster()) == (try JID("lan@example.org")))
    #expect(ForgottenDomain.meant(by: lan, account: account, roster: roster) == nil)
    #expect(ForgottenDomain.meant(by: lan, account: try JID("bot@lan"), roster: Roster()) == nil)
  }

  @Test("an archive that can't be written refuses to send at once")
  func archiveFault() async throws {
    let bench = try await DaemonBench.online()
    await bench.breakArchive()
    let failure = try ask(bench, ["verb": "send", "to": "a@example.net", "text": "x"]).end.failure
    #expect(
      failure?.code == .failed && failure?.reason.hasPrefix("nothing was sent: the archive's disk is full") == true)
    #expect(try ask(bench, ["verb": "status"]).end.result?["archive_fault"] != nil)
  }

  @Test("the archive is searched, exported with a limit, and counted")
  func archive() async throws {
    let bench = try await DaemonBench()
    await { @LoopActor in
      bench.daemon.gate.write { transaction throws(DatabaseError) in
        for number in 1...1_000 {
          let peer = number % 2 == 0 ? "even@example.net" : "odd@example.net"
          try transaction.insert(
            NewMessage(.in, .chat, peer: peer, time: Int64(number) * 1_000_000, body: "number \(number)"))
        }
      }
    }()
    await bench.settle()
    func bodies(_ request: JSON) throws -> [String] {
      try ask(bench, request).rows.compactMap { $0["body"]?.stringValue }
    }
    #expect(try bodies(["verb": "archive-export", "limit": 3]) == ["number 1", "number 2", "number 3"])
    #expect(try bodies(["verb": "archive-export"]).count == 1_000)
    #expect(try bodies(["verb": "archive-export", "limit": -1]).isEmpty)
    #expect(
      try bodies(["verb": "archive-export", "with": "even@example.net", "since": 7_000_000, "until": 10_000_000])
        == ["number 8"])
    #expect(try bodies(["verb": "archive-search", "words": "number 77"]) == ["number 77"])
    #expect(try bodies(["verb": "archive-search", "words": "number", "limit": 2]) == ["number 1000", "number 999"])
    #expect(try ask(bench, ["verb": "archive-stats"]).end.result?["messages"] == 1_000)
  }

  @Test("an export that nobody reads waits, and the daemon answers others")
  func unreadExport() async throws {
    let bench = try await DaemonBench()
    await { @LoopActor in
      bench.daemon.gate.write { transaction throws(DatabaseError) in
        let body = String(repeating: "x", count: 10_000)
        for number in 1...2_000 {
          try transaction.insert(NewMessage(.in, .chat, peer: "a@example.net", time: Int64(number), body: body))
        }
      }
    }()
    await bench.settle()
    let lazy = try ControlCaller(bench.socket)
    lazy.send(#"{"verb":"archive-export"}"#)
    #expect(try lazy.line()?.hasPrefix(#"{"row""#) == true)
    #expect(try ask(bench, ["verb": "status"]).end.failure == nil)
    var rows = 1
    while let line = try lazy.line(), line.hasPrefix(#"{"row""#) { rows += 1 }
    #expect(rows == 2_000)
  }

  @Test("roster, commands, log-level and reload")
  func others() async throws {
    let bench = try await DaemonBench.online()
    try await bench.play(
      "server: <iq type='set' id='r1'><query xmlns='jabber:iq:roster' ver='2'><item jid='alice@example.net' name='Alice' subscription='both'><group>Bot users</group></item></query></iq>"
    )
    #expect(
      try ask(bench, ["verb": "roster"]).rows == [
        ["jid": "alice@example.net", "name": "Alice", "subscription": "both", "groups": ["Bot users"]]
      ])
    let commands = try ask(bench, ["verb": "commands"])
    #expect(
      commands.rows.compactMap { $0["name"]?.stringValue }
        == ["help", "join", "leave", "ping", "reload", "rooms", "roster", "say", "search", "status", "whoami"])
    #expect(commands.end.result == ["refused": [], "groups": []])
    #expect(try ask(bench, ["verb": "log-level", "level": "debug"]).end.result == [:])
    #expect(await bench.daemon.log.level == .debug)
    try DaemonBench.configure(bench.scratch, "[limits]\nrate = much\n")
    let failure = try ask(bench, ["verb": "reload"]).end.failure
    #expect(failure?.code == .configuration && failure?.reason.contains("rate = much") == true)
    try DaemonBench.configure(bench.scratch, "")
    #expect(try ask(bench, ["verb": "reload"]).end.result == ["refused": [], "restart": []])
    #expect(await bench.daemon.log.level == .info)
    try DaemonBench.configure(bench.scratch, "[archive]\nsync = normal\n")
    #expect(try ask(bench, ["verb": "reload"]).end.result == ["refused": [], "restart": ["archive.sync"]])
  }

  @Test("requests while the daemon is stopping are answered as far as they can be")
  func stopping() async throws {
    let slow = Slow()
    let bench = try await DaemonBench.online(handlers: [slow])
    try await bench.play("server: <message from='a@example.net/x' type='chat' id='1'><body>slow</body></message>")
    await bench.settle()
    await bench.daemon.stop()
    #expect(try ask(bench, ["verb": "status"]).end.result?["state"] == "stopping")
    #expect(try ask(bench, ["verb": "send", "to": "a@example.net", "text": "x"]).end.failure?.code == .offline)
    #expect(try ask(bench, ["verb": "reload"]).end.failure != nil)
    await slow.gate.open()
  }
}
