import Glibc

/// An element's or an attribute's name.
struct Name {
  let local: String
  let namespace: String
}

/// Keeps the strings of names that come again and again. Each name has one place, and a new one takes it over: so no peer
/// can fill the memory, nor slow the search down with names of equal hash.
struct NameCache {
  /// What separates namespace and name in expat's names. XML can't hold this character, so no name contains it.
  static let separator: UInt8 = 0x01

  private struct Entry {
    var key: [UInt8] = []
    var name = Name(local: "", namespace: "")
  }

  private var entries = [Entry](repeating: Entry(), count: 512)

  /// The name that expat wrote as `text`, which ends in a NUL.
  mutating func name(_ text: UnsafePointer<CChar>) -> Name {
    // FNV-1a.
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    var count = 0
    while text[count] != 0 {
      hash = (hash ^ UInt64(UInt8(bitPattern: text[count]))) &* 0x100_0000_01B3
      count += 1
    }
    let place = Int(truncatingIfNeeded: (hash ^ (hash >> 32)) & 511)
    let bytes = UnsafeBufferPointer(
      start: UnsafeRawPointer(text).assumingMemoryBound(to: UInt8.self), count: count)
    if entries[place].key.count == count, memcmp(entries[place].key, text, count) == 0 { return entries[place].name }
    let name = Self.split(bytes)
    entries[place] = Entry(key: Array(bytes), name: name)
    return name
  }

  private static func split(_ bytes: UnsafeBufferPointer<UInt8>) -> Name {
    guard let separator = bytes.firstIndex(of: separator) else {
      return Name(local: String(decoding: bytes, as: UTF8.self), namespace: "")
    }
    return Name(
      local: String(decoding: bytes[(separator + 1)...], as: UTF8.self),
      namespace: String(decoding: bytes[..<separator], as: UTF8.self))
  }
}
