import Testing

@testable import Systemd

@Suite("The events and their catalog")
struct CatalogTests {
  private struct Entry {
    var id: String
    var subject = ""
    var text = ""
  }

  /// Entries as journalctl reads them (systemd's docs/CATALOG): `-- id`, header fields, an empty line, text.
  private func catalog() throws -> [Entry] {
    var entries: [Entry] = []
    var inHeader = false
    for line in try text(of: repositoryPath("systemd/xmppbotd.catalog")).split(
      separator: "\n", omittingEmptySubsequences: false)
    {
      if line.hasPrefix("-- ") {
        entries.append(Entry(id: String(line.dropFirst(3))))
        inHeader = true
      } else if let last = entries.indices.last {
        if line.isEmpty { inHeader = false }
        if line.hasPrefix("Subject: ") { entries[last].subject = String(line.dropFirst("Subject: ".count)) }
        if !inHeader { entries[last].text += line + "\n" }
      }
    }
    return entries
  }

  @Test("each event has one entry in the catalog, and each entry is an event's")
  func sameList() throws {
    #expect(try catalog().map(\.id).sorted() == LogEvent.allCases.map(\.messageID).sorted())
  }

  @Test("each entry has a subject and an explanation")
  func complete() throws {
    for entry in try catalog() {
      #expect(!entry.subject.isEmpty, "\(entry.id)")
      #expect(entry.text.count > 40, "\(entry.id)")
    }
  }

  @Test("each identifier is 128 bits, lower-case, and used once")
  func identifiers() {
    let ids = LogEvent.allCases.map(\.messageID)
    #expect(Set(ids).count == ids.count)
    for id in ids {
      #expect(id.utf8.count == 32)
      #expect(id.allSatisfy { "0123456789abcdef".contains($0) })
    }
  }

  @Test("names are lower-case words with hyphens")
  func names() {
    for event in LogEvent.allCases {
      #expect(event.rawValue.allSatisfy { $0 == "-" || ("a"..."z").contains($0) })
    }
  }

  @Test("message texts stay at debug: only stanzas hold them")
  func bodies() {
    #expect(LogEvent.stanzaTrace.level == .debug)
  }
}
