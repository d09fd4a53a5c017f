import Daemon
import Systemd
import TestSupport
import Testing

@testable import Control

@Suite("xmppbotctl(1)")
struct ManualTests {
  private static let page = ManualPage("xmppbotctl.1")
  private static let verbs = page.items("Cm", in: "VERBS")

  @Test("has the verbs that there are, with their arguments, in the order of --help, and no others")
  func verbs() {
    #expect(Self.verbs.map(\.name) == Verb.all.map(\.name))
    #expect(Self.verbs.map(\.syntax) == Verb.all.map(\.arguments))
  }

  @Test("has a verb's options with their values, and no others", arguments: Verb.all.map(\.name))
  func options(verb: String) throws {
    let item = try #require(Self.verbs.first { $0.name == verb })
    let known = try #require(Verb.all.first { $0.name == verb })
    let items = Self.page.items("Fl", inside: item)
    #expect(items.map(Self.usage) == known.options.map(\.usage))
    #expect(items.map { $0.text.contains("Required.") } == known.options.map(\.isRequired))
  }

  @Test("has the options of all verbs, and names none that does not exist")
  func commonOptions() {
    #expect(Self.page.items("Fl", in: "OPTIONS").map(Self.usage) == Option.common.map(\.usage))
    let all = Set((Option.common + Verb.all.flatMap(\.options)).map(\.name))
    #expect(Self.page.options.subtracting(all).isEmpty)
  }

  @Test("has every exit code, and no others")
  func exitCodes() {
    let codes = Self.page.items.filter { $0.section == "EXIT STATUS" }.map(\.macro)
    #expect(codes == ExitCode.allCases.map { "\($0.rawValue)" })
  }

  @Test("has the levels of the log, and the formats of an export")
  func words() throws {
    let level = try #require(Self.verbs.first { $0.name == "log-level" })
    for word in LogLevel.allCases.map(\.rawValue) { #expect(level.text.contains(".Ql \(word)")) }
    let export = try #require(Self.verbs.first { $0.name == "archive export" })
    for word in MessageWriter.Format.allCases.map(\.rawValue) { #expect(export.text.contains(".Ql \(word)")) }
  }

  /// An item as the program writes it: `--with JID`.
  private static func usage(_ item: ManualPage.Item) -> String {
    "-" + item.words.filter { $0 != "Ar" }.joined(separator: " ")
  }
}

extension Verb {
  var name: String { path.joined(separator: " ") }
}
