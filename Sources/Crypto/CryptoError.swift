internal import COpenSSL

/// Why libcrypto refused.
public struct CryptoError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was being done, as in "deriving a key".
  public let operation: String
  public let reason: String

  init(_ operation: String, reason: String) {
    self.operation = operation
    self.reason = reason
  }

  /// Takes the reason from the thread's error queue and leaves the queue empty.
  init(_ operation: String) {
    let code = ERR_peek_last_error()
    ERR_clear_error()
    let reason: String
    if code == 0 {
      reason = "no reason given"
    } else {
      reason = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        ERR_error_string_n(code, buffer.baseAddress, buffer.count)
        return buffer.baseAddress.map { String(cString: $0) } ?? ""
      }
    }
    self.init(operation, reason: reason)
  }

  public var description: String { "libcrypto failed at \(operation): \(reason); check the OpenSSL installation" }
}
