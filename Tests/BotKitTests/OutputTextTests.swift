import Testing

@testable import BotKit

@Suite("What programs print becomes text")
struct OutputTextTests {
  @Test(
    "a carriage return writes over its line, as on a terminal",
    arguments: [
      ("10 %\r20 %\r100 %\n", "100 %"), ("a\r\nb\r\n", "a\nb"), ("one\ntwo\rTHREE", "one\nTHREE"), ("50 %\r", "50 %"),
    ])
  func carriageReturns(printed: String, text: String) {
    #expect(OutputText.clean(Array(printed.utf8)) == text)
  }

  @Test(
    "a line that would end the block gets a space before it (XEP-0393)",
    arguments: [
      ("x", "```\nx\n```"), ("```", "```\n ```\n```"), ("a\n```\n*b*", "```\na\n ```\n*b*\n```"),
      ("```swift", "```\n ```swift\n```"), ("a```\n``", "```\na```\n``\n```"),
    ])
  func blocks(text: String, block: String) {
    #expect(OutputText.block(text) == block)
  }
}

@Suite("Live output is shown once a second at most")
struct LiveThrottleTests {
  @Test("a moment after the first change, and then a second after it was shown last")
  func once() {
    var throttle = LiveThrottle()
    let start = ContinuousClock.now
    #expect(throttle.changed(at: start) == .seconds(1))
    #expect(throttle.changed(at: start + .milliseconds(10)) == nil)
    throttle.show(at: start + .seconds(1))
    #expect(throttle.changed(at: start + .milliseconds(1_300)) == .milliseconds(700))
    #expect(throttle.changed(at: start + .milliseconds(1_400)) == nil)
    throttle.show(at: start + .seconds(2))
    #expect(throttle.changed(at: start + .seconds(9)) == .zero)
  }
}
