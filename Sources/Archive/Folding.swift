/// What the tokenizer does not fold itself: found by trying SQLite 3.40's unicode61 with remove_diacritics 2.
enum Folding {
  /// Combining accents, vowel signs of Hebrew and Arabic, and characters that nobody sees.
  static func isDropped(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0xAD: false
    case 0xAD, 0x200B...0x200D, 0x2060, 0xFEFF: true  // soft hyphen, zero-width space and joiners
    case 0x0300...0x036F, 0x0483...0x0487: true  // combining accents; Cyrillic titlo
    case 0x0591...0x05BD, 0x05BF, 0x05C1...0x05C2, 0x05C4...0x05C5, 0x05C7: true  // Hebrew points
    case 0x0610...0x061A, 0x0640, 0x064B...0x065F, 0x0670, 0x06D6...0x06DC, 0x06DF...0x06E4: true  // Arabic
    case 0xFE00...0xFE0F, 0xE0100...0xE01EF: true  // variation selectors
    default: false
    }
  }

  /// Appends `scalar` without its accents. Case is left to the tokenizer.
  static func append(_ scalar: Unicode.Scalar, to output: inout String.UnicodeScalarView) {
    switch scalar.value {
    case 0..<0xC6: output.append(scalar)
    case 0xC6...0x17F, 0x1E9E: appendLatin(scalar, to: &output)
    case 0x386...0x3CE, 0x1F00...0x1FFC: output.append(greek(scalar))
    case 0x400...0x4F9: output.append(cyrillic(scalar))
    default: output.append(scalar)
    }
  }

  /// Letters without a canonical decomposition, which unicode61 therefore keeps.
  private static func appendLatin(_ scalar: Unicode.Scalar, to output: inout String.UnicodeScalarView) {
    switch scalar {
    case "ß", "ẞ": output.append(contentsOf: "ss".unicodeScalars)
    case "Æ", "æ": output.append(contentsOf: "ae".unicodeScalars)
    case "Œ", "œ": output.append(contentsOf: "oe".unicodeScalars)
    case "Ø", "ø": output.append("o")
    case "Đ", "đ": output.append("d")
    case "Ħ", "ħ": output.append("h")
    case "ı": output.append("i")
    case "Ł", "ł": output.append("l")
    case "Ŧ", "ŧ": output.append("t")
    default: output.append(scalar)
    }
  }

  private static func greek(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar.value {
    case 0x386, 0x3AC, 0x1F00...0x1F0F, 0x1F70...0x1F71, 0x1F80...0x1F8F, 0x1FB0...0x1FBC: "α"
    case 0x388, 0x3AD, 0x1F10...0x1F1D, 0x1F72...0x1F73, 0x1FC8...0x1FC9: "ε"
    case 0x389, 0x3AE, 0x1F20...0x1F2F, 0x1F74...0x1F75, 0x1F90...0x1F9F, 0x1FC2...0x1FC7, 0x1FCA...0x1FCC: "η"
    case 0x38A, 0x390, 0x3AA, 0x3AF, 0x3CA, 0x1F30...0x1F3F, 0x1F76...0x1F77, 0x1FD0...0x1FDB: "ι"
    case 0x38C, 0x3CC, 0x1F40...0x1F4D, 0x1F78...0x1F79, 0x1FF8...0x1FF9: "ο"
    case 0x38E, 0x3AB, 0x3B0, 0x3CB, 0x3CD, 0x1F50...0x1F5F, 0x1F7A...0x1F7B, 0x1FE0...0x1FE3, 0x1FE6...0x1FEB: "υ"
    case 0x38F, 0x3CE, 0x1F60...0x1F6F, 0x1F7C...0x1F7D, 0x1FA0...0x1FAF, 0x1FF2...0x1FF7, 0x1FFA...0x1FFC: "ω"
    case 0x1FE4...0x1FE5, 0x1FEC: "ρ"
    default: scalar
    }
  }

  /// Every Cyrillic letter whose decomposition is another letter and an accent.
  private static func cyrillic(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar {
    case "Ѐ", "Ё", "ѐ", "ё", "Ӗ", "ӗ": "е"
    case "Ѓ", "ѓ": "г"
    case "Ї", "ї": "і"
    case "Ќ", "ќ": "к"
    case "Ѝ", "Й", "ѝ", "й", "Ӣ", "ӣ", "Ӥ", "ӥ": "и"
    case "Ў", "ў", "Ӯ", "ӯ", "Ӱ", "ӱ", "Ӳ", "ӳ": "у"
    case "Ѷ", "ѷ": "ѵ"
    case "Ӂ", "ӂ", "Ӝ", "ӝ": "ж"
    case "Ӑ", "ӑ", "Ӓ", "ӓ": "а"
    case "Ӛ", "ӛ": "ә"
    case "Ӟ", "ӟ": "з"
    case "Ӧ", "ӧ": "о"
    case "Ӫ", "ӫ": "ө"
    case "Ӭ", "ӭ": "э"
    case "Ӵ", "ӵ": "ч"
    case "Ӹ", "ӹ": "ы"
    default: scalar
    }
  }
}
