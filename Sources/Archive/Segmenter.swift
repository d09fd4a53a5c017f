/// Prepares text for the full-text engine, whose tokenizer (unicode61) knows words by the spaces between them and folds case
/// and Latin accents, but nothing more. Text to index and text to find pass the same way, so they meet.
///
/// - Scripts written without spaces (`isUnspaced`) become overlapping pairs: 日本語 is indexed as "日本 本語 語", so that any
///   two characters, and one as the beginning of a pair, are found.
/// - Accents of Greek and Cyrillic, dotless i, ß, crossed Latin letters, Hebrew and Arabic vowel signs are folded.
///
/// Not covered: half-width against full-width katakana, decomposed kana and hangul, traditional against simplified Han,
/// word forms, transliteration. Emoji and punctuation are not indexed.
enum Segmenter {
  /// `text` as it goes into the index.
  static func index(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
    var pairs = PairWriter()
    for scalar in text.unicodeScalars { pairs.append(scalar) }
    pairs.endRun()
    return String(pairs.output)
  }

  struct Phrase: Hashable {
    /// Without quotes and NUL characters.
    let text: String
    /// The last character begins a pair: all pairs that begin so are meant.
    let isPrefix: Bool
  }

  /// `text` as a phrase to find; nil if it holds nothing that is indexed.
  static func phrase(_ text: String) -> Phrase? {
    var pairs = PairWriter()
    var hasToken = false
    for scalar in text.unicodeScalars {
      pairs.append(scalar == "\"" || scalar == "\0" ? " " : scalar)
      hasToken = hasToken || isToken(scalar)
    }
    guard hasToken else { return nil }
    // In the text the run may go on, so its end is not looked for, unless the run is this one character.
    let isPrefix = pairs.runLength == 1
    if isPrefix { pairs.endRun() }
    return Phrase(text: String(pairs.output), isPrefix: isPrefix)
  }

  /// What the tokenizer takes for a part of a word (the categories in the schema), as far as it survives folding.
  private static func isToken(_ scalar: Unicode.Scalar) -> Bool {
    if Folding.isDropped(scalar) { return false }
    return switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
      .letterNumber, .otherNumber, .privateUse, .nonspacingMark, .spacingMark:
      true
    default: false
    }
  }

  private struct PairWriter {
    var output = String.UnicodeScalarView()
    /// Characters of an unspaced script since it began.
    var runLength = 0
    private var last: Unicode.Scalar = " "

    mutating func append(_ scalar: Unicode.Scalar) {
      if Folding.isDropped(scalar) { return }
      guard isUnspaced(scalar) else {
        endRun()
        return Folding.append(scalar, to: &output)
      }
      if runLength > 0 {
        output.append(last)
        output.append(scalar)
      }
      output.append(" ")
      last = scalar
      runLength += 1
    }

    /// A run's last character stands alone, to be found as the beginning of a pair that has no second.
    mutating func endRun() {
      guard runLength > 0 else { return }
      output.append(last)
      output.append(" ")
      runLength = 0
    }
  }

  /// Letters, digits and marks of scripts that put no spaces between words, or that are mixed with them without spaces.
  static func isUnspaced(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x0E00: false
    case 0x0E01...0x0E3A, 0x0E40...0x0E4E, 0x0E50...0x0E59, 0x0E81...0x0EDF: true  // Thai, Lao
    case 0x1000...0x1049, 0x1050...0x109F: true  // Myanmar
    case 0x1100...0x11FF, 0x3131...0x318E, 0xA960...0xA97C, 0xAC00...0xD7FB: true  // Hangul
    case 0x1780...0x17D3, 0x17D7, 0x17DC...0x17E9: true  // Khmer
    case 0x2E80...0x2FD5, 0x3005...0x3007, 0x3021...0x3029, 0x3038...0x303B: true  // Han radicals, 々〆〇, numerals
    case 0x3031...0x3035, 0x3041...0x3096, 0x3099...0x309A, 0x309D...0x309F: true  // Hiragana, kana marks
    case 0x30A1...0x30FA, 0x30FC...0x30FF: true  // Katakana
    case 0x3105...0x312F, 0x31A0...0x31BF: true  // Bopomofo
    case 0x31F0...0x31FF, 0x1AFF0...0x1B16F: true  // Kana extensions
    case 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xF900...0xFAD9, 0x20000...0x3FFFD: true  // Han
    case 0xA000...0xA48C: true  // Yi
    case 0xFF10...0xFF19, 0xFF21...0xFF3A, 0xFF41...0xFF5A, 0xFF66...0xFFDC: true  // Full and half width forms
    default: false
    }
  }
}
