import JSON

/// A table on a terminal, or the same as JSON lines.
struct Table {
  private let titles: [String]
  private var rows: [[String]] = []

  init(_ titles: [String]) {
    self.titles = titles
  }

  mutating func add(_ cells: [String]) {
    rows.append(cells.map(Terminal.safe))
  }

  /// Columns as wide as they must be; the last one is cut where the terminal ends.
  func text(width: Int?) -> String {
    let all = [titles] + rows
    let widths = titles.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    let lines = all.map { row in
      var line = ""
      for (column, cell) in row.enumerated() {
        line += column == row.count - 1 ? cell : Self.padded(cell, widths[column]) + "  "
      }
      guard let width, line.count > width else { return line }
      return line.prefix(width - 1) + "…"
    }
    return ([Ink.heading.on(lines[0])] + lines.dropFirst()).joined(separator: "\n")
  }

  func print() {
    Swift.print(text(width: Terminal.width))
  }

  static func padded(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
