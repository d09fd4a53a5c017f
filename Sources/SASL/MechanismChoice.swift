/// The mechanism to log in with, and what has to be true for the login to count.
public struct MechanismChoice: Sendable, Hashable {
  public let mechanism: Mechanism
  public let binding: ChannelBinding
  /// The server must send a right XEP-0474 hash, for without it this choice would be a downgrade.
  public let requiresDowngradeProof: Bool
  /// What the last login used, where that was stronger than this choice.
  public let weakerThan: MechanismFloor?
  /// The server did not say which types of channel binding it has (XEP-0440), so ours may be unknown to it.
  /// See ``SASLClient/mayRetryWithoutBinding``.
  public let bindingIsGuessed: Bool
  /// The lists as the server sent them, which XEP-0474 hashes.
  public let offered: [String]
  public let offeredBindings: [String]?

  public init(
    mechanism: Mechanism, binding: ChannelBinding, requiresDowngradeProof: Bool = false,
    weakerThan: MechanismFloor? = nil, bindingIsGuessed: Bool = false, offered: [String],
    offeredBindings: [String]? = nil
  ) {
    self.mechanism = mechanism
    self.binding = binding
    self.requiresDowngradeProof = requiresDowngradeProof || weakerThan != nil
    self.weakerThan = weakerThan
    self.bindingIsGuessed = bindingIsGuessed
    self.offered = offered
    self.offeredBindings = offeredBindings
  }

  /// What to remember once the login has succeeded.
  public var floor: MechanismFloor { MechanismFloor(mechanism: mechanism, binding: binding.type) }
}
