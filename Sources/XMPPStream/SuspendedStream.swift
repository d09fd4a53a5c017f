import JID

/// What must be known to resume a session from another process (XEP-0198 1.6, section 5).
public struct SuspendedStream: Sendable, Hashable {
  /// The session's name at the server.
  public var id: String
  /// The full address that the server bound.
  public var jid: JID
  public var location: String?
  /// How many of the server's stanzas are stored.
  public var handled: UInt32
  /// The account's server removes forged ids (`OriginPolicy.trustsAccountIDs`).
  public var trustsAccountIDs: Bool

  public init(id: String, jid: JID, location: String?, handled: UInt32, trustsAccountIDs: Bool) {
    self.id = id
    self.jid = jid
    self.location = location
    self.handled = handled
    self.trustsAccountIDs = trustsAccountIDs
  }
}
