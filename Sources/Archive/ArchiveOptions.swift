/// How the archive is kept.
public struct ArchiveOptions: Sendable, Hashable {
  public enum Synchronous: Sendable {
    /// A committed message survives a power cut.
    case full
    /// A committed message survives a crash of the process; a power cut may cost the last ones.
    case normal
  }

  public var synchronous: Synchronous

  public init(synchronous: Synchronous = .full) { self.synchronous = synchronous }
}
