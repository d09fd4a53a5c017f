import JSON
import Testing

@Suite("Reading JSON")
struct JSONParserTests {
  @Test(
    "each kind of value",
    arguments: [
      ("null", JSON.null), ("true", true), ("false", false), ("0", 0), ("-0", 0), ("-17", -17),
      ("9223372036854775807", .int(.max)), ("-9223372036854775808", .int(.min)), ("1.0", 1.0), ("1e3", 1000.0),
      ("-2.5E-1", -0.25), ("\"\"", ""), ("[]", []), ("{}", [:]), (" [ 1 , \"a\" ]\n", [1, "a"]),
      (#"{"a":{"b":[null]}}"#, ["a": ["b": [nil]]]), (#""\u00e9\n\"\\\/\ud83d\ude00""#, "é\n\"\\/😀"), ("\"𝄞\"", "𝄞"),
    ] as [(String, JSON)])
  func values(text: String, expected: JSON) throws {
    #expect(try JSON(parsing: text) == expected)
  }

  @Test(
    "what is not JSON is refused",
    arguments: [
      "", " ", "nul", "tru", "{", "[", "[1,]", "{\"a\"}", "{\"a\":1,}", "{a:1}", "'a'", "01", "+1", ".5", "1.", "0x1",
      "NaN",
      "Infinity", "\"a", "\"a\nb\"", "\"\\x\"", "[1] 2", "[1]]", "// c\n1", "\u{FEFF}1",
    ])
  func malformed(text: String) {
    #expect(throws: JSONError.self) { try JSON(parsing: text) }
  }

  @Test(
    "strings that are no text are refused",
    arguments: [
      [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xC3, 0x22],
      [0x22, 0xF5, 0x80, 0x80, 0x80, 0x22], Array(#""\ud800""#.utf8), Array(#""\ud800\u0041""#.utf8),
      Array(#""\udc00""#.utf8),
      Array(#"{"\ud800":1}"#.utf8),
    ] as [[UInt8]])
  func invalidText(bytes: [UInt8]) {
    #expect(throws: JSONError.self) { try JSON(parsing: bytes) }
  }

  @Test(
    "numbers that do not fit are refused",
    arguments: ["9223372036854775808", "-9223372036854775809", "1e400", "-1e400"])
  func numbers(text: String) {
    #expect(throws: JSONError.self) { try JSON(parsing: text) }
  }

  @Test("a repeated key is refused, at any depth", arguments: [#"{"a":1,"a":2}"#, #"[{"b":{"a":1,"\u0061":1}}]"#])
  func duplicates(text: String) {
    #expect(throws: JSONError.self) { try JSON(parsing: text) }
  }

  @Test("NUL is kept in a value and refused in a key")
  func nul() throws {
    let value = try JSON(parsing: #"["a\u0000b"]"#)
    #expect(value == ["a\0b"])
    #expect(value.text() == #"["a\u0000b"]"#)
    #expect(throws: JSONError.self) { try JSON(parsing: #"{"a\u0000b":1}"#) }
    #expect(throws: JSONError.self) { try JSON(parsing: [0x22, 0x00, 0x22]) }
  }

  @Test("nesting has a limit, also where it would exhaust a stack")
  func depth() throws {
    func nested(_ depth: Int, _ open: String, _ close: String) -> String {
      String(repeating: open, count: depth) + "1" + String(repeating: close, count: depth)
    }
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
      #expect(throws: Never.self) { try JSON(parsing: nested(JSON.maximumDepth, open, close)) }
      for depth in [JSON.maximumDepth + 1, 2_000, 100_000] {
        #expect(throws: JSONError.self) { try JSON(parsing: nested(depth, open, close)) }
      }
    }
    #expect(throws: JSONError.self) { try JSON(parsing: String(repeating: "[", count: 1_000_000)) }
  }

  @Test("an error names its line and column in one printable line")
  func place() {
    let error = #expect(throws: JSONError.self) { try JSON(parsing: "{\"a\": 1,\n  \"b\": \u{7}x}") }
    #expect(error?.line == 2)
    #expect(error?.column != nil)
    #expect(error?.description.hasPrefix("not valid JSON: line 2, column ") == true)
    #expect(error?.description.unicodeScalars.contains { $0.value < 0x20 } == false)
  }

  @Test("keys that only look alike are different keys")
  func canonicalEquivalents() throws {
    let object = try JSON(parsing: "{\"\u{E9}\":1,\"e\u{301}\":2}")
    #expect(object["\u{E9}"] == 1)
    #expect(object["e\u{301}"] == 2)
  }

  @Test("a hundred thousand elements and members survive, again and again")
  func large() throws {
    let array = JSON.array((0..<100_000).map { ["n": .int($0), "s": .string("element \($0)")] })
    let object = JSON.object(JSONObject((0..<2_000).map { ("key \($0)", .int($0)) }))
    for _ in 0..<3 {
      #expect(try JSON(parsing: array.utf8()) == array)
      #expect(try JSON(parsing: object.utf8(pretty: true)) == object)
    }
  }

  @Test("no truncation of valid text is ever accepted or a crash")
  func truncations() {
    let text = Array(#"{"type":"reply","id":17,"text":"h\u00e9 \"x\"","list":[1,2.5,null,true],"o":{}}"#.utf8)
    for length in 0..<text.count {
      #expect(throws: JSONError.self) { try JSON(parsing: Array(text.prefix(length))) }
    }
  }

  @Test("random damage gives a value or an error, never a crash")
  func mutations() {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SplitMix(state: seed)
    let text = Array(#"{"a":[1,-2.5e3,"x\ud83d\ude00é",{"b":null}],"c":true}"#.utf8)
    for _ in 0..<5_000 {
      var damaged = text
      for _ in 0..<Int.random(in: 1...3, using: &generator) {
        damaged[Int.random(in: 0..<damaged.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
      }
      guard let value = try? JSON(parsing: damaged) else { continue }
      #expect((try? JSON(parsing: value.text())) == value, "seed \(seed)")
    }
  }
}

private struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
