import Glibc

/// An error number of the system, with its text.
public struct Errno: Error, Sendable, Hashable, CustomStringConvertible {
  public let code: Int32
  public init(code: Int32) { self.code = code }
  public var description: String { String(cString: strerror(code)) }
}
