import Crypto
import SASL
import Testing

@Suite("One login, whatever the mechanism")
struct SASLClientTests {
  private func client(
    _ mechanism: Mechanism, binding: ChannelBinding = .unsupported, guessed: Bool = false, username: String = "user",
    password: String = "pencil"
  ) throws(SASLFailure) -> SASLClient {
    try SASLClient(
      choice: MechanismChoice(
        mechanism: mechanism, binding: binding, bindingIsGuessed: guessed, offered: [mechanism.rawValue]),
      username: username, password: SecretBytes(password.utf8), nonce: "rOprNGfwEbeRWgbNEkqO")
  }

  private let challenge = Array(Transcript.rfc7677.serverFirst.utf8)
  private let signature = Array(Transcript.rfc7677.serverFinal.utf8)

  @Test("SCRAM with the server's signature in success")
  func inSuccess() throws {
    var client = try client(.scramSHA256)
    #expect(client.start() == Array(Transcript.rfc7677.clientFirst.utf8))
    #expect(client.saltedPassword == nil)
    #expect(try client.respond(to: challenge) == Array(Transcript.rfc7677.clientFinal.utf8))
    try client.succeed(with: signature)
    #expect(client.saltedPassword != nil)
  }

  @Test("SCRAM with the server's signature in a challenge")
  func inChallenge() throws {
    var client = try client(.scramSHA256)
    _ = client.start()
    _ = try client.respond(to: challenge)
    #expect(try client.respond(to: signature) == [])
    try client.succeed(with: nil)
  }

  @Test("success without the server's signature is a failure, at every stage")
  func unproved() throws {
    for additional in [nil, []] as [[UInt8]?] {
      var early = try client(.scramSHA256)
      _ = early.start()
      #expect(throws: SASLFailure.serverSignatureMissing) { try early.succeed(with: additional) }
      var late = try client(.scramSHA256)
      _ = late.start()
      _ = try late.respond(to: challenge)
      #expect(throws: SASLFailure.serverSignatureMissing) { try late.succeed(with: additional) }
    }
    var early = try client(.scramSHA256)
    _ = early.start()
    #expect(throws: SASLFailure.serverSignatureMissing) { try early.succeed(with: signature) }
  }

  @Test("success after a wrong signature stays a failure")
  func wrongThenSuccess() throws {
    var client = try client(.scramSHA256)
    _ = client.start()
    _ = try client.respond(to: challenge)
    #expect(throws: SASLFailure.serverSignature) { try client.respond(to: Array("v=AAAA".utf8)) }
    #expect(throws: SASLFailure.serverSignatureMissing) { try client.succeed(with: nil) }
    #expect(throws: SASLFailure.serverSignatureMissing) { try client.succeed(with: signature) }
  }

  @Test("a challenge too many is a failure")
  func thirdChallenge() throws {
    var client = try client(.scramSHA256)
    _ = client.start()
    _ = try client.respond(to: challenge)
    _ = try client.respond(to: signature)
    #expect(throws: SASLFailure.unexpectedChallenge) { try client.respond(to: challenge) }
  }

  @Test("PLAIN is one message; a challenge to it is a failure")
  func plain() throws {
    var client = try client(.plain, username: "jülïet", password: "pässwörd")
    #expect(client.start() == Array("\0jülïet\0pässwörd".utf8))
    #expect(throws: SASLFailure.unexpectedChallenge) { try client.respond(to: [1]) }
    try client.succeed(with: nil)
  }

  @Test("names and passwords that would break PLAIN's message are refused")
  func plainNUL() {
    #expect(throws: SASLFailure.unusable(.password, reason: "contains a NUL character")) {
      try client(.plain, password: "a\0b")
    }
    #expect(throws: SASLFailure.unusable(.username, reason: "contains a NUL character")) {
      try client(.plain, username: "a\0b")
    }
    #expect(throws: SASLFailure.unusable(.password, reason: "is empty")) { try client(.plain, password: "") }
  }

  @Test("a guessed binding is given up only while the server has not seen a proof")
  func guess() throws {
    let binding = ChannelBinding.bound(.tlsExporter, data: [1])
    var guessing = try client(.scramSHA256Plus, binding: binding, guessed: true)
    _ = guessing.start()
    #expect(guessing.mayRetryWithoutBinding)
    _ = try guessing.respond(to: challenge)
    #expect(!guessing.mayRetryWithoutBinding)
    #expect(try !client(.scramSHA256Plus, binding: binding).mayRetryWithoutBinding)
  }
}

@Suite("Payloads in XML")
struct SASLPayloadTests {
  @Test("an empty initial response is an equals sign, and is read back")
  func empty() throws {
    #expect(SASLPayload.initialResponse([]) == "=")
    #expect(SASLPayload.response([]) == "")
    #expect(try SASLPayload.decode("=") == [])
    #expect(try SASLPayload.decode("") == [])
    #expect(try SASLPayload.decode(SASLPayload.initialResponse([0, 1])) == [0, 1])
  }

  @Test("what is not strict base64 is malformed", arguments: [" ", "AAA", "AAAA\n", "===="])
  func malformed(text: String) {
    #expect(throws: SASLFailure.malformed("it is not base64")) { try SASLPayload.decode(text) }
  }
}

@Suite("Failures tell the operator what to do")
struct SASLFailureTests {
  @Test("a condition is known by its name; an unknown one keeps its name")
  func byName() {
    #expect(
      SASLFailure.refused(name: "not-authorized", text: "no")
        == .refused(.notAuthorized, name: "not-authorized", text: "no"))
    #expect(SASLFailure.refused(name: "new-idea", text: nil).description.contains("\"new-idea\""))
  }

  @Test("wrong passwords are permanent, a server's trouble is not")
  func permanence() {
    #expect(SASLFailure.refused(.notAuthorized, name: "not-authorized", text: nil).isPermanent)
    #expect(SASLFailure.refused(.accountDisabled, name: "account-disabled", text: nil).isPermanent)
    #expect(!SASLFailure.refused(.temporaryAuthFailure, name: "temporary-auth-failure", text: nil).isPermanent)
    #expect(!SASLFailure.malformed("x").isPermanent)
    #expect(SASLFailure.downgraded.isPermanent)
    #expect(!SASLFailure.serverError("no-resources").isPermanent)
  }

  @Test("every condition has its name and a remedy", arguments: SASLCondition.allCases)
  func conditions(condition: SASLCondition) {
    let text = SASLFailure.refused(condition, name: condition.rawValue, text: "because").description
    #expect(text.contains(condition.rawValue) && text.contains("\"because\"") && text.contains("; "))
  }

  @Test("what the server wrote cannot forge log lines or colour a terminal")
  func hostileText() {
    let nasty = "x\n\u{1B}[31mroot\u{202E}\u{2028}" + String(repeating: "y", count: 10_000)
    for failure in [
      SASLFailure.refused(nil, name: nasty, text: nasty), .serverError(nasty),
      .noMechanism(offered: Array(repeating: nasty, count: 100)),
    ] {
      let text = failure.description
      #expect(!text.unicodeScalars.contains { ["\n", "\u{1B}", "\u{202E}", "\u{2028}"].contains($0) })
      #expect(text.utf8.count < 3000)
    }
  }
}
