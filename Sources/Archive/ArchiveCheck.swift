import SQLite

/// What a thorough look at an archive has found.
public struct ArchiveCheck: Sendable, Hashable {
  public internal(set) var messages: Int64 = 0
  /// Messages that the full-text index is to take in yet: the daemon does that a moment after they come.
  public internal(set) var unindexed: Int64 = 0
  /// What is wrong with the file itself: SQLite's words, a line each, a hundred at most.
  public internal(set) var damage: [String] = []
  /// What is wrong with the full-text index, which can be made anew of the messages.
  public internal(set) var indexDamage: [String] = []

  public var isSound: Bool { damage.isEmpty && indexDamage.isEmpty }
}

extension ArchiveReader {
  /// Looks at every page, row and index entry. Takes seconds to minutes, and reads while others write; their log can't be
  /// cut meanwhile. `progress`: about how many parts of a hundred are done.
  public func check(progress: @escaping (Int) -> Void = { _ in }) throws(ArchiveError) -> ArchiveCheck {
    var check = ArchiveCheck()
    do throws(DatabaseError) {
      try checkPages(&check, progress)
      try checkReferences(&check)
      check.messages = try connection.integer("SELECT count(*) FROM message")
    } catch  where error.isCorrupt {
      check.damage.append(error.message)
    } catch {
      throw ArchiveError(error)
    }
    // Of a damaged file, the index says nothing more.
    guard check.damage.isEmpty else { return check }
    do throws(DatabaseError) {
      try IndexCheck(connection, progress).run(&check)
    } catch  where error.isCorruptIndex {
      check.indexDamage.append(error.message)
    } catch  where error.isCorrupt {
      check.damage.append(error.message)
    } catch {
      throw ArchiveError(error)
    }
    return check
  }

  /// Takes most of the time.
  private func checkPages(_ check: inout ArchiveCheck, _ progress: @escaping (Int) -> Void) throws(DatabaseError) {
    let pages = max(1, Int(try connection.integer("PRAGMA page_count")))
    var damage: [String] = []
    try connection.tellingPagesRead {
      progress(min(70, 70 * $0 / pages))
    } _: { () throws(DatabaseError) in
      try connection.statement("PRAGMA integrity_check").forEachRow { row in
        let line = row.text(at: 0)
        if line != "ok" { damage.append(line) }
      }
    }
    check.damage += damage
    progress(70)
  }

  private func checkReferences(_ check: inout ArchiveCheck) throws(DatabaseError) {
    try connection.statement("PRAGMA foreign_key_check").forEachRow { row in
      guard check.damage.count < 100 else { return }
      check.damage.append("a row of \(row.text(at: 0)) belongs to one of \(row.text(at: 2)) that is not there")
    }
  }
}

/// Whether the full-text index holds each message that it should, and can be read from end to end.
private struct IndexCheck {
  let connection: Connection
  let progress: (Int) -> Void

  init(_ connection: Connection, _ progress: @escaping (Int) -> Void) {
    self.connection = connection
    self.progress = progress
  }

  func run(_ check: inout ArchiveCheck) throws(DatabaseError) {
    let queries = ArchiveQueries(connection)
    // First: what comes while the index is read is not looked for in it.
    let mark = try queries.indexedUpTo()
    let rest = try connection.statement("SELECT count(*) FROM message WHERE id > ?")
    defer { rest.reset() }
    try rest.bind(mark, at: 1)
    check.unindexed = try rest.step() ? rest.integer(at: 0) : 0
    let entries = try indexedMessages(upTo: mark)
    progress(80)
    let missing = try missing(entries, upTo: mark)
    if missing > 0 { check.indexDamage.append("\(missing) messages are missing in the full-text index") }
  }

  /// A bit for each message with a word in the index.
  private func indexedMessages(upTo mark: Int64) throws(DatabaseError) -> BitSet {
    var found = BitSet(upTo: Int(mark))
    try connection.execute("CREATE VIRTUAL TABLE temp.entry USING fts5vocab (main, message_text, instance)")
    try connection.statement("SELECT doc FROM temp.entry").forEachRow { found.insert(Int($0.integer(at: 0))) }
    return found
  }

  /// Messages up to `mark` that have words but no entry. Whether a text has words, the engine's tokenizer is asked.
  private func missing(_ entries: BitSet, upTo mark: Int64) throws(DatabaseError) -> Int64 {
    try connection.execute(
      """
      CREATE VIRTUAL TABLE temp.probe USING fts5 (
        subject, body, content = '', columnsize = 0,
        tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");
      CREATE VIRTUAL TABLE temp.probe_entry USING fts5vocab (temp, probe, instance);
      """)
    let rows = try connection.statement("SELECT id, subject, body FROM message WHERE id <= ?")
    let insert = try connection.statement("INSERT INTO temp.probe (rowid, subject, body) VALUES (?, ?, ?)")
    try rows.bind(mark, at: 1)
    try rows.forEachRow { row throws(DatabaseError) in
      let id = row.integer(at: 0)
      progress(80 + Int(20 * id / max(1, mark)))
      if entries.contains(Int(id)) { return }
      try insert.bind(id, at: 1)
      try insert.bind(row.optionalText(at: 1).map(Segmenter.index), at: 2)
      try insert.bind(row.optionalText(at: 2).map(Segmenter.index), at: 3)
      try insert.run()
    }
    return try connection.integer("SELECT count(DISTINCT doc) FROM temp.probe_entry")
  }
}

/// Numbers from 0 up to a limit; a bit each.
private struct BitSet {
  private var words: [UInt64]

  init(upTo limit: Int) { words = Array(repeating: 0, count: max(0, limit) / 64 + 1) }

  /// A number beyond the limit is left out.
  mutating func insert(_ number: Int) {
    if words.indices.contains(number >> 6) { words[number >> 6] |= 1 << (number & 63) }
  }

  func contains(_ number: Int) -> Bool {
    words.indices.contains(number >> 6) && words[number >> 6] & 1 << (number & 63) != 0
  }
}
