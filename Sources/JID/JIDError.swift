/// Why a text is no JID.
public struct JIDError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Part: String, Sendable { case local, domain, resource, whole }
  public let part: Part
  public let reason: String

  public init(part: Part, reason: String) {
    self.part = part
    self.reason = reason
  }

  public var description: String {
    part == .whole ? "the address \(reason)" : "the \(part.rawValue) part of the address \(reason)"
  }
}
