import Archive
import SQLite
import TestSupport
import Testing

@Suite("Messages")
struct MessageTests {
  let folder = TemporaryFolder()

  @Test("every field comes back as it was")
  func roundTrip() throws {
    var full = NewMessage(
      .out, .groupchat, peer: "room@conference.example.org", time: start, body: "Bonjour", state: .acked)
    full.resource = "Ärger"
    full.room = "room@conference.example.org"
    full.nick = "Ärger"
    full.occupantID = "occupant"
    full.subject = "Subject"
    full.lang = "fr"
    full.thread = "thread"
    full.delay = start - 1
    full.messageID = "id"
    full.originID = "origin"
    full.stanzaID = .init(id: "stanza", by: "room@conference.example.org")
    full.replaces = "replaced"
    full.retracts = "retracted"
    full.replyTo = "answered"
    full.error = "why"
    full.rawXML = "<message/>"
    let bare = NewMessage(.in, .normal, peer: "alice@example.org", time: start)
    let archive = try openArchive(folder)
    for message in [full, bare] { try archive.insertAndWait(message) }
    archive.close()
    var rows: [MessageRow] = []
    try ArchiveReader.open(path: archive.path).export {
      rows.append($0)
      return true
    }
    #expect(rows.map(\.id) == [1, 2])
    #expect(rows.map(\.message) == [full, bare])
  }

  @Test(
    "any text whatever is archived as it came, and does not hinder the index",
    arguments: [
      "", "\0", "a\0b", "\u{FFFF}", "\u{FFFE}\u{FEFF}", "👩‍👩‍👧‍👦🏳️‍🌈", "\u{1}\u{2}\r\n", "e\u{301}\u{302}", "\u{10FFFF}",
      "\u{202E}abc", "\"'; DROP TABLE message; --", String(repeating: "日本語 words ", count: 60_000),
    ])
  func anyText(text: String) throws {
    let archive = try openArchive(folder)
    var message = message(text)
    message.subject = text
    message.nick = text
    try archive.insertAndWait(message)
    let row = try archive.readAndWait { queries throws(DatabaseError) in try queries.message(id: 1) }
    for field in [row?.body, row?.subject, row?.nick] { #expect(field.map { Array($0.utf8) } == Array(text.utf8)) }
    archive.close()
    #expect(try ArchiveReader.open(path: archive.path).statistics().unindexed == 0)
  }

  @Test("a stanza-id that the same archive gave before is a duplicate; another archive's is not")
  func duplicates() throws {
    let archive = try openArchive(folder)
    func insert(_ id: String, by: String) throws -> ArchiveTransaction.Insertion {
      var message = message("\(id) by \(by)")
      message.stanzaID = .init(id: id, by: by)
      return try archive.insertAndWait(message)
    }
    #expect(try insert("1", by: "bot@example.org") == .inserted(id: 1))
    #expect(try insert("1", by: "bot@example.org") == .duplicate)
    #expect(try insert("1", by: "room@example.org") != .duplicate)
    #expect(try insert("2", by: "bot@example.org") != .duplicate)
    archive.close()
    #expect(
      try ArchiveReader.open(path: archive.path).bodies()
        == ["1 by bot@example.org", "1 by room@example.org", "2 by bot@example.org"])
  }

  @Test("an id is never given twice, even when the newest message is gone")
  func idsAreNotReused() throws {
    let archive = try openArchive(folder)
    try archive.insertAndWait(message("first"))
    archive.close()
    do {
      let connection = try Connection(path: archive.path, access: .readWrite)
      try connection.execute("DELETE FROM message")
    }
    let again = try openArchive(folder)
    #expect(try again.insertAndWait(message("second")) == .inserted(id: 2))
    again.close()
    #expect(try ArchiveReader.open(path: again.path).search("second") == ["second"])
  }

  @Test("a message's state moves on, with the reason if it failed")
  func states() throws {
    let archive = try openArchive(folder)
    try archive.insertAndWait(NewMessage(.out, .chat, peer: "alice@example.org", time: start, body: "hi"))
    func state() throws -> NewMessage? {
      try archive.readAndWait { queries throws(DatabaseError) in try queries.message(id: 1)?.message }
    }
    #expect(try state()?.state == .queued)
    try archive.writeAndWait { transaction throws(DatabaseError) in try transaction.setState(.acked, ofMessage: 1) }
    #expect(try state()?.state == .acked)
    try archive.writeAndWait { transaction throws(DatabaseError) in
      try transaction.setState(.failed, ofMessage: 1, error: "item-not-found")
    }
    #expect(try state()?.error == "item-not-found")
    archive.close()
  }

  @Test("people read times as text in the view")
  func view() throws {
    let archive = try openArchive(folder)
    var late = message("late")
    late.time = start + 42
    late.delay = -62_135_596_800_000_000  // year 1
    try archive.insertAndWait(late)
    archive.close()
    let connection = try Connection(path: archive.path, access: .immutable)
    let row = try connection.statement("SELECT time, delay, body FROM messages")
    #expect(try row.step())
    #expect(row.text(at: 0) == "2023-11-14T22:13:20.000042Z")
    #expect(row.text(at: 1) == "0001-01-01T00:00:00Z")
  }

  @Test("export takes what the filter admits, oldest first, over any number of slices")
  func filters() throws {
    let archive = try openArchive(folder)
    try archive.writeAndWait { transaction throws(DatabaseError) in
      for number in 0..<1_800 {
        var message = message("\(number)", peer: number % 3 == 0 ? "a@example.org" : "b@example.org")
        message.time = start + Int64(number)
        if number % 2 == 0 { message.room = "room@example.org" }
        try transaction.insert(message)
      }
    }
    archive.close()
    let reader = try ArchiveReader.open(path: archive.path)
    func numbers(_ filter: MessageFilter) throws -> [Int] { try reader.bodies(filter).compactMap { Int($0) } }
    #expect(try numbers(MessageFilter()) == Array(0..<1_800))
    #expect(try numbers(MessageFilter(peer: "a@example.org")) == Array(stride(from: 0, to: 1_800, by: 3)))
    #expect(try numbers(MessageFilter(room: "room@example.org")) == Array(stride(from: 0, to: 1_800, by: 2)))
    #expect(
      try numbers(MessageFilter(peer: "a@example.org", room: "room@example.org", since: start + 6, until: start + 18))
        == [6, 12])
    #expect(try numbers(MessageFilter(peer: "A@example.org")).isEmpty)
    #expect(try numbers(MessageFilter(since: start + 1_798)) == [1_798, 1_799])
  }

  @Test("pages follow each other without gap or repetition")
  func pages() throws {
    let archive = try openArchive(folder)
    try archive.writeAndWait { transaction throws(DatabaseError) in
      for number in 1...2_600 { try transaction.insert(message("\(number)")) }
    }
    var bodies: [String] = []
    var cursor: ExportCursor? = ExportCursor()
    while let here = cursor {
      let page = try archive.readAndWait(PageRead(here, size: 700))
      bodies += page.rows.compactMap(\.body)
      cursor = page.next
    }
    archive.close()
    #expect(bodies == (1...2_600).map(String.init))
  }

  @Test("statistics count by direction and kind")
  func statistics() throws {
    let archive = try openArchive(folder)
    try archive.insertAndWait(message("a"))
    var later = message("b")
    later.time = start + 5
    try archive.insertAndWait(later)
    try archive.insertAndWait(NewMessage(.out, .groupchat, peer: "room@example.org", time: start, body: "c"))
    let statistics = try archive.readAndWait(StatisticsRead())
    #expect(try archive.readAndWait(RowCountRead()) == statistics.count)
    archive.close()
    #expect(statistics.count == 3)
    let chats = statistics.lines.first { $0.direction == .in && $0.kind == .chat }
    #expect(chats?.count == 2)
    #expect(chats?.first == start)
    #expect(chats?.last == start + 5)
    #expect(statistics.fileSize > 0)
    #expect(statistics.walSize > 0)
  }
}
