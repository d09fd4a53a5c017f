import Testing

@testable import Systemd

@Suite("The logger")
struct LoggerTests {
  private let sink = RecordingSink()

  @Test("an event goes to the sink with its level, fields and the account's JID")
  func event() {
    let logger = Logger(sink: sink).forAccount("bot@example.org")
    logger.log(
      .commandRun, "alice ran uptime", peer: "alice@example.org", command: "uptime", stanzaID: "s1",
      duration: .milliseconds(3))
    #expect(
      sink.records == [
        LogRecord(
          event: .commandRun, level: .info, message: "alice ran uptime", jid: "bot@example.org",
          peer: "alice@example.org", command: "uptime", stanzaID: "s1", duration: .milliseconds(3))
      ])
  }

  @Test("below the level nothing is written and nothing evaluated")
  func disabled() {
    let logger = Logger(level: .warning, sink: sink)
    var evaluated = 0
    func costly() -> String {
      evaluated += 1
      return "costly"
    }
    logger.log(.messageReceived, costly(), peer: costly())
    #expect(evaluated == 0)
    #expect(sink.records.isEmpty)
    logger.log(.disconnected, costly())
    #expect(evaluated == 1)
    #expect(sink.records.map(\.level) == [.warning])
  }

  @Test("a level set in one copy holds in all", arguments: LogLevel.allCases)
  func sharedLevel(level: LogLevel) {
    let logger = Logger(sink: sink)
    let copy = logger.forAccount("bot@example.org")
    logger.level = level
    #expect(copy.level == level)
    for other in LogLevel.allCases { #expect(copy.isEnabled(other) == (other >= level)) }
  }

  @Test("an event can be given another level than its own")
  func otherLevel() {
    let logger = Logger(level: .info, sink: sink)
    logger.log(.handlerOutput, at: .debug, "quiet")
    logger.log(.handlerOutput, at: .error, "loud")
    #expect(sink.records.map(\.message) == ["loud"])
    #expect(sink.records.map(\.level) == [.error])
  }

  @Test("stanzas are written when xml = yes, whatever the level, and never above debug")
  func stanzas() {
    let logger = Logger(level: .error, sink: sink)
    logger.traceStanza("<a/>")
    #expect(sink.records.isEmpty)
    logger.tracesStanzas = true
    logger.traceStanza("<b/>")
    #expect(sink.records.map(\.message) == ["<b/>"])
    #expect(sink.records.map(\.level) == [.debug])
  }
}
