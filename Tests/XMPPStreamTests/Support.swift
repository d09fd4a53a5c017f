import Crypto
import JID
import SASL
import XML
import XMPPStanzas
import XMPPStream

/// Plays the server to a `StreamMachine`, and keeps what the machine did, a line each.
struct Dialogue {
  var machine: StreamMachine
  private(set) var log: [String] = []

  init(
    jid: String = "bot@example.org", resource: String? = "r", goal: StreamMachine.Goal = .online,
    floor: MechanismFloor? = nil, saltedPassword: SaltedPassword? = nil
  ) throws {
    let credentials = Credentials(
      password: SecretBytes("pencil".utf8), floor: floor, saltedPassword: saltedPassword,
      nonce: { "rOprNGfwEbeRWgbNEkqO" })
    machine = StreamMachine(
      StreamMachine.Account(jid: try JID(jid), resource: resource, credentials: credentials), goal: goal)
  }

  /// What was done since the last call.
  mutating func actions() -> [String] {
    defer { log = [] }
    return log
  }

  mutating func connect(tls: ChannelBindingData? = nil) { note(machine.connected(tls: tls)) }

  mutating func secure(_ binding: ChannelBindingData = ChannelBindingData()) { note(machine.secured(binding)) }

  /// The server's header.
  mutating func open(version: String? = "1.0") {
    note(machine.opened(Element("stream", Namespace.stream, [("version", version)])))
  }

  /// The server's elements; without a namespace they are stanzas.
  mutating func receive(_ xml: String) throws {
    let wrapped = "<x xmlns='jabber:client' xmlns:stream='\(Namespace.stream)'>\(xml)</x>"
    for case .element(let element) in try Element(parsing: wrapped).children { note(machine.received(element)) }
  }

  mutating func note(_ actions: [StreamMachine.Action]) {
    for action in actions {
      switch action {
      case .open(let header): log.append(header.contains(" from='") ? "open with from" : "open")
      case .send(let element): log.append(element.xml)
      case .startTLS: log.append("start TLS")
      case .phase(let phase): log.append("phase: \(phase.rawValue)")
      case .features(let features): log.append("features: \(features.mechanisms.joined(separator: " "))")
      case .online(let jid, _, .new(nil)): log.append("online as \(jid)")
      case .online(let jid, _, .new): log.append("online as \(jid), managed")
      case .online(let jid, _, .resumed(let h)): log.append("resumed as \(jid) at \(h)")
      case .resumptionFailed(let h): log.append("not resumed at \(h.map(String.init) ?? "?")")
      case .fail(.violation(let error)): log.append("violation: \(error.condition)")
      case .fail(let failure): log.append("fail: \(failure)")
      }
    }
  }

  /// From the start until the server's features inside TLS are awaited.
  static func secured(
    _ binding: ChannelBindingData = ChannelBindingData(), goal: StreamMachine.Goal = .online,
    floor: MechanismFloor? = nil, saltedPassword: SaltedPassword? = nil
  ) throws -> Dialogue {
    var dialogue = try Dialogue(goal: goal, floor: floor, saltedPassword: saltedPassword)
    dialogue.connect(tls: binding)
    dialogue.open()
    _ = dialogue.actions()
    return dialogue
  }
}

/// The features element with these mechanisms.
func mechanisms(_ names: String..., also rest: String = "") -> String {
  let list = names.map { "<mechanism>\($0)</mechanism>" }.joined()
  return "<stream:features><mechanisms xmlns='\(Namespace.sasl)'>\(list)</mechanisms>\(rest)</stream:features>"
}

/// A server that knows the password: RFC 5802 computed here, with none of the client's code but the hashes.
struct ScriptedServer {
  var hash = HashAlgorithm.sha256
  var password = "pencil"
  var iterations = 4096
  private let salt = Array("saltsaltsaltsalt".utf8)
  private(set) var clientFirstBare = ""
  private(set) var header = ""
  private var serverFirst = ""

  init(_ hash: HashAlgorithm = .sha256) { self.hash = hash }

  /// Answers `<auth/>` with the challenge.
  mutating func challenge(_ auth: String) throws -> String {
    let text = try Self.payload(auth)
    let parts = text.split(separator: ",", maxSplits: 2, omittingEmptySubsequences: false)
    header = parts[0] + "," + parts[1] + ","
    clientFirstBare = String(parts[2])
    let nonce = clientFirstBare.split(separator: "r=", omittingEmptySubsequences: false).last ?? ""
    serverFirst = "r=\(nonce)%hvYDpWUa,s=\(Base64.encode(salt)),i=\(iterations)"
    return Self.element("challenge", serverFirst)
  }

  /// Answers `<response/>`: whether the proof is right, and the success with the server's signature.
  func judge(_ response: String) throws -> (isRight: Bool, success: String) {
    let clientFinal = try Self.payload(response)
    let withoutProof = clientFinal.split(separator: ",p=").first ?? ""
    let proof = Base64.decode(String(clientFinal.dropFirst(withoutProof.count + 3))) ?? []
    let message = Array("\(clientFirstBare),\(serverFirst),\(withoutProof)".utf8)
    let salted = try PBKDF2.derive(
      password: SecretBytes(password.utf8), salt: salt, iterations: iterations, using: hash)
    let clientKey = HMAC.authenticate(Array("Client Key".utf8), key: salted, using: hash)
    let serverKey = HMAC.authenticate(Array("Server Key".utf8), key: salted, using: hash)
    let signature = HMAC.authenticate(message, key: Hash.digest(hash, clientKey), using: hash)
    let signed = Base64.encode(HMAC.authenticate(message, key: serverKey, using: hash))
    return (zip(proof, signature).map { $0 ^ $1 } == clientKey, Self.element("success", "v=" + signed))
  }

  static func element(_ name: String, _ text: String) -> String {
    "<\(name) xmlns='\(Namespace.sasl)'>\(Base64.encode(Array(text.utf8)))</\(name)>"
  }

  static func payload(_ xml: String) throws -> String {
    String(decoding: Base64.decode(try Element(parsing: xml).text) ?? [], as: UTF8.self)
  }
}
