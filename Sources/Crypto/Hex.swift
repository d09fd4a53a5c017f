/// Hexadecimal text (RFC 4648 section 8), lower case as XMPP writes it.
public enum Hex {
  public static func encode(_ bytes: [UInt8]) -> String {
    String(unsafeUninitializedCapacity: 2 * bytes.count) { output in
      for (index, byte) in bytes.enumerated() {
        output[2 * index] = digit(byte >> 4)
        output[2 * index + 1] = digit(byte & 0xF)
      }
      return 2 * bytes.count
    }
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
