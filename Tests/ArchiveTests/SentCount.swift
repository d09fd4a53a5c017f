import SQLite

@testable import Archive

extension ArchiveQueries {
  /// How many messages are in doubt.
  func sentCount() throws(DatabaseError) -> Int {
    Int(try connection.integer("SELECT count(*) FROM message WHERE state = 'sent'"))
  }
}
