import Glibc
import XMPPStanzas

/// A moment as people write it.
enum TimeArgument {
  /// Microseconds since 1970 UTC: of `2026-01-31`, `2026-01-31T17:05`, `2026-01-31T17:05:09Z` (UTC where nothing else is
  /// said), or of so long before `now`: `30m`, `2h`, `7d`.
  static func parse(_ text: String, now: Int64) -> Int64? {
    let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400, "w": 604_800]
    if let last = text.last, let unit = units[last], let count = Int64(text.dropLast()), (0...1_000_000).contains(count)
    {
      return now - count * unit * 1_000_000
    }
    return Timestamp.parse(text) ?? Timestamp.parse(text + "Z") ?? Timestamp.parse(text + ":00Z")
      ?? Timestamp.parse(text + "T00:00:00Z")
  }

  static func now() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}
