/// The candidate that `word` was probably meant to be: at most a third of its letters differ.
public func nearest(to word: String, in candidates: some Sequence<String>) -> String? {
  let limit = max(1, word.count / 3)
  let scored = candidates.map { (distance: editDistance(word, $0), candidate: $0) }
  return scored.min { ($0.distance, $0.candidate) < ($1.distance, $1.candidate) }
    .flatMap { $0.distance <= limit ? $0.candidate : nil }
}

/// How many letters have to be added, removed, replaced or swapped with their neighbour to make `right` of `left`
/// (optimal string alignment). Words of more than 64 letters are taken for wholly different.
func editDistance(_ left: String, _ right: String) -> Int {
  let (a, b) = (Array(left), Array(right))
  guard a.count <= 64, b.count <= 64 else { return max(a.count, b.count) }
  var beforeLast: [Int] = []
  var last = Array(0...b.count)
  for i in a.indices {
    var row = [i + 1]
    for j in b.indices {
      var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (a[i] == b[j] ? 0 : 1))
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { cost = min(cost, beforeLast[j - 1] + 1) }
      row.append(cost)
    }
    beforeLast = last
    last = row
  }
  return last[b.count]
}
