/// Splits `line` into words as a POSIX shell would (POSIX.1-2017, Shell Command Language 2.2), expanding nothing:
/// quotes and backslash only. A word may be empty (`''`).
public func shellWords(_ line: String) throws(ValueProblem) -> [String] {
  var words: [String] = []
  var word: String?
  var quote: Character?
  var rest = line[...]
  while let character = rest.popFirst() {
    switch (quote, character) {
    case (nil, " "), (nil, "\t"), (nil, "\n"):
      if let finished = word { words.append(finished) }
      word = nil
    case (nil, "'"), (nil, "\""):
      quote = character
      word = word ?? ""
    case (let open?, character) where open == character:
      quote = nil
    case (nil, "\\"):
      guard let escaped = rest.popFirst() else {
        throw ValueProblem("ends in a backslash", remedy: "double it, or remove it")
      }
      word = (word ?? "") + String(escaped)
    case ("\"", "\\"):
      // Between double quotes a backslash is itself unless what follows it would be special.
      if let next = rest.first, "$`\"\\".contains(next) {
        word = (word ?? "") + String(rest.removeFirst())
      } else {
        word = (word ?? "") + "\\"
      }
    default:
      word = (word ?? "") + String(character)
    }
  }
  if let quote { throw ValueProblem("has a \(quote) that is never closed", remedy: "close the quote") }
  if let finished = word { words.append(finished) }
  return words
}
