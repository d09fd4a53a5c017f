import Crypto
import SASL
import Testing

/// One whole login, message by message.
struct Transcript: Sendable, CustomTestStringConvertible {
  var name: String
  var mechanism: Mechanism
  var binding = ChannelBinding.unsupported
  var username = "user"
  var password = "pencil"
  var nonce: String
  var clientFirst: String
  var serverFirst: String
  var clientFinal: String
  var serverFinal: String

  var testDescription: String { name }

  func client(
    password: String? = nil, choice: MechanismChoice? = nil, saltedPassword: SaltedPassword? = nil
  ) throws -> SCRAMClient {
    try SCRAMClient(
      choice: choice ?? MechanismChoice(mechanism: mechanism, binding: binding, offered: [mechanism.rawValue]),
      username: username, password: SecretBytes((password ?? self.password).utf8), nonce: nonce,
      saltedPassword: saltedPassword)
  }

  static let rfc5802 = Transcript(
    name: "RFC 5802 section 5, SCRAM-SHA-1", mechanism: .scramSHA1, nonce: "fyko+d2lbbFgONRv9qkxdawL",
    clientFirst: "n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL",
    serverFirst: "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096",
    clientFinal: "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,p=v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=",
    serverFinal: "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=")

  static let rfc7677 = Transcript(
    name: "RFC 7677 section 3, SCRAM-SHA-256", mechanism: .scramSHA256, nonce: "rOprNGfwEbeRWgbNEkqO",
    clientFirst: "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
    serverFirst: "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
    clientFinal: "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
      + "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
    serverFinal: "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=")

  // The following were computed with Python's hashlib and hmac.
  static let sha512 = Transcript(
    name: "SCRAM-SHA-512", mechanism: .scramSHA512, nonce: "rOprNGfwEbeRWgbNEkqO",
    clientFirst: "n,,n=user,r=rOprNGfwEbeRWgbNEkqO",
    serverFirst: "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
    clientFinal: "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
      + "p=gMGXRcevScNtxZ6/8lQYpGtnsNAc3mGcmNomv+xnoOMw+3R2xNJdMNnzMlTN8PPC6wdp6dybEmDYXYTxwnYPJQ==",
    serverFinal: "v=ZQnYEgWQMFmmsM8aQMF0nDDCy/AgCzkwk8CmMZYcMg0vSVlKDanekLtifDSeVGT4+5ZxXnJq199RVG2rR7N7Zw==")

  static let bound = Transcript(
    name: "SCRAM-SHA-256-PLUS with tls-exporter", mechanism: .scramSHA256Plus,
    binding: .bound(.tlsExporter, data: Array(0..<32)), nonce: "rOprNGfwEbeRWgbNEkqO",
    clientFirst: "p=tls-exporter,,n=user,r=rOprNGfwEbeRWgbNEkqO",
    serverFirst: "r=rOprNGfwEbeRWgbNEkqOserver-part,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
    clientFinal: "c=cD10bHMtZXhwb3J0ZXIsLAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f,r=rOprNGfwEbeRWgbNEkqOserver-part,"
      + "p=3/zOiL9DoFGBjEKIX3wcCN/euOQFr2lV6DG0RBx7iSs=",
    serverFinal: "v=o+itbcxLk9FNIZRzoXYE5HSOabHtt1f19EvIU4WVzKQ=")

  static let prepared = Transcript(
    name: "a name to escape and a password to prepare", mechanism: .scramSHA512, binding: .notOffered,
    username: "a,b=c", password: "I\u{AD}X \u{2168}", nonce: "rOprNGfwEbeRWgbNEkqO",
    clientFirst: "y,,n=a=2Cb=3Dc,r=rOprNGfwEbeRWgbNEkqO",
    serverFirst: "r=rOprNGfwEbeRWgbNEkqOserver-part,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=5000",
    clientFinal: "c=eSws,r=rOprNGfwEbeRWgbNEkqOserver-part,"
      + "p=ia51UlNHpjZcUolCV86b+PhUDRoJN0CpVTMx8wXUS3tfCOgoNkQsz3B9tzoRdnAC1NcX07X95UykrZ6zW1DvpQ==",
    serverFinal: "v=em/NQIj/9MHtH10ocryzAYmaBbGLmNXRfI9/9zuvC/vbUDNnCFCVufGC4Qks5Or//3Lbdr5elpoAoXdqXXmKHw==")

  static let all = [rfc5802, rfc7677, sha512, bound, prepared]
}

@Suite("SCRAM follows its published transcripts")
struct SCRAMVectorTests {
  @Test("a whole login", arguments: Transcript.all)
  func login(transcript: Transcript) throws {
    var client = try transcript.client()
    #expect(String(decoding: client.clientFirst(), as: UTF8.self) == transcript.clientFirst)
    let final = try client.clientFinal(challenge: Array(transcript.serverFirst.utf8))
    #expect(String(decoding: final, as: UTF8.self) == transcript.clientFinal)
    #expect(!client.isVerified)
    try client.finish(serverFinal: Array(transcript.serverFinal.utf8))
    #expect(client.isVerified)
  }

  @Test("extensions that nobody has to know are skipped")
  func extensions() throws {
    var client = try Transcript.rfc5802.client()
    _ = client.clientFirst()
    _ = try client.clientFinal(challenge: Array((Transcript.rfc5802.serverFirst + ",d=ssdp,X=1=2").utf8))
    // The extension is part of what both sides sign, so the old signature no longer fits.
    #expect(throws: SASLFailure.serverSignature) {
      try client.finish(serverFinal: Array((Transcript.rfc5802.serverFinal + ",x=more").utf8))
    }
  }
}
