import Crypto

/// The attributes of a SCRAM message in their order (RFC 5802 section 5.1): `a=value,b=value`.
struct SCRAMMessage {
  private(set) var attributes: [(name: UInt8, value: ArraySlice<UInt8>)] = []

  init(_ message: [UInt8]) throws(SASLFailure) {
    for part in message.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false) {
      guard part.count >= 3, let name = part.first, Self.isLetter(name), part[part.startIndex + 1] == UInt8(ascii: "=")
      else { throw .malformed("an attribute is not of the form x=value") }
      attributes.append((name, part.dropFirst(2)))
    }
  }

  /// The value of the attribute at `index`, which must have this name: SCRAM fixes the order of what it knows.
  func value(at index: Int, named name: Unicode.Scalar) throws(SASLFailure) -> ArraySlice<UInt8> {
    guard index < attributes.count, attributes[index].name == UInt8(ascii: name) else {
      throw .malformed("attribute \(index + 1) is not \(name)=")
    }
    return attributes[index].value
  }

  /// The value of an extension, which may stand once anywhere from `index` on.
  func optionalValue(from index: Int, named name: Unicode.Scalar) throws(SASLFailure) -> ArraySlice<UInt8>? {
    let found = attributes.dropFirst(index).filter { $0.name == UInt8(ascii: name) }
    if found.count > 1 { throw .malformed("the attribute \(name)= is repeated") }
    return found.first?.value
  }

  /// A `saslname`: `=` and `,` become `=3D` and `=2C`.
  static func escaped(_ name: [UInt8]) -> [UInt8] {
    var result: [UInt8] = []
    for byte in name {
      switch byte {
      case UInt8(ascii: "="): result += Array("=3D".utf8)
      case UInt8(ascii: ","): result += Array("=2C".utf8)
      default: result.append(byte)
      }
    }
    return result
  }

  /// A `posit-number`: decimal digits, the first not zero.
  static func positiveNumber(_ text: ArraySlice<UInt8>) -> Int? {
    guard let first = text.first, first != UInt8(ascii: "0"),
      text.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 })
    else { return nil }
    return Int(String(decoding: text, as: UTF8.self))
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
  }
}
