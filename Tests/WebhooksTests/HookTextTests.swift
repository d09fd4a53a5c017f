import Testing

@testable import Webhooks

@Suite("Text from outside is text and nothing else")
struct HookTextTests {
  @Test("control characters are replaced, line breaks of any kind are one kind")
  func control() {
    #expect(
      HookText.block("a\u{0}b\u{1B}[31mc\u{7F}\u{9B}\u{FFFE}") == "a\u{FFFD}b\u{FFFD}[31mc\u{FFFD}\u{FFFD}\u{FFFD}")
    #expect(HookText.block("a\r\nb\rc\u{2028}d\u{85}e\tf\n\n") == "a\nb\nc\nd\ne\tf")
  }

  @Test("markup stays what it is, for the stanza's writer to escape")
  func markup() {
    #expect(HookText.block("</body></message><x/>") == "</body></message><x/>")
  }

  @Test("what is too long is cut between characters of the code, and says so")
  func long() {
    #expect(HookText.block("äöü", 4) == "äö…")
    #expect(HookText.block(String(repeating: "x", count: 20_000)).utf8.count == HookText.longest + 3)
    #expect(HookText.line("one two three", 9) == "one two …")
  }

  @Test("a line is one line")
  func line() {
    #expect(HookText.line("  a\n\tb \u{2029} c ") == "a b c")
  }

  @Test("a link is http or https, without white space")
  func link() {
    #expect(HookText.link("https://example.org/?a=b&c=%20d") == "https://example.org/?a=b&c=%20d")
    for text in [
      "javascript:alert(1)", "https://a b", "https://a\nb", "file:///etc/passwd", "", "https://a\u{202E}\u{7F}",
    ] {
      #expect(HookText.link(text) == nil, "\(text)")
    }
    #expect(HookText.link(nil) == nil)
    #expect(HookText.link("https://" + String(repeating: "a", count: 3_000)) == nil)
  }
}
