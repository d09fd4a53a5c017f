/// A place in a configuration file.
public struct Location: Sendable, Hashable, CustomStringConvertible {
  public let file: String
  /// Counted from 1; nil when the file as a whole is meant.
  public let line: Int?

  public init(file: String, line: Int? = nil) {
    self.file = file
    self.line = line
  }

  public var description: String { line.map { "\(file):\($0)" } ?? file }
}

/// One mistake in a configuration: where it is, what is wrong and what to do about it.
public struct Diagnostic: Sendable, Hashable, CustomStringConvertible {
  public let location: Location
  public let problem: String
  public let remedy: String

  public init(_ location: Location, _ problem: String, remedy: String) {
    self.location = location
    self.problem = problem
    self.remedy = remedy
  }

  /// `file:line: what is wrong: what to do`, always one line.
  public var description: String { "\(location): \(problem): \(remedy)" }
}

extension Diagnostic: Comparable {
  public static func < (left: Diagnostic, right: Diagnostic) -> Bool {
    let (a, b) = (left.location, right.location)
    if a.file != b.file { return a.file.utf8.lexicographicallyPrecedes(b.file.utf8) }
    if a.line != b.line { return (a.line ?? 0) < (b.line ?? 0) }
    return left.description < right.description
  }
}

/// Every mistake of a configuration, reported at once.
public struct ConfigurationProblems: Error, Sendable, Hashable, CustomStringConvertible {
  /// Sorted by file, then line; never empty.
  public let diagnostics: [Diagnostic]

  public init(_ diagnostics: [Diagnostic]) {
    self.diagnostics = Set(diagnostics).sorted()
  }

  /// One line each.
  public var description: String { diagnostics.map(\.description).joined(separator: "\n") }
}

/// `text`, shortened so that a diagnostic that quotes it stays readable.
func excerpt(_ text: some StringProtocol, limit: Int = 60) -> String {
  text.count <= limit ? String(text) : text.prefix(limit) + "…"
}
