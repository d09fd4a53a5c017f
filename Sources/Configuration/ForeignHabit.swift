/// What other dialects allow around a value, and this one takes for a part of it. It is looked for only where a value will not do.
enum ForeignHabit {
  /// What to write instead; nil where the value has neither quotes around it nor a comment behind it.
  /// - Parameter check: what is wrong with a value.
  static func remedy(for value: String, check: (String) -> ValueProblem?) -> String? {
    var remedies: [String] = []
    var bare = value[...]
    // A `#` or `;` behind white space: what the value's writer meant stands before it.
    if let mark = zip(bare.indices, bare.indices.dropFirst()).first(where: { space, mark in
      (bare[space] == " " || bare[space] == "\t") && (bare[mark] == "#" || bare[mark] == ";")
    }) {
      bare = trim(bare[..<mark.0])
      remedies.append("a comment stands on a line of its own")
    }
    if bare.count >= 2, let quote = bare.first, quote == "\"" || quote == "'", bare.last == quote {
      bare = bare.dropFirst().dropLast()
      remedies.append("write it without quotes")
    }
    if remedies.isEmpty { return nil }
    // What would still be wrong without them.
    if let rest = check(String(bare)) { remedies.append(rest.remedy) }
    return remedies.joined(separator: ", and ")
  }
}
