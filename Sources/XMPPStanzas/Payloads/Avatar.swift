import Crypto
import XML

/// XEP-0084 (1.1.4): a picture of the account, checked to be one that contacts can be sent.
public struct Avatar: Sendable, Hashable {
  /// Of the bytes, not of their base64; servers take stanzas of 256 KiB by default, and clients fetch each picture whole.
  public static let maximumBytes = 64 * 1024

  public enum MediaType: String, Sendable {
    case png = "image/png"
    case jpeg = "image/jpeg"
  }

  public let bytes: [UInt8]
  public let type: MediaType
  /// SHA-1 of the bytes in hexadecimal, by which clients know the picture.
  public let id: String
  /// In pixels; only a PNG says it in a fixed place.
  public let size: (width: UInt16, height: UInt16)?

  /// Takes the contents of a PNG or JPEG file. What it is, its first bytes say: a file's name proves nothing.
  public init(_ bytes: [UInt8]) throws(AvatarError) {
    if bytes.isEmpty { throw .empty }
    if bytes.count > Self.maximumBytes { throw .tooLarge(bytes.count) }
    if bytes.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      type = .png
      size = Self.pngSize(bytes)
    } else if bytes.starts(with: [0xFF, 0xD8, 0xFF]) {
      type = .jpeg
      size = nil
    } else {
      throw .unknownType
    }
    self.bytes = bytes
    id = Hex.encode(Hash.digest(.sha1, bytes))
  }

  /// The item of the data node (section 4.1).
  public var data: Element { Element("data", Namespace.avatarData, text: Base64.encode(bytes)) }

  /// The item of the metadata node (section 4.2).
  public var metadata: Element {
    let info = Element(
      "info", Namespace.avatarMetadata,
      [
        ("bytes", String(bytes.count)), ("id", id), ("type", type.rawValue),
        ("width", size.map { String($0.width) }), ("height", size.map { String($0.height) }),
      ])
    return Element("metadata", Namespace.avatarMetadata, [], [info])
  }

  /// The item of the metadata node that says: no picture (section 4.5).
  public static var none: Element { Element("metadata", Namespace.avatarMetadata) }

  /// The id of the picture that an item of the metadata node tells of; nil for none.
  public static func id(inMetadata metadata: Element) -> String? {
    guard metadata.isNamed("metadata", Namespace.avatarMetadata) else { return nil }
    return metadata.child("info", Namespace.avatarMetadata)?["id"]
  }

  /// The header's first chunk, IHDR, begins with width and height (PNG, third edition, section 11.2.1).
  private static func pngSize(_ bytes: [UInt8]) -> (width: UInt16, height: UInt16)? {
    guard bytes.count >= 24, bytes[12..<16].elementsEqual("IHDR".utf8) else { return nil }
    func number(_ start: Int) -> UInt16? {
      UInt16(exactly: bytes[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    }
    guard let width = number(16), let height = number(20), width > 0, height > 0 else { return nil }
    return (width, height)
  }

  public static func == (left: Avatar, right: Avatar) -> Bool { left.bytes == right.bytes }
  public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// Why bytes are no avatar.
public enum AvatarError: Error, Sendable, Hashable, CustomStringConvertible {
  case empty
  /// So many bytes, above `Avatar.maximumBytes`.
  case tooLarge(Int)
  case unknownType

  public var description: String {
    switch self {
    case .empty: "is empty; name a picture"
    case .tooLarge(let count):
      "has \(count) bytes, and an avatar may have \(Avatar.maximumBytes); scale it down, to 192 by 192 pixels for example"
    case .unknownType: "is neither PNG nor JPEG; convert it to PNG"
    }
  }
}
