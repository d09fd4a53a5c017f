internal import COpenSSL

/// Base64 as RFC 4648 section 4 defines it, padded and without line breaks.
public enum Base64 {
  public static func encode(_ bytes: [UInt8]) -> String {
    precondition(bytes.count <= maximum, "too long for base64 in one piece")
    let length = (bytes.count + 2) / 3 * 4
    // libcrypto ends its output with a NUL.
    return String(unsafeUninitializedCapacity: length + 1) { output in
      Int(EVP_EncodeBlock(output.baseAddress, bytes, Int32(bytes.count)))
    }
  }

  /// The bytes that `text` stands for, or nil unless it is exactly what ``encode(_:)`` would write: no white space, no
  /// missing padding, no stray bits (RFC 4648 section 3.5, RFC 6120 section 6.4.2).
  public static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
    let text = Array(text)
    if text.isEmpty { return [] }
    guard text.count % 4 == 0, text.count <= maximum else { return nil }
    let padding = text.suffix(3).filter { $0 == UInt8(ascii: "=") }.count
    guard padding <= 2 else { return nil }
    let decoded = [UInt8](unsafeUninitializedCapacity: text.count / 4 * 3) { output, count in
      let length = Int(EVP_DecodeBlock(output.baseAddress, text, Int32(text.count)))
      count = max(0, length - padding)
    }
    // libcrypto's decoder is lenient in several ways; writing the result again shows each of them.
    return encode(decoded).utf8.elementsEqual(text) ? decoded : nil
  }

  /// ``decode(_:)-(Collection)`` of a string.
  public static func decode(_ text: String) -> [UInt8]? { decode(text.utf8) }

  private static let maximum = Int(Int32.max) / 4 * 3 - 3
}
