import EventLoop
import Glibc

/// Why a connection ended.
public enum CloseReason: Error, Sendable, Hashable, CustomStringConvertible {
  /// The peer ended it in good order (with close_notify, on TLS).
  case peerClosed
  /// The peer's TCP stream ended without TLS's close_notify: the last stanzas may be cut off, by anybody on the way.
  case truncated
  /// The peer reset it.
  case reset
  /// TCP gave up on it.
  case timedOut
  /// Another error of the system.
  case system(Errno)
  /// TLS failed on the established connection.
  case tls(TLSError)
  /// `close()` is complete.
  case local

  init(errno code: Int32) {
    switch code {
    case ECONNRESET, EPIPE, ECONNABORTED: self = .reset
    case ETIMEDOUT: self = .timedOut
    default: self = .system(Errno(code: code))
    }
  }

  public var description: String {
    switch self {
    case .peerClosed: "the server closed the connection"
    case .truncated: "the connection ended without TLS's closing record"
    case .reset: "the connection was reset"
    case .timedOut: "the connection timed out"
    case .system(let error): "\(error)"
    case .tls(let error): "\(error)"
    case .local: "closed by us"
    }
  }
}
