import Archive
import BotKit
import EventLoop
import JID
import SQLite
import Testing
import XMPPClient
import XMPPTesting

@testable import Daemon

@Suite("What commands say: pieces, corrections, files")
struct CommandOutputTests {
  init() { LoopThread.start() }

  private static let server = """
    bot: <iq type='get' id='$items' to='example.org'><query xmlns='http://jabber.org/protocol/disco#items'/></iq>
    server: <iq type='result' id='$items' from='example.org'><query xmlns='http://jabber.org/protocol/disco#items'/></iq>
    bot: <iq type='get' id='$info' to='example.org'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
    server: <iq type='result' id='$info' from='example.org'><query xmlns='http://jabber.org/protocol/disco#info'>
     <feature var='urn:xmpp:http:upload:0'/></query></iq>
    """
  private static let slot = """
    bot: <iq type='get' id='$slot' to='example.org'><request xmlns='urn:xmpp:http:upload:0' filename='draw.txt' size='$any'
     content-type='text/plain; charset=utf-8'/></iq>
    server: <iq type='result' id='$slot' from='example.org'><slot xmlns='urn:xmpp:http:upload:0'>
     <put url='https://example.org/p'><header name='Authorization'>token</header></put>
     <get url='https://example.org/g/draw.txt'/></slot></iq>
    """
  private static let link = """
    bot: <message type='chat' to='alice@example.net/phone' id='$link'><body>https://example.org/g/draw.txt</body>
     <origin-id xmlns='urn:xmpp:sid:0' id='$link'/><x xmlns='jabber:x:oob'><url>https://example.org/g/draw.txt</url></x>
     <request xmlns='urn:xmpp:receipts'/><markable xmlns='urn:xmpp:chat-markers:0'/>
     <active xmlns='http://jabber.org/protocol/chatstates'/></message>
    """
  private static let typing = """
    bot: <message type='chat' to='alice@example.net/phone' id='$any'>
     <composing xmlns='http://jabber.org/protocol/chatstates'/></message>
    """

  /// Online, with the command under way.
  @LoopActor private func begun() async throws -> (FlowBench, CommandEvents, FakeUploads) {
    let bench = try await FlowBench.online()
    let puppet = Puppet()
    _ = bench.flow.router.commands.add(puppet.command)
    let uploads = FakeUploads(bench.flow.uploads)
    try await bench.receive("draw", id: "m1")
    try bench.play(Self.typing)
    return (bench, try #require(puppet.events), uploads)
  }

  @LoopActor private func openCommands(_ bench: FlowBench) async -> Int {
    await withCheckedContinuation { continuation in
      bench.gate.write { transaction throws(DatabaseError) in
        try transaction.queries.openCommands().count
      } done: {
        continuation.resume(returning: $0)
      }
    }
  }

  @Test("a file goes up, its link comes marked as such, and only then the command is done")
  @LoopActor func file() async throws {
    let (bench, events, uploads) = try await begun()
    events.perform(.upload(CommandUpload(.bytes(Array("drawing".utf8)))))
    events.finish(.done)
    try bench.play(Self.server + "\n" + Self.slot)
    await bench.settle()
    try bench.expectSilence()
    #expect(await openCommands(bench) == 1)
    #expect(uploads.contents == ["drawing"])
    #expect(uploads.orders.first?.url == "https://example.org/p")
    #expect(uploads.orders.first?.headers == ["Authorization: token"])
    uploads.end()
    await bench.settle()
    try bench.play(Self.link)
    try bench.expectSilence()
    #expect(await openCommands(bench) == 0)
    #expect(try await bench.transcript() == ["< draw", "> https://example.org/g/draw.txt (sent)"])
  }

  @Test("what is said after a file comes after it")
  @LoopActor func order() async throws {
    let (bench, events, uploads) = try await begun()
    events.perform(.upload(CommandUpload(.bytes(Array("drawing".utf8)), caption: "Look:")))
    events.reply("more")
    events.finish(.exited(3), "end")
    try bench.play(Self.server + "\n" + Self.slot)
    await bench.settle()
    try bench.expectSilence()
    uploads.end()
    await bench.settle()
    try bench.expectAnswer("Look:")
    try bench.play(Self.link)
    try bench.expectAnswer("more")
    try bench.expectAnswer("end\ndraw: failed (exit 3)")
    #expect(await openCommands(bench) == 0)
  }

  @Test("a file that can't be brought to the server comes as its text, with the reason, which the log has in full")
  @LoopActor func failure() async throws {
    let (bench, events, uploads) = try await begun()
    events.perform(.upload(CommandUpload(.bytes(Array("drawing".utf8)))))
    events.finish(.done)
    try bench.play(Self.server + "\n" + Self.slot)
    uploads.end("the upload server answered HTTP 500")
    await bench.settle()
    try bench.expectAnswer("drawing\n(there should be a file, but it could not be sent, the log says why)")
    #expect(
      bench.recording.messages(.uploadFailed) == [
        "a file of the command draw was not sent: the upload server answered HTTP 500"
      ])
    #expect(await openCommands(bench) == 0)
  }

  @Test("a slot that leads elsewhere than to https is not used, and nothing is sent there")
  @LoopActor func hostileSlot() async throws {
    let (bench, events, uploads) = try await begun()
    events.perform(.upload(CommandUpload(.bytes([0, 1, 2]), name: "draw.txt")))
    events.finish(.done)
    try bench.play(Self.server)
    try bench.play(
      """
      bot: <iq type='get' id='$slot' to='example.org'><request xmlns='urn:xmpp:http:upload:0' filename='draw.txt' size='3'
       content-type='application/octet-stream'/></iq>
      server: <iq type='result' id='$slot' from='example.org'><slot xmlns='urn:xmpp:http:upload:0'>
       <put url='http://127.0.0.1/admin'/><get url='https://example.org/g/draw.txt'/></slot></iq>
      """)
    await bench.settle()
    #expect(uploads.orders.isEmpty)
    try bench.expectAnswer("(there should be a file, but it could not be sent, the log says why)")
    #expect(bench.recording.messages(.uploadFailed).first?.contains("not https") == true)
  }

  @Test(
    "a text that takes more than ten messages goes as a file, without its fences; how the command ended stays a message"
  )
  @LoopActor func tooLong() async throws {
    let (bench, events, uploads) = try await begun()
    let line = String(repeating: "0123456789", count: 100)
    let text = Array(repeating: line, count: 100).joined(separator: "\n")
    events.finish(.exited(1), "```\n\(text)\n```")
    try bench.play(Self.server + "\n" + Self.slot)
    #expect(uploads.contents == [text + "\n"])
    uploads.end()
    await bench.settle()
    try bench.play(Self.link)
    try bench.expectAnswer("draw: failed (exit 1)")
    try bench.expectSilence()
    #expect(await openCommands(bench) == 0)
  }

  @Test("a text that should have been a file comes as ten messages and the reason")
  @LoopActor func cutShort() async throws {
    let (bench, events, uploads) = try await begun()
    events.reply(Array(repeating: String(repeating: "x", count: 999), count: 100).joined(separator: "\n"))
    events.finish(.done)
    try bench.play(Self.server + "\n" + Self.slot)
    uploads.end("no")
    await bench.settle()
    let bodies = bench.sentBodies()
    #expect(bodies.count == 11 && bodies[9].count == 7_999)
    #expect(bodies.last?.hasPrefix("(there should be a file") == true)
  }

  @Test("while the bot is offline a file waits, for two minutes at most")
  @LoopActor func offline() async throws {
    let bench = try await FlowBench()
    let uploads = FakeUploads(bench.flow.uploads)
    var results: [Result<String, UploadFailure>] = []
    func start() throws {
      let file = try UploadFile(Array("x".utf8), name: "draw.txt", fallback: "file")
      bench.flow.uploads.start(file) { results.append($0) }
    }
    try start()
    bench.conversation.clock.advance(by: .seconds(121))
    #expect(results == [.failure(.offline)])
    try start()
    try await bench.goOnline()
    bench.flow.uploads.online()
    try bench.play(Self.server + "\n" + Self.slot)
    uploads.end()
    #expect(results.last == .success("https://example.org/g/draw.txt"))
    try start()
    bench.flow.uploads.stop()
    #expect(results.last == .failure(.interrupted) && bench.flow.uploads.isIdle)
  }

  @Test("a link that waited in the outbox when the process ended is marked as one all the same")
  @LoopActor func queuedLink() async throws {
    var row = NewMessage(
      .out, .chat, peer: "alice@example.net", time: 1_000_000_000_000_000, body: "https://example.org/f")
    row.messageID = FileLink.id("a1")
    row.originID = row.messageID
    let bench = try await FlowBench(queued: [row])
    try await bench.goOnline()
    try bench.play(
      """
      bot: <message type='chat' to='alice@example.net' id='a1.file'><body>https://example.org/f</body>
       <origin-id xmlns='urn:xmpp:sid:0' id='a1.file'/><x xmlns='jabber:x:oob'><url>https://example.org/f</url></x>
       <delay xmlns='urn:xmpp:delay' from='bot@example.org' stamp='2001-09-09T01:46:40.000000Z'/>
       <request xmlns='urn:xmpp:receipts'/><markable xmlns='urn:xmpp:chat-markers:0'/>
       <active xmlns='http://jabber.org/protocol/chatstates'/></message>
      """)
  }

  // MARK: - Corrections

  @LoopActor private func expectCorrection(_ body: String, of name: String, _ bench: FlowBench) throws {
    try bench.play(
      """
      bot: <message type='chat' to='alice@example.net/phone' id='$any'><body>\(body.replacing("\n", with: "&#10;"))</body>
       <origin-id xmlns='urn:xmpp:sid:0' id='$any'/><replace xmlns='urn:xmpp:message-correct:0' id='$\(name)'/>
       <request xmlns='urn:xmpp:receipts'/><markable xmlns='urn:xmpp:chat-markers:0'/>
       <active xmlns='http://jabber.org/protocol/chatstates'/></message>
      """)
  }

  @LoopActor private func expectMessage(_ body: String, _ name: String, _ bench: FlowBench) throws {
    try bench.play(
      """
      bot: <message type='chat' to='alice@example.net/phone' id='$\(name)'><body>\(body.replacing("\n", with: "&#10;"))</body>
       <origin-id xmlns='urn:xmpp:sid:0' id='$\(name)'/>
       <request xmlns='urn:xmpp:receipts'/><markable xmlns='urn:xmpp:chat-markers:0'/>
       <active xmlns='http://jabber.org/protocol/chatstates'/></message>
      """)
  }

  @Test("progress is one message that is corrected, and its last correction is the answer")
  @LoopActor func progress() async throws {
    let (bench, events, _) = try await begun()
    events.perform(.progress("one"))
    await bench.settle()
    try expectMessage("one", "first", bench)
    for text in ["one two", "one two three"] {
      events.perform(.progress(text))
      await bench.settle()
      try expectCorrection(text, of: "first", bench)
    }
    events.perform(.progress("one two three"))
    events.finish(.done, "one two three four")
    await bench.settle()
    try expectCorrection("one two three four", of: "first", bench)
    try bench.expectSilence()
    #expect(await openCommands(bench) == 0)
  }

  @Test("what outgrows a message goes on in a new one; what was said in between stays where it is")
  @LoopActor func growing() async throws {
    let (bench, events, _) = try await begun()
    let first = Array(repeating: String(repeating: "x", count: 999), count: 8).joined(separator: "\n")
    events.perform(.progress(first))
    events.reply("by the way")
    events.perform(.progress(first + "\nnext"))
    events.perform(.progress(first + "\nnext and more"))
    await bench.settle()
    let bodies = bench.sentBodies()
    #expect(bodies == [first, "by the way", "next", "next and more"])
    try expectMessage(first, "first", bench)
    try expectMessage("by the way", "between", bench)
    try expectMessage("next", "second", bench)
    try expectCorrection("next and more", of: "second", bench)
    events.finish(.done, first + "\nnext and more")
    await bench.settle()
    try bench.expectSilence()
  }

  @Test("an edit corrects the last reply, a longer one with more messages, and never a file")
  @LoopActor func edits() async throws {
    let (bench, events, uploads) = try await begun()
    events.perform(.edit("none yet"))
    events.perform(.edit("changed"))
    await bench.settle()
    try expectMessage("none yet", "first", bench)
    try expectCorrection("changed", of: "first", bench)
    events.perform(.upload(CommandUpload(.bytes(Array("x".utf8)))))
    try bench.play(Self.server + "\n" + Self.slot)
    uploads.end()
    events.perform(.edit("after"))
    await bench.settle()
    try bench.play(Self.link)
    try expectMessage("after", "second", bench)
  }

  @Test("offline, progress is left out: the end is enough")
  @LoopActor func progressOffline() async throws {
    let (bench, events, _) = try await begun()
    try bench.play("the connection is lost")
    events.perform(.progress("one"))
    events.finish(.done, "one two")
    await bench.settle()
    #expect(try await bench.transcript() == ["< draw", "> one two (queued)"])
  }
}

@Suite("How long a message may be")
struct StanzaBudgetTests {
  private func budget(_ maxBytes: Int?, to: String = "alice@example.org/phone", thread: String? = nil) throws -> Int {
    StanzaBudget.text(maxBytes: maxBytes, to: try JID(to), thread: thread)
  }

  @Test("as the server says (XEP-0478), else as every server takes it; never too long to read")
  func limits() throws {
    #expect(try budget(nil) == 8_000)
    #expect(try budget(15_000) == 13_000)
    #expect(try budget(262_144) == StanzaBudget.longest)
    #expect(try budget(3_000) == 1_000)
    #expect(try budget(1) == 500)
  }

  @Test("less beside a long address or thread")
  func envelope() throws {
    let long = String(repeating: "a", count: 1_000)
    #expect(try budget(nil, to: "\(long)@example.org") < 7_000)
    #expect(try budget(nil, thread: long) < 5_000)
  }
}

@Suite("A text that is shown, and changes")
struct ShownTextTests {
  @Test("pieces are added and corrected by their first id; what is gone is marked as that")
  func changes() {
    var number = 0
    let newID = { () -> String in
      number += 1
      return "id\(number)"
    }
    var text = ShownText()
    func show(_ pieces: [String]) -> [String] {
      text.show(pieces, newID: newID).map { id, change in
        switch change {
        case .add(let body): "\(id): \(body)"
        case .correct(let first, let body): "\(id) for \(first): \(body)"
        }
      }
    }
    #expect(show(["a"]) == ["id1: a"])
    #expect(show(["a"]).isEmpty)
    #expect(show(["b", "c"]) == ["id2 for id1: b", "id3: c"])
    #expect(show(["b", "d"]) == ["id4 for id3: d"])
    #expect(show(["e"]) == ["id5 for id1: e", "id6 for id3: …"])
    #expect(show(["e"]).isEmpty)
  }
}
