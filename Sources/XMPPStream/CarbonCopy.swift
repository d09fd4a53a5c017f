import XML
import XMPPStanzas

/// A message that another device of the account has sent or received, as `OriginPolicy` lets it in (XEP-0280).
public struct CarbonCopy: Sendable {
  public var direction: Carbon.Direction
  /// Both its addresses are there; ids that prove nothing are gone.
  public var message: Message
  /// The message as it came, without what it was wrapped in.
  public var element: Element
}
