import SQLite

/// What the database's thread has been asked for and not finished.
struct Inbox: Sendable {
  var writes: [PendingWrite] = []
  var reads: [PendingRead] = []
  /// Reads, of these or taken before, that nobody waits for any longer.
  var cancelled: [PendingRead] = []
  var isClosing = false
  /// The thread is blocked and must be woken.
  var isWaiting = false
  /// Which failures the caller knows of: grows when it is told that a group failed (see `Archive.write`).
  var generation = 0

  var isEmpty: Bool { writes.isEmpty && reads.isEmpty }

  /// Adds a write, unless the archive is closed.
  mutating func add(_ write: PendingWrite) -> Bool {
    if isClosing { return false }
    write.generation = generation
    writes.append(write)
    return true
  }

  /// Adds a read, unless the archive is closed.
  mutating func add(_ read: PendingRead) -> Bool {
    if isClosing { return false }
    reads.append(read)
    return true
  }

  /// Whether the thread sleeps and was not woken since.
  mutating func wakesThread() -> Bool {
    defer { isWaiting = false }
    return isWaiting
  }

  /// Takes what waits; `cancelled` may be among `reads`. The arrays that are given back keep their room.
  mutating func take(
    _ writes: inout [PendingWrite], _ reads: inout [PendingRead], cancelled: inout [PendingRead]
  ) {
    swap(&self.writes, &writes)
    swap(&self.cancelled, &cancelled)
    reads += self.reads
    self.reads.removeAll()
  }
}

extension Monitor<Inbox> {
  /// Adds work by `add`, wakes the thread if it sleeps, and gives back what `add` said.
  func hand(in add: (inout Inbox) -> Bool) -> Bool {
    var isAdded = false
    signal { inbox in
      isAdded = add(&inbox)
      return inbox.wakesThread()
    }
    return isAdded
  }

  /// Takes no more work; the thread ends when it has done what it has.
  func close() {
    signal { inbox in
      inbox.isClosing = true
      return inbox.wakesThread()
    }
  }
}
