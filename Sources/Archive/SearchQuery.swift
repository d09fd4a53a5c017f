/// What a user looks for: words, all of which must be in a message, and "quoted phrases". Nothing in it has a further
/// meaning: the full-text engine's own syntax never comes from outside.
public struct SearchQuery: Sendable, Hashable {
  /// In the engine's syntax: quoted texts without quotes inside, joined by AND.
  let expression: String

  public static let maximumTerms = 32
  public static let maximumLength = 1_000

  public init(_ text: String) throws(SearchQueryError) {
    guard text.unicodeScalars.count <= SearchQuery.maximumLength else { throw .tooLong }
    let terms = SearchQuery.terms(of: text).compactMap(SearchQuery.expression(for:))
    if terms.isEmpty { throw .empty }
    if terms.count > SearchQuery.maximumTerms { throw .tooLong }
    expression = terms.joined(separator: " AND ")
  }

  /// Words and what stands between quotes; a quote that nobody closes runs to the end.
  private static func terms(of text: String) -> [String] {
    var terms: [String] = []
    for (index, part) in text.split(separator: #"""#, omittingEmptySubsequences: false).enumerated() {
      let isQuoted = index % 2 == 1
      if isQuoted {
        terms.append(String(part))
      } else {
        terms += part.split(whereSeparator: \.isWhitespace).map(String.init)
      }
    }
    return terms
  }

  /// nil if `term` holds nothing that is indexed, such as punctuation alone.
  private static func expression(for term: String) -> String? {
    guard let phrase = Segmenter.phrase(term) else { return nil }
    // Full-width letters and digits are indexed as they are, so each width is looked for.
    guard let other = otherWidth(term), let alternative = Segmenter.phrase(other) else { return quoted(phrase) }
    return "(\(quoted(phrase)) OR \(quoted(alternative)))"
  }

  private static func quoted(_ phrase: Segmenter.Phrase) -> String {
    "\"\(phrase.text)\"" + (phrase.isPrefix ? " *" : "")
  }

  /// `term` with ASCII letters and digits full-width, or the other way round; nil if it has neither.
  private static func otherWidth(_ term: String) -> String? {
    let offset: UInt32 = 0xFEE0
    let hasNarrow = term.unicodeScalars.contains(where: isNarrow)
    var other = String.UnicodeScalarView()
    for scalar in term.unicodeScalars {
      var value = scalar.value
      if hasNarrow, isNarrow(scalar) { value += offset }
      if !hasNarrow, isWide(scalar) { value -= offset }
      other.append(Unicode.Scalar(value) ?? scalar)
    }
    let result = String(other)
    return result == term ? nil : result
  }

  private static func isNarrow(_ scalar: Unicode.Scalar) -> Bool {
    ("0"..."9").contains(scalar) || ("A"..."Z").contains(scalar) || ("a"..."z").contains(scalar)
  }

  private static func isWide(_ scalar: Unicode.Scalar) -> Bool {
    ("０"..."９").contains(scalar) || ("Ａ"..."Ｚ").contains(scalar) || ("ａ"..."ｚ").contains(scalar)
  }
}

/// Why a text can't be searched for.
public enum SearchQueryError: Error, Sendable, Hashable, CustomStringConvertible {
  case empty
  case tooLong

  public var description: String {
    switch self {
    case .empty: "nothing to search for: give at least one word with a letter or a digit"
    case .tooLong:
      "the search is too long: give at most \(SearchQuery.maximumTerms) words and \(SearchQuery.maximumLength) characters"
    }
  }
}
