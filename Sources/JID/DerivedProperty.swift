import CUnistring

/// What PRECIS makes of a code point (RFC 8264, sections 8 and 9).
enum DerivedProperty {
  /// Allowed in both string classes.
  case valid
  /// Allowed in FreeformClass only (ID_DIS or FREE_PVAL).
  case freeformOnly
  /// Allowed where its rule in RFC 5892, appendix A says so (CONTEXTJ, CONTEXTO).
  case contextual
  case disallowed
  case unassigned

  init(_ scalar: UInt32) {
    self = Self.exception(scalar) ?? Self.derived(scalar)
  }

  /// RFC 8264, section 9.6.
  private static func exception(_ scalar: UInt32) -> Self? {
    switch scalar {
    case 0x00DF, 0x03C2, 0x06FD, 0x06FE, 0x0F0B, 0x3007: .valid
    case 0x00B7, 0x0375, 0x05F3, 0x05F4, 0x30FB, 0x0660...0x0669, 0x06F0...0x06F9: .contextual
    case 0x0640, 0x07FA, 0x302E, 0x302F, 0x3031...0x3035, 0x303B: .disallowed
    default: nil
    }
  }

  /// RFC 8264, section 8, in its order.
  private static func derived(_ scalar: UInt32) -> Self {
    let isNoncharacter = uc_is_property_not_a_character(scalar)
    if !isNoncharacter && UnicodeData.isCategory(scalar, unassignedMask) { return .unassigned }
    if (0x21...0x7E).contains(scalar) { return .valid }
    if scalar == 0x200C || scalar == 0x200D { return .contextual }
    if isConjoiningJamo(scalar) || isNoncharacter || uc_is_property_default_ignorable_code_point(scalar) {
      return .disallowed
    }
    if UnicodeData.isCategory(scalar, controlMask) { return .disallowed }
    if UnicodeData.hasCompatibilityMapping(scalar) { return .freeformOnly }
    if UnicodeData.isCategory(scalar, letterDigitMask) { return .valid }
    return UnicodeData.isCategory(scalar, freeformMask) ? .freeformOnly : .disallowed
  }

  /// OldHangulJamo: libunistring has Hangul_Syllable_Type L, V and T under the name of the grapheme break classes.
  private static func isConjoiningJamo(_ scalar: UInt32) -> Bool {
    let type = Int(uc_graphemeclusterbreak_property(scalar))
    return type == Int(GBP_L) || type == Int(GBP_V) || type == Int(GBP_T)
  }

  private static let unassignedMask = UInt32(UC_CATEGORY_MASK_Cn)
  private static let controlMask = UInt32(UC_CATEGORY_MASK_Cc)
  private static let letterDigitMask = UInt32(
    UC_CATEGORY_MASK_Ll | UC_CATEGORY_MASK_Lu | UC_CATEGORY_MASK_Lo | UC_CATEGORY_MASK_Nd | UC_CATEGORY_MASK_Lm
      | UC_CATEGORY_MASK_Mn | UC_CATEGORY_MASK_Mc)
  /// OtherLetterDigits, Spaces, Symbols and Punctuation.
  private static let freeformMask = UInt32(
    UC_CATEGORY_MASK_Lt | UC_CATEGORY_MASK_Nl | UC_CATEGORY_MASK_No | UC_CATEGORY_MASK_Me | UC_CATEGORY_MASK_Zs
      | UC_CATEGORY_MASK_S | UC_CATEGORY_MASK_P)
}
