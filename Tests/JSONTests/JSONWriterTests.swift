import JSON
import Testing

@Suite("Writing JSON")
struct JSONWriterTests {
  @Test("compact text is one line, members in their order")
  func compact() {
    let value: JSON = [
      "type": "reply", "id": 17, "done": true, "ratio": 0.5, "none": nil, "list": [1, [], [:]], "text": "a\nb",
    ]
    #expect(
      value.text()
        == #"{"type":"reply","id":17,"done":true,"ratio":0.5,"none":null,"list":[1,[],{}],"text":"a\nb"}"#)
    #expect("\(value)" == value.text())
  }

  @Test("pretty text is indented, and empty lists stay short")
  func pretty() {
    let value: JSON = ["a": [1, 2], "b": [:], "c": ["d": nil]]
    #expect(
      value.text(pretty: true) == """
        {
          "a": [
            1,
            2
          ],
          "b": {},
          "c": {
            "d": null
          }
        }
        """)
  }

  @Test("what would break a line, a string or a terminal is escaped")
  func escapes() {
    let value = JSON.string("\"\\/\u{8}\u{C}\n\r\t\u{0}\u{1B}\u{7F}é😀\u{2028}")
    #expect(value.text() == #""\"\\/\u0008\u000c\n\r\t\u0000\u001b\u007fé😀\u2028""#)
  }

  @Test("no text moves a terminal's cursor or turns its writing direction, and all is read back")
  func calmTerminal() throws {
    let text = "é\u{9B}2J\u{7F}\u{85}\u{202E}\u{2066}\u{2028}\u{61C}\u{FEFF}日😀"
    let json = JSON.string(text).text()
    #expect(json == #""é\u009b2J\u007f\u0085\u202e\u2066\u2028\u061c\ufeff日😀""#)
    #expect(try JSON(parsing: json).stringValue?.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
  }

  @Test("what is no number in JSON becomes null", arguments: [Double.nan, .infinity, -.infinity])
  func notFinite(value: Double) {
    #expect(JSON.array([.double(value)]).text() == "[null]")
  }

  @Test(
    "doubles are read back as they were, and as doubles",
    arguments: [
      0.0, -0.0, 1.0, 0.1, 1e16, 1e-7, 1.7976931348623157e308, .leastNonzeroMagnitude, 123456789.123456789,
      Double(1 << 53), -1e22,
    ])
  func doubles(value: Double) throws {
    let read = try JSON(parsing: JSON.double(value).text())
    guard case .double(let result) = read else {
      Issue.record("\(read)")
      return
    }
    #expect(result.bitPattern == value.bitPattern)
  }
}

@Suite("Values and objects")
struct JSONValueTests {
  private let value: JSON = ["s": "text", "i": 3, "d": 2.5, "b": false, "n": nil, "a": [1, "two"], "o": ["k": "v"]]

  @Test("accessors give the value of their own kind, or nil")
  func accessors() {
    #expect(value["s"]?.stringValue == "text")
    #expect(value["s"]?.intValue == nil)
    #expect(value["i"]?.intValue == 3)
    #expect(value["i"]?.doubleValue == 3)
    #expect(value["d"]?.doubleValue == 2.5)
    #expect(value["d"]?.intValue == nil)
    #expect(value["b"]?.boolValue == false)
    #expect(value["n"]?.isNull == true)
    #expect(value["a"]?[1]?.stringValue == "two")
    #expect(value["a"]?[2] == nil)
    #expect(value["a"]?[-1] == nil)
    #expect(value["a"]?.arrayValue?.count == 2)
    #expect(value["o"]?["k"]?.stringValue == "v")
    #expect(value["missing"] == nil)
    #expect(value["s"]?["k"] == nil)
    #expect(value.objectValue?.keys == ["s", "i", "d", "b", "n", "a", "o"])
  }

  @Test("members are replaced in place, added at the end, removed by nil")
  func members() {
    var object: JSONObject = ["a": 1, "b": 2, "a": 3]
    #expect(JSON.object(object).text() == #"{"a":3,"b":2}"#)
    object["c"] = .null
    object["a"] = "x"
    object["b"] = nil
    object["never"] = nil
    #expect(JSON.object(object).text() == #"{"a":"x","c":null}"#)
    #expect(object.count == 2 && !object.isEmpty)
  }

  @Test("the order of members does not count for equality and hash; their values do")
  func equality() {
    let one: JSON = ["a": 1, "b": [2]]
    let other: JSON = ["b": [2], "a": 1]
    #expect(one == other)
    #expect(Set([one, other]).count == 1)
    #expect(one != ["a": 1, "b": [3]])
    #expect(one != ["a": 1])
    #expect(one != ["a": 1, "c": [2]])
    #expect(JSON.int(1) != JSON.double(1))
  }
}
