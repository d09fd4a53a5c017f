import CUnistring

/// The rules of RFC 5892, appendix A, for code points that are allowed in some surroundings only.
enum ContextRule {
  /// Whether the contextual code point at `index` of `text` stands where it may.
  static func isSatisfied(at index: Int, in text: [UInt32]) -> Bool {
    let before = index > 0 ? text[index - 1] : nil
    let after = index + 1 < text.count ? text[index + 1] : nil
    switch text[index] {
    case 0x200C: return isVirama(before) || joinsBothSides(of: index, in: text)
    case 0x200D: return isVirama(before)
    case 0x00B7: return before == 0x6C && after == 0x6C
    case 0x0375: return isScript(after, "Greek")
    case 0x05F3, 0x05F4: return isScript(before, "Hebrew")
    case 0x30FB: return text.contains { isScript($0, "Hiragana") || isScript($0, "Katakana") || isScript($0, "Han") }
    case 0x0660...0x0669: return !text.contains { (0x06F0...0x06F9).contains($0) }
    case 0x06F0...0x06F9: return !text.contains { (0x0660...0x0669).contains($0) }
    default: return false
    }
  }

  private static func isVirama(_ scalar: UInt32?) -> Bool {
    scalar.map { uc_combining_class($0) == Int32(UC_CCC_VR) } ?? false
  }

  private static func isScript(_ scalar: UInt32?, _ name: String) -> Bool {
    scalar.map { uc_is_script($0, uc_script_byname(name)) } ?? false
  }

  /// Appendix A.1: (L|D) T* ZWNJ T* (R|D).
  private static func joinsBothSides(of index: Int, in text: [UInt32]) -> Bool {
    let isOpaque = { (scalar: UInt32) in uc_joining_type(scalar) != CInt(UC_JOINING_TYPE_T) }
    guard let before = text[..<index].last(where: isOpaque), let after = text[(index + 1)...].first(where: isOpaque)
    else { return false }
    let (left, right) = (uc_joining_type(before), uc_joining_type(after))
    return (left == CInt(UC_JOINING_TYPE_L) || left == CInt(UC_JOINING_TYPE_D))
      && (right == CInt(UC_JOINING_TYPE_R) || right == CInt(UC_JOINING_TYPE_D))
  }
}
