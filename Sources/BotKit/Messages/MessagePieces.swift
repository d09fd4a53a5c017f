/// Cuts a long text into messages.
public enum MessagePieces {
  /// The pieces of `text` of at most `limit` bytes of UTF-8 each, cut at line breaks where there are any, else between
  /// characters; a line break that is cut at is left out. Each piece of a preformatted block is one itself.
  public static func split(_ text: String, limit: Int) -> [String] {
    if text.utf8.count <= limit { return [text] }
    let fence = "```"
    if text.hasPrefix(fence + "\n"), text.hasSuffix("\n" + fence), limit > 64 {
      let inside = text.dropFirst(4).dropLast(4)
      return cut(inside, limit - 8).map { "\(fence)\n\($0)\n\(fence)" }
    }
    return cut(text[...], limit)
  }

  private static func cut(_ text: Substring, _ limit: Int) -> [String] {
    var pieces: [String] = []
    var rest = text
    while rest.utf8.count > limit {
      let furthest = rest.utf8.index(rest.startIndex, offsetBy: limit)
      if let line = rest.utf8[...furthest].lastIndex(of: 0x0a), line > rest.startIndex {
        pieces.append(String(rest[..<line]))
        rest = rest[rest.utf8.index(after: line)...]
      } else {
        let end = lastBoundary(in: rest, notAfter: furthest)
        pieces.append(String(rest[..<end]))
        rest = rest[end...]
      }
    }
    if !rest.isEmpty { pieces.append(String(rest)) }
    return pieces
  }

  /// Between two of what people see as characters; within one that is too long by itself, between code points, and
  /// always after one code point at least.
  private static func lastBoundary(in text: Substring, notAfter furthest: String.Index) -> String.Index {
    var end = text.startIndex
    while case let next = text.index(after: end), next <= furthest { end = next }
    guard end == text.startIndex else { return end }
    let scalars = text.unicodeScalars
    end = scalars.index(after: end)
    while case let next = scalars.index(after: end), next <= furthest { end = next }
    return end
  }
}
