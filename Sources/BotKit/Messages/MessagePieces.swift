/// Cuts a long text into messages.
public enum MessagePieces {
  private static let fence = "```"

  /// The pieces of `text`, each at most `limit` bytes of UTF-8 long once it is XML, where `&`, `<` and `>` take four or five.
  /// They are cut at line breaks where there are any, else between what people see as characters; a line break that is cut at is
  /// left out. A preformatted block that is cut ends with its piece, and begins again with the next (XEP-0393 version
  /// 1.1.1).
  public static func split(_ text: String, limit: Int) -> [String] {
    // No byte takes more than five.
    if text.utf8.count <= limit / 5 { return [text] }
    let hasBlocks = limit > 64 && text.utf8.contains(0x60) && (text.hasPrefix(fence) || text.contains("\n" + fence))
    var pieces: [String] = []
    var rest = text[...]
    var isInBlock = false
    while true {
      let opening = isInBlock ? fence + "\n" : ""
      guard let furthest = furthest(in: rest, limit - opening.utf8.count, reserve: hasBlocks ? 4 : 0) else {
        if !rest.isEmpty || pieces.isEmpty { pieces.append(opening + rest) }
        return pieces
      }
      var cut = Cut(rest, notAfter: furthest)
      if hasBlocks { cut.avoidFences(in: rest, isInBlock) }
      let piece = rest[..<cut.end]
      rest = rest[cut.next...]
      if hasBlocks { isInBlock = Self.isInBlock(after: piece, isInBlock) }
      pieces.append(opening + piece + (isInBlock ? "\n" + fence : ""))
      guard isInBlock, isEnd(line(of: rest)) else { continue }
      // The block is closed already.
      isInBlock = false
      rest = rest.dropFirst(fence.count)
      if rest.utf8.first == 0x0a { rest = rest.dropFirst() }
      if rest.isEmpty { return pieces }
    }
  }

  /// The length of `text` once it is XML.
  static func size(_ text: String) -> Int { text.utf8.reduce(0) { $0 + size($1) } }

  private static func size(_ byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: "&"), 0x0d: 5
    case UInt8(ascii: "<"), UInt8(ascii: ">"): 4
    case 0x09, 0x0a: 1
    // XML forbids it: U+FFFD stands for it.
    case 0..<0x20: 3
    default: 1
    }
  }

  /// Up to where `text` fits into `limit`, less `reserve`; nil when all of it fits.
  private static func furthest(in text: Substring, _ limit: Int, reserve: Int) -> String.Index? {
    var used = 0
    var furthest: String.Index?
    for index in text.utf8.indices {
      used += size(text.utf8[index])
      if used > limit - reserve, furthest == nil { furthest = index }
      if used > limit { return furthest }
    }
    return nil
  }

  /// Whether a preformatted block is open after `text`, which begins inside of one or not.
  private static func isInBlock(after text: Substring, _ isInBlock: Bool) -> Bool {
    var isInBlock = isInBlock
    for line in text.utf8.split(separator: 0x0a, omittingEmptySubsequences: false) {
      isInBlock = isInBlock ? !isEnd(Substring(line)) : line.starts(with: fence.utf8)
    }
    return isInBlock
  }

  private static func line(of text: Substring) -> Substring { Substring(text.utf8.prefix { $0 != 0x0a }) }

  private static func isEnd(_ line: Substring) -> Bool { line.utf8.elementsEqual(fence.utf8) }

  /// Where a text is cut.
  private struct Cut {
    /// Behind the piece.
    var end: String.Index
    /// Where the next one begins.
    var next: String.Index
    private var isAtLine: Bool

    init(_ text: Substring, notAfter furthest: String.Index) {
      if let line = text.utf8[...furthest].lastIndex(of: 0x0a), line > text.startIndex {
        (end, next, isAtLine) = (line, text.utf8.index(after: line), true)
      } else {
        end = Self.lastBoundary(in: text, notAfter: furthest)
        (next, isAtLine) = (end, false)
      }
    }

    /// No piece ends with the line that opens a block, and none begins within a run of grave accents, which might close
    /// one.
    mutating func avoidFences(in text: Substring, _ isInBlock: Bool) {
      guard isAtLine else {
        var earlier = end
        while earlier > text.startIndex, earlier < text.endIndex, text[earlier] == "`" {
          earlier = text.index(before: earlier)
        }
        if earlier > text.startIndex { (end, next) = (earlier, earlier) }
        return
      }
      guard let line = text.utf8[..<end].lastIndex(of: 0x0a), line > text.startIndex else { return }
      let before = text[..<line]
      let last = text[text.utf8.index(after: line)..<end]
      guard last.hasPrefix(fence), !MessagePieces.isInBlock(after: before, isInBlock) else { return }
      (end, next) = (line, text.utf8.index(after: line))
    }

    /// Between two of what people see as characters; within one that is too long by itself, between code points, and
    /// always after one code point at least.
    private static func lastBoundary(in text: Substring, notAfter furthest: String.Index) -> String.Index {
      var end = text.startIndex
      while case let next = text.index(after: end), next <= furthest { end = next }
      guard end == text.startIndex else { return end }
      let scalars = text.unicodeScalars
      end = scalars.index(after: end)
      while end < text.endIndex, case let next = scalars.index(after: end), next <= furthest { end = next }
      return end
    }
  }
}
