import SQLite

/// What a group holds besides its rows, until it is committed. For the database's thread.
///
/// Progress that its writes note (`noteHandled`, `noteCursor`) is written once, at the end of its transaction, since only
/// the last of each counts.
final class GroupState {
  /// Made when the first is looked for; not valid any more once rows are undone, whose ids are given again.
  var newest: NewestMessages?
  private var handled: UInt32?
  private var sent: StreamRecord.Sent?
  private var cursors: [(archive: String, stanzaID: String)] = []

  /// The stream's count.
  func note(handled: UInt32) { self.handled = handled }

  func note(sent: StreamRecord.Sent) { self.sent = sent }

  /// What was noted is another stream's.
  func dropStreamNotes() {
    handled = nil
    sent = nil
  }

  /// Behind those before, not in their place, so that they can be gone back to.
  func note(_ stanzaID: String, of archive: String) { cursors.append((archive, stanzaID)) }

  /// What was noted before a write, to go back to when it fails.
  struct Mark {
    fileprivate let handled: UInt32?
    fileprivate let sent: StreamRecord.Sent?
    fileprivate let cursors: Int
  }

  var mark: Mark { Mark(handled: handled, sent: sent, cursors: cursors.count) }

  func undo(to mark: Mark) {
    newest = nil
    handled = mark.handled
    sent = mark.sent
    cursors.removeSubrange(mark.cursors...)
  }

  func clear() {
    newest = nil
    handled = nil
    sent = nil
    cursors.removeAll(keepingCapacity: true)
  }

  /// Writes the last of each note.
  func writeNotes(_ transaction: borrowing ArchiveTransaction) throws(DatabaseError) {
    if let handled {
      // Without a stream there is no such row.
      let update = try transaction.statement("UPDATE progress SET position = ? WHERE source = ''")
      try update.bind(String(handled), at: 1)
      try update.run()
    }
    if let sent { try transaction.setProgress(of: StreamRecord.sentSource, to: "\(sent.count) \(sent.last)") }
    var written: [String] = []
    for cursor in cursors.reversed() where !written.contains(cursor.archive) {
      written.append(cursor.archive)
      try transaction.setProgress(of: cursor.archive, to: cursor.stanzaID)
    }
  }
}
