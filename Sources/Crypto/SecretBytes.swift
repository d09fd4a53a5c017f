internal import COpenSSL

/// A password or key whose memory is overwritten when the last reference goes, and which never prints itself.
///
/// This narrows the time a secret lies in memory; it can't vouch for copies made before it was handed over.
// Sendable although it holds a pointer: nothing writes through it between init and deinit.
public final class SecretBytes: @unchecked Sendable {
  private let storage: UnsafeMutableRawBufferPointer

  /// Copies `bytes`.
  public convenience init(_ bytes: some Collection<UInt8>) {
    self.init(count: bytes.count) { $0.copyBytes(from: bytes) }
  }

  /// `count` bytes, zero until `fill` writes them.
  public init(count: Int, filledBy fill: (UnsafeMutableRawBufferPointer) -> Void) {
    storage = .allocate(byteCount: count, alignment: 16)
    storage.initializeMemory(as: UInt8.self, repeating: 0)
    fill(storage)
  }

  deinit {
    OPENSSL_cleanse(storage.baseAddress, storage.count)
    storage.deallocate()
  }

  public var count: Int { storage.count }
  public var isEmpty: Bool { storage.isEmpty }

  /// Lends the bytes for the duration of `body`.
  public func withUnsafeBytes<Result, Failure: Error>(
    _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try body(UnsafeRawBufferPointer(storage))
  }
}

extension SecretBytes: Equatable {
  /// Compares in constant time.
  public static func == (left: SecretBytes, right: SecretBytes) -> Bool {
    left.count == right.count
      && (left.isEmpty || CRYPTO_memcmp(left.storage.baseAddress, right.storage.baseAddress, left.count) == 0)
  }
}

extension SecretBytes: CustomStringConvertible, CustomReflectable {
  public var description: String { "(secret)" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }
}
