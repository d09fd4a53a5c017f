import Testing

@testable import Control

@Suite("CSV")
struct CSVTests {
  @Test(
    "a field stays one field",
    arguments: [
      ("plain", "plain"), ("a,b", "\"a,b\""), ("say \"hi\"", "\"say \"\"hi\"\"\""), ("a\r\nb", "\"a\r\nb\""),
      // Swift takes these for other characters than a quote and a comma; whoever reads the file does not.
      ("x\"\u{301},y", "\"x\"\"\u{301},y\""), (",\u{301}", "\",\u{301}\""),
    ])
  func field(text: String, field: String) {
    #expect(MessageWriter.csvField(text).unicodeScalars.elementsEqual(field.unicodeScalars))
  }
}
