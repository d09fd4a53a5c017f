import Archive
import EventLoop
import JID
import SQLite
import Testing
import XMPPTesting

@testable import Daemon

@Suite("What was missed is fetched, and what other devices said is kept")
struct CatchUpFlowTests {
  init() { LoopThread.start() }

  private static let archive = "urn:xmpp:mam:2"
  private static let stanzaIDs = "urn:xmpp:sid:0"

  /// What an earlier process left: the archive is known up to `known`, and a message of ours is in doubt.
  private static func leftBehind(_ transaction: borrowing ArchiveTransaction) throws(DatabaseError) {
    try transaction.setMeta(.account, to: "bot@example.org")
    var old = NewMessage(.in, .chat, peer: "alice@example.net", time: 1, body: "old")
    old.stanzaID = .init(id: "known", by: "bot@example.org")
    try transaction.insert(old)
    for id in ["doubt1", "doubt2"] {
      var ours = NewMessage(.out, .chat, peer: "alice@example.net", time: 999_999_000_000_000, body: id, state: .sent)
      ours.messageID = id
      ours.originID = id
      try transaction.insert(ours)
    }
    // What came after them was known before it was known what became of them.
    var newer = NewMessage(.in, .chat, peer: "alice@example.net", time: 999_999_500_000_000, body: "newer")
    newer.stanzaID = .init(id: "newer", by: "bot@example.org")
    try transaction.insert(newer)
    transaction.noteCursor("newer", of: "bot@example.org")
  }

  private static func result(_ id: String, _ message: String, stamp: String = "2001-09-09T01:46:30Z") -> String {
    """
    server: <message to='bot@example.org/r'><result xmlns='\(archive)' queryid='$q' id='\(id)'>
     <forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' stamp='\(stamp)'/>\(message)</forwarded>
     </result></message>
    """
  }

  private static func said(_ body: String, id: String, from: String = "alice@example.net/x") -> String {
    "<message xmlns='jabber:client' type='chat' from='\(from)' to='bot@example.org' id='\(id)'><body>\(body)</body></message>"
  }

  private static let query = """
    bot: <iq type='set' id='$iq'><query xmlns='urn:xmpp:mam:2' queryid='$q'>
     <set xmlns='http://jabber.org/protocol/rsm'><max>100</max><after>known</after></set></query></iq>
    """

  @Test("what was missed is archived before what comes live, answered if young, and ours is known again or sent again")
  @LoopActor func catchesUp() async throws {
    let bench = try await DaemonBench(before: Self.leftBehind)
    bench.conversation.hidesConfirmations = true
    try bench.goOnline(features: [Self.archive, Self.stanzaIDs])
    await bench.settle()
    try bench.play(
      Self.query + "\n" + """
        server: <message type='chat' from='alice@example.net/x' to='bot@example.org/r' id='m3'><body>ping live</body>
         <stanza-id xmlns='\(Self.stanzaIDs)' by='bot@example.org' id='s3'/></message>
        """ + "\n"
        + Self.result(
          "s0",
          "<message xmlns='jabber:client' type='chat' from='bot@example.org/r' to='alice@example.net' id='doubt1'>"
            + "<body>doubt1</body><origin-id xmlns='urn:xmpp:sid:0' id='doubt1'/></message>") + "\n"
        + Self.result("newer", Self.said("newer", id: "m0")) + "\n"
        + Self.result("s1", Self.said("ping missed", id: "m1")) + "\n"
        + Self.result("s3", Self.said("ping live", id: "m3")))
    await bench.settle()
    #expect(
      try await bench.transcript() == [
        "< old", "> doubt1 (acked)", "> doubt2 (sent)", "< newer", "< ping missed", "> pong missed (queued)",
        "< ping live",
        "> pong live (queued)",
      ])
    try bench.play(
      """
      the bot says nothing
      server: <iq type='result' id='$iq'><fin xmlns='\(Self.archive)' complete='true'>
       <set xmlns='http://jabber.org/protocol/rsm'><first>s0</first><last>s3</last></set></fin></iq>
      """)
    await bench.settle()
    #expect(await bench.hears("pong live"))
    let said = String(decoding: bench.dialer.stream?.written ?? [], as: UTF8.self)
    let order = ["<body>doubt2", "<body>pong missed", "<body>pong live"].compactMap {
      said.firstRange(of: $0)?.lowerBound
    }
    #expect(order.count == 3 && order == order.sorted())
    #expect(!said.contains("doubt1"))
    #expect(said.contains("<delay xmlns='urn:xmpp:delay' from='bot@example.org' stamp='2001-09-09T01:30:00.000000Z'/>"))
    #expect(
      try await bench.transcript() == [
        "< old", "> doubt1 (acked)", "> doubt2 (sent)", "< newer", "< ping missed", "> pong missed (sent)",
        "< ping live",
        "> pong live (sent)",
      ])
  }

  @Test(
    "a missed command that is too old is archived, its sender told; what was known before, or is of other devices, is not run"
  )
  @LoopActor func notRun() async throws {
    let bench = try await DaemonBench(before: Self.leftBehind)
    try bench.goOnline(features: [Self.archive, Self.stanzaIDs])
    await bench.settle()
    try bench.play(
      Self.query + "\n" + Self.result("s0", Self.said("ping known", id: "k1"), stamp: "2001-09-09T01:38:10Z") + "\n"
        + Self.result("newer", Self.said("newer", id: "m0"), stamp: "2001-09-09T01:38:20Z") + "\n"
        + Self.result("s1", Self.said("ping old", id: "m1"), stamp: "2001-09-09T01:00:00Z") + "\n"
        + Self.result(
          "s2",
          "<message xmlns='jabber:client' type='chat' from='alice@example.net/x' to='bot@example.org/phone' id='m2'>"
            + "<body>ping elsewhere</body></message>") + "\n"
        + Self.result(
          "s3",
          "<message xmlns='jabber:client' type='chat' from='bot@example.org/phone' to='alice@example.net' id='m3'>"
            + "<body>ping from the phone</body></message>"))
    await bench.settle()
    #expect(
      try await bench.transcript().dropFirst(4) == [
        "< ping known", "< ping old",
        "> ping reached me too late to run it safely. Send it again if you still want it. (queued)",
        "< ping elsewhere", "> ping from the phone (acked)",
      ])
  }

  @Test("where the archive has the last message that was known no more, what came after it is new, and run")
  @LoopActor func endThatIsGone() async throws {
    let bench = try await DaemonBench(before: Self.leftBehind)
    try bench.goOnline(features: [Self.archive, Self.stanzaIDs])
    await bench.settle()
    try bench.play(
      Self.query + "\n" + Self.result("s1", Self.said("ping fresh", id: "m1"), stamp: "2001-09-09T01:46:39Z"))
    await bench.settle()
    let rows = try await bench.transcript().dropFirst(4)
    #expect(rows == ["< ping fresh", "> pong fresh (queued)"])
  }

  @Test("carbons are asked for; what other devices of the account send and receive is archived and never run")
  @LoopActor func carbons() async throws {
    let bench = try await DaemonBench()
    try bench.goOnline(features: ["urn:xmpp:carbons:2"])
    try bench.play(
      """
      bot: <iq type='set' id='$c'><enable xmlns='urn:xmpp:carbons:2'/></iq>
      server: <iq type='result' id='$c'/>
      server: <message from='bot@example.org' to='bot@example.org/r'><received xmlns='urn:xmpp:carbons:2'>
       <forwarded xmlns='urn:xmpp:forward:0'><message xmlns='jabber:client' type='chat' from='alice@example.net/x'
       to='bot@example.org/phone' id='1'><body>ping</body></message></forwarded></received></message>
      server: <message from='bot@example.org' to='bot@example.org/r'><sent xmlns='urn:xmpp:carbons:2'>
       <forwarded xmlns='urn:xmpp:forward:0'><message xmlns='jabber:client' type='chat' from='bot@example.org/phone'
       to='alice@example.net' id='2'><body>my own answer</body></message></forwarded></sent></message>
      """)
    await bench.settle()
    #expect(try await bench.transcript() == ["< ping", "> my own answer (acked)"])
    try bench.play("the bot says nothing")
  }

  @Test("what the server lost while it resumed the session is fetched from its archive, in its place")
  @LoopActor func lostInResumption() async throws {
    let sm = "urn:xmpp:sm:3"
    let bench = try await Self.managed()
    let query = """
      bot: <iq type='set' id='$iq'><query xmlns='urn:xmpp:mam:2' queryid='$q'>
       <set xmlns='http://jabber.org/protocol/rsm'><max>100</max><after>s1</after></set></query></iq>
      """
    let fin = """
      server: <iq type='result' id='$iq'><fin xmlns='\(Self.archive)' complete='true'>
       <set xmlns='http://jabber.org/protocol/rsm'/></fin></iq>
      """
    try bench.play(query + "\n" + fin)
    // All until now is taken, and need not come again.
    try bench.play("server: <r xmlns='\(sm)'/>")
    await bench.settle()
    bench.conversation.skip()
    try Self.resume(bench, h: 5)
    try bench.play(query)
    try bench.play(
      """
      server: <message type='chat' from='alice@example.net/x' to='bot@example.org/r' id='m3'><body>third</body>
       <stanza-id xmlns='\(Self.stanzaIDs)' by='bot@example.org' id='s3'/></message>
      \(Self.result("s2", Self.said("second", id: "m2")))
      \(Self.result("s3", Self.said("third", id: "m3")))
      \(fin)
      """)
    await bench.settle()
    let incoming = try await bench.transcript().filter { $0.hasPrefix("<") }
    #expect(incoming == ["< second", "< third"])
  }

  @Test(
    "where the server took the session up and does not hear us there, what comes live waits for a new session's catch-up"
  )
  @LoopActor func deafServer() async throws {
    let bench = try await Self.managed()
    bench.conversation.skip()
    try Self.resume(bench, h: 4)
    bench.conversation.skip()
    try bench.play(
      """
      server: <message type='chat' from='alice@example.net/x' to='bot@example.org/r' id='m3'><body>third</body>
       <stanza-id xmlns='\(Self.stanzaIDs)' by='bot@example.org' id='s3'/></message>
      """)
    bench.clock.advance(by: .seconds(20))
    bench.clock.advance(by: .seconds(20))
    await bench.settle()
    #expect(!bench.daemon.session.isOnline)
    #expect(try await bench.transcript() == [], "it waits for what was missed before it")
  }

  /// Online with an archive that is known up to s1, on a session that can be resumed.
  @LoopActor private static func managed() async throws -> DaemonBench {
    let bench = try await DaemonBench { transaction throws(DatabaseError) in
      try transaction.setMeta(.account, to: "bot@example.org")
      transaction.noteCursor("s1", of: "bot@example.org")
    }
    bench.conversation.hidesConfirmations = true
    try bench.goOnline(features: [archive, stanzaIDs], isManaged: true)
    await bench.settle()
    return bench
  }

  /// The line is cut, and the server resumes the session; it has `h` of our stanzas.
  @LoopActor private static func resume(_ bench: DaemonBench, h: Int) throws {
    try bench.play("the connection is lost\nafter 0s\n" + Greeting.toTLS)
    bench.conversation.skip()
    try bench.play(
      """
      server: <stream:features><mechanisms xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>
       <mechanism>PLAIN</mechanism></mechanisms></stream:features>
      server: <success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>
      server: <?xml version='1.0'?><stream:stream xmlns='jabber:client'
       xmlns:stream='http://etherx.jabber.org/streams' id='4' from='example.org' version='1.0'>
      \(Greeting.managedFeatures)
      """)
    bench.conversation.skip()
    try bench.play("server: <resumed xmlns='urn:xmpp:sm:3' h='\(h)' previd='sm1'/>")
  }

  @Test("what the server's count leaves open after a resumption is looked for in its archive before it is sent again")
  @LoopActor func countThatIsNotTrue() async throws {
    let bench = try await Self.managed()
    func query(after id: String) -> String {
      """
      bot: <iq type='set' id='$iq\(id)'><query xmlns='urn:xmpp:mam:2' queryid='$q'>
       <set xmlns='http://jabber.org/protocol/rsm'><max>100</max><after>\(id)</after></set></query></iq>
      """
    }
    func fin(after id: String) -> String {
      """
      server: <iq type='result' id='$iq\(id)'><fin xmlns='\(Self.archive)' complete='true'>
       <set xmlns='http://jabber.org/protocol/rsm'/></fin></iq>
      """
    }
    try bench.play(query(after: "s1") + "\n" + fin(after: "s1") + "\nserver: <a xmlns='urn:xmpp:sm:3' h='5'/>")
    // So that there is a place to read from.
    try bench.play(
      """
      server: <message type='chat' from='alice@example.net/x' to='bot@example.org/r' id='m2'><body>ping</body>
       <stanza-id xmlns='\(Self.stanzaIDs)' by='bot@example.org' id='s2'/></message>
      """)
    await bench.settle()
    try bench.play("server: <a xmlns='urn:xmpp:sm:3' h='6'/>")
    bench.conversation.skip()
    let alice = try JID("alice@example.net")
    for text in ["arrived", "lost"] { bench.daemon.flow.outbox.send(text, to: alice) }
    await bench.settle()
    let written = String(decoding: bench.dialer.stream?.written ?? [], as: UTF8.self)
    let id = try #require(written.split(separator: "<origin-id xmlns='urn:xmpp:sid:0' id='").dropFirst().first)
      .prefix { $0 != "'" }
    bench.conversation.skip()
    // It has both, and says that it has none of them.
    try Self.resume(bench, h: 6)
    await bench.settle()
    try bench.play(query(after: "s2"))
    try bench.play(
      """
      the bot says nothing
      \(Self.result(
        "s3",
        "<message xmlns='jabber:client' type='chat' from='bot@example.org/r' to='alice@example.net' id='\(id)'>"
          + "<body>arrived</body><origin-id xmlns='urn:xmpp:sid:0' id='\(id)'/></message>"))
      \(fin(after: "s2"))
      """)
    await bench.settle()
    let again = String(decoding: bench.dialer.stream?.written ?? [], as: UTF8.self)
    #expect(again.contains("<body>lost</body>") && !again.contains("<body>arrived</body>"))
    let rows = try await bench.transcript()
    #expect(rows == ["< ping", "> pong (acked)", "> arrived (acked)", "> lost (sent)"])
  }

  /// Online, with a live message held because the archive has not answered.
  @LoopActor private func waiting() async throws -> DaemonBench {
    let bench = try await DaemonBench(before: Self.leftBehind)
    bench.conversation.hidesConfirmations = true
    try bench.goOnline(features: [Self.archive, Self.stanzaIDs])
    await bench.settle()
    try bench.play(Self.query)
    try bench.play("server: \(Self.said("held", id: "m3"))")
    return bench
  }

  @Test("once the bot stops, it reads no archive: what that still has is left to the next process")
  @LoopActor func stopping() async throws {
    let bench = try await waiting()
    bench.daemon.flow.stopReading()
    try bench.play(
      Self.result("s1", Self.said("later", id: "m1")) + "\n" + """
        server: <iq type='result' id='$iq'><fin xmlns='\(Self.archive)'>
         <set xmlns='http://jabber.org/protocol/rsm'><first>s1</first><last>s1</last></set></fin></iq>
        the bot says nothing
        """)
    await bench.settle()
    #expect(try await bench.transcript().contains { $0.contains("later") } == false)
    try bench.play("the bot says nothing")
    // Where the page ends is not where the next process reads on: what was on it has no row.
    let cursor: String? = try await withCheckedThrowingContinuation { continuation in
      bench.daemon.gate.archive.read { queries throws(DatabaseError) in
        try queries.cursor(of: "bot@example.org")
      } completion: {
        continuation.resume(with: $0)
      }
    }
    #expect(cursor != nil && cursor != "s1")
  }

  @Test("a message that is too long for any server fails, and those behind it go")
  @LoopActor func tooLong() async throws {
    let bench = try await DaemonBench { transaction throws(DatabaseError) in
      for (id, thread) in [("long", String(repeating: ">", count: 70_000)), ("short", "t")] {
        var row = NewMessage(
          .out, .chat, peer: "alice@example.net", time: 999_999_000_000_000, body: id, state: .queued)
        row.messageID = id
        row.originID = id
        row.thread = thread
        try transaction.insert(row)
      }
    }
    try bench.goOnline()
    await bench.settle()
    #expect(try await bench.transcript() == ["> long (failed)", "> short (sent)"])
    #expect(bench.recording.messages(.stanzaSetAside).contains { $0.contains("longer than the server takes") })
  }

  @Test("what a contact writes can't make our answer too long: a thread and an id have a bound")
  @LoopActor func longReferences() async throws {
    let bench = try await DaemonBench.online()
    let long = String(repeating: "x", count: 5_000)
    try bench.play(
      "server: <message from='alice@example.net/x' type='chat' id='\(long)'><thread>\(long)</thread><body>ping</body></message>"
    )
    #expect(await bench.hears("<body>pong</body>"))
    let written = String(decoding: bench.dialer.stream?.written ?? [], as: UTF8.self)
    #expect(!written.contains(long))
  }

  @Test("an archive that says nothing for twenty seconds is not waited for; what was held is archived, and it is told")
  @LoopActor func silentArchive() async throws {
    let bench = try await waiting()
    // That one came behind the question; nothing has since.
    bench.clock.advance(by: .seconds(20))
    bench.clock.advance(by: .seconds(20))
    await bench.settle()
    #expect(try await bench.transcript().contains("< held"))
    #expect(bench.recording.messages(.messagesMissed).count == 1)
  }

  @Test("while live messages come, the archive's answer may stand behind them: it is waited for, but not for ever")
  @LoopActor func busyServer() async throws {
    let bench = try await waiting()
    for number in 1...5 {
      try bench.play("server: \(Self.said("\(number)", id: "n\(number)"))")
      bench.clock.advance(by: .seconds(20))
    }
    await bench.settle()
    #expect(try await bench.transcript().contains("< held") == false)
    // Each time that it is asked it has two minutes.
    for number in 6...45 {
      try bench.play("server: \(Self.said("\(number)", id: "n\(number)"))")
      bench.clock.advance(by: .seconds(20))
    }
    await bench.settle()
    #expect(try await bench.transcript().contains("< held"))
  }

  @Test("on a narrow link the question itself may be under way for long: the archive's silence counts from then on")
  @LoopActor func narrowLink() async throws {
    let bench = try await waiting()
    bench.dialer.stream?.undeliveredBytes = 100_000
    for _ in 1...3 { bench.clock.advance(by: .seconds(20)) }
    await bench.settle()
    #expect(try await bench.transcript().contains("< held") == false)
    bench.dialer.stream?.undeliveredBytes = 0
    for _ in 1...2 { bench.clock.advance(by: .seconds(20)) }
    await bench.settle()
    #expect(try await bench.transcript().contains("< held"))
  }

  @Test("a server without an archive is told of after a session that could not be resumed, and messages flow")
  @LoopActor func noArchive() async throws {
    let bench = try await DaemonBench(before: Self.leftBehind)
    try bench.goOnline()
    await bench.settle()
    #expect(bench.recording.messages(.messagesMissed).count == 1)
    #expect(try await bench.transcript() == ["< old", "> doubt1 (sent)", "> doubt2 (sent)", "< newer"])
    let first = try await DaemonBench()
    try first.goOnline()
    #expect(first.recording.messages(.messagesMissed).isEmpty)
  }

  @Test("the contact's client says that a message arrived and was shown; another contact can't")
  @LoopActor func receipts() async throws {
    let bench = try await DaemonBench.online()
    try bench.play("server: <message type='chat' from='alice@example.net/x' id='1'><body>ping</body></message>")
    await bench.settle()
    try bench.play(
      """
      bot: <message type='chat' to='alice@example.net/x' id='$m'><body>pong</body>
       <origin-id xmlns='urn:xmpp:sid:0' id='$m'/><request xmlns='urn:xmpp:receipts'/>
       <markable xmlns='urn:xmpp:chat-markers:0'/><active xmlns='http://jabber.org/protocol/chatstates'/></message>
      server: <message from='eve@example.net/x'><displayed xmlns='urn:xmpp:chat-markers:0' id='$m'/></message>
      server: <message from='alice@example.net/x'><received xmlns='urn:xmpp:receipts' id='$m'/></message>
      """)
    await bench.settle()
    #expect(try await bench.transcript() == ["< ping", "> pong (received)"])
    try bench.play(
      "server: <message from='alice@example.net/x'><displayed xmlns='urn:xmpp:chat-markers:0' id='$m'/></message>")
    await bench.settle()
    #expect(try await bench.transcript() == ["< ping", "> pong (displayed)"])
  }
}
