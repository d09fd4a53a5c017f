import Archive
import EventLoop
import SQLite
import XMPPClient

/// Acknowledgements on their way to the archive. They need not be there at once (what is lost of them in a crash, the
/// server's archive tells again), so that an exchange costs one commit and not two.
@LoopActor
final class AckBatch {
  private let gate: ArchiveGate
  private let sent: @LoopActor () -> StreamRecord.Sent?
  private var ids: [String] = []
  private var timer: (any ScheduledWork)?
  private static let delay = Duration.seconds(1)
  private static let limit = 256

  /// `sent`: how far the stream has come.
  init(gate: ArchiveGate, sent: @escaping @LoopActor () -> StreamRecord.Sent?) {
    self.gate = gate
    self.sent = sent
  }

  func add(_ new: [String]) {
    guard !new.isEmpty else { return }
    ids += new
    if ids.count >= Self.limit { return flush() }
    if timer == nil { timer = gate.scheduler.schedule(after: Self.delay) { [weak self] in self?.flush() } }
  }

  func flush() {
    timer = nil
    guard !ids.isEmpty else { return }
    let ids = self.ids
    self.ids = []
    let sent = sent()
    gate.write { transaction throws(DatabaseError) in
      try transaction.acknowledge(ids)
      if let sent { transaction.noteSent(sent) }
    }
  }
}
