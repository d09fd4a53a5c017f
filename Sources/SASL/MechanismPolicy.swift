/// Which mechanism to use, from what the server offers (RFC 5802 section 6, XEP-0440 version 1.0.0, XEP-0474 version 0.5.0).
///
/// - The strongest mechanism wins, and one with channel binding before any without.
/// - The server's -PLUS mechanisms and its announced types decide the GS2 flag:
///
///   | server offers | announces (XEP-0440) | we say |
///   |---|---|---|
///   | no -PLUS | anything | `y` (`n` if TLS gives us nothing to bind to) |
///   | -PLUS | a type we have | `p` with the strongest such type |
///   | -PLUS | only types we have not | `n`, and the server must prove its lists (XEP-0474), else the login ends |
///   | -PLUS | nothing | `p` with our strongest type, as a guess; if the server does not know it, once more with `n` |
///
///   The first row goes on where XEP-0440 advises to abort when types are announced without -PLUS: ejabberd keeps
///   announcing them when its operator switches -PLUS off, and `y` already makes a server that has -PLUS end the login.
///   The guess is for servers from before XEP-0440, most of which know `tls-unique` alone.
/// - PLAIN only over verified TLS, only where the server offers no SCRAM, and never once SCRAM has worked.
/// - Never weaker than ``MechanismFloor``, except by the server's proof.
public enum MechanismPolicy {
  /// Chooses.
  ///
  /// - Parameters:
  ///   - offered: all mechanism names, as received.
  ///   - offeredBindings: the types announced by XEP-0440; nil (or empty) if there was no announcement.
  ///   - available: what this TLS connection can be bound to.
  ///   - tls: the connection is encrypted and the server's certificate was verified.
  ///   - floor: what the last successful login used, if it is known.
  ///   - guessFailed: a guessed binding was refused on this connection (``SASLClient/mayRetryWithoutBinding``).
  public static func choose(
    offered: [String], offeredBindings: [String]?, available: ChannelBindingData, tls: Bool,
    floor: MechanismFloor? = nil, guessFailed: Bool = false
  ) throws(SASLFailure) -> MechanismChoice {
    // XEP-0440 wants at least one type; an empty list says nothing.
    let announced = offeredBindings.flatMap { $0.isEmpty ? nil : $0 }
    let known = Mechanism.allCases.filter { offered.contains($0.rawValue) }
    let decision = decideBinding(
      serverBinds: offered.contains { $0.hasSuffix("-PLUS") },
      usable: known.contains(where: \.bindsChannel), announced: announced, available: available,
      guess: !guessFailed && (floor?.mechanism.bindsChannel ?? true))

    guard let mechanism = known.first(where: { $0.bindsChannel == (decision.binding.type != nil) }) else {
      throw .noMechanism(offered: offered)
    }
    let strength = MechanismFloor(mechanism: mechanism, binding: decision.binding.type)
    let weakerThan = floor.flatMap { $0 > strength ? $0 : nil }
    if mechanism == .plain {
      guard tls else { throw .plainWithoutTLS }
      // PLAIN has no place for the server's proof.
      if let weakerThan { throw .weakerThanBefore(weakerThan, offered: offered) }
    }
    return MechanismChoice(
      mechanism: mechanism, binding: decision.binding, requiresDowngradeProof: decision.needsProof,
      weakerThan: weakerThan, bindingIsGuessed: decision.isGuess, offered: offered, offeredBindings: announced)
  }

  private struct Decision {
    var binding: ChannelBinding
    var isGuess = false
    var needsProof = false
  }

  private static func decideBinding(
    serverBinds: Bool, usable: Bool, announced: [String]?, available: ChannelBindingData, guess: Bool
  ) -> Decision {
    if available.types.isEmpty { return Decision(binding: .unsupported) }
    if !serverBinds { return Decision(binding: .notOffered) }
    let candidates = announced.map { announced in available.types.filter { announced.contains($0.rawValue) } }
    if usable, candidates != nil || guess, let type = (candidates ?? available.types).first,
      let data = available[type]
    {
      return Decision(binding: .bound(type, data: data), isGuess: candidates == nil)
    }
    return Decision(binding: .unsupported, needsProof: announced != nil || !usable)
  }
}
