import XML

/// XEP-0380 (0.4.0): texts that are for other eyes. Not all clients say so; what they send instead is known, too.
enum Encryption {
  /// The namespaces of OMEMO (XEP-0384 and its earlier versions).
  private static let omemo: Set = ["eu.siacs.conversations.axolotl", "urn:xmpp:omemo:1", "urn:xmpp:omemo:2"]
  /// OTR (XEP-0364).
  private static let otr = "urn:xmpp:otr:0"
  /// OpenPGP in its old form (XEP-0027) and its new (XEP-0373).
  private static let oldPGP = "jabber:x:encrypted"
  private static let openPGP = "urn:xmpp:openpgp:0"

  /// The kind of encryption by the namespace of a message's child, and whether there is a text at all: OMEMO's clients
  /// agree on keys with messages that have none. Nil for another child.
  static func kind(of child: Element) -> (namespace: String, hasText: Bool)? {
    let namespace = child.namespace
    switch child.name {
    case "encryption" where namespace == Namespace.explicitEncryption: return (child["namespace"] ?? "unknown", true)
    case "encrypted" where omemo.contains(namespace):
      return (namespace, child.child("payload", namespace) != nil)
    case "x" where namespace == oldPGP, "openpgp" where namespace == openPGP: return (namespace, true)
    default: return nil
    }
  }

  /// The kind of encryption that a body is of by itself; nil for a text that anybody can read.
  static func kind(of body: String) -> String? {
    // Nearly no text begins with either.
    guard let first = body.utf8.first, first == UInt8(ascii: "?") || first == UInt8(ascii: "-") else { return nil }
    if body.utf8.starts(with: "?OTR".utf8) { return otr }
    return body.utf8.starts(with: "-----BEGIN PGP MESSAGE-----".utf8) ? oldPGP : nil
  }
}
