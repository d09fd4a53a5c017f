/// The strength of the last login that succeeded, to be kept with the account's state: "mechanism pinning" (XEP-0438
/// section 5, XEP-0474 version 0.5.0 section 6).
///
/// ``MechanismPolicy`` refuses to go below it, unless the server proves (XEP-0474) that its list of mechanisms has
/// really become shorter. To allow a weaker login to a server without that proof, the operator has the stored string
/// forgotten (`xmppbotctl forget-mechanism`).
public struct MechanismFloor: Sendable, Hashable, Comparable, RawRepresentable, CustomStringConvertible {
  public let mechanism: Mechanism
  public let binding: ChannelBindingType?

  public init(mechanism: Mechanism, binding: ChannelBindingType?) {
    self.mechanism = mechanism
    self.binding = binding
  }

  /// Reads what ``rawValue`` wrote, "SCRAM-SHA-256-PLUS tls-exporter" for example; nil for anything else.
  public init?(rawValue: String) {
    let words = rawValue.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
    guard let first = words.first, let mechanism = Mechanism(rawValue: first) else { return nil }
    let binding = words.dropFirst().first.flatMap(ChannelBindingType.init(rawValue:))
    guard words.count == (mechanism.bindsChannel ? 2 : 1), mechanism.bindsChannel == (binding != nil) else {
      return nil
    }
    self.init(mechanism: mechanism, binding: binding)
  }

  public var rawValue: String {
    binding.map { "\(mechanism.rawValue) \($0.rawValue)" } ?? mechanism.rawValue
  }

  public var description: String { rawValue }

  /// Weaker first: the type of binding counts more than the hash.
  public static func < (left: MechanismFloor, right: MechanismFloor) -> Bool {
    left.weakness.lexicographicallyPrecedes(right.weakness) { $0 > $1 }
  }

  private var weakness: [Int] {
    [
      binding.flatMap(ChannelBindingType.allCases.firstIndex(of:)) ?? ChannelBindingType.allCases.count,
      Mechanism.allCases.firstIndex(of: mechanism) ?? Mechanism.allCases.count,
    ]
  }
}
