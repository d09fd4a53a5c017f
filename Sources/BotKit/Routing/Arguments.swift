/// Splits what a contact typed into arguments, as a POSIX shell does (2.2 Quoting) but without any expansion:
/// `$`, `` ` ``, `*`, `;` and `|` are ordinary characters.
///
/// White space of every script separates, since phones type some of it. `'…'` keeps all; in `"…"` a backslash protects
/// `"`, `\`, `$`, `` ` `` and a line break; elsewhere it protects whatever follows. A backslash at the very end stands for itself.
enum Arguments {
  /// A quote without its partner.
  struct UnclosedQuote: Error, Hashable {
    let quote: Character
  }

  /// - Parameter asText: splits at white space alone where the quotes do not match.
  static func split(_ text: Substring, asText: Bool = false) throws(UnclosedQuote) -> [String] {
    var words: [String] = []
    var word = String.UnicodeScalarView()
    // Told apart from an empty `word`: '' is an argument.
    var inWord = false
    var quote: Unicode.Scalar?
    var scalars = text.unicodeScalars.makeIterator()
    while let scalar = scalars.next() {
      switch (quote, scalar) {
      case ("'"?, "'"), ("\""?, "\""):
        quote = nil
      case ("\""?, "\\"):
        guard let next = scalars.next() else { break }
        if !"\"\\$`\n".unicodeScalars.contains(next) { word.append(scalar) }
        if next != "\n" { word.append(next) }
      case (.some, _):
        word.append(scalar)
      case (nil, "'"), (nil, "\""):
        quote = scalar
        inWord = true
      case (nil, "\\"):
        let next = scalars.next() ?? scalar
        if next != "\n" {
          word.append(next)
          inWord = true
        }
      case (nil, _) where scalar.isWhiteSpace:
        if inWord { words.append(String(word)) }
        word = String.UnicodeScalarView()
        inWord = false
      case (nil, _):
        word.append(scalar)
        inWord = true
      }
    }
    if quote != nil, asText { return Self.words(text) }
    if let quote { throw UnclosedQuote(quote: Character(quote)) }
    if inWord { words.append(String(word)) }
    return words
  }

  /// Splits at white space only: for commands that take text rather than arguments.
  static func words(_ text: Substring) -> [String] {
    text.unicodeScalars.split(whereSeparator: { $0.isWhiteSpace }).map { String($0) }
  }
}
