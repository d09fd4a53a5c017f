import JSON

/// Writes messages to standard output, one after the other.
final class MessageWriter {
  enum Format: String, CaseIterable {
    /// A JSON object a line.
    case jsonl
    /// RFC 4180, with a header.
    case csv
    /// For reading.
    case txt
  }

  private static let columns = [
    "id", "time", "direction", "kind", "state", "peer", "resource", "room", "nick", "subject", "body",
  ]

  private let format: Format

  init(_ format: Format) {
    self.format = format
    if format == .csv { print(Self.columns.joined(separator: ","), terminator: "\r\n") }
  }

  func write(_ message: JSON) {
    switch format {
    case .jsonl: print(message.text())
    case .csv: print(Self.columns.map { Self.quoted(message[$0]) }.joined(separator: ","), terminator: "\r\n")
    case .txt: print(Self.line(message))
    }
  }

  private static func quoted(_ value: JSON?) -> String {
    let text = value?.stringValue ?? value?.intValue.map(String.init) ?? ""
    return csvField(Terminal.isInteractive ? Terminal.safe(text) : text)
  }

  /// A field of RFC 4180. Looks at scalars: to Swift a quote with a combining mark behind it is another character.
  static func csvField(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: { $0 == "," || $0 == "\"" || $0 == "\n" || $0 == "\r" }) else {
      return text
    }
    var field = String.UnicodeScalarView("\"".unicodeScalars)
    for scalar in text.unicodeScalars {
      if scalar == "\"" { field.append(scalar) }
      field.append(scalar)
    }
    field.append("\"")
    return String(field)
  }

  /// `2026-01-31 17:05:09 alice@example.org -> hello`
  static func line(_ message: JSON) -> String {
    let time = message["time"]?.stringValue ?? ""
    let arrow = message["direction"]?.stringValue == "out" ? "<-" : "->"
    let nick = message["nick"]?.stringValue.map { message["room"] == nil ? "" : " (\($0))" } ?? ""
    let state = message["state"]?.stringValue.flatMap { $0 == "failed" || $0 == "queued" ? " [\($0)]" : nil } ?? ""
    let body = message["body"]?.stringValue ?? message["subject"]?.stringValue ?? ""
    return "\(time.prefix(10)) \(time.dropFirst(11).prefix(8)) "
      + Terminal.safe("\(message["peer"]?.stringValue ?? "")\(nick) \(arrow)\(state) \(body)")
  }
}
