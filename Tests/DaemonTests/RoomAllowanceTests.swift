import Archive
import EventLoop
import JID
import SQLite
import Testing
import XMPPTesting

@testable import Daemon

@Suite("A room's archive, day by day")
struct RoomAllowanceTests {
  init() { LoopThread.start() }

  private static let ops = "ops@conference.example.org"

  @Test("that has brought as much as is taken within a day is not read on ten minutes later, which is told once")
  @LoopActor func used() async throws {
    let bench = try await DaemonBench { transaction throws(DatabaseError) in
      try transaction.setMeta(.account, to: "bot@example.org")
      transaction.noteCursor("s0", of: Self.ops)
    }
    bench.conversation.hidesConfirmations = true
    bench.daemon.flow.rooms.mostOfDay = 2
    try bench.goOnline()
    await bench.settle()
    bench.conversation.skip()
    #expect(try bench.reload("[room \(Self.ops)]\nnick = bot\n[keepalive]\ninterval = 2h\n").isEmpty)
    await bench.settle()
    try bench.play(
      """
      bot: <iq type='get' id='$info' to='\(Self.ops)'><query xmlns='http://jabber.org/protocol/disco#info'/></iq>
      server: <iq type='result' id='$info' from='\(Self.ops)' to='bot@example.org/r'>
       <query xmlns='http://jabber.org/protocol/disco#info'><identity category='conference' type='text'/>
       <feature var='urn:xmpp:mam:2'/></query></iq>
      bot: <presence to='\(Self.ops)/bot'><x xmlns='http://jabber.org/protocol/muc'><history maxstanzas='0'/></x></presence>
      server: <presence from='\(Self.ops)/bot' to='bot@example.org/r'><x xmlns='http://jabber.org/protocol/muc#user'>
       <item affiliation='member' role='participant'/><status code='110'/></x></presence>
      """)
    await bench.settle()
    try bench.play(
      """
      bot: <iq type='set' id='$iq' to='\(Self.ops)'><query xmlns='urn:xmpp:mam:2' queryid='$q'>
       <set xmlns='http://jabber.org/protocol/rsm'><max>100</max><after>s0</after></set></query></iq>
      \((1...3).map(Self.result).joined(separator: "\n"))
      """)
    await bench.settle()
    #expect(try await bench.transcript() == ["< s1", "< s2"])
    let told = bench.recording.messages(.messagesMissed)
    #expect(told.count == 1 && told.first?.contains("has brought 2 messages within 24 hours") == true)
    // What is said now is heard all the same.
    try bench.play("server: \(Self.message("live"))")
    bench.clock.advance(by: .seconds(599))
    bench.conversation.skip()
    bench.clock.advance(by: .seconds(2))
    await bench.settle()
    let written = String(decoding: bench.dialer.stream?.written ?? [], as: UTF8.self)
    #expect(!written.contains("<after>s2</after>"))
    #expect(try await bench.transcript() == ["< s1", "< s2", "< live"])
    #expect(bench.recording.messages(.messagesMissed).count == 1)
  }

  private static func message(_ body: String) -> String {
    "<message xmlns='jabber:client' type='groupchat' from='\(ops)/alice' id='\(body)'><body>\(body)</body></message>"
  }

  private static func result(_ number: Int) -> String {
    """
    server: <message from='\(ops)' to='bot@example.org/r'><result xmlns='urn:xmpp:mam:2' queryid='$q' id='s\(number)'>
     <forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay' stamp='2001-09-09T01:46:30Z'/>
     \(message("s\(number)"))</forwarded></result></message>
    """
  }
}
