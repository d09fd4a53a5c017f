import JID
import XMPPClient

/// A bare word as a recipient is most likely a name whose domain was forgotten: by the grammar it is the address of a server, which
/// would be told only when the message comes back.
enum ForgottenDomain {
  /// The address that was most likely meant; nil where `recipient` has a domain. A server of one label is one when the account is
  /// on it, when it is a contact, or when it is this machine.
  static func meant(by recipient: JID, account: JID, roster: Roster) -> JID? {
    guard recipient.local == nil, recipient.resource == nil,
      !recipient.domain.contains(where: { $0 == "." || $0 == ":" }),
      recipient.domain != account.domain, recipient.domain != "localhost", roster.items[recipient] == nil
    else { return nil }
    return try? JID(local: recipient.domain, domain: account.domain, resource: nil)
  }
}
