import Crypto

/// SASL payloads as the character data of XMPP's elements (RFC 6120 sections 6.4.2 to 6.4.6).
public enum SASLPayload {
  /// The content of `<auth/>`; an initial response of no bytes is written as `=`, for none at all means something else.
  public static func initialResponse(_ payload: [UInt8]) -> String {
    payload.isEmpty ? "=" : Base64.encode(payload)
  }

  /// The content of `<response/>`.
  public static func response(_ payload: [UInt8]) -> String { Base64.encode(payload) }

  /// The payload of `<challenge/>` or `<success/>`; `=` and nothing are both empty.
  public static func decode(_ text: String) throws(SASLFailure) -> [UInt8] {
    if text == "=" { return [] }
    guard let payload = Base64.decode(text) else { throw .malformed("it is not base64") }
    return payload
  }
}
