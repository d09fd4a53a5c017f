import CIDN2
import Glibc

/// Host names on the wire.
enum DomainName {
  /// `name` as lower-case A-labels without a final dot (IDNA2008, UTS #46 non-transitional), or nil when it is none.
  static func ascii(_ name: String) -> String? {
    let bare = name.hasSuffix(".") ? String(name.dropLast()) : name
    guard !bare.isEmpty, !bare.utf8.contains(0) else { return nil }
    if bare.utf8.allSatisfy({ $0 < 0x80 && $0 > 0x20 }) { return bare.utf8.count <= 253 ? bare.lowercased() : nil }
    var output: UnsafeMutablePointer<CChar>?
    let flags = Int32(IDN2_NFC_INPUT.rawValue | IDN2_NONTRANSITIONAL.rawValue)
    guard idn2_to_ascii_8z(bare, &output, flags) == IDN2_OK.rawValue, let output else { return nil }
    defer { idn2_free(output) }
    let ascii = String(cString: output)
    return ascii.utf8.count <= 253 ? ascii : nil
  }
}
