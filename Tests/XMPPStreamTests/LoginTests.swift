import Crypto
import SASL
import Testing
import XML
import XMPPStanzas
import XMPPStream

@Suite("Logging in")
struct LoginTests {
  /// An exporter's value, and a certificate's hash.
  private let binding = ChannelBindingData(
    tlsExporter: [UInt8](repeating: 1, count: 32), tlsServerEndPoint: [UInt8](repeating: 2, count: 32))

  private func auth(_ dialogue: inout Dialogue) throws -> Element {
    try Element(parsing: #require(dialogue.actions().last))
  }

  @Test(
    "SCRAM with each hash, against a server that knows the password",
    arguments: [
      ("SCRAM-SHA-1", HashAlgorithm.sha1), ("SCRAM-SHA-256", .sha256), ("SCRAM-SHA-512", .sha512),
    ])
  func scram(_ mechanism: String, _ hash: HashAlgorithm) throws {
    var server = ScriptedServer(hash)
    var dialogue = try Dialogue.secured()
    try dialogue.receive(mechanisms("PLAIN", mechanism))
    let auth = try auth(&dialogue)
    #expect(auth["mechanism"] == mechanism)
    try dialogue.receive(try server.challenge(auth.xml))
    #expect(server.header == "n,,")
    #expect(server.clientFirstBare == "n=bot,r=rOprNGfwEbeRWgbNEkqO")
    let verdict = try server.judge(try #require(dialogue.actions().last))
    #expect(verdict.isRight)
    try dialogue.receive(verdict.success)
    #expect(dialogue.actions() == ["phase: the stream header", "open with from"])
    let login = try #require(dialogue.machine.login)
    #expect(login.floor.mechanism.rawValue == mechanism)

    // The keys that it left serve the next login.
    var again = try Dialogue.secured(floor: login.floor, saltedPassword: login.saltedPassword)
    try again.receive(mechanisms(mechanism))
    try again.receive(try server.challenge(try self.auth(&again).xml))
    #expect(try server.judge(try #require(again.actions().last)).isRight)
  }

  @Test("with channel binding, when the server says which it knows")
  func bound() throws {
    var server = ScriptedServer()
    var dialogue = try Dialogue.secured(binding)
    try dialogue.receive(
      mechanisms(
        "SCRAM-SHA-256-PLUS", "SCRAM-SHA-256",
        also: """
          <sasl-channel-binding xmlns='urn:xmpp:sasl-cb:0'><channel-binding type='tls-server-end-point'/>
          <channel-binding type='tls-exporter'/></sasl-channel-binding>
          """))
    let auth = try auth(&dialogue)
    #expect(auth["mechanism"] == "SCRAM-SHA-256-PLUS")
    try dialogue.receive(try server.challenge(auth.xml))
    #expect(server.header == "p=tls-exporter,,")
    let verdict = try server.judge(try #require(dialogue.actions().last))
    #expect(verdict.isRight)
    try dialogue.receive(verdict.success)
    #expect(dialogue.machine.login?.floor.binding == .tlsExporter)
  }

  @Test("a binding that was a guess is tried once; refused, the login begins anew without it")
  func guess() throws {
    var server = ScriptedServer()
    var dialogue = try Dialogue.secured(binding)
    try dialogue.receive(mechanisms("SCRAM-SHA-256-PLUS", "SCRAM-SHA-256"))
    #expect(try auth(&dialogue)["mechanism"] == "SCRAM-SHA-256-PLUS")
    let failure = "<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><malformed-request/></failure>"
    try dialogue.receive(failure)
    let auth = try auth(&dialogue)
    #expect(auth["mechanism"] == "SCRAM-SHA-256")
    try dialogue.receive(try server.challenge(auth.xml))
    #expect(server.header == "n,,")
    #expect(try server.judge(try #require(dialogue.actions().last)).isRight)
    try dialogue.receive(failure)
    #expect(dialogue.actions().last?.hasPrefix("fail: the server refused the login: malformed-request") == true)
  }

  @Test("a wrong password ends the attempt; nothing is tried a second time")
  func wrongPassword() throws {
    var server = ScriptedServer()
    server.password = "other"
    var dialogue = try Dialogue.secured()
    try dialogue.receive(mechanisms("SCRAM-SHA-256", "PLAIN"))
    try dialogue.receive(try server.challenge(try auth(&dialogue).xml))
    #expect(try !server.judge(try #require(dialogue.actions().last)).isRight)
    try dialogue.receive(
      "<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'><text>nope</text><not-authorized/></failure>")
    let end = dialogue.actions()
    #expect(end.count == 1)
    #expect(end.first?.hasPrefix("fail: the server refused the login: not-authorized (it says \"nope\")") == true)
    #expect(dialogue.machine.login == nil)
  }

  @Test("a server that does not know the password is found out")
  func wrongServer() throws {
    var server = ScriptedServer()
    var dialogue = try Dialogue.secured()
    try dialogue.receive(mechanisms("SCRAM-SHA-256"))
    try dialogue.receive(try server.challenge(try auth(&dialogue).xml))
    server.password = "guess"
    try dialogue.receive(try server.judge(try #require(dialogue.actions().last)).success)
    #expect(dialogue.actions() == ["fail: \(StreamFailure.authentication(.serverSignature))"])
  }

  @Test("success without the server's signature is none")
  func noSignature() throws {
    var server = ScriptedServer()
    var dialogue = try Dialogue.secured()
    try dialogue.receive(mechanisms("SCRAM-SHA-256"))
    try dialogue.receive(try server.challenge(try auth(&dialogue).xml))
    _ = dialogue.actions()
    try dialogue.receive("<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>")
    #expect(dialogue.actions() == ["fail: \(StreamFailure.authentication(.serverSignatureMissing))"])
    var atOnce = try Dialogue.secured()
    try atOnce.receive(mechanisms("SCRAM-SHA-256"))
    _ = atOnce.actions()
    try atOnce.receive("<success xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>")
    #expect(atOnce.actions() == ["fail: \(StreamFailure.authentication(.serverSignatureMissing))"])
  }

  @Test(
    "nonsense from the server ends the login", arguments: ["!!", "AAA", "cj0=", "bT1leHQ=", ""])
  func nonsense(_ base64: String) throws {
    var dialogue = try Dialogue.secured()
    try dialogue.receive(mechanisms("SCRAM-SHA-256"))
    _ = dialogue.actions()
    try dialogue.receive("<challenge xmlns='urn:ietf:params:xml:ns:xmpp-sasl'>\(base64)</challenge>")
    #expect(dialogue.actions().first?.hasPrefix("fail: ") == true)
  }

  @Test("challenges without end are not answered")
  func endlessChallenges() throws {
    var server = ScriptedServer()
    var dialogue = try Dialogue.secured()
    try dialogue.receive(mechanisms("SCRAM-SHA-256"))
    let challenge = try server.challenge(try auth(&dialogue).xml)
    try dialogue.receive(challenge + challenge + challenge)
    #expect(dialogue.actions().last?.hasPrefix("fail: ") == true)
  }

  @Test("less than what worked before is refused (XEP-0474)")
  func downgrade() throws {
    var dialogue = try Dialogue.secured(floor: MechanismFloor(mechanism: .scramSHA256, binding: nil))
    try dialogue.receive(mechanisms("PLAIN"))
    #expect(dialogue.actions().first?.hasPrefix("fail: the server offers less than SCRAM-SHA-256") == true)
  }

  @Test("no mechanism that we have, or none at all, is said to be so")
  func noMechanism() throws {
    for features in [mechanisms("GSSAPI", "X-MAD"), "<stream:features/>"] {
      var dialogue = try Dialogue.secured()
      try dialogue.receive(features)
      #expect(dialogue.actions().first?.hasPrefix("fail: the server offers no login mechanism") == true)
    }
  }

  @Test("a refusal without a reason is one nevertheless")
  func bareFailure() throws {
    var dialogue = try Dialogue.secured()
    try dialogue.receive(mechanisms("PLAIN") + "<failure xmlns='urn:ietf:params:xml:ns:xmpp-sasl'/>")
    #expect(dialogue.actions().last?.hasPrefix("fail: the server refused the login: not-authorized") == true)
  }
}
