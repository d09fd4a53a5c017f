import CUnistring
import Glibc

/// The Unicode properties and mappings that addresses need. All come from libunistring, so that every rule sees the
/// same version of Unicode; the standard library's own tables decide nothing here.
enum UnicodeData {
  typealias Scalar = UInt32

  static func scalars(_ text: String) -> [Scalar] { text.unicodeScalars.map(\.value) }

  static func string(_ scalars: some Sequence<Scalar>) -> String {
    var view = String.UnicodeScalarView()
    // The mappings turn scalar values into scalar values, so the replacement never shows.
    for value in scalars { view.append(Unicode.Scalar(value) ?? "\u{FFFD}") }
    return String(view)
  }

  /// Full-width and half-width characters become their decomposition mappings (UAX #11).
  static func widthMapped(_ text: [Scalar]) -> [Scalar] {
    text.contains(where: { $0 >= 0x3000 }) ? text.flatMap(widthMapping) : text
  }

  private static func widthMapping(_ scalar: Scalar) -> [Scalar] {
    withUnsafeTemporaryAllocation(of: Scalar.self, capacity: Int(UC_DECOMPOSITION_MAX_LENGTH)) { buffer in
      var tag: CInt = 0
      let count = uc_decomposition(scalar, &tag, buffer.baseAddress)
      let isWidth = tag == CInt(UC_DECOMP_WIDE) || tag == CInt(UC_DECOMP_NARROW)
      return count > 0 && isWidth ? Array(buffer[..<Int(count)]) : [scalar]
    }
  }

  /// The full, language-independent toLowercase of the Unicode Standard, section 3.13. Nil when memory runs out.
  static func lowercased(_ text: [Scalar]) -> [Scalar]? {
    mapped(text) { u32_tolower($0, $1, nil, nil, nil, $2) }
  }

  /// Normalization form C. Nil when memory runs out.
  static func nfc(_ text: [Scalar]) -> [Scalar]? {
    mapped(text) { u32_normalize(cunistring_nfc(), $0, $1, nil, $2) }
  }

  private static func mapped(
    _ text: [Scalar],
    _ function: (UnsafePointer<Scalar>?, Int, UnsafeMutablePointer<Int>) -> UnsafeMutablePointer<Scalar>?
  ) -> [Scalar]? {
    if text.isEmpty { return [] }
    var count = 0
    guard let result = text.withUnsafeBufferPointer({ function($0.baseAddress, $0.count, &count) }) else { return nil }
    defer { free(result) }
    return Array(UnsafeBufferPointer(start: result, count: count))
  }

  /// Whether normalization form KC changes the character, taken alone.
  static func hasCompatibilityMapping(_ scalar: Scalar) -> Bool {
    // The longest compatibility decomposition has 18 characters (U+FDFA).
    withUnsafeTemporaryAllocation(of: Scalar.self, capacity: 32) { buffer in
      var count = buffer.count
      var scalar = scalar
      guard let result = u32_normalize(cunistring_nfkc(), &scalar, 1, buffer.baseAddress, &count) else { return true }
      defer { if result != buffer.baseAddress { free(result) } }
      return count != 1 || result[0] != scalar
    }
  }

  static func isCategory(_ scalar: Scalar, _ mask: UInt32) -> Bool { uc_is_general_category_withtable(scalar, mask) }

  /// General category Zs.
  static func isSpace(_ scalar: Scalar) -> Bool { isCategory(scalar, UInt32(UC_CATEGORY_MASK_Zs)) }
}
