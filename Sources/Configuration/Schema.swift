/// All sections and keys that a configuration may have. Manual pages and tests read it too.
public struct Schema: Sendable {
  public struct Section: Sendable {
    public let kind: String
    /// What the word after the kind is called (`NAME` in `[command NAME]`); nil for a section without one.
    public let argument: String?
    public let isRequired: Bool
    public let summary: String
    public let keys: [KeyDescription]
    let argumentKind: ValueKind<String>

    public init(
      _ kind: String, argument: String? = nil, argumentKind: ValueKind<String> = .word, required: Bool = false,
      _ summary: String, keys: [KeyDescription]
    ) {
      self.kind = kind
      self.argument = argument
      self.argumentKind = argumentKind
      isRequired = required
      self.summary = summary
      self.keys = keys
    }

    /// As a header: `[command NAME]`.
    public var title: String { argument.map { "[\(kind) \($0)]" } ?? "[\(kind)]" }
  }

  public let sections: [Section]

  public init(_ sections: [Section]) {
    self.sections = sections
  }

  /// Everything in `document` that this schema does not allow or misses: unknown sections and keys, names given twice,
  /// bad values, required keys that are not there.
  public func problems(in document: ConfigurationDocument) -> [Diagnostic] {
    var problems: [Diagnostic] = []
    for section in document.sections {
      guard let known = sections.first(where: { $0.kind == section.kind }) else {
        problems += section.headers.map { unknownSection(section, at: $0) }
        continue
      }
      problems += headerProblems(of: section, as: known)
      problems += section.entries.compactMap { entryProblem($0, in: known) }
      problems += known.keys.filter { !$0.isRepeatable }.flatMap { repetitions(of: $0.name, in: section) }
      problems += missingKeys(of: known, in: section, at: section.headers.first ?? Location(file: document.file))
    }
    for known in sections where known.isRequired && !document.sections.contains(where: { $0.kind == known.kind }) {
      problems.append(
        Diagnostic(
          Location(file: document.file, line: 1), "the section \(known.title) is missing",
          remedy: "add \(known.title) with " + known.keys.filter(\.isRequired).map { "\($0.name) = …" }.joined()))
    }
    return problems
  }

  private func unknownSection(_ section: ConfigurationDocument.Section, at location: Location) -> Diagnostic {
    let remedy =
      nearest(to: section.kind, in: sections.map(\.kind)).flatMap { name in sections.first { $0.kind == name } }
      .map { "did you mean \($0.title)?" } ?? "the sections are " + sections.map(\.title).joined(separator: ", ")
    return Diagnostic(
      location, "unknown section [\(excerpt([section.kind, section.name].compactMap { $0 }.joined(separator: " ")))]",
      remedy: remedy)
  }

  private func headerProblems(of section: ConfigurationDocument.Section, as known: Section) -> [Diagnostic] {
    switch (section.name, known.argument) {
    case (nil, nil): return []
    case (nil, let argument?):
      return section.headers.map {
        Diagnostic($0, "[\(section.kind)] needs a name", remedy: "write [\(section.kind) \(argument)]")
      }
    case (_?, nil):
      return section.headers.map {
        Diagnostic($0, "\(section.title) takes no name", remedy: "write [\(section.kind)]")
      }
    case (let name?, _?):
      return section.headers.compactMap { argumentProblem(name, of: known, at: $0) } + reopenings(of: section)
    }
  }

  private func argumentProblem(_ name: String, of known: Section, at location: Location) -> Diagnostic? {
    do throws(ValueProblem) {
      _ = try known.argumentKind.parse(name)
      return nil
    } catch {
      return Diagnostic(location, "the name in [\(known.kind) \(excerpt(name))] \(error.reason)", remedy: error.remedy)
    }
  }

  /// A drop-in may add to a named section of another file; within one file the same name is a slip.
  private func reopenings(of section: ConfigurationDocument.Section) -> [Diagnostic] {
    var first: [String: Location] = [:]
    return section.headers.compactMap { header in
      guard let earlier = first[header.file] else {
        first[header.file] = header
        return nil
      }
      return Diagnostic(
        header, "\(section.title) is there already, at \(earlier)", remedy: "rename one of them, or join them")
    }
  }

  private func entryProblem(_ entry: ConfigurationDocument.Entry, in known: Section) -> Diagnostic? {
    guard let key = known.keys.first(where: { $0.name == entry.key }) else {
      return Diagnostic(
        entry.location, "unknown key `\(excerpt(entry.key))` in \(known.title)",
        remedy: remedy(forUnknown: entry.key, in: known))
    }
    guard !entry.value.isEmpty, let problem = key.check(entry.value) else { return nil }
    return Diagnostic(
      entry.location, "\(key.name) = \(excerpt(entry.value)) \(problem.reason)",
      remedy: ForeignHabit.remedy(for: entry.value, check: key.check) ?? problem.remedy)
  }

  private func remedy(forUnknown key: String, in known: Section) -> String {
    if let name = nearest(to: key, in: known.keys.map(\.name)) { return "did you mean `\(name)`?" }
    let homes = sections.filter { $0.keys.contains { $0.name == key } }.map(\.title)
    if !homes.isEmpty { return "it belongs into " + homes.joined(separator: " or ") }
    return "the keys are " + known.keys.map(\.name).joined(separator: ", ")
  }

  /// A later file overrides; within one file a second value is a slip, unless the first was cleared.
  private func repetitions(of key: String, in section: ConfigurationDocument.Section) -> [Diagnostic] {
    var first: [String: Location] = [:]
    return section.entries.filter { $0.key == key }.compactMap { entry in
      let earlier = first.updateValue(entry.location, forKey: entry.location.file)
      if entry.value.isEmpty {
        first[entry.location.file] = nil
        return nil
      }
      return earlier.map {
        Diagnostic(entry.location, "`\(key)` is there already, at \($0)", remedy: "keep one of them")
      }
    }
  }

  private func missingKeys(
    of known: Section, in section: ConfigurationDocument.Section, at location: Location
  ) -> [Diagnostic] {
    known.keys.filter { $0.isRequired && section.entries(of: $0.name).isEmpty }.map {
      Diagnostic(location, "\(section.title) has no `\($0.name)`", remedy: "add `\($0.name) = \($0.syntax)`")
    }
  }
}
