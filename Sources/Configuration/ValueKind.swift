/// Why a value will not do, as a predicate ("has no unit"), and what to write instead.
public struct ValueProblem: Error, Sendable, Hashable, CustomStringConvertible {
  public let reason: String
  public let remedy: String

  public init(_ reason: String, remedy: String) {
    self.reason = reason
    self.remedy = remedy
  }

  public var description: String { "\(reason): \(remedy)" }
}

/// How the text behind `=` becomes a value.
public struct ValueKind<Value: Sendable>: Sendable {
  /// What may be written, for manual pages: `yes | no`.
  public let syntax: String
  public let parse: @Sendable (String) throws(ValueProblem) -> Value

  public init(syntax: String, parse: @escaping @Sendable (String) throws(ValueProblem) -> Value) {
    self.syntax = syntax
    self.parse = parse
  }
}

extension ValueKind where Value == String {
  /// Any text.
  public static var text: ValueKind {
    ValueKind(syntax: "TEXT") { text throws(ValueProblem) in text }
  }

  /// One word without white space.
  public static var word: ValueKind {
    ValueKind(syntax: "WORD") { text throws(ValueProblem) in
      if text.contains(where: \.isWhitespace) { throw ValueProblem("is more than one word", remedy: "write one word") }
      return text
    }
  }

  /// An absolute path.
  public static var path: ValueKind {
    ValueKind(syntax: "PATH") { text throws(ValueProblem) in
      guard text.hasPrefix("/") else {
        throw ValueProblem("is no absolute path", remedy: "begin it with `/`")
      }
      return text
    }
  }
}

extension ValueKind where Value == [String] {
  /// A program and its arguments, split as a shell would.
  public static var commandLine: ValueKind {
    ValueKind(syntax: "PROGRAM [ARGUMENT…]") { text throws(ValueProblem) in
      let words = try shellWords(text)
      guard words.first?.hasPrefix("/") == true else {
        throw ValueProblem("does not begin with an absolute path", remedy: "write the program's whole path")
      }
      return words
    }
  }
}

extension ValueKind where Value == Bool {
  public static var boolean: ValueKind {
    ValueKind(syntax: "yes | no") { text throws(ValueProblem) in
      switch text {
      case "yes": return true
      case "no": return false
      default: throw ValueProblem("is neither yes nor no", remedy: "write yes or no")
      }
    }
  }
}

extension ValueKind where Value == Int {
  public static func integer(_ range: ClosedRange<Int>) -> ValueKind {
    ValueKind(syntax: "\(range.lowerBound)…\(range.upperBound)") { text throws(ValueProblem) in
      guard let value = Int(text), range.contains(value) else {
        throw ValueProblem(
          "is no whole number from \(range.lowerBound) to \(range.upperBound)", remedy: "write a number in that range")
      }
      return value
    }
  }
}

extension ValueKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
  /// One of the words of `Value`.
  public static var choice: ValueKind {
    let words = Value.allCases.map(\.rawValue)
    return ValueKind(syntax: words.joined(separator: " | ")) { text throws(ValueProblem) in
      guard let value = Value(rawValue: text) else {
        let remedy = nearest(to: text, in: words).map { "did you mean `\($0)`?" } ?? "choose one of them"
        throw ValueProblem("is none of " + words.joined(separator: ", "), remedy: remedy)
      }
      return value
    }
  }
}
