/// What one or more INI files say, in order, before anyone asks what it means.
public struct ConfigurationDocument: Sendable, Hashable {
  /// `key = value` with its place. An empty value clears what came before.
  public struct Entry: Sendable, Hashable {
    public let key: String
    public let value: String
    public let location: Location
  }

  /// All entries of `[kind name]`, from every file and every header that names it.
  public struct Section: Sendable, Hashable {
    public let kind: String
    /// The words after the kind in the header; nil for `[kind]`.
    public let name: String?
    /// Where the section is opened, once for each header; never empty.
    public internal(set) var headers: [Location]
    public internal(set) var entries: [Entry] = []

    /// As a header: `[command deploy]`.
    public var title: String { name.map { "[\(kind) \($0)]" } ?? "[\(kind)]" }
  }

  /// The first file read; diagnostics about what is missing altogether point to it.
  public internal(set) var file: String
  public internal(set) var sections: [Section] = []

  public init(file: String) {
    self.file = file
  }

  /// The section `[kind]`.
  public func section(_ kind: String) -> Section? {
    sections.first { $0.kind == kind && $0.name == nil }
  }

  /// All sections `[kind NAME]`, in the order in which they were opened.
  public func sections(_ kind: String) -> [Section] {
    sections.filter { $0.kind == kind && $0.name != nil }
  }

  /// Opens a section, or opens it again, and returns its index.
  mutating func open(kind: String, name: String?, at location: Location) -> Int {
    if let index = sections.firstIndex(where: { $0.kind == kind && $0.name == name }) {
      sections[index].headers.append(location)
      return index
    }
    sections.append(Section(kind: kind, name: name, headers: [location]))
    return sections.count - 1
  }
}

extension ConfigurationDocument.Section {
  /// The entries of `key` that are in force: those after the last empty value.
  public func entries(of key: String) -> ArraySlice<ConfigurationDocument.Entry> {
    let all = entries.filter { $0.key == key }
    return all[(all.lastIndex { $0.value.isEmpty }.map { $0 + 1 } ?? 0)...]
  }

  /// Where `key` was last given, or else where the section begins.
  public func location(of key: String) -> Location {
    entries(of: key).last?.location ?? headers.first ?? Location(file: "")
  }
}
