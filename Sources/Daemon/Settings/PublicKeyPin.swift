import Configuration
import Transport

extension ValueKind where Value == PublicKeyPin {
  static var publicKeyPin: ValueKind {
    ValueKind(syntax: "sha256:DIGEST") { text throws(ValueProblem) in
      guard let pin = PublicKeyPin(text) else {
        throw ValueProblem(
          "is no pin", remedy: "write sha256: and the base64 of the key's digest; `xmppbotctl check` shows the server's")
      }
      return pin
    }
  }
}
