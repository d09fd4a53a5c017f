/// The fields that a usage such as `deploy SERVICE [VERSION] on|off [ARGS…]` speaks of.
///
/// A word is a required text, one in brackets may be left out, `A|B` is a choice, and with `…` or `...` behind it a word
/// stands for several. `<word>` is the same as the word. Where a usage says more than that, such as `[-n COUNT]`, one field
/// takes all arguments as they would be typed.
enum UsageFields {
  /// - Parameter name: the command's, with which a usage begins.
  static func fields(of usage: String?, command name: String) -> [CommandField] {
    guard let usage, let words = words(of: usage) else { return usage.map(whole) ?? [] }
    var rest = words[...]
    if rest.first?.text == name, rest.first?.isOptional == false { rest.removeFirst() }
    var fields: [CommandField] = []
    for word in rest {
      guard var field = field(word) else { return whole(usage) }
      let same = fields.count { $0.name == field.name || $0.name.hasPrefix(field.name + "-") }
      if same > 0 { field.name += "-\(same + 1)" }
      fields.append(field)
    }
    return CommandField.fault(in: fields) == nil ? fields : whole(usage)
  }

  private struct Word {
    var text = ""
    var isOptional = false
  }

  /// The words, with what the brackets around them say; nil when the brackets don't match.
  private static func words(of usage: String) -> [Word]? {
    var words: [Word] = []
    var depth = 0
    var isInWord = false
    for character in usage {
      switch character {
      case "[": depth += 1
      case "]": depth -= 1
      case _ where character.isWhitespace: break
      default:
        if !isInWord, character == "…" || character == ".", !words.isEmpty {
          // Behind a bracket, or by itself: it belongs to the word before.
          words[words.count - 1].text.append(character)
          isInWord = true
          continue
        }
        if !isInWord { words.append(Word(isOptional: depth > 0)) }
        words[words.count - 1].text.append(character)
        isInWord = true
        continue
      }
      if depth < 0 { return nil }
      isInWord = false
    }
    return depth == 0 ? words : nil
  }

  private static func field(_ word: Word) -> CommandField? {
    var text = word.text[...]
    var isSeveral = false
    for dots in ["…", "..."] where text.hasSuffix(dots) {
      text = text.dropLast(dots.count)
      isSeveral = true
    }
    if text.hasPrefix("<"), text.hasSuffix(">") { text = text.dropFirst().dropLast() }
    for (open, close) in [("(", ")"), ("{", "}")] where text.hasPrefix(open) && text.hasSuffix(close) {
      text = text.dropFirst().dropLast()
    }
    let choices = text.split(separator: "|", omittingEmptySubsequences: false).map { String($0) }
    if choices.count > 1 {
      guard !isSeveral, choices.allSatisfy(CommandField.isName), Set(choices).count == choices.count else { return nil }
      return CommandField(
        "choice", .choice(choices), label: choices.joined(separator: " / "), required: !word.isOptional)
    }
    guard CommandField.isName(String(text)), !text.hasPrefix("-") else { return nil }
    let name = text.lowercased()
    let label = name.prefix(1).uppercased() + name.dropFirst().replacing("_", with: " ")
    return CommandField(name, isSeveral ? .words : .text, label: label, required: !word.isOptional)
  }

  private static func whole(_ usage: String) -> [CommandField] {
    [CommandField("arguments", .words, label: "Arguments, as in: \(usage)")]
  }
}
