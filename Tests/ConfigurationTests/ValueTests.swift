import Testing

@testable import Configuration

@Suite("Values")
struct ValueTests {
  private enum Colour: String, CaseIterable { case red, green }

  private func problem<Value>(_ kind: ValueKind<Value>, _ text: String) -> String? {
    do throws(ValueProblem) {
      _ = try kind.parse(text)
      return nil
    } catch {
      return error.description
    }
  }

  @Test(
    "durations have a whole number and a unit",
    arguments: [
      ("500ms", Duration.milliseconds(500)), ("20s", .seconds(20)), ("5m", .seconds(300)), ("2h", .seconds(7200)),
      ("90d", .seconds(7_776_000)), ("20 s", .seconds(20)), ("0s", .zero),
    ])
  func durations(text: String, duration: Duration) throws {
    #expect(try ValueKind.duration(.zero ... .seconds(1 << 40)).parse(text) == duration)
  }

  @Test(
    "other durations are refused",
    arguments: [
      ("20", "has no unit: write a whole number and ms, s, m, h or d, as in 20s"),
      ("20sec", "has the unknown unit `sec`: write a whole number and ms, s, m, h or d, as in 20s"),
      ("-5s", "does not begin with a number: write it as in 20s"),
      ("1.5s", "has the unknown unit `.5s`: write a whole number and ms, s, m, h or d, as in 20s"),
      ("2h", "is out of range: write a duration from 1s to 1h"),
      ("9223372036854775807d", "is out of range: write a duration from 1s to 1h"),
      ("99999999999999999999s", "is out of range: write a smaller number"),
      ("٣s", "does not begin with a number: write it as in 20s"),
    ])
  func badDurations(text: String, reason: String) {
    #expect(problem(.duration(.seconds(1) ... .seconds(3600)), text) == reason)
  }

  @Test("a duration is written as it would be in the file")
  func writtenDurations() {
    let durations: [Duration] = [.milliseconds(1500), .seconds(60), .seconds(7200), .seconds(86_400), .zero]
    #expect(durations.map(\.asWritten) == ["1500ms", "1m", "2h", "1d", "0s"])
  }

  @Test("sizes are bytes, K, M or G", arguments: [("512", 512), ("64K", 65_536), ("10M", 10_485_760), ("1G", 1 << 30)])
  func sizes(text: String, size: Int) throws {
    #expect(try ValueKind.size(0...Int.max).parse(text) == size)
  }

  @Test(
    "other sizes are refused",
    arguments: [
      ("64k", "has the unknown unit `k`: write a whole number and K, M or G, as in 64K"),
      ("", "does not begin with a number: write it as in 64K"),
      ("9007199254740993G", "is out of range: write a size from 1K to 1M"),
      ("1", "is out of range: write a size from 1K to 1M"),
    ])
  func badSizes(text: String, reason: String) {
    #expect(problem(.size(1024...1 << 20), text) == reason)
  }

  @Test("booleans are yes and no, and nothing else")
  func booleans() throws {
    #expect(try ValueKind.boolean.parse("yes"))
    #expect(try !ValueKind.boolean.parse("no"))
    for text in ["Yes", "true", "1", "on", "nope"] {
      #expect(problem(.boolean, text) == "is neither yes nor no: write yes or no")
    }
  }

  @Test("a choice that is misspelt names the nearest")
  func choices() throws {
    #expect(try ValueKind<Colour>.choice.parse("green") == .green)
    #expect(problem(ValueKind<Colour>.choice, "gren") == "is none of red, green: did you mean `green`?")
    #expect(problem(ValueKind<Colour>.choice, "violet") == "is none of red, green: choose one of them")
  }

  @Test("paths are absolute")
  func paths() {
    #expect(problem(.path, "/etc/x") == nil)
    #expect(problem(.path, "~/x") == "is no absolute path: begin it with `/`")
  }

  @Test("lists are separated by commas or spaces, and a bad entry is named")
  func lists() throws {
    let kind = ValueKind.list(of: .integer(1...9))
    #expect(try kind.parse("1, 2 3,,4") == [1, 2, 3, 4])
    #expect(
      problem(kind, "1, x")
        == "holds `x`, which is no whole number from 1 to 9: write a number in that range")
  }

  @Test(
    "command lines are split as a shell splits them",
    arguments: [
      ("/bin/deploy --env prod", ["/bin/deploy", "--env", "prod"]),
      ("a 'b c' \"d e\"f", ["a", "b c", "d ef"]),
      ("a '' \"\"", ["a", "", ""]),
      (#"a\ b "c\"d\e\\" 'f\g'"#, ["a b", #"c"d\e\"#, #"f\g"#]),
      ("  $HOME *.txt ~ `x`  ", ["$HOME", "*.txt", "~", "`x`"]),
      ("", []),
    ])
  func words(line: String, words: [String]) throws {
    #expect(try shellWords(line) == words)
  }

  @Test("an open quote or backslash is a mistake")
  func openQuotes() {
    #expect(problem(.commandLine, "/bin/a 'b") == "has a ' that is never closed: close the quote")
    #expect(problem(.commandLine, "/bin/a \"b") == "has a \" that is never closed: close the quote")
    #expect(problem(.commandLine, "/bin/a \\") == "ends in a backslash: double it, or remove it")
    #expect(
      problem(.commandLine, "deploy") == "does not begin with an absolute path: write the program's whole path")
  }

  @Test("the nearest word is found by the least number of slips")
  func nearestWords() {
    #expect(editDistance("prot", "port") == 1)
    #expect(editDistance("kitten", "sitting") == 3)
    #expect(editDistance("", "abc") == 3)
    #expect(nearest(to: "timout", in: ["output", "timeout"]) == "timeout")
    #expect(nearest(to: "zzz", in: ["output", "timeout"]) == nil)
    #expect(nearest(to: String(repeating: "x", count: 100_000), in: ["output"]) == nil)
  }
}
