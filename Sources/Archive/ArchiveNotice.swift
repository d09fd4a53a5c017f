/// What the operator should know of the archive although nothing failed.
public enum ArchiveNotice: Sendable, Hashable, CustomStringConvertible {
  /// The file was there, and held nothing.
  case wasEmpty(path: String)
  /// A reader keeps the write-ahead log from being cut; its size in bytes.
  case logHeld(path: String, bytes: Int64, seconds: Int)
  /// The log could be cut at last.
  case logFreed(path: String, seconds: Int)
  /// The full-text index was damaged; it is made anew of the messages.
  case indexRebuilt(path: String)

  public var description: String {
    switch self {
    case .wasEmpty(let path):
      "\(path) was there but empty, and a new archive is begun in it; if it held messages, stop the bot and restore a backup"
    case .logHeld(let path, let bytes, let seconds):
      "\(path)-wal has grown to \(bytes >> 20) MiB, since another program has been reading the archive without a pause "
        + "for \(seconds) s at least; it can't be cut before that program ends its transaction: find it with "
        + "`fuser -v \(path)-wal` and end it"
    case .logFreed(let path, let seconds): "\(path)-wal could be cut again after \(seconds) s"
    case .indexRebuilt(let path):
      "the full-text index of \(path) was damaged and is made anew; messages are whole; check the disk, and the archive "
        + "with `xmppbotctl archive check`"
    }
  }
}
