import Testing

@testable import Control

@Suite("Moments as people write them")
struct TimeArgumentTests {
  @Test(
    "dates, times and how long ago",
    arguments: [
      ("1970-01-02", 86_400), ("1970-01-01T00:01", 60), ("1970-01-01T00:01:01Z", 61), ("1970-01-01T00:01:01", 61),
      ("30s", 999_970), ("5m", 999_700), ("2h", 992_800), ("1d", 913_600), ("1w", 395_200),
    ])
  func valid(text: String, seconds: Int64) {
    #expect(TimeArgument.parse(text, now: 1_000_000_000_000) == seconds * 1_000_000)
  }

  @Test(
    "what is none",
    arguments: [
      "", "yesterday", "5", "-5m", "9999999999999999999d", "1000001w", "2026-13-01", "2026-01-31T", "m", "5 m",
    ])
  func invalid(text: String) {
    #expect(TimeArgument.parse(text, now: 1_000_000_000_000) == nil)
  }
}
