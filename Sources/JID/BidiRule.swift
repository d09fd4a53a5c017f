import CUnistring

/// The Bidi Rule of RFC 5893, section 2.
enum BidiRule {
  /// Whether `text` holds a character that runs from right to left, or an Arabic number.
  static func isRightToLeft(_ text: some Sequence<UInt32>) -> Bool {
    text.contains { [UC_BIDI_R, UC_BIDI_AL, UC_BIDI_AN].contains(Int(uc_bidi_class($0))) }
  }

  /// Whether `label` satisfies all six conditions.
  static func isSatisfied(by label: some Collection<UInt32>) -> Bool {
    let classes = label.map { Int(uc_bidi_class($0)) }
    guard let first = classes.first, let last = classes.last(where: { $0 != UC_BIDI_NSM }) else { return false }
    let neutral = [UC_BIDI_ES, UC_BIDI_CS, UC_BIDI_ET, UC_BIDI_ON, UC_BIDI_BN, UC_BIDI_NSM]
    switch first {
    case UC_BIDI_R, UC_BIDI_AL:
      let allowed = neutral + [UC_BIDI_R, UC_BIDI_AL, UC_BIDI_AN, UC_BIDI_EN]
      return classes.allSatisfy(allowed.contains)
        && [UC_BIDI_R, UC_BIDI_AL, UC_BIDI_EN, UC_BIDI_AN].contains(last)
        && !(classes.contains(UC_BIDI_EN) && classes.contains(UC_BIDI_AN))
    case UC_BIDI_L:
      let allowed = neutral + [UC_BIDI_L, UC_BIDI_EN]
      return classes.allSatisfy(allowed.contains) && [UC_BIDI_L, UC_BIDI_EN].contains(last)
    default:
      return false
    }
  }
}
