import SQLite

/// What the database's thread does: serve what waits, then what can wait (index, checkpoint), then sleep until asked.
final class ArchiveWorker {
  private let connection: Connection
  private let inbox: Monitor<Inbox>
  private let deliver: Archive.Delivery
  private let noticed: Archive.Noticed
  private let synchronous: ArchiveOptions.Synchronous
  private let group: GroupCommit
  private var indexer: Indexer
  private var checkpoints: CheckpointPolicy
  /// The index holds what it should not: it is to be made anew.
  private var indexIsDamaged = false
  private var reads: [PendingRead] = []
  /// Set once nothing that is written can be relied on any more.
  private var fatal: ArchiveError?
  /// The last group that failed: writes of that generation or before were handed in by somebody who did not know of it.
  private var failure: (error: ArchiveError, generation: Int)?
  /// When indexing may start.
  private var indexingStarts = Monotonic.now
  /// Writes since the indexer was told what the newest message is.
  private var unnoted = 0
  /// Something was written since the last rest.
  private var hasWritten = false
  /// Writes since memory was last given back to the system.
  private var sinceTrim = 0

  /// A group has at most so many writes: it bounds what one fsync can delay, and what one error can undo.
  private static let groupSize = 256
  /// Quiet time before indexing starts, so that it is not in the way of an exchange.
  private static let quiet = Monotonic.milliseconds(100)
  /// From this backlog on, indexing goes on between groups, and keeps up with them.
  private static let backlogLimit: Int64 = 20_000
  /// Messages indexed before a waiting write is looked at: usually; and when a search waits, or the index is behind.
  private static let indexStep = (usual: 16, urgent: 2_048)
  /// So many writes may come before the indexer hears of them: asking after each group would delay the next.
  private static let unnotedLimit = 1_000
  /// So many writes leave memory behind that is worth giving back.
  private static let burst = 100
  /// Time between attempts while indexing fails (a full disk).
  private static let retryInterval = Monotonic.milliseconds(10_000)

  /// Takes a connection to the file, which is locked for us, and brings its schema up to date; what can be had of the
  /// damaged one that it takes the place of is put in.
  init(
    _ connection: Connection, options: ArchiveOptions, inbox: Monitor<Inbox>, noticed: @escaping Archive.Noticed,
    deliver: @escaping Archive.Delivery, replacing setAside: inout SetAside?
  ) throws(MigrationError) {
    // Until it is known to be ours, and whole as far as can be seen, the file and its log stay as they are.
    connection.leaveWALWhenClosed(true)
    _ = try Schema.migrator.check(connection)
    do throws(DatabaseError) {
      try connection.useWAL(sizeLimit: 2 * options.checkpoints.step * 4_096)
    } catch {
      throw .failed(error)
    }
    try Schema.migrator.migrate(connection)
    if var old = setAside {
      Salvage.run(&old, into: connection)
      setAside = old
    }
    do throws(DatabaseError) {
      // The header, by which an older program knows what it must not touch, is not left in the log alone.
      try connection.checkpoint(.passive)
      indexer = try Indexer(ArchiveQueries(connection))
    } catch {
      throw .failed(error)
    }
    connection.leaveWALWhenClosed(false)
    self.connection = connection
    self.inbox = inbox
    self.noticed = noticed
    self.deliver = deliver
    checkpoints = options.checkpoints
    synchronous = options.synchronous
    group = GroupCommit(connection)
  }

  /// Serves until the archive is closed and all that was asked before is done.
  func run() {
    setSynchronous(synchronous)
    var writes: [PendingWrite] = []
    while waitForWork(&writes) {
      let written = writes.count
      serve(writes)
      writes.removeAll(keepingCapacity: true)
      advanceReads()
      index(justWritten: written)
      checkpointIfDue()
    }
    finish()
  }

  /// False when the archive is closed and nothing is left to do.
  private func waitForWork(_ writes: inout [PendingWrite]) -> Bool {
    let deadline = nextDeadline()
    var cancelled: [PendingRead] = []
    // Outside of the lock: what a read holds goes with it.
    defer { drop(cancelled) }
    return inbox.wait(
      until: deadline,
      for: { inbox in
        inbox.isWaiting = inbox.isEmpty && !inbox.isClosing
        return !inbox.isWaiting
      },
      { inbox in
        inbox.isWaiting = false
        inbox.take(&writes, &reads, cancelled: &cancelled)
        return !inbox.isClosing || !writes.isEmpty || !reads.isEmpty
      })
  }

  /// When there is something to do without being asked; nil: never, so the thread sleeps without waking.
  private func nextDeadline() -> UInt64? {
    if !reads.isEmpty { return 0 }
    if fatal != nil { return nil }
    let indexing = indexer.backlog > 0 || unnoted > 0 ? indexingStarts : nil
    return [indexing, checkpoints.deadline].compactMap { $0 }.min()
  }
}

// Writes and reads.
extension ArchiveWorker {
  private func serve(_ writes: [PendingWrite]) {
    var rest = writes[...]
    while let first = rest.first {
      let error = fatal ?? failure(before: first)
      let next = rest.prefix(ArchiveWorker.groupSize).prefix {
        error == nil || fatal != nil || failure(before: $0) != nil
      }
      rest = rest.dropFirst(next.count)
      if let error {
        for write in next { write.fail(error) }
      } else if let error = group.commit(next) {
        failure = (error, inbox.withLock { $0.generation })
        if error.isFatal { fail(error) }
      } else if connection.hasMoved {
        let error = ArchiveError.moved(path: connection.path)
        for write in next { write.fail(error) }
        fail(error)
      }
      deliverWrites(Array(next))
    }
    guard !writes.isEmpty else { return }
    unnoted += writes.count
    sinceTrim += writes.count
    hasWritten = true
    indexingStarts = max(indexingStarts, Monotonic.now + ArchiveWorker.quiet)
  }

  /// The failure that `write` would overtake, were it done.
  private func failure(before write: PendingWrite) -> ArchiveError? {
    guard let failure, write.generation <= failure.generation else { return nil }
    return failure.error
  }

  private func deliverWrites(_ writes: [PendingWrite]) {
    let known = failure?.generation
    deliver { [inbox] in
      if let known { inbox.withLock { $0.generation = max($0.generation, known + 1) } }
      for write in writes { write.complete() }
    }
  }

  /// Does a slice of each read that can go on.
  private func advanceReads() {
    var finished: [PendingRead] = []
    let queries = ArchiveQueries(connection)
    reads.removeAll { read in
      if let fatal {
        read.fail(fatal)
      } else if read.needsIndex, !hasIndexed(for: read) {
        return false
      } else if !read.advance(queries) {
        return false
      }
      note(read.error)
      finished.append(read)
      return true
    }
    deliverReads(finished)
  }

  private func deliverReads(_ reads: [PendingRead]) {
    if reads.isEmpty { return }
    deliver { for read in reads { read.complete() } }
  }

  /// Goes no further with reads that nobody waits for.
  private func drop(_ cancelled: [PendingRead]) {
    if cancelled.isEmpty { return }
    reads.removeAll { read in cancelled.contains { $0 === read } }
    // What they would have told, and all that it holds, ends where completions run.
    deliver { withExtendedLifetime(cancelled) {} }
  }

  /// Whether the index holds what was there when the read was first looked at.
  private func hasIndexed(for read: PendingRead) -> Bool {
    noteNewest()
    let awaited = read.awaitedIndex ?? indexer.newest
    read.awaitedIndex = awaited
    return indexer.indexed >= awaited
  }

  /// Looks at how a read ended.
  private func note(_ error: ArchiveError?) {
    switch error {
    case .damaged(let reason): fail(.damaged(reason))
    case .failed(let reason) where reason.isCorruptIndex: indexIsDamaged = true
    default: break
    }
  }

  private func fail(_ error: ArchiveError) {
    guard fatal == nil else { return }
    fatal = error
    // What the log holds belongs to the file that is gone, not to the one that comes in its place.
    if case .moved = error { _ = try? connection.truncateLogIfFree() }
    connection.leaveWALWhenClosed(true)
    if case .damaged(let reason) = error { DamageMark.write(path: connection.path, reason: reason.message) }
  }
}

// What can wait.
extension ArchiveWorker {
  private func noteNewest() {
    guard unnoted > 0 else { return }
    unnoted = 0
    // An error here shows itself again where the index is filled.
    try? indexer.noteNewest(ArchiveQueries(connection))
  }

  private func index(justWritten: Int) {
    guard fatal == nil else { return }
    if indexIsDamaged { rebuildIndex() }
    let isDue = Monotonic.now >= indexingStarts
    if isDue || unnoted > ArchiveWorker.unnotedLimit { noteNewest() }
    if indexer.backlog > 0 {
      let isBehind = indexer.backlog > ArchiveWorker.backlogLimit
      let isAwaited = reads.contains { $0.needsIndex }
      guard isBehind || isAwaited || isDue else { return }
      let step = ArchiveWorker.indexStep
      indexBatch(minimum: isBehind || isAwaited ? max(step.urgent, justWritten) : step.usual)
    }
    if hasWritten, isDue, indexer.backlog <= 0, unnoted == 0 { rest() }
  }

  /// Nothing is left to do: what was needed for it goes back, to the allocator, and after a burst to the system.
  private func rest() {
    hasWritten = false
    let isAfterBurst = sinceTrim > ArchiveWorker.burst
    connection.releaseMemory(toSystem: isAfterBurst)
    if isAfterBurst { sinceTrim = 0 }
  }

  /// Without an fsync: the index and its mark are lost together, and the next commit of messages syncs both.
  private func indexBatch(minimum: Int) {
    setSynchronous(.normal)
    defer { setSynchronous(synchronous) }
    do throws(DatabaseError) {
      try indexer.indexBatch(connection, minimum: minimum) { inbox.withLock { !$0.isEmpty } }
    } catch {
      if error.isFailedSync || error.isCorrupt { return fail(ArchiveError(error)) }
      indexIsDamaged = error.isCorruptIndex
      indexingStarts = Monotonic.now + ArchiveWorker.retryInterval
      // Who searches is told now rather than made to wait.
      let awaiting = reads.filter { $0.needsIndex }
      reads.removeAll { $0.needsIndex }
      for read in awaiting { read.fail(ArchiveError(error)) }
      deliverReads(awaiting)
    }
  }

  /// Empties the index: the messages are all there, and it is filled again from the first.
  private func rebuildIndex() {
    indexIsDamaged = false
    do throws(DatabaseError) {
      try indexer.clear(connection)
      noticed(.indexRebuilt(path: connection.path))
    } catch {
      // Met again where it is filled.
      if error.isFailedSync || error.isCorrupt { fail(ArchiveError(error)) }
    }
  }

  private func checkpointIfDue() {
    guard fatal == nil else { return }
    let action = checkpoints.action(pages: connection.walPages, now: Monotonic.now)
    guard action != .none else { return }
    let isComplete = checkpoint {
      () throws(DatabaseError) in
      action == .passive ? try connection.checkpoint(.passive) : try connection.truncateLogIfFree()
    }
    guard let isComplete else { return }
    let path = connection.path
    switch checkpoints.done(action, isComplete: isComplete, now: Monotonic.now) {
    case .held(let time):
      noticed(.logHeld(path: path, bytes: sizeOfFile(path + "-wal"), seconds: Int(time / 1_000_000_000)))
    case .freed(let time): noticed(.logFreed(path: path, seconds: Int(time / 1_000_000_000)))
    case nil: break
    }
  }

  /// What `work` gave; nil if it failed.
  private func checkpoint(_ work: () throws(DatabaseError) -> Bool) -> Bool? {
    do throws(DatabaseError) {
      return try work()
    } catch {
      // Any other error leaves the log as it was, to be tried again after the next commit.
      if error.isFailedSync || error.isCorrupt { fail(ArchiveError(error)) }
      return nil
    }
  }

  /// Brings everything into the one file, as far as the disk lets us.
  private func finish() {
    noteNewest()
    while fatal == nil, indexer.backlog > 0 {
      let before = indexer.indexed
      indexBatch(minimum: .max)
      if indexer.indexed == before { break }
    }
    if fatal == nil { _ = checkpoint { () throws(DatabaseError) in try connection.checkpoint(.truncate) } }
  }

  private func setSynchronous(_ mode: ArchiveOptions.Synchronous) {
    // Setting a known pragma outside a transaction can't fail.
    try? connection.execute(mode == .full ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL")
  }
}
