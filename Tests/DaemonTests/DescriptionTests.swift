import Configuration
import Testing

@testable import BotKit
@testable import Daemon

/// A command is described in its own file or in a section of the configuration, which are read by different code. What one takes the
/// other takes, and understands the same.
@Suite("A command's description is read alike in its file and in the configuration")
struct DescriptionTests {
  struct Example: Sendable, CustomStringConvertible {
    let key: String
    let value: String
    let isTaken: Bool
    var description: String { "\(key) = \(value): \(isTaken ? "taken" : "refused")" }
  }

  private static func table(_ key: String, taken: [String], refused: [String]) -> [Example] {
    taken.map { Example(key: key, value: $0, isTaken: true) }
      + refused.map { Example(key: key, value: $0, isTaken: false) }
  }

  static let examples: [Example] = [
    table(
      "timeout", taken: ["100ms", "500ms", "20s", "5m", "24h", "1d", "86400s", "1 h", "1\th"],
      refused: [
        "99ms", "1ms", "0s", "86401s", "2d", "365d", "5", "s", "+5s", "-5s", "1.5s", "5S", "5 sec", "unlimited",
        "99999999999999999999s", "9223372036854775807d",
      ]),
    table(
      "memory", taken: ["16M", "16777216", "512M", "512 M", "1G", "1048576G", "1125899906842624", "unlimited"],
      refused: [
        "16777215", "1K", "0", "1048577G", "1125899906842625", "9223372036854775807G", "512m", "512MB", "-1G",
        "lots", "Unlimited",
      ]),
    table(
      "processes", taken: ["1", "64", "1000000", "unlimited"], refused: ["0", "1000001", "-1", "1K", "many", "1.5"]),
    table(
      "cpu", taken: ["1s", "1500ms", "5m", "365d", "unlimited"], refused: ["999ms", "0s", "366d", "5", "+5s", "none"]),
    table("output", taken: ["text", "code", "file"], refused: ["video", "Text", "text, code"]),
    table("rerun", taken: ["yes", "no"], refused: ["true", "YES", "on", "yes, no"]),
    table("live", taken: ["yes", "no"], refused: ["true", "YES", "on", "yes, no"]),
    table(
      "where", taken: ["chat", "room", "chat, room", "room chat", "chat,chat"],
      refused: ["Chat", "rooms", "chat; room", "everywhere"]),
    table(
      "field", taken: ["service choice web|db required", "notes lines", "count words \"How many\""],
      refused: ["service txt", "service", "service choice", "a text one two"]),
  ].flatMap { $0 }

  @Test("each value", arguments: examples)
  func verdicts(example: Example) throws {
    let line = "\(example.key) = \(example.value)"
    let file = try? CommandHeader(configuration: line)
    let script = try? CommandHeader(script: Array("#!/bin/sh\n# \(example.key): \(example.value)\n".utf8))
    let section = try? Settings.parse(
      "[account]\njid = bot@example.org\n[command x]\nexec = /bin/true\n\(line)\n", environment: serviceEnvironment
    ).commands.first
    #expect([file != nil, script != nil, section != nil] == Array(repeating: example.isTaken, count: 3))
    guard let section else { return }
    for header in [file, script].compactMap({ $0 }) {
      #expect(header.timeout == section.timeout)
      #expect(header.resources == section.resources)
      #expect(header.style == section.output)
      #expect(header.reruns == section.reruns && header.isLive == section.isLive)
      #expect(header.places == Places(section.places))
      #expect(header.fields == section.fields)
    }
  }

  @Test("both know the same keys, and each that has more than a text for its value is in the table")
  func keys() {
    let keys = Set(CommandHeader.keys)
    #expect(keys.union(["exec"]) == Set(SettingsSchema.Command.section.keys.map(\.name)))
    // Who may use it has a test of its own (AccessTests).
    #expect(keys.subtracting(["description", "usage", "allow"]) == Set(Self.examples.map(\.key)))
  }
}
