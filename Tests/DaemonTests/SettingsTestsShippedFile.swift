import Configuration
import Glibc
import Testing

@testable import Daemon

@Suite("The shipped configuration, etc/xmppbotd.conf")
struct SettingsTestsShippedFile {
  /// The lines of the file.
  private func lines() throws -> [String] {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    let stream = try #require(fopen(root + "/etc/xmppbotd.conf", "r"))
    defer { fclose(stream) }
    var bytes: [UInt8] = []
    while case let byte = fgetc(stream), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    return String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .map(String.init)
  }

  /// The file with every key and section taken out of its comment.
  private func everything() throws -> ConfigurationDocument {
    let text = try lines().map { line in
      let second = line.dropFirst().first
      return line.hasPrefix("#") && second.map { $0 == "[" || $0.isLetter } == true ? String(line.dropFirst()) : line
    }
    var parser = ConfigurationParser(file: "xmppbotd.conf")
    parser.parse(Array(text.joined(separator: "\n").utf8), file: "xmppbotd.conf")
    #expect(parser.problems.isEmpty)
    return parser.document
  }

  @Test("as it is, it only lacks the address")
  func untouched() throws {
    let text = try lines().joined(separator: "\n")
    do throws(ConfigurationProblems) {
      _ = try Settings.parse(text, file: "xmppbotd.conf", environment: serviceEnvironment)
      Issue.record("a configuration without an address was taken")
    } catch {
      #expect(error.diagnostics.count == 1)
      #expect(error.description.hasSuffix("[account] has no `jid`: add `jid = JID`"))
    }
  }

  @Test("with the address filled in, it says the same as an address alone")
  func filledIn() throws {
    let text = try lines().map { $0 == "#jid = bot@example.org" ? "jid = bot@example.org" : $0 }
    #expect(
      try Settings.parse(text.joined(separator: "\n"), environment: serviceEnvironment)
        == Settings.parse("[account]\njid = bot@example.org\n", environment: serviceEnvironment))
  }

  @Test("it shows every key that there is, in its section, and no other")
  func sameKeys() throws {
    let document = try everything()
    let shown = document.sections.map { section in [section.kind] + section.entries.map(\.key).sorted() }
    let known = Settings.schema.sections.map { section in [section.kind] + section.keys.map(\.name).sorted() }
    // What is filled in first comes first there.
    func byName(_ sections: [[String]]) -> [[String]] { sections.sorted { $0.lexicographicallyPrecedes($1) } }
    #expect(byName(shown) == byName(known))
    #expect(Settings.schema.problems(in: document).isEmpty)
  }

  @Test("what it shows for a key that has a default is the default")
  func sameDefaults() throws {
    for section in try everything().sections {
      let known = try #require(Settings.schema.sections.first { $0.kind == section.kind })
      for entry in section.entries {
        let key = try #require(known.keys.first { $0.name == entry.key })
        guard let defaultValue = key.defaultValue else { continue }
        #expect(entry.value == defaultValue, "\(section.title) \(entry.key)")
      }
    }
  }

  @Test("each key and section has a comment above it or above the keys that it stands with")
  func explained() throws {
    var explained = false
    for (number, line) in try lines().enumerated() {
      if line.isEmpty { explained = false }
      if line.hasPrefix("# ") { explained = true }
      if line.hasPrefix("#"), line.dropFirst().first?.isLetter == true {
        #expect(explained, "line \(number + 1): \(line)")
      }
    }
  }
}
