/// Reads the INI dialect of systemd's own files.
///
/// `[section]` and `[section NAME]`; `key = value`; whole lines of comment that begin with `#` or `;`; a line that ends
/// in a backslash goes on in the next one. There are no comments behind a value: `#` and `;` may be part of it.
/// Files are UTF-8; a byte order mark and CRLF line ends are accepted.
public struct ConfigurationParser: Sendable {
  public private(set) var document: ConfigurationDocument
  public private(set) var problems: [Diagnostic] = []

  /// More bytes than this in one line are a mistake, not a value.
  public static let maximumLineLength = 65_536

  private enum Current {
    case none
    case section(Int)
    /// After a header that could not be read: what follows has been reported with it.
    case unreadable
  }

  public init(file: String) {
    document = ConfigurationDocument(file: file)
  }

  /// Adds what `bytes`, the contents of `file`, say.
  public mutating func parse(_ bytes: [UInt8], file: String) {
    var rest = bytes[...]
    if rest.starts(with: [0xEF, 0xBB, 0xBF]) { rest = rest.dropFirst(3) }
    if rest.starts(with: [0xFF, 0xFE]) || rest.starts(with: [0xFE, 0xFF]) {
      report(Location(file: file), "is UTF-16", "save it as UTF-8")
      return
    }

    var current = Current.none
    var number = 0
    /// The line that a backslash at its end leaves open, and where it began.
    var open: (text: String, location: Location)?
    while !rest.isEmpty {
      number += 1
      let end = rest.firstIndex(of: UInt8(ascii: "\n")) ?? rest.endIndex
      let bytes = rest[..<end]
      rest = end == rest.endIndex ? [] : rest[(end + 1)...]
      let location = Location(file: file, line: number)
      guard let line = text(of: bytes, at: location) else {
        open = nil
        continue
      }
      if line.hasPrefix("#") || line.hasPrefix(";") { continue }
      let begun = open.map { ($0.text + line, $0.location) } ?? (line, location)
      if endsOpen(line) {
        open = (begun.0.dropLast() + " ", begun.1)
        continue
      }
      open = nil
      interpret(trim(begun.0[...]), at: begun.1, current: &current)
    }
    if let open { interpret(trim(open.text[...]), at: open.location, current: &current) }
  }

  mutating func report(_ location: Location, _ problem: String, _ remedy: String) {
    problems.append(Diagnostic(location, problem, remedy: remedy))
  }

  /// The line as trimmed text, or nil after a report.
  private mutating func text(of bytes: ArraySlice<UInt8>, at location: Location) -> String? {
    let bytes = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
    if bytes.count > Self.maximumLineLength {
      report(location, "the line is longer than \(Self.maximumLineLength) bytes", "shorten it")
      return nil
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      report(location, "the line is not UTF-8", "save the file as UTF-8")
      return nil
    }
    // C0, DEL and C1: no value needs them, and they would make the diagnostics lie on a terminal.
    if let control = text.unicodeScalars.first(where: { $0.properties.generalCategory == .control && $0 != "\t" }) {
      let code = String(control.value, radix: 16, uppercase: true)
      let name = "U+" + String(repeating: "0", count: max(0, 4 - code.count)) + code
      report(location, "the line holds the control character \(name)", "remove it")
      return nil
    }
    return String(trim(text[...]))
  }

  /// Whether the line ends in a backslash that is not itself escaped.
  private func endsOpen(_ line: String) -> Bool {
    line.utf8.reversed().prefix { $0 == UInt8(ascii: "\\") }.count % 2 == 1
  }

  private mutating func interpret(_ line: Substring, at location: Location, current: inout Current) {
    if line.isEmpty { return }
    if line.hasPrefix("[") {
      current = header(line, at: location).map(Current.section) ?? .unreadable
      return
    }
    guard let equals = line.firstIndex(of: "=") else {
      report(
        location, "`\(excerpt(line))` is neither a [section] nor `key = value`",
        "put `#` before it if it is a comment")
      return
    }
    let key = trim(line[..<equals])
    let value = trim(line[line.index(after: equals)...])
    guard !key.isEmpty else {
      report(location, "there is no key before `=`", "write `key = value`")
      return
    }
    switch current {
    case .unreadable: return
    case .none: report(location, "`\(excerpt(key))` stands before the first section", "put a [section] line above it")
    case .section(let index):
      document.sections[index].entries.append(.init(key: String(key), value: String(value), location: location))
    }
  }

  private mutating func header(_ line: Substring, at location: Location) -> Int? {
    guard line.hasSuffix("]") else {
      report(location, "the section `\(excerpt(line))` does not end in `]`", "end the line with `]`")
      return nil
    }
    let words = trim(line.dropFirst().dropLast()).split(maxSplits: 1) { $0 == " " || $0 == "\t" }
    guard let kind = words.first else {
      report(location, "the section has no name", "write `[section]`")
      return nil
    }
    return document.open(kind: String(kind), name: words.dropFirst().first.map { String(trim($0)) }, at: location)
  }
}

/// `text` without white space at both ends.
func trim(_ text: Substring) -> Substring {
  var text = text
  while let last = text.last, last == " " || last == "\t" { text.removeLast() }
  return text.drop { $0 == " " || $0 == "\t" }
}
