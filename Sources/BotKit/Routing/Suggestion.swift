/// "Did you mean": the nearest of the names that a contact may use.
enum Suggestion {
  /// The candidate at the least distance from `word`, the first in the alphabet among equals; nil when none is within 2
  /// (1 for a word of three characters or fewer, where 2 would fit almost anything).
  static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
    let wanted = Array(word)
    guard !wanted.isEmpty, wanted.count <= 64 else { return nil }
    let limit = wanted.count <= 3 ? 1 : 2
    return candidates.map { (distance(wanted, Array($0)), $0) }.filter { $0.0 <= limit }.min { $0 < $1 }?.1
  }

  /// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b`
  /// (Damerau–Levenshtein, optimal string alignment).
  static func distance(_ a: [Character], _ b: [Character]) -> Int {
    if a.isEmpty || b.isEmpty { return max(a.count, b.count) }
    var beforeLast: [Int] = []
    var last = Array(0...b.count)
    for i in 1...a.count {
      var current = [i]
      for j in 1...b.count {
        var best = min(last[j] + 1, current[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1))
        if i > 1, j > 1, a[i - 1] == b[j - 2], a[i - 2] == b[j - 1] { best = min(best, beforeLast[j - 2] + 1) }
        current.append(best)
      }
      beforeLast = last
      last = current
    }
    return last[b.count]
  }
}
