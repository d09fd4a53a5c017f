import Crypto
import Testing

@Suite("Hashes, HMAC and PBKDF2 give the values of their standards")
struct HashTests {
  @Test(
    "FIPS 180-4 examples of \"abc\"",
    arguments: [
      (HashAlgorithm.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
      (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        .sha384,
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
      ),
      (
        .sha512,
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
      ),
    ])
  func digests(algorithm: HashAlgorithm, expected: String) {
    let digest = Hash.digest(algorithm, Array("abc".utf8))
    #expect(Hex.encode(digest) == expected)
    #expect(digest.count == algorithm.digestLength)
  }

  @Test("the empty message has a digest")
  func emptyDigest() {
    #expect(Hex.encode(Hash.digest(.sha1, [])) == "da39a3ee5e6b4b0d3255bfef95601890afd80709")
  }

  @Test("RFC 4231 case 2, and RFC 2202 case 2")
  func hmac() {
    let message = Array("what do ya want for nothing?".utf8)
    let key = Array("Jefe".utf8)
    #expect(
      Hex.encode(HMAC.authenticate(message, key: key, using: .sha256))
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    #expect(
      Hex.encode(HMAC.authenticate(message, key: SecretBytes(key), using: .sha1))
        == "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79")
  }

  @Test("an empty key and an empty message are values like any other")
  func emptyHMAC() {
    #expect(
      Hex.encode(HMAC.authenticate([], key: [UInt8](), using: .sha256))
        == "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad")
  }

  @Test("RFC 6070: 4096 iterations of HMAC-SHA-1")
  func pbkdf2() throws {
    let key = try PBKDF2.derive(
      password: SecretBytes(Array("password".utf8)), salt: Array("salt".utf8), iterations: 4096, using: .sha1)
    #expect(
      key
        == SecretBytes([
          0x4b, 0x00, 0x79, 0x01, 0xb7, 0x65, 0x48, 0x9a, 0xbe, 0xad, 0x49, 0xd9, 0x26, 0xf7, 0x21, 0xd0, 0x65, 0xa4,
          0x29,
          0xc1,
        ]))
  }

  @Test("iterations that make no sense are refused", arguments: [0, -1, Int.max])
  func badIterations(iterations: Int) {
    #expect(throws: CryptoError.self) {
      try PBKDF2.derive(password: SecretBytes([1]), salt: [1], iterations: iterations, using: .sha256)
    }
  }
}
