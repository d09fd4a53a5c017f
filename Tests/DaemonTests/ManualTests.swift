import Configuration
import Glibc
import Testing

@testable import Daemon

@Suite("The manual pages, docs/man")
struct ManualTests {
  /// The terms that a page explains: `.It Cm TERM`.
  private func terms(of page: String) throws -> Set<String> {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    let stream = try #require(fopen(root + "/docs/man/" + page, "r"))
    defer { fclose(stream) }
    var bytes: [UInt8] = []
    while case let byte = fgetc(stream), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
    let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
    return Set(
      lines.filter { $0.hasPrefix(".It Cm ") }.flatMap { $0.dropFirst(7).split(whereSeparator: { " ,".contains($0) }) }
        .map(String.init))
  }

  @Test("xmppbot-handlers(7) explains every key of a command and of a handler", arguments: ["command", "handler"])
  func handlers(_ kind: String) throws {
    let section = try #require(Settings.schema.sections.first { $0.kind == kind })
    let terms = try terms(of: "xmppbot-handlers.7")
    // What starts the program is named in the text.
    let missing = section.keys.map(\.name).filter { $0 != "exec" && !terms.contains($0) }
    #expect(missing.isEmpty)
  }
}
