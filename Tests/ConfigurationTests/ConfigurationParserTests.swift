import Testing

@testable import Configuration

@Suite("The parser")
struct ConfigurationParserTests {
  private func parse(_ text: String) -> ConfigurationParser { parse(Array(text.utf8)) }

  private func parse(_ bytes: [UInt8]) -> ConfigurationParser {
    var parser = ConfigurationParser(file: "bot.conf")
    parser.parse(bytes, file: "bot.conf")
    return parser
  }

  @Test("sections, keys and values are read, each with its line")
  func ordinary() throws {
    let parser = parse(
      "# a comment\n\n[account]\n jid = bot@example.org \n;another\n[command deploy]\nexec=/bin/deploy a=b\n")
    #expect(parser.problems.isEmpty)
    let account = try #require(parser.document.section("account"))
    #expect(account.entries.map(\.value) == ["bot@example.org"])
    #expect(account.entries.map(\.location) == [Location(file: "bot.conf", line: 4)])
    let command = try #require(parser.document.sections("command").first)
    #expect(command.name == "deploy")
    #expect(command.entries.map(\.value) == ["/bin/deploy a=b"])
  }

  @Test("a # or ; behind a value belongs to the value")
  func noInlineComments() {
    let parser = parse("[account]\nstatus = all good # really; yes\n")
    #expect(parser.document.section("account")?.entries.map(\.value) == ["all good # really; yes"])
  }

  @Test("a line that ends in a backslash goes on in the next, past comments; a doubled one does not")
  func continuation() {
    let parser = parse("[a]\nlist = one\\\n# not me\n  two \\\nthree\nend = x\\\\\nkey = y")
    #expect(parser.document.section("a")?.entries.map(\.value) == ["one two  three", "x\\\\", "y"])
    #expect(parser.document.section("a")?.entries.map(\.location.line) == [2, 6, 7])
  }

  @Test("a backslash at the end of the file loses nothing")
  func continuationAtTheEnd() {
    #expect(parse("[a]\nkey = value\\").document.section("a")?.entries.map(\.value) == ["value"])
  }

  @Test("an empty value clears what came before")
  func clearing() {
    let section = parse("[a]\nx = 1\nx = 2\nx =\nx = 3\n").document.section("a")
    #expect(section?.entries(of: "x").map(\.value) == ["3"])
  }

  @Test("files from Windows, with byte order mark and CRLF, mean the same")
  func windows() {
    let parser = parse([0xEF, 0xBB, 0xBF] + Array("[a]\r\nkey = value\r\n".utf8))
    #expect(parser.problems.isEmpty)
    #expect(parser.document.section("a")?.entries.map(\.value) == ["value"])
  }

  @Test(
    "what cannot be read is reported with its line, and reading goes on",
    arguments: [
      ("key = before", "bot.conf:1: `key` stands before the first section: put a [section] line above it"),
      ("[a\nkey = 1", "bot.conf:1: the section `[a` does not end in `]`: end the line with `]`"),
      ("[]", "bot.conf:1: the section has no name: write `[section]`"),
      (
        "[a]\nwords",
        "bot.conf:2: `words` is neither a [section] nor `key = value`: put `#` before it if it is a comment"
      ),
      ("[a]\n = 1", "bot.conf:2: there is no key before `=`: write `key = value`"),
      ("[a]\nx = a\u{0}b", "bot.conf:2: the line holds the control character U+0000: remove it"),
      ("[a]\nx = \u{1B}[31m", "bot.conf:2: the line holds the control character U+001B: remove it"),
      ("[a]\nx = \u{9B}31m", "bot.conf:2: the line holds the control character U+009B: remove it"),
    ])
  func reported(text: String, diagnostic: String) {
    let parser = parse(text + "\n[last]\nkey = 1\n")
    #expect(parser.problems.map(\.description) == [diagnostic])
    #expect(parser.document.section("last")?.entries.count == 1)
  }

  @Test("bad UTF-8 is reported")
  func badUTF8() {
    let parser = parse(Array("[a]\nx = ".utf8) + [0xC3, 0x28, 0x0A])
    #expect(parser.problems.map(\.description) == ["bot.conf:2: the line is not UTF-8: save the file as UTF-8"])
  }

  @Test("UTF-16 is reported once, not line by line")
  func utf16() {
    let parser = parse([0xFF, 0xFE] + Array("[a]\n[b]\n".utf8).flatMap { [$0, 0] })
    #expect(parser.problems.map(\.description) == ["bot.conf: is UTF-16: save it as UTF-8"])
  }

  @Test("a line of a thousand bytes is read whole, one of a million is refused")
  func longLines() {
    let long = String(repeating: "x", count: 1000)
    #expect(parse("[a]\nkey = \(long)\n").document.section("a")?.entries.map(\.value) == [long])
    let tooLong = parse(Array("[a]\nkey = ".utf8) + Array(repeating: UInt8(ascii: "x"), count: 1_000_000))
    #expect(tooLong.problems.map(\.description) == ["bot.conf:2: the line is longer than 65536 bytes: shorten it"])
  }

  @Test("no bytes at all, whatever they are, stop the parser")
  func noise() {
    let seed = UInt64.random(in: .min ... .max)
    var state = seed
    func next() -> UInt8 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      return Array("[]=\\\n\r#; ax\u{0}".utf8 + [0xEF, 0xBB, 0xBF, 0xFF, 0xC3])[Int(state >> 33) % 17]
    }
    for _ in 0..<2000 {
      let bytes = (0..<40).map { _ in next() }
      let parser = parse(bytes)
      let values = parser.document.sections.flatMap(\.entries).map(\.value)
      #expect(values.allSatisfy { !$0.contains("\n") && !$0.contains("\u{0}") }, "seed \(seed)")
    }
  }
}
