import Crypto
import Testing

@Suite("Base64 is strict")
struct Base64Tests {
  @Test(
    "RFC 4648 section 10",
    arguments: [
      ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
      ("foobar", "Zm9vYmFy"),
    ])
  func vectors(plain: String, encoded: String) {
    #expect(Base64.encode(Array(plain.utf8)) == encoded)
    #expect(Base64.decode(encoded) == Array(plain.utf8))
  }

  @Test(
    "what encode would not write is refused",
    arguments: [
      "Zg", "Zg=", "Zg===", "=", "==", "===", "====", "Zh==", "Zm9=", " Zg==", "Zg== ", "Zm9v\n", "Zm 9", "Zg==Zg==",
      "Z===", "Zm9v====", "Z-9v", "Z_9v", "Zm9v\0\0\0\0", "Zmé", "Z=9v",
    ])
  func refused(text: String) {
    #expect(Base64.decode(text) == nil)
  }

  @Test("every byte survives, at every alignment", arguments: 0..<4)
  func roundTrip(offset: Int) {
    let bytes = (offset..<1024).map { UInt8(truncatingIfNeeded: $0) }
    #expect(Base64.decode(Base64.encode(bytes)) == bytes)
  }
}
