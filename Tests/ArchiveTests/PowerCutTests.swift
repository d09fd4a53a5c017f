import CRecordingVFS
import Glibc
import SQLite
import TestSupport
import Testing

@testable import Archive

/// One at a time: the recording is of the process.
@Suite("A power cut", .serialized)
struct PowerCutTests {
  /// XMPPBOTD_SEED repeats a run.
  private let seed =
    getenv("XMPPBOTD_SEED").flatMap { UInt64(String(cString: $0)) } ?? UInt64.random(in: 0...UInt64.max)

  private static let messages = 400
  /// XMPPBOTD_CUTS asks for more than a quick run has.
  private static let cuts = getenv("XMPPBOTD_CUTS").flatMap { Int(String(cString: $0)) } ?? 25

  /// Which messages had been reported as archived, and after how many steps.
  private final class Reported: Sendable {
    private let marks = Monitor<[(steps: Int, id: Int64)]>([])

    func add(_ id: Int64) { marks.withLock { $0.append((PowerCut.now, id)) } }
    var count: Int { marks.withLock { $0.count } }
    func upTo(_ steps: Int) -> [Int64] { marks.withLock { $0.filter { $0.steps <= steps }.map(\.id) } }
  }

  /// Messages in groups of all sizes, with reads of the index and deletions between, until the archive is closed.
  private func live(
    _ folder: TemporaryFolder, _ sync: ArchiveOptions.Synchronous, _ reported: Reported, messages: Int,
    _ random: inout SeededRandom
  ) throws {
    var options = ArchiveOptions(synchronous: sync)
    // So that the log is often moved, and begun anew.
    options.checkpoints = CheckpointPolicy(step: 100)
    let archive = try openArchive(folder, options: options)
    var left = messages
    while left > 0 {
      let group = min(left, Int.random(in: 1...40, using: &random))
      left -= group
      let outcomes = (0..<group).map { _ in
        let body = String(repeating: "word ", count: Int.random(in: 0...800, using: &random))
        let outcome = Outcome<ArchiveTransaction.Insertion>()
        archive.write { transaction throws(DatabaseError) in
          try transaction.insert(message(body))
        } completion: { result in
          if case .success(.inserted(let id)) = result { reported.add(id) }
          outcome.set(result)
        }
        return outcome
      }
      for outcome in outcomes { _ = try outcome.wait().get() }
      if Int.random(in: 0..<10, using: &random) == 0 { _ = try archive.search("word", limit: 1) }
    }
    archive.close()
  }

  /// Opens what a cut has left as the daemon would; the ids that are there.
  private func survivors(_ files: [String: [UInt8]], cut: Int) throws -> [Int64] {
    let folder = TemporaryFolder()
    for (name, bytes) in files { writeFile(folder.file(name), bytes) }
    do {
      try openArchive(folder).close()
    } catch {
      let found = files.map { "\($0.key): \($0.value.count) bytes" }.sorted().joined(separator: ", ")
      Issue.record("seed \(seed), cut \(cut), \(found): \(error)")
      throw error
    }
    let reader = try ArchiveReader.open(path: folder.file("archive.db"))
    let check = try reader.check()
    #expect(check.isSound, "seed \(seed), cut \(cut): \(check)")
    var ids: [Int64] = []
    try reader.export {
      ids.append($0.id)
      return true
    }
    return ids
  }

  private func cutOften(
    _ sync: ArchiveOptions.Synchronous, _ judge: (_ there: [Int64], _ reported: [Int64], _ cut: Int) -> Void
  ) throws {
    print("power cut: XMPPBOTD_SEED=\(seed)")
    var random = SeededRandom(seed)
    let folder = TemporaryFolder()
    let reported = Reported()
    let record = try PowerCut(in: folder) {
      try live(folder, sync, reported, messages: PowerCutTests.messages, &random)
    }
    #expect(reported.count == PowerCutTests.messages)
    // Else nothing was tried: both files written and synced, the log moved and begun anew.
    #expect(record.count(of: RECORDING_WRITE) > 1_000 && record.count(of: RECORDING_SYNC) > 2)
    for _ in 0..<PowerCutTests.cuts {
      let cut = Int.random(in: 0...record.count, using: &random)
      judge(try survivors(record.files(after: cut, using: &random), cut: cut), reported.upTo(cut), cut)
    }
    #expect(
      try survivors(record.files(after: record.count, using: &random), cut: record.count).count
        == PowerCutTests.messages)
  }

  @Test("costs no message that was reported as archived, and leaves a sound archive")
  func full() throws {
    try cutOften(.full) { there, reported, cut in
      #expect(Set(there).isSuperset(of: reported), "seed \(seed), cut \(cut)")
    }
  }

  @Test("with sync = normal it may cost the last messages, but leaves a sound archive without gaps")
  func normal() throws {
    try cutOften(.normal) { there, _, cut in
      #expect(there == Array(1..<Int64(there.count + 1)), "seed \(seed), cut \(cut)")
    }
  }

  @Test("the recording is not blind: without a sync for each commit, messages are lost")
  func blind() throws {
    var random = SeededRandom(seed)
    let folder = TemporaryFolder()
    let reported = Reported()
    let record = try PowerCut(in: folder) { try live(folder, .normal, reported, messages: 100, &random) }
    var lost = 0
    for cut in stride(from: 0, through: record.count, by: max(1, record.count / 20)) {
      let there = try survivors(record.files(after: cut, using: &random), cut: cut)
      if !Set(there).isSuperset(of: reported.upTo(cut)) { lost += 1 }
    }
    #expect(lost > 0, "seed \(seed)")
  }

  @Test("an fsync that fails ends the archive; what was reported is there, the rest as a whole or not at all")
  func failedSync() throws {
    let folder = TemporaryFolder()
    var files: [String: [UInt8]] = [:]
    _ = try PowerCut(in: folder) {
      let archive = try openArchive(folder)
      try archive.insertAndWait(message("before"))
      recording_fail_sync(0)
      let failed = #expect(throws: ArchiveError.self) {
        try archive.writeAndWait { transaction throws(DatabaseError) in
          for _ in 0..<5 { try transaction.insert(message("group")) }
        }
      }
      #expect(failed?.isFatal == true)
      #expect(throws: ArchiveError.self) { try archive.insertAndWait(message("after")) }
      archive.close()
      files = folder.contents.filter { !$0.key.hasSuffix("-shm") }
    }
    let there = try survivors(files, cut: 0)
    #expect(there == [1] || there == [1, 2, 3, 4, 5, 6], "\(there)")
  }
}
