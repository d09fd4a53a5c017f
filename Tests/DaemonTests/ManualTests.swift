import Configuration
import TestSupport
import Testing

@testable import BotKit
@testable import Daemon
@testable import Systemd

@Suite("The manual pages, docs/man")
struct ManualTests {
  private static let sections = Settings.schema.sections
  private static let configuration = ManualPage("xmppbotd.conf.5")
  private static let daemon = ManualPage("xmppbotd.8")

  @Test("xmppbot-handlers(7) explains every key of a command and of a handler", arguments: ["command", "handler"])
  func handlers(_ kind: String) throws {
    let section = try #require(Self.sections.first { $0.kind == kind })
    let terms = Set(ManualPage("xmppbot-handlers.7").items.filter { $0.macro == "Cm" }.flatMap(\.names))
    // What starts the program is named in the text.
    let missing = section.keys.map(\.name).filter { $0 != "exec" && !terms.contains($0) }
    #expect(missing.isEmpty)
  }

  // MARK: - xmppbotd.conf(5)

  @Test("xmppbotd.conf(5) has the sections of the schema, and no others")
  func configurationSections() {
    #expect(Self.configuration.subsections["SECTIONS"] == Self.sections.map(\.title))
  }

  @Test("xmppbotd.conf(5) has a section's keys, and no others, as they are written", arguments: sections.map(\.title))
  func configurationKeys(_ title: String) throws {
    let section = try #require(Self.sections.first { $0.title == title })
    let items = Self.configuration.items("Cm", in: "SECTIONS", title)
    #expect(items.map(\.name) == section.keys.map(\.name))
    #expect(items.map(\.syntax) == section.keys.map { "= " + $0.syntax })
  }

  @Test("xmppbotd.conf(5) says each key's default, or that it is required", arguments: sections.map(\.title))
  func configurationDefaults(_ title: String) throws {
    let section = try #require(Self.sections.first { $0.title == title })
    for (item, key) in zip(Self.configuration.items("Cm", in: "SECTIONS", title), section.keys) {
      if let value = key.defaultValue {
        // A mark that mdoc(7) would take for its own is escaped.
        let text = item.text.replacing("\\&", with: "")
        #expect(text.contains("By default\n.Ql \(value) "), "\(title) \(key.name)")
      } else if !key.otherwise.isEmpty {
        #expect(item.text.contains("By default"), "\(title) \(key.name)")
      } else {
        #expect(item.text.contains("Required.") == key.isRequired, "\(title) \(key.name)")
      }
    }
  }

  @Test("a file in commands.d has the keys of a section, without exec, as the pages say")
  func header() throws {
    let section = try #require(Self.sections.first { $0.kind == "command" })
    #expect(Set(CommandHeader.keys) == Set(section.keys.map(\.name)).subtracting(["exec"]))
  }

  // MARK: - xmppbotd(8)

  @Test("xmppbotd(8) and --help have the daemon's options, and no others")
  func options() {
    let items = Self.daemon.items("Fl", in: "OPTIONS")
    #expect(Set(items.compactMap { $0.words.first.map { "-" + $0 } }) == Set(XMPPBot.options))
    #expect(Self.daemon.options == Set(XMPPBot.options))
    for option in XMPPBot.options { #expect(XMPPBot.usage.contains("\n  \(option) ")) }
  }

  @Test("xmppbotd(8) has the exit codes that the daemon has")
  func exitCodes() {
    let codes: [ExitCode] = [.done, .failed, .usage, .configuration]
    #expect(Self.daemon.items.filter { $0.section == "EXIT STATUS" }.map(\.macro) == codes.map { "\($0.rawValue)" })
  }

  @Test("xmppbotd(8) has every event with its level, and no others")
  func events() {
    let items = Self.daemon.items("Cm", in: "THE JOURNAL", "Events")
    #expect(Set(items.map(\.name)) == Set(LogEvent.allCases.map(\.rawValue)))
    #expect(items.count == LogEvent.allCases.count)
    for item in items { #expect(item.syntax == LogEvent(rawValue: item.name)?.level.rawValue, "\(item.name)") }
  }

  @Test("xmppbotd(8) has the journal's fields, and no others")
  func fields() {
    let record = LogRecord(
      event: .commandRun, message: "m", jid: "j", peer: "p", room: "r", command: "c", stanzaID: "s", duration: .zero)
    let fields = JournalWriter.fields(of: record)
    let starts = [0] + fields.ends.dropLast()
    let names = zip(starts, fields.ends).map { start, end in
      String(decoding: fields.bytes[start..<end].prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self)
    }
    #expect(Self.daemon.items("Ev", in: "THE JOURNAL").flatMap(\.names) == names)
  }
}
