import Testing

@testable import Configuration

@Suite("The schema")
struct SchemaTests {
  private static let port = Key("port", .integer(1...65535), default: "5222", "The port.")
  private static let host = Key("host", .text, required: true, "The host.")
  private static let word = ListKey("word", .list(of: .word), default: "a, b", "Words.")
  private static let schema = Schema([
    Schema.Section(
      "server", required: true, "A server.", keys: [host.description, port.description, word.description]),
    Schema.Section("room", argument: "NAME", "A room.", keys: [host.description]),
  ])

  private func parse(_ files: String...) -> ConfigurationDocument {
    var parser = ConfigurationParser(file: "f1")
    for (index, text) in files.enumerated() { parser.parse(Array(text.utf8), file: "f\(index + 1)") }
    #expect(parser.problems.isEmpty)
    return parser.document
  }

  private func diagnostics(_ files: String...) -> [String] {
    var parser = ConfigurationParser(file: "f1")
    for (index, text) in files.enumerated() { parser.parse(Array(text.utf8), file: "f\(index + 1)") }
    return ConfigurationProblems(Self.schema.problems(in: parser.document)).diagnostics.map(\.description)
  }

  @Test("a configuration without mistakes has none")
  func clean() {
    #expect(diagnostics("[server]\nhost = x\nword = a\nword = b\n[room one]\nhost = y\n").isEmpty)
  }

  @Test("an unknown section names the nearest one, and its keys are not reported, too")
  func unknownSection() {
    #expect(
      diagnostics("[server]\nhost = x\n[sever]\nnonsense = 1\n[zzzzzz]\n") == [
        "f1:3: unknown section [sever]: did you mean [server]?",
        "f1:5: unknown section [zzzzzz]: the sections are [server], [room NAME]",
      ])
  }

  @Test("an unknown key names the nearest one, or where it belongs, or what there is")
  func unknownKey() {
    #expect(
      diagnostics("[server]\nhost = x\nprot = 1\ncolour = red\n[room a]\nhost = y\nport = 2\n") == [
        "f1:3: unknown key `prot` in [server]: did you mean `port`?",
        "f1:4: unknown key `colour` in [server]: the keys are host, port, word",
        "f1:7: unknown key `port` in [room NAME]: it belongs into [server]",
      ])
  }

  @Test("bad values, missing keys and missing sections are found")
  func badAndMissing() {
    #expect(
      diagnostics("[room a]\n") == [
        "f1:1: [room a] has no `host`: add `host = TEXT`",
        "f1:1: the section [server] is missing: add [server] with host = …",
      ])
    #expect(
      diagnostics("[server]\nhost = x\nport = many\n") == [
        "f1:3: port = many is no whole number from 1 to 65535: write a number in that range"
      ])
    #expect(
      diagnostics("[server]\nhost = x\nhost =\n") == ["f1:1: [server] has no `host`: add `host = TEXT`"])
  }

  @Test("quotes around a value and a comment behind it are named, where it will not do for them or otherwise")
  func foreignHabits() {
    #expect(
      diagnostics(
        "[server]\nhost = \"x\" # kept\nport = \"1\"\n", "[server]\nport = 1 ; why\n", "[server]\nport = '1' # b\n")
        == [
          "f1:3: port = \"1\" is no whole number from 1 to 65535: write it without quotes",
          "f2:2: port = 1 ; why is no whole number from 1 to 65535: a comment stands on a line of its own",
          "f3:2: port = '1' # b is no whole number from 1 to 65535: "
            + "a comment stands on a line of its own, and write it without quotes",
        ])
    #expect(
      diagnostics("[server]\nhost = x\nport = \"many\"\n") == [
        "f1:3: port = \"many\" is no whole number from 1 to 65535: write it without quotes, and write a number in that range"
      ])
    #expect(
      diagnostics("[server]\nhost = x\nport = 1#\n").allSatisfy { $0.hasSuffix(": write a number in that range") })
  }

  @Test("a section has a name where the schema says so, and nowhere else")
  func names() {
    #expect(
      diagnostics("[server main]\nhost = x\n[room]\nhost = y\n[room a b]\nhost = z\n") == [
        "f1:1: [server main] takes no name: write [server]",
        "f1:3: [room] needs a name: write [room NAME]",
        "f1:5: the name in [room a b] is more than one word: write one word",
      ])
  }

  @Test("a name twice in one file is a mistake; in a drop-in it adds")
  func duplicates() {
    #expect(
      diagnostics("[server]\nhost = x\nhost = y\n[room a]\nhost = y\n[room a]\n", "[room a]\nhost = z\n") == [
        "f1:3: `host` is there already, at f1:2: keep one of them",
        "f1:6: [room a] is there already, at f1:4: rename one of them, or join them",
      ])
  }

  @Test("a later file overrides a value, adds to a list, and clears it")
  func overriding() throws {
    let section = try #require(
      parse("[server]\nhost = x\nport = 1\nword = a b", "[server]\nport = 2\nword = c", "[server]\nport =\n").sections
        .first)
    #expect(section.value(of: Self.port) == 5222)
    #expect(section.values(of: Self.word) == ["a", "b", "c"])
    let cleared = try #require(parse("[server]\nword = x\n", "[server]\nword =\nword = y,z").sections.first)
    #expect(cleared.values(of: Self.word) == ["y", "z"])
  }

  @Test("keys that are not given have their defaults")
  func defaults() {
    let section = parse("").sectionOrDefaults("server")
    #expect(section.value(of: Self.port) == 5222)
    #expect(section.value(of: Self.host) == nil)
    #expect(section.values(of: Self.word) == ["a", "b"])
  }

  @Test("diagnostics are sorted by file, then line, each once")
  func sorting() {
    let problems = [("b", 1), ("a", 10), ("a", 9), ("a", 9)].map {
      Diagnostic(Location(file: $0.0, line: $0.1), "wrong", remedy: "mend it")
    }
    #expect(
      ConfigurationProblems(problems).description
        == "a:9: wrong: mend it\na:10: wrong: mend it\nb:1: wrong: mend it")
  }
}
