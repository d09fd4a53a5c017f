import Crypto
import SASL

/// SASL data as XMPP carries it: base64, with `=` for data of no length (RFC 6120 section 6.4.2).
enum SASLText {
  static func encode(_ data: [UInt8]) -> String {
    data.isEmpty ? "=" : Base64.encode(data)
  }

  static func decode(_ text: String) throws(SASLFailure) -> [UInt8] {
    if text == "=" || text.isEmpty { return [] }
    guard let data = Base64.decode(text) else { throw .malformed("the server's SASL data is no base64") }
    return data
  }
}
