import CIDN2

/// Host names on the wire.
enum DomainName {
  /// `name` as lower-case A-labels without a final dot (IDNA2008, UTS #46 non-transitional), or nil when it is no name
  /// that DNS could hold: 253 bytes, labels of 1 to 63 letters, digits, hyphens and underscores.
  static func ascii(_ name: String) -> String? {
    let bare = name.hasSuffix(".") ? String(name.dropLast()) : name
    guard !bare.utf8.contains(0) else { return nil }
    let ascii: String
    if bare.utf8.allSatisfy({ $0 < 0x80 }) {
      ascii = bare.lowercased()
    } else {
      var output: UnsafeMutablePointer<CChar>?
      let flags = Int32(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)
      guard idn2_to_ascii_8z(bare, &output, flags) == IDN2_OK.rawValue, let output else { return nil }
      defer { idn2_free(output) }
      ascii = String(cString: output)
    }
    let labels = ascii.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let isName =
      ascii.utf8.count <= 253
      && labels.allSatisfy { (1...63).contains($0.count) && $0.allSatisfy(isNameByte) }
    return isName ? ascii : nil
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): true
    case UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }
}
