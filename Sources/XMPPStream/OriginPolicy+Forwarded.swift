import JID
import XML
import XMPPStanzas

/// Messages inside messages: whoever wraps one can put words into anybody's mouth, so only those may whose task it is
/// (XEP-0280 section 11, XEP-0313 section 8.2, CVE-2017-5589 and its many sisters).
extension OriginPolicy {
  func admitCarbon(_ wrapper: Element, from: JID) -> Admission {
    guard from == account, expectsCarbons else { return .refused("a carbon from \(from) that nobody asked for") }
    let carbon: Carbon
    do { carbon = try Carbon(wrapper) } catch { return .refused("a carbon that can't be read: \(error)") }
    var message = carbon.forwarded.message
    let owner = carbon.direction == .sent ? message.from : message.to
    guard let owner, owner.isSameAccount(as: account) else {
      return .refused("a carbon of a message that the account has not \(carbon.direction.rawValue)")
    }
    if let refusal = refusal(of: message) { return .refused("a carbon with \(refusal)") }
    // What is said in rooms is for those who are in them (section 6.1); another device's rooms are not ours.
    if message.kind == .groupchat { return .ignored }
    complete(&message)
    message.stanzaIDs = trusted(message.stanzaIDs, in: message.kind, from: from)
    message.delay = Self.earlier(message.delay, carbon.forwarded.delay)
    return .carbon(CarbonCopy(direction: carbon.direction, message: message, element: carbon.forwarded.element))
  }

  func admitResult(_ wrapper: Element, from: JID) -> Admission {
    guard let queryID = wrapper["queryid"], let archive = expectedResults[queryID], archive == from else {
      return .refused("an archive result from \(from) that nobody asked for")
    }
    let result: ArchiveResult
    do { result = try ArchiveResult(wrapper) } catch {
      return .refused("an archive result that can't be read: \(error)")
    }
    var message = result.forwarded.message
    if let refusal = refusal(of: message) { return .refused("an archive result with \(refusal)") }
    if archive == account {
      complete(&message)
      guard [message.from, message.to].contains(where: { $0?.isSameAccount(as: account) == true }) else {
        return .refused("an archive result with a message that is neither to nor from the account")
      }
    } else {
      // A room speaks for itself and its occupants, and for nobody else.
      guard let speaker = message.from, speaker.isSameAccount(as: archive) else {
        return .refused("an archive result of \(archive) with a message from elsewhere")
      }
    }
    message.stanzaIDs = [StanzaID(id: result.id, by: archive.description)]
    message.delay = Self.earlier(message.delay, result.forwarded.delay)
    return .archived(
      ArchivedMessage(
        archive: archive, id: result.id, queryID: queryID, stamp: result.forwarded.delay?.stamp, message: message,
        element: result.forwarded.element, isOwn: message.from?.isSameAccount(as: account) == true))
  }

  /// What would have been refused when it came by itself, no wrapper makes better.
  private func refusal(of message: Message) -> String? {
    switch message.wrapper {
    case .carbon: "another carbon in it"
    case .archiveResult: "an archive result in it"
    case .publishEvent: "an event in it"
    case nil: nil
    }
  }

  /// An address that is missing is the account's (RFC 6120 sections 8.1.1.1 and 8.1.2.1).
  private func complete(_ message: inout Message) {
    message.from = message.from ?? account
    message.to = message.to ?? account
  }

  /// Of two delays the one that makes the message older; one without a stamp says nothing.
  private static func earlier(_ own: Delay?, _ forwarded: Delay?) -> Delay? {
    guard let time = forwarded?.stamp else { return own }
    guard let ownTime = own?.stamp, ownTime < time else { return forwarded }
    return own
  }
}
