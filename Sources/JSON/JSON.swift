/// A JSON value (RFC 8259).
///
/// Integers and other numbers stay apart, as they are written: `1` is `.int`, `1.0` and `1e0` are `.double`, and the two
/// are not equal. Write values as literals: `let reply: JSON = ["type": "reply", "done": true]`.
public enum JSON: Sendable, Hashable {
  case null
  case bool(Bool)
  case int(Int)
  case double(Double)
  case string(String)
  case array([JSON])
  case object(JSONObject)

  /// The member of an object; nil if it has none of this name, or if this is no object.
  public subscript(key: String) -> JSON? { objectValue?[key] }

  /// The element of an array; nil past its ends, or if this is no array.
  public subscript(index: Int) -> JSON? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  public var isNull: Bool { self == .null }

  public var boolValue: Bool? { if case .bool(let value) = self { value } else { nil } }

  public var intValue: Int? { if case .int(let value) = self { value } else { nil } }

  /// Any number; an integer beyond 2^53 loses its last digits.
  public var doubleValue: Double? {
    switch self {
    case .double(let value): value
    case .int(let value): Double(value)
    default: nil
    }
  }

  public var stringValue: String? { if case .string(let value) = self { value } else { nil } }

  public var arrayValue: [JSON]? { if case .array(let value) = self { value } else { nil } }

  public var objectValue: JSONObject? { if case .object(let value) = self { value } else { nil } }
}

extension JSON: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
  public init(nilLiteral: ()) { self = .null }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int) { self = .int(value) }
  public init(floatLiteral value: Double) { self = .double(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral elements: JSON...) { self = .array(elements) }
  /// A key that is given twice keeps its last value.
  public init(dictionaryLiteral members: (String, JSON)...) { self = .object(JSONObject(members)) }
}

extension JSON: CustomStringConvertible {
  public var description: String { text() }
}
