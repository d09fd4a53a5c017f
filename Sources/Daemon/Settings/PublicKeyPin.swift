import Configuration
import Transport

extension ValueKind where Value == PublicKeyPin {
  static var publicKeyPin: ValueKind {
    ValueKind(syntax: "sha256:DIGEST") { text throws(ValueProblem) in
      guard let pin = PublicKeyPin(text) else {
        throw ValueProblem(
          "is no pin",
          remedy: "write sha256: and the key's digest in base64 or hexadecimal; `xmppbotctl check` shows the server's")
      }
      return pin
    }
  }
}
