import Crypto
import XML

/// XEP-0054 (1.2): the account's business card, where old servers keep what newer ones keep in PEP. Only the picture
/// and the nickname are touched; all else stays as somebody else wrote it.
public struct VCard: Sendable, Hashable {
  public private(set) var element: Element

  /// An empty card.
  public init() { element = Element("vCard", Namespace.vCard) }

  public init?(_ element: Element) {
    guard element.isNamed("vCard", Namespace.vCard) else { return nil }
    self.element = element
  }

  public static var request: Element { Element("vCard", Namespace.vCard) }

  /// SHA-1 of the picture in hexadecimal; nil without one.
  public var photoID: String? {
    guard let base64 = element.child("PHOTO", Namespace.vCard)?.child("BINVAL", Namespace.vCard)?.text else {
      return nil
    }
    // Many clients break the lines (XEP-0153 section 4.6).
    let bytes = Base64.decode(base64.utf8.filter { $0 > 0x20 })
    return bytes.flatMap { $0.isEmpty ? nil : Hex.encode(Hash.digest(.sha1, $0)) }
  }

  public var nickname: String? {
    element.child("NICKNAME", Namespace.vCard).flatMap { $0.text.isEmpty ? nil : $0.text }
  }

  public mutating func set(_ avatar: Avatar?) {
    let photo = avatar.map { avatar in
      Element(
        "PHOTO", Namespace.vCard, [],
        [
          Element("TYPE", Namespace.vCard, text: avatar.type.rawValue),
          Element("BINVAL", Namespace.vCard, text: Base64.encode(avatar.bytes)),
        ])
    }
    replace("PHOTO", by: photo)
  }

  public mutating func set(nickname: String?) {
    replace("NICKNAME", by: nickname.map { Element("NICKNAME", Namespace.vCard, text: $0) })
  }

  private mutating func replace(_ name: String, by child: Element?) {
    element.children.removeAll {
      if case .element(let old) = $0 { old.isNamed(name, Namespace.vCard) } else { false }
    }
    if let child { element.append(child) }
  }
}

/// XEP-0153 (1.1): the picture of the vCard, as presence tells of it.
public enum VCardPhoto: Sendable, Hashable {
  /// There is none.
  case none
  /// SHA-1 in hexadecimal.
  case id(String)

  var element: Element {
    let text = if case .id(let id) = self { id } else { "" }
    return Element(
      "x", Namespace.vCardUpdate, [], [Element("photo", Namespace.vCardUpdate, text: text)])
  }
}
