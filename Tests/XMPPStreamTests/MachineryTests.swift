import JID
import Testing
import XML
import XMPPStanzas
import XMPPStream

@Suite("Requests that wait for answers")
struct IQTrackerTests {
  private let start = ContinuousClock.now

  private func answer(_ id: String, from: String?, type: String = "result") throws -> IQ {
    try IQ(Element("iq", Namespace.client, [("type", type), ("id", id), ("from", from)]))
  }

  private func tracker(to: String?, _ id: String = "1") throws -> IQTracker<Int> {
    var tracker = IQTracker<Int>(own: try JID("bot@example.org"))
    tracker.bind(to: try JID("bot@example.org/r"))
    let added = tracker.expect(id: id, from: try to.map { try JID($0) }, until: start + .seconds(30), 7)
    #expect(added)
    return tracker
  }

  @Test(
    "who may answer what (RFC 6120 section 8.1.2.1)",
    arguments: [
      // Asked of nobody: the account, ourselves, the server, and who gives no address, which only the server can.
      (nil, nil, true), (nil, "bot@example.org", true), (nil, "bot@example.org/r", true), (nil, "example.org", true),
      (nil, "bot@example.org/other", false), (nil, "eve@evil.example", false), (nil, "evil.example", false),
      // Asked of the account: the same.
      ("bot@example.org", nil, true), ("bot@example.org", "bot@example.org", true),
      ("bot@example.org", "bot@example.org/other", false), ("bot@example.org", "eve@evil.example", false),
      // Asked of the server.
      ("example.org", "example.org", true), ("example.org", nil, true), ("example.org", "bot@example.org", false),
      ("example.org", "evil.example", false),
      // Asked of somebody else: nobody but that one.
      ("alice@example.org/x", "alice@example.org/x", true), ("alice@example.org/x", "ALICE@example.org/x", true),
      ("alice@example.org/x", "alice@example.org", false), ("alice@example.org/x", "alice@example.org/X", false),
      ("alice@example.org/x", nil, false), ("alice@example.org/x", "bot@example.org", false),
      ("upload.example.org", "example.org", false), ("upload.example.org", nil, false),
    ] as [(String?, String?, Bool)])
  func senders(_ to: String?, _ from: String?, _ isTaken: Bool) throws {
    for type in ["result", "error"] {
      var tracker = try tracker(to: to)
      let handler = tracker.take(try answer("1", from: from, type: type))
      #expect(handler == (isTaken ? 7 : nil))
      #expect(tracker.isEmpty == isTaken)
    }
  }

  @Test("a request under the id is no answer, nor is an answer under another (CVE-2013-6483)")
  func kindsAndIDs() throws {
    var tracker = try tracker(to: nil)
    for kind in ["get", "set"] {
      let taken = tracker.take(try answer("1", from: nil, type: kind))
      #expect(taken == nil)
    }
    let other = tracker.take(try answer("2", from: nil))
    #expect(other == nil)
    #expect(!tracker.isEmpty)
  }

  @Test("an answer is taken once")
  func once() throws {
    var tracker = try tracker(to: nil)
    let answer = try answer("1", from: nil)
    let taken = [tracker.take(answer), tracker.take(answer)]
    #expect(taken == [7, nil])
  }

  @Test("a request is late when its time is up, and no sooner")
  func deadlines() throws {
    var tracker = try tracker(to: nil)
    let isAdded = tracker.expect(id: "2", from: nil, until: start + .seconds(10), 8)
    #expect(isAdded)
    #expect(tracker.nextDeadline == start + .seconds(10))
    #expect(tracker.expired(at: start + .milliseconds(9_999)) == [])
    #expect(tracker.expired(at: start + .seconds(10)) == [8])
    let late = tracker.take(try answer("2", from: nil))
    #expect(late == nil)
    #expect(tracker.expired(at: start + .seconds(31)) == [7])
    #expect(tracker.nextDeadline == nil)
  }

  @Test("a server that answers nothing does not fill the memory; what waits ends with the stream")
  func bounded() throws {
    var tracker = IQTracker<Int>(own: try JID("bot@example.org"))
    let taken = (0..<5_000).count { tracker.expect(id: "\($0)", from: nil, until: start, $0) }
    #expect(taken == 1_000)
    #expect(tracker.removeAll().count == 1_000)
    #expect(tracker.isEmpty)
  }
}

@Suite("Keepalive")
struct KeepaliveTests {
  private let start = ContinuousClock.now
  private func at(_ seconds: Int) -> ContinuousClock.Instant { start + .seconds(seconds) }

  @Test("silence is met with a ping, and the ping's silence with the end: interval + time-out after the last byte")
  func dies() {
    var keepalive = Keepalive(interval: .seconds(60), timeout: .seconds(20), now: start)
    #expect(keepalive.check(at: at(0)) == .wait(until: at(60)))
    keepalive.heard(at: at(30))
    #expect(keepalive.check(at: at(60)) == .wait(until: at(90)))
    #expect(keepalive.check(at: at(90)) == .ping(until: at(110)))
    #expect(keepalive.check(at: at(100)) == .wait(until: at(110)))
    #expect(keepalive.check(at: at(110)) == .giveUp)
  }

  @Test("any byte after the ping shows that the link lives")
  func lives() {
    var keepalive = Keepalive(interval: .seconds(60), timeout: .seconds(20), now: start)
    #expect(keepalive.check(at: at(60)) == .ping(until: at(80)))
    keepalive.heard(at: at(79))
    #expect(keepalive.check(at: at(80)) == .wait(until: at(139)))
  }

  @Test("a ping behind much else has time from when the other side has it; one that stands still is given up")
  func behind() {
    var keepalive = Keepalive(interval: .seconds(60), timeout: .seconds(20), now: start)
    #expect(keepalive.check(at: at(60), delivered: 0) == .ping(until: at(80)))
    keepalive.sent(written: 100_000, delivered: 0)
    #expect(keepalive.check(at: at(80), delivered: 60_000) == .wait(until: at(100)), "what comes before it is taken")
    #expect(keepalive.check(at: at(100), delivered: 100_000) == .wait(until: at(120)), "now it is there")
    #expect(keepalive.check(at: at(120), delivered: 100_000) == .giveUp)

    keepalive = Keepalive(interval: .seconds(60), timeout: .seconds(20), now: start)
    #expect(keepalive.check(at: at(60), delivered: 0) == .ping(until: at(80)))
    keepalive.sent(written: 100_000, delivered: 0)
    #expect(keepalive.check(at: at(80), delivered: 0) == .giveUp)

    keepalive = Keepalive(interval: .seconds(60), timeout: .seconds(20), now: start)
    #expect(keepalive.check(at: at(60), delivered: 0) == .ping(until: at(80)))
    keepalive.sent(written: 1_000, delivered: 900)
    #expect(keepalive.check(at: at(80), delivered: 1_000) == .giveUp, "with little before it, nothing is different")
  }

  @Test("a machine that slept for a day pings first and gives up later")
  func slept() {
    var keepalive = Keepalive(interval: .seconds(60), timeout: .seconds(20), now: start)
    #expect(keepalive.check(at: at(86_400)) == .ping(until: at(86_420)))
    #expect(keepalive.check(at: at(86_420)) == .giveUp)
  }

  @Test("a doubtful link is pinged at once, one that was pinged already is not pinged again")
  func doubt() {
    var keepalive = Keepalive(interval: .seconds(60), timeout: .seconds(20), now: start)
    keepalive.doubt(at: at(5))
    #expect(keepalive.check(at: at(5)) == .ping(until: at(25)))
    keepalive.doubt(at: at(20))
    #expect(keepalive.check(at: at(20)) == .wait(until: at(25)))
    #expect(keepalive.check(at: at(25)) == .giveUp)
  }
}

@Suite("What kind of fault it is")
struct StreamFailureTests {
  @Test("a fault that somebody has to mend is told from one that passes")
  func severities() {
    let permanent: [StreamFailure] = [
      .authentication(.refused(name: "not-authorized", text: nil)), .tls("expired", isCertificate: true), .tlsMissing,
      .streamError(StreamError("host-unknown")), .streamError(StreamError("policy-violation")),
      .bind(StanzaError(.cancel, .notAllowed)),
    ]
    let transient: [StreamFailure] = [
      .authentication(.refused(name: "temporary-auth-failure", text: nil)), .tls("reset", isCertificate: false),
      .streamError(StreamError("system-shutdown")), .streamError(StreamError("reset")), .silent, .closed,
      .connectionLost("reset"), .unreachable("no route"), .timeout(phase: "x"), .violation(StreamError("bad-format")),
      .bind(StanzaError(.wait, .resourceConstraint)), .redirected(to: "x"),
    ]
    for failure in permanent { #expect(failure.severity == .permanent, "\(failure)") }
    for failure in transient { #expect(failure.severity == .transient, "\(failure)") }
    #expect(StreamFailure.streamError(StreamError("conflict")).severity == .conflict)
  }

  @Test("the domain's next server is tried for a fault of one server, not for one of the account")
  func oneServer() {
    #expect(StreamFailure.tls("expired", isCertificate: true).concernsOneServer)
    #expect(StreamFailure.streamError(StreamError("internal-server-error")).concernsOneServer)
    #expect(!StreamFailure.streamError(StreamError("conflict")).concernsOneServer)
    #expect(!StreamFailure.authentication(.refused(name: "not-authorized", text: nil)).concernsOneServer)
    #expect(!StreamFailure.unreachable("all of them").concernsOneServer)
  }
}
