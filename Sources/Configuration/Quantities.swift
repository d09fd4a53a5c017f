/// Durations in configuration files: a whole number and `ms`, `s`, `m`, `h` or `d`.
extension ValueKind where Value == Duration {
  public static func duration(_ range: ClosedRange<Duration>) -> ValueKind {
    ValueKind(syntax: "DURATION") { text throws(ValueProblem) in
      let (number, unit) = try quantity(text, example: "20s")
      guard let factor = millisecondsPerUnit[unit] else {
        let problem = unit.isEmpty ? "has no unit" : "has the unknown unit `\(excerpt(unit))`"
        throw ValueProblem(problem, remedy: "write a whole number and ms, s, m, h or d, as in 20s")
      }
      let (total, overflow) = number.multipliedReportingOverflow(by: factor)
      guard !overflow, range.contains(.milliseconds(total)) else {
        throw ValueProblem(
          "is out of range",
          remedy: "write a duration from \(range.lowerBound.asWritten) to \(range.upperBound.asWritten)")
      }
      return .milliseconds(total)
    }
  }
}

/// Sizes in configuration files: a whole number of bytes, or one with `K`, `M` or `G` (powers of 1024).
extension ValueKind where Value == Int {
  public static func size(_ range: ClosedRange<Int>) -> ValueKind {
    ValueKind(syntax: "SIZE") { text throws(ValueProblem) in
      let (number, unit) = try quantity(text, example: "64K")
      guard let factor = bytesPerUnit[unit] else {
        throw ValueProblem(
          "has the unknown unit `\(excerpt(unit))`", remedy: "write a whole number and K, M or G, as in 64K")
      }
      let (total, overflow) = number.multipliedReportingOverflow(by: factor)
      guard !overflow, range.contains(total) else {
        throw ValueProblem(
          "is out of range",
          remedy: "write a size from \(sizeAsWritten(range.lowerBound)) to \(sizeAsWritten(range.upperBound))")
      }
      return total
    }
  }
}

extension Duration {
  /// As a configuration file writes it, in the largest unit that is exact; what is under a millisecond is left out.
  public var asWritten: String {
    let total = components.seconds * 1000 + components.attoseconds / 1_000_000_000_000_000
    for unit in ["d", "h", "m", "s"] {
      if let factor = millisecondsPerUnit[unit].map(Int64.init), total != 0, total % factor == 0 {
        return "\(total / factor)\(unit)"
      }
    }
    return total == 0 ? "0s" : "\(total)ms"
  }
}

private let millisecondsPerUnit = ["ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
private let bytesPerUnit = ["": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30]

private func sizeAsWritten(_ size: Int) -> String {
  for unit in ["G", "M", "K"] {
    if let factor = bytesPerUnit[unit], size != 0, size % factor == 0 { return "\(size / factor)\(unit)" }
  }
  return "\(size)"
}

/// The number that `text` begins with, and the unit after it.
private func quantity(_ text: String, example: String) throws(ValueProblem) -> (Int, String) {
  let digits = text.prefix { $0.isASCII && $0.isNumber }
  guard !digits.isEmpty else { throw ValueProblem("does not begin with a number", remedy: "write it as in \(example)") }
  guard let number = Int(digits) else { throw ValueProblem("is out of range", remedy: "write a smaller number") }
  return (number, String(trim(text[digits.endIndex...])))
}
