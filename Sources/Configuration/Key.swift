/// What a schema knows of a key, whatever the type of its value.
public struct KeyDescription: Sendable {
  public let name: String
  /// What may be written behind `=`.
  public let syntax: String
  /// The value in force when the key is not given, as it would be written; nil where there is no such value.
  public let defaultValue: String?
  /// In words, what happens without a value where there is no such default; may be empty.
  public let otherwise: String
  /// One line on what the key is for.
  public let summary: String
  /// Whether a key that is given again adds to a list.
  public let isRepeatable: Bool
  public let isRequired: Bool
  /// What is wrong with a value that is not empty.
  public let check: @Sendable (String) -> ValueProblem?
}

/// A key that has one value.
public struct Key<Value: Sendable>: Sendable {
  public let description: KeyDescription
  let kind: ValueKind<Value>
  let fallback: Value?

  /// - Parameters:
  ///   - default: the value of a key that is not given, as it would be written.
  ///   - otherwise: in words, what happens without a value, where there is no such default.
  public init(
    _ name: String, _ kind: ValueKind<Value>, default: String? = nil, otherwise: String = "",
    required: Bool = false, _ summary: String
  ) {
    self.kind = kind
    fallback = `default`.map { parsed($0, as: kind, for: name) }
    description = KeyDescription(
      name: name, syntax: kind.syntax, defaultValue: `default`, otherwise: otherwise, summary: summary,
      isRepeatable: false,
      isRequired: required, check: checker(of: kind))
  }
}

/// A key that has a list of values: each line gives one or more, and adds to those before it.
public struct ListKey<Element: Sendable>: Sendable {
  public let description: KeyDescription
  let kind: ValueKind<[Element]>
  let fallback: [Element]

  /// - Parameter default: the list when the key is not given, as it would be written in one line.
  public init(
    _ name: String, _ kind: ValueKind<[Element]>, default: String? = nil, required: Bool = false, _ summary: String
  ) {
    self.kind = kind
    fallback = `default`.map { parsed($0, as: kind, for: name) } ?? []
    description = KeyDescription(
      name: name, syntax: kind.syntax, defaultValue: `default`, otherwise: "", summary: summary, isRepeatable: true,
      isRequired: required, check: checker(of: kind))
  }
}

extension ValueKind {
  /// A list of `element`s in one line, separated by commas or white space.
  public static func list<Element>(of element: ValueKind<Element>) -> ValueKind where Value == [Element] {
    ValueKind(syntax: element.syntax + ", …") { text throws(ValueProblem) in
      var elements: [Element] = []
      for word in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
        do throws(ValueProblem) {
          elements.append(try element.parse(String(word)))
        } catch {
          throw ValueProblem("holds `\(excerpt(word))`, which \(error.reason)", remedy: error.remedy)
        }
      }
      return elements
    }
  }

  /// A list in which each line is one `element`, white space and all.
  public static func line<Element>(of element: ValueKind<Element>) -> ValueKind where Value == [Element] {
    ValueKind(syntax: element.syntax) { text throws(ValueProblem) in [try element.parse(text)] }
  }
}

private func checker<Value>(of kind: ValueKind<Value>) -> @Sendable (String) -> ValueProblem? {
  { text in
    do throws(ValueProblem) {
      _ = try kind.parse(text)
      return nil
    } catch {
      return error
    }
  }
}

private func parsed<Value>(_ text: String, as kind: ValueKind<Value>, for key: String) -> Value {
  do throws(ValueProblem) {
    return try kind.parse(text)
  } catch {
    preconditionFailure("the default of \(key) \(error)")
  }
}

extension ConfigurationDocument.Section {
  /// The value in force, or else the default; nil where there is neither, and where the value is wrong (which
  /// `Schema.problems(in:)` reports).
  public func value<Value>(of key: Key<Value>) -> Value? {
    guard let entry = entries(of: key.description.name).last else { return key.fallback }
    return try? key.kind.parse(entry.value)
  }

  /// All values in force, or else the default. Lines that are wrong are left out (`Schema.problems(in:)` reports them).
  public func values<Element>(of key: ListKey<Element>) -> [Element] {
    let entries = entries(of: key.description.name)
    if entries.isEmpty { return key.fallback }
    return entries.flatMap { (try? key.kind.parse($0.value)) ?? [] }
  }
}

extension ConfigurationDocument {
  /// The section `[kind]`, or an empty one, so that every key has at least its default.
  public func sectionOrDefaults(_ kind: String) -> Section {
    section(kind) ?? Section(kind: kind, name: nil, headers: [Location(file: file, line: 1)])
  }
}
