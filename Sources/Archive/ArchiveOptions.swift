/// How the archive is kept.
public struct ArchiveOptions: Sendable, Hashable {
  public enum Synchronous: Sendable {
    /// A committed message survives a power cut.
    case full
    /// A committed message survives a crash of the process; a power cut may cost the last ones.
    case normal
  }

  /// What becomes of a file that is found damaged when it is opened.
  public enum Damaged: Sendable {
    /// It is an error, and nothing is changed.
    case refused
    /// It is renamed and a new one begun (`SetAside`).
    case setAside
  }

  public var synchronous: Synchronous
  public var damaged: Damaged
  var checkpoints = CheckpointPolicy()

  public init(synchronous: Synchronous = .full, damaged: Damaged = .refused) {
    self.synchronous = synchronous
    self.damaged = damaged
  }
}
