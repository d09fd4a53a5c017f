/// Why a text is not JSON, or not JSON that is accepted here.
public struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// Counted from 1; nil where the fault has no single place.
  public let line: Int?
  /// In characters, counted from 1; it points at the last one that was read.
  public let column: Int?
  /// One line of printable text; it may quote a little of the input.
  public let reason: String

  public var description: String {
    let place = line.map { "line \($0)" + (column.map { ", column \($0)" } ?? "") + ": " } ?? ""
    return "not valid JSON: \(place)\(reason)"
  }
}
