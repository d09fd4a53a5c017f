import Archive
import SQLite
import TestSupport
import Testing

@Suite("Roster and meta")
struct RosterTests {
  let folder = TemporaryFolder()
  let alice = RosterEntry(
    jid: "alice@example.org", name: "Alice", subscription: .both, groups: ["Bot users", "a\nb", "Éditeurs"])
  let bob = RosterEntry(jid: "bob@example.org", subscription: .from, ask: true)

  @Test("the roster survives, and a push changes one entry")
  func roster() throws {
    let archive = try openArchive(folder)
    try archive.writeAndWait { [alice, bob] transaction throws(DatabaseError) in
      try transaction.replaceRoster([bob, alice])
      try transaction.setMeta(.rosterVersion, to: "v1")
    }
    archive.close()

    let again = try openArchive(folder)
    func roster() throws -> [RosterEntry] {
      try again.readAndWait { queries throws(DatabaseError) in try queries.roster() }
    }
    #expect(try roster() == [alice, bob])
    let changed = RosterEntry(jid: bob.jid, name: "Bob", subscription: .both, groups: ["x"])
    try again.writeAndWait { [alice] transaction throws(DatabaseError) in
      try transaction.deleteRoster(jid: alice.jid)
      try transaction.upsertRoster(changed)
    }
    #expect(try roster() == [changed])
    try again.writeAndWait { transaction throws(DatabaseError) in try transaction.replaceRoster([]) }
    #expect(try roster().isEmpty)
    again.close()
  }

  @Test("meta remembers, replaces and forgets")
  func meta() throws {
    let archive = try openArchive(folder)
    func value() throws -> String? {
      try archive.readAndWait { queries throws(DatabaseError) in try queries.meta(.rosterVersion) }
    }
    for text in ["1", "", nil, "2"] as [String?] {
      try archive.writeAndWait { transaction throws(DatabaseError) in try transaction.setMeta(.rosterVersion, to: text)
      }
      #expect(try value() == text)
    }
    archive.close()
  }
}
