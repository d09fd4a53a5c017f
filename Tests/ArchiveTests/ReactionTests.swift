import SQLite
import TestSupport
import Testing

@testable import Archive

@Suite("Reactions, and the schema that has them")
struct ReactionTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("archive.db") }

  /// An archive as version 2 left it: many messages, one that waits.
  private func makeVersion2() throws {
    let second = Migrator(
      applicationID: Schema.applicationID, migrations: Array(Schema.migrator.migrations.prefix(2)))
    let connection = try Connection(path: path, access: .readWrite)
    try connection.useWAL(sizeLimit: 1_000_000)
    try second.migrate(connection)
    try connection.execute(
      """
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
      INSERT INTO message (time, direction, kind, state, peer, body)
      SELECT i, 'in', 'chat', 'received', 'alice@example.org', i || hex(zeroblob(150)) FROM n;
      INSERT INTO message (time, direction, kind, state, peer, body, raw_xml)
      VALUES (301, 'out', 'chat', 'queued', 'bob@example.org', 'waits', '<x/>');
      """)
  }

  private func reaction(_ emoji: [String], to id: String) -> NewMessage {
    var row = NewMessage(.out, .chat, peer: "alice@example.org", time: start)
    row.messageID = "r-\(id)"
    row.originID = row.messageID
    row.reaction = .init(to: id, emoji: emoji)
    return row
  }

  @Test("they are rows of their own, and come back as they went in", arguments: [["👍", "👩‍💻"], []])
  func kept(_ emoji: [String]) throws {
    let archive = try openArchive(folder)
    try archive.insertAndWait(reaction(emoji, to: "m1"))
    let rows = try archive.readAndWait { queries throws(DatabaseError) in try queries.queued(limit: 9) }
    #expect(rows.map(\.reaction) == [.init(to: "m1", emoji: emoji)])
    #expect(rows.first?.body == nil)
    archive.close()
    let connection = try Connection(path: path, access: .readOnly)
    #expect(
      try connection.integer("SELECT count(*) FROM messages WHERE reacts_to = 'm1' AND reactions IS NOT NULL") == 1)
  }

  @Test("an archive of version 2 is brought up to date with all that is in it")
  func migrates() throws {
    try makeVersion2()
    let archive = try openArchive(folder)
    let waiting = try archive.readAndWait { queries throws(DatabaseError) in try queries.queued(limit: 9) }
    #expect(waiting.map(\.body) == ["waits"] && waiting.first?.rawXML == "<x/>" && waiting.first?.reaction == nil)
    #expect(try archive.insertAndWait(reaction(["👍"], to: "m1")) == .inserted(id: 302))
    archive.close()
    #expect(try ArchiveReader.open(path: path).check().isSound)
  }

  @Test("of a damaged archive of version 2, what waits to be sent is taken over")
  func salvages() throws {
    try makeVersion2()
    // As an earlier process leaves it that met damage.
    DamageMark.write(path: path, reason: "met before")
    let archive = try openArchive(folder, options: ArchiveOptions(damaged: .setAside))
    let setAside = try #require(archive.setAside)
    #expect(setAside.kept.contains("messages that wait to be sent"))
    let waiting = try archive.readAndWait { queries throws(DatabaseError) in try queries.queued(limit: 9) }
    #expect(waiting.map(\.id) == [301] && waiting.first?.body == "waits" && waiting.first?.rawXML == "<x/>")
    archive.close()
  }
}
