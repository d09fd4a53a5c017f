import Configuration

/// The SHA-256 digest of a certificate's public key (its SubjectPublicKeyInfo in DER, as in RFC 7469, section 2.4). A
/// renewed certificate with the same key has the same pin.
public struct PublicKeyPin: Sendable, Hashable, CustomStringConvertible {
  /// 32 bytes.
  public let digest: [UInt8]

  /// Reads `sha256:` and 64 hexadecimal digits (colons allowed) or 44 characters of base64; nil for anything else.
  public init?(_ text: String) {
    guard text.hasPrefix("sha256:") else { return nil }
    let rest = text.dropFirst("sha256:".count)
    guard let digest = Self.hexadecimal(rest.filter { $0 != ":" }) ?? Self.base64(rest), digest.count == 32 else {
      return nil
    }
    self.digest = digest
  }

  public var description: String {
    "sha256:" + digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  private static func hexadecimal(_ text: some StringProtocol) -> [UInt8]? {
    let digits = text.compactMap { $0.isASCII ? $0.hexDigitValue : nil }
    guard digits.count == 64, text.count == 64 else { return nil }
    return stride(from: 0, to: 64, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  private static func base64(_ text: Substring) -> [UInt8]? {
    guard text.utf8.count == 44, text.hasSuffix("=") else { return nil }
    let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    let values = text.utf8.dropLast().compactMap { byte in alphabet.firstIndex(of: byte) }
    guard values.count == 43 else { return nil }
    var bytes: [UInt8] = []
    var bits = 0
    var count = 0
    for value in values {
      bits = bits << 6 | value
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(bits >> count))
        bits &= (1 << count) - 1
      }
    }
    return bits == 0 ? bytes : nil
  }
}

extension ValueKind where Value == PublicKeyPin {
  static var publicKeyPin: ValueKind {
    ValueKind(syntax: "sha256:DIGEST") { text throws(ValueProblem) in
      guard let pin = PublicKeyPin(text) else {
        throw ValueProblem(
          "is no pin", remedy: "write sha256: and the key's digest, 64 hexadecimal digits or 44 characters of base64")
      }
      return pin
    }
  }
}
