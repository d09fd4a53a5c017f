import Crypto
import Testing

@Suite("Secrets, comparison and randomness")
struct SecretTests {
  @Test("a secret does not print itself")
  func description() {
    let secret = SecretBytes(Array("hunter2".utf8))
    var dumped = ""
    dump(secret, to: &dumped)
    for text in ["\(secret)", String(reflecting: secret), String(describing: [secret]), dumped] {
      #expect(!text.contains("hunter2") && !text.contains("104"))
    }
  }

  @Test("secrets are equal when their bytes are")
  func equality() {
    #expect(SecretBytes([1, 2, 3]) == SecretBytes([1, 2, 3]))
    #expect(SecretBytes([1, 2, 3]) != SecretBytes([1, 2, 4]))
    #expect(SecretBytes([1, 2, 3]) != SecretBytes([1, 2]))
    #expect(SecretBytes([]) == SecretBytes([]))
    #expect(SecretBytes([1, 2, 3]).withUnsafeBytes { Array($0) } == [1, 2, 3])
  }

  @Test("constant-time comparison compares")
  func constantTime() {
    #expect(ConstantTime.equal([], []))
    #expect(ConstantTime.equal([7, 8], [7, 8]))
    #expect(!ConstantTime.equal([7, 8], [7, 9]))
    #expect(!ConstantTime.equal([7, 8], [7, 8, 9]))
  }

  @Test("random bytes have the length asked for and do not repeat")
  func random() {
    #expect(Random.bytes(33).count == 33)
    #expect(Random.bytes(16) != Random.bytes(16))
    #expect(Random.hex(bytes: 4).utf8.count == 8)
  }

  @Test("identifiers are made of characters that need no escape anywhere")
  func identifiers() {
    let identifiers = (0..<500).map { _ in Random.identifier() }
    #expect(Set(identifiers).count == 500)
    for identifier in identifiers {
      #expect(identifier.utf8.count == 20)
      let clean = identifier.unicodeScalars.allSatisfy { scalar in
        "0"..."9" ~= scalar || "a"..."z" ~= scalar || "A"..."Z" ~= scalar || scalar == "-" || scalar == "_"
      }
      #expect(clean, "\(identifier)")
    }
    #expect(Random.identifier(bytes: 16).utf8.count == 22)
  }
}
