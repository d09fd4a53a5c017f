import Glibc
import Testing

@testable import Systemd

@Suite("The writers")
struct LogWriterTests {
  private let plain = TerminalWriter.Style(colour: false, localTime: false)
  private let newYear = timespec(tv_sec: 1_767_225_600, tv_nsec: 7_000_000)

  private func line(_ record: LogRecord, style: TerminalWriter.Style? = nil) -> String {
    String(decoding: TerminalWriter.line(record, at: newYear, style: style ?? plain), as: UTF8.self)
  }

  private func fields(_ record: LogRecord) -> [String] {
    let fields = JournalWriter.fields(of: record)
    var start = 0
    return fields.ends.map { end in
      defer { start = end }
      return String(decoding: fields.bytes[start..<end], as: UTF8.self)
    }
  }

  @Test("a line has time, level, event, text and what it is about")
  func readable() {
    let record = LogRecord(
      event: .commandRun, message: "done", jid: "bot@example.org", peer: "alice@example.org", command: "uptime",
      duration: .microseconds(12_345))
    #expect(
      line(record)
        == "2026-01-01T00:00:00.007Z info    command-run: done peer=alice@example.org command=uptime duration=12ms\n")
  }

  @Test("the journal gets native fields, and none that is empty")
  func native() {
    let record = LogRecord(
      event: .commandRun, message: "done", jid: "bot@example.org", peer: "alice@example.org", room: nil,
      command: "uptime", stanzaID: "s1", duration: .microseconds(12_345))
    #expect(
      fields(record) == [
        "MESSAGE=done", "MESSAGE_ID=" + LogEvent.commandRun.messageID, "PRIORITY=6", "XMPPBOT_EVENT=command-run",
        "XMPPBOT_JID=bot@example.org", "XMPPBOT_PEER=alice@example.org", "XMPPBOT_COMMAND=uptime",
        "XMPPBOT_STANZA_ID=s1", "XMPPBOT_DURATION_US=12345",
      ])
  }

  @Test(
    "hostile text stays in its line and on its place",
    arguments: [
      ("a\nPRIORITY=0\r", "a\\nPRIORITY=0\\r"), ("\u{1B}[2J", "\\x1b[2J"), ("\u{9B}2J\u{7F}\u{0}", "\\x9b2J\\x7f\\x00"),
      ("\u{202E}txt.exe\u{2066}", "\\u{202e}txt.exe\\u{2066}"), ("\u{2028}x", "\\u{2028}x"),
      ("grüße, 你好 👩‍👩‍👧 é", "grüße, 你好 👩‍👩‍👧 é"), ("\u{FEFF}", "\\u{feff}"),
    ])
  func hostile(text: String, escaped: String) {
    let record = LogRecord(event: .protocolViolation, message: text, peer: text)
    #expect(line(record).hasSuffix("protocol-violation: \(escaped) peer=\(escaped)\n"))
    #expect(fields(record).contains("MESSAGE=" + escaped))
    #expect(fields(record).contains("XMPPBOT_PEER=" + escaped))
  }

  @Test("a text without end is cut between characters")
  func cut() {
    var bytes: [UInt8] = []
    LogText.append(String(repeating: "€", count: 100_000), to: &bytes)
    #expect(String(validating: bytes, as: UTF8.self)?.hasSuffix("€…") == true)
    #expect(bytes.count <= LogText.limit + 3)
  }

  @Test("colour is for levels that stand out, and only where asked for")
  func colour() {
    let coloured = TerminalWriter.Style(colour: true, localTime: false)
    #expect(line(LogRecord(event: .loginFailed, message: "x"), style: coloured).contains("\u{1B}[31merror\u{1B}[0m   "))
    #expect(!line(LogRecord(event: .online, message: "x"), style: coloured).contains("\u{1B}"))
    #expect(!line(LogRecord(event: .loginFailed, message: "x")).contains("\u{1B}"))
  }

  @Test("a line arrives at the descriptor, whole")
  func written() {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    TerminalWriter(descriptor: ends[1], style: plain).write(LogRecord(event: .ready, message: "ready"))
    close(ends[1])
    var buffer = [UInt8](repeating: 0, count: 200)
    let count = read(ends[0], &buffer, buffer.count)
    close(ends[0])
    #expect(String(decoding: buffer[..<count], as: UTF8.self).hasSuffix("Z info    ready: ready\n"))
  }

  @Test("the journal is taken only when $JOURNAL_STREAM names the very descriptor")
  func destination() {
    var ends: [Int32] = [0, 0]
    #expect(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    var status = stat()
    #expect(fstat(ends[1], &status) == 0)
    let own = "\(status.st_dev):\(status.st_ino)"
    #expect(LogDestination.isJournal(ends[1], environment: ["JOURNAL_STREAM": own]))
    #expect(!LogDestination.isJournal(ends[1], environment: ["JOURNAL_STREAM": own + "1"]))
    #expect(!LogDestination.isJournal(ends[1], environment: [:]))
    #expect(!LogDestination.isJournal(-1, environment: ["JOURNAL_STREAM": own]))
    #expect(LogDestination.sink(environment: ["JOURNAL_STREAM": own], descriptor: ends[1]) is JournalWriter)
    #expect(LogDestination.sink(environment: [:], descriptor: ends[1]) is TerminalWriter)
  }
}
