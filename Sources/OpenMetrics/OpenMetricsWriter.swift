/// Writes metrics as OpenMetrics text, version 1.0.0 (the OpenMetrics specification of November 2020, later an
/// Internet-Draft of Prometheus): family after family, each with what it means, and `# EOF`.
public struct OpenMetricsWriter: ~Copyable {
  /// The text's media type.
  public static let contentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

  public enum Kind: String, Sendable {
    /// Only grows, and begins at 0 with the process.
    case counter
    case gauge
    case histogram
    /// A 1 whose labels say something.
    case info
  }

  /// Base units, which the name of a family ends with.
  public enum Unit: String, Sendable {
    case seconds, bytes
  }

  /// Names and values; a value may be any text.
  public typealias Labels = KeyValuePairs<String, String>

  private var text = ""
  private var family = ""
  private var kind = Kind.gauge

  public init() { text.reserveCapacity(8_192) }

  /// Begins a family; its samples follow. `name`: without the suffixes that samples have.
  public mutating func family(_ name: String, _ kind: Kind, unit: Unit? = nil, _ help: String) {
    family = unit.map { name.hasSuffix("_\($0)") ? name : "\(name)_\($0)" } ?? name
    self.kind = kind
    text += "# TYPE \(family) \(kind)\n"
    if let unit { text += "# UNIT \(family) \(unit)\n" }
    text += "# HELP \(family) \(Self.escaped(help))\n"
  }

  public mutating func sample(_ value: some BinaryInteger, _ labels: Labels = [:]) { line(suffix, labels, "\(value)") }

  /// A value that is no number is left out.
  public mutating func sample(_ value: Double, _ labels: Labels = [:]) {
    if !value.isNaN { line(suffix, labels, Self.number(value)) }
  }

  public mutating func sample(_ histogram: Histogram, _ labels: Labels = [:]) {
    var sum: UInt64 = 0
    for (bound, count) in histogram.buckets {
      sum += count
      line("_bucket", labels, "\(sum)", bound: bound.map { Self.number(Double($0) / 1_000_000) } ?? "+Inf")
    }
    line("_count", labels, "\(sum)")
    line("_sum", labels, Self.number(Double(histogram.sum) / 1_000_000))
  }

  /// The whole text.
  public consuming func end() -> String { text + "# EOF\n" }

  private var suffix: String {
    switch kind {
    case .counter: "_total"
    case .info: "_info"
    case .gauge, .histogram: ""
    }
  }

  private mutating func line(_ suffix: String, _ labels: Labels, _ value: String, bound: String? = nil) {
    var pairs = labels.map { "\($0.key)=\"\(Self.escaped($0.value))\"" }
    if let bound { pairs.append("le=\"\(bound)\"") }
    text += family + suffix + (pairs.isEmpty ? "" : "{\(pairs.joined(separator: ","))}") + " \(value)\n"
  }

  /// Without an exponent that readers might not know: as Swift writes it, which OpenMetrics allows.
  private static func number(_ value: Double) -> String {
    value.isInfinite ? (value > 0 ? "+Inf" : "-Inf") : "\(value)"
  }

  private static func escaped(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == 0x22 || $0 == 0x5C || $0 == 0x0A || $0 == 0x0D }) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      // A reader may take it for the end of a line.
      case "\r": result += " "
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}
