/// A manual page of docs/man, as far as a test compares it with the program: its lists, and the sections that they are in.
public struct ManualPage: Sendable {
  /// `.It MACRO WORDS`, and what is said about it.
  public struct Item: Sendable, Hashable {
    /// The `.Sh` and the `.Ss` that it is in; empty for none.
    public let section: String
    public let subsection: String
    /// `Cm`, `Fl`, `Ev`, …; for an item without one its first word.
    public let macro: String
    /// The words after the macro.
    public let words: [String]
    /// The lines below it, those of lists inside of it included.
    public internal(set) var text = ""
    /// 1 in a list, 2 in a list inside of that.
    public let depth: Int
    /// The index of the item around it.
    public let parent: Int?

    /// What stands before `No`, which sets how it is written apart.
    public var name: String { words.prefix { $0 != "No" }.joined(separator: " ") }
    /// What stands behind it.
    public var syntax: String { words.drop { $0 != "No" }.dropFirst().joined(separator: " ") }
    /// The single words of a list such as `NOTIFY_SOCKET , WATCHDOG_USEC`.
    public var names: [String] { words.filter { $0 != "," } }
  }

  public let name: String
  public private(set) var items: [Item] = []
  /// The titles of each section's subsections, in order.
  public private(set) var subsections: [String: [String]] = [:]
  /// All of it, as written.
  public let source: String

  /// - Parameter root: a file two folders below the repository's.
  public init(_ name: String, root: String = #filePath) {
    self.name = name
    let folder = root.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    source = String(decoding: readFile(folder + "/docs/man/" + name), as: UTF8.self)
    read()
  }

  private mutating func read() {
    var section = ""
    var subsection = ""
    // The item that is open in each list around the line.
    var open: [Int?] = []
    for line in source.split(separator: "\n") {
      var words = line.split(separator: " ").map(String.init)
      switch words.removeFirst() {
      case ".Sh": (section, subsection) = (words.joined(separator: " "), "")
      case ".Ss":
        subsection = words.joined(separator: " ")
        subsections[section, default: []].append(subsection)
      case ".Bl": open.append(nil)
      case ".El": if !open.isEmpty { open.removeLast() }
      case ".It" where !open.isEmpty && !words.isEmpty:
        open[open.count - 1] = items.count
        items.append(
          Item(
            section: section, subsection: subsection, macro: words[0], words: Array(words.dropFirst()),
            depth: open.count, parent: open.dropLast().last ?? nil))
      default: for case let index? in open { items[index].text += line + "\n" }
      }
    }
  }

  /// The items of a list, in order.
  public func items(_ macro: String, in section: String, _ subsection: String = "", depth: Int = 1) -> [Item] {
    items.filter {
      $0.macro == macro && $0.section == section && $0.subsection == subsection && $0.depth == depth
    }
  }

  /// The items of lists inside of `item`.
  public func items(_ macro: String, inside item: Item) -> [Item] {
    guard let index = items.firstIndex(of: item) else { return [] }
    return items.filter { $0.macro == macro && $0.parent == index }
  }

  /// Each long option that is named anywhere.
  public var options: Set<String> {
    var found: Set<String> = []
    for line in source.split(separator: "\n") where line.hasPrefix(".") {
      let words = line.split(separator: " ")
      for (macro, word) in zip(words, words.dropFirst()) where macro.hasSuffix("Fl") && word.hasPrefix("-") {
        found.insert("-" + word)
      }
    }
    return found
  }
}
