import Crypto
import SASL
import Testing

@Suite("SCRAM refuses what a hostile or broken server sends")
struct SCRAMTamperingTests {
  private static let nonce = "rOprNGfwEbeRWgbNEkqO"

  @Test(
    "the server's first message",
    arguments: [
      ("r=\(nonce),s=QSXC,i=4096", SASLFailure.nonce),
      ("r=XOprNGfwEbeRWgbNEkqOabc,s=QSXC,i=4096", .nonce),
      ("r=short,s=QSXC,i=4096", .nonce),
      ("r=\(nonce)x,s=QSXC,i=4095", .iterations(4095, accepted: SCRAMClient.acceptedIterations)),
      ("r=\(nonce)x,s=QSXC,i=1", .iterations(1, accepted: SCRAMClient.acceptedIterations)),
      ("r=\(nonce)x,s=QSXC,i=2000001", .iterations(2_000_001, accepted: SCRAMClient.acceptedIterations)),
      ("m=ext,r=\(nonce)x,s=QSXC,i=4096", .mandatoryExtension),
      ("r=\(nonce)x,s=QSXC,i=4096,m=ext", .mandatoryExtension),
      ("e=unknown-user", .serverError("unknown-user")),
    ])
  func serverFirst(message: String, failure: SASLFailure) throws {
    var client = try Transcript.rfc7677.client()
    _ = client.clientFirst()
    #expect(throws: failure) { try client.clientFinal(challenge: Array(message.utf8)) }
  }

  @Test(
    "a first message of the wrong form",
    arguments: [
      "", ",", "r", "r=", "=", "r=\(nonce)x", "r=\(nonce)x,s=QSXC", "s=QSXC,r=\(nonce)x,i=4096",
      "r=\(nonce)x,i=4096,s=QSXC",
      "r=\(nonce)x,s=,i=4096", "r=\(nonce)x,s=QSX,i=4096", "r=\(nonce)x,s=QSX!,i=4096", "r=\(nonce)x,s=QSXC,i=",
      "r=\(nonce)x,s=QSXC,i=04096", "r=\(nonce)x,s=QSXC,i=+4096", "r=\(nonce)x,s=QSXC,i=4096 ",
      "r=\(nonce)x,s=QSXC,i=0",
      "r=\(nonce)x,s=QSXC,i=99999999999999999999999999", "r=\(nonce)x,s=QSXC,i=4096,", "r=\(nonce)x,s=QSXC,i=4096,7=a",
      "r=\(nonce)\u{7F},s=QSXC,i=4096", "r=\(nonce)\n,s=QSXC,i=4096", "r=\(nonce)x,s=QSXC,i=4096,h=a,h=b",
      "n,,n=user,r=\(nonce)x",
    ])
  func malformedFirst(message: String) throws {
    var client = try Transcript.rfc7677.client()
    _ = client.clientFirst()
    let failure = #expect(throws: SASLFailure.self) { try client.clientFinal(challenge: Array(message.utf8)) }
    guard case .malformed = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }

  @Test(
    "the server's last message",
    arguments: [
      ("v=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", SASLFailure.serverSignature),
      ("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjk=", .serverSignature),
      ("e=invalid-proof", .serverError("invalid-proof")),
      ("v=AAAA*", .malformed("v= is not base64")),
      ("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G5=", .malformed("v= is not base64")),
      ("x=1,v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=", .malformed("attribute 1 is not v=")),
      ("", .malformed("an attribute is not of the form x=value")),
    ])
  func serverFinal(message: String, failure: SASLFailure) throws {
    var client = try Transcript.rfc7677.client()
    _ = client.clientFirst()
    _ = try client.clientFinal(challenge: Array(Transcript.rfc7677.serverFirst.utf8))
    #expect(throws: failure) { try client.finish(serverFinal: Array(message.utf8)) }
    #expect(!client.isVerified)
  }

  @Test("a login that failed stays failed")
  func noSecondChance() throws {
    var client = try Transcript.rfc7677.client()
    _ = client.clientFirst()
    _ = try client.clientFinal(challenge: Array(Transcript.rfc7677.serverFirst.utf8))
    #expect(throws: SASLFailure.self) { try client.finish(serverFinal: Array("v=AAAA".utf8)) }
    #expect(throws: SASLFailure.self) { try client.finish(serverFinal: Array(Transcript.rfc7677.serverFinal.utf8)) }
    #expect(throws: SASLFailure.self) { try client.clientFinal(challenge: Array(Transcript.rfc7677.serverFirst.utf8)) }
    #expect(!client.isVerified)
  }

  @Test("a changed first message changes the proof, so the server notices", arguments: [",h=x", ",x=y"])
  func proofCoversServerFirst(suffix: String) throws {
    var client = try Transcript.rfc7677.client()
    _ = client.clientFirst()
    let proof = try? client.clientFinal(challenge: Array((Transcript.rfc7677.serverFirst + suffix).utf8))
    #expect(proof != Array(Transcript.rfc7677.clientFinal.utf8))
  }

  @Test("another password gives another proof, and the server's signature does not fit")
  func wrongPassword() throws {
    var client = try Transcript.rfc7677.client(password: "pencils")
    _ = client.clientFirst()
    let final = try client.clientFinal(challenge: Array(Transcript.rfc7677.serverFirst.utf8))
    #expect(final != Array(Transcript.rfc7677.clientFinal.utf8))
    #expect(throws: SASLFailure.serverSignature) {
      try client.finish(serverFinal: Array(Transcript.rfc7677.serverFinal.utf8))
    }
  }
}
