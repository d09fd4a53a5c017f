import SQLite

/// The archive: every message in and out, the roster, and what is remembered between runs, in one SQLite file.
///
/// All of it happens on one thread that owns the only writing connection, so the event loop never waits for a disk. What
/// waits when that thread becomes free is committed as one group.
public final class Archive: Sendable {
  /// Takes a closure to where completions are to run (an event loop's `post`). Called once per committed group, on the
  /// database's thread; order must be kept.
  public typealias Delivery = @Sendable (_ completions: @escaping @Sendable () -> Void) -> Void

  /// Takes what the operator should know, on the database's thread.
  public typealias Noticed = @Sendable (ArchiveNotice) -> Void

  public let path: String
  /// The damaged archive whose place this one took when it was opened.
  public let setAside: SetAside?
  private let inbox: Monitor<Inbox>
  private let deliver: Delivery
  private let thread: DatabaseThread

  /// Opens or creates the archive and brings its schema up to date. Blocks.
  public static func open(
    path: String, options: ArchiveOptions = ArchiveOptions(), noticed: @escaping Noticed = { _ in },
    deliver: @escaping Delivery
  ) throws(ArchiveError) -> Archive {
    let inbox = Monitor(Inbox())
    let opening = Monitor<Result<SetAside?, ArchiveError>?>(nil)
    let service = Service(path: path, options: options, inbox: inbox, noticed: noticed, deliver: deliver) { setAside in
      opening.signal {
        $0 = .success(setAside)
        return true
      }
    }
    let thread: DatabaseThread
    do throws(ThreadError) {
      thread = try DatabaseThread {
        do throws(ArchiveError) {
          try service.run()
        } catch {
          opening.signal {
            $0 = .failure(error)
            return true
          }
        }
      }
    } catch {
      throw .noThread(error)
    }
    switch opening.wait(until: nil, for: { $0 != nil }, { $0 ?? .failure(.closed) }) {
    case .success(let setAside):
      return Archive(path: path, setAside: setAside, inbox: inbox, deliver: deliver, thread: thread)
    case .failure(let error):
      thread.join()
      throw error
    }
  }

  private init(
    path: String, setAside: SetAside?, inbox: Monitor<Inbox>, deliver: @escaping Delivery, thread: DatabaseThread
  ) {
    self.path = path
    self.setAside = setAside
    self.inbox = inbox
    self.deliver = deliver
    self.thread = thread
  }

  deinit { inbox.close() }

  /// Finishes what was asked for, completes the index, leaves everything in the one file and closes it. Blocks; completions
  /// that are delivered to the caller's own loop run after it has returned.
  public func close() {
    inbox.close()
    thread.join()
  }
}

extension Archive {
  /// Runs `work` on the database's thread in the next group's transaction, and when that is committed gives its result to
  /// `completion`, in the order in which writes were handed in. Never blocks.
  ///
  /// A work that throws is undone alone. To that end a group may have to start again, so `work` may run twice: it has no
  /// effects but through the transaction. When a group as a whole fails (a full disk), all that was handed in before its
  /// completions ran fails likewise, so that who hands the same in again, in the same order, gets rows in that order.
  public func write<Value: Sendable>(
    _ work: @escaping @Sendable (borrowing ArchiveTransaction) throws(DatabaseError) -> Value,
    completion: @escaping @Sendable (Result<Value, ArchiveError>) -> Void
  ) {
    let write = Write(work, completion)
    let isAccepted = inbox.hand(in: { $0.add(write) })
    if !isAccepted { deliver { completion(.failure(.closed)) } }
  }

  /// Runs `work` on the database's thread, outside a transaction; it sees all that was written before. For short questions.
  public func read<Value: Sendable>(
    _ work: @escaping @Sendable (borrowing ArchiveQueries) throws(DatabaseError) -> Value,
    completion: @escaping @Sendable (Result<Value, ArchiveError>) -> Void
  ) {
    _ = read(SingleRead(work: work), completion: completion)
  }

  /// Does a long read in slices, between which writes go on: `PageRead` of a `SearchCursor` or an `ExportCursor`, or a
  /// `StatisticsRead`. Each that is under way makes every commit wait for a slice, so who asks for one gives it up when the
  /// answer is of no use any more.
  @discardableResult
  public func read<Slices: SlicedRead>(
    _ slices: Slices, completion: @escaping @Sendable (Result<Slices.Output, ArchiveError>) -> Void
  ) -> ReadHandle {
    let read = Read(slices, completion)
    let isAccepted = inbox.hand(in: { $0.add(read) })
    if !isAccepted { deliver { completion(.failure(.closed)) } }
    return ReadHandle(read, inbox)
  }
}

/// A read that was asked for.
public struct ReadHandle: Sendable {
  private let read: PendingRead
  private let inbox: Monitor<Inbox>

  init(_ read: PendingRead, _ inbox: Monitor<Inbox>) {
    self.read = read
    self.inbox = inbox
  }

  /// Gives it up: nothing more is read for it, and its completion is not called unless that is on its way already. Harmless
  /// when it has ended. Never blocks.
  public func cancel() {
    // The thread need not be woken: while it has a read, it does not sleep.
    inbox.withLock { $0.cancelled.append(read) }
  }
}
