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

  /// How many stanzas were sent, and the token of the last message among them, as far as it was stored: there may be more.
  public var sent: Sent?

  public struct Sent: Sendable, Hashable {
    public var count: UInt32
    public var last: String

    public init(count: UInt32, last: String) {
      self.count = count
      self.last = last
    }
  }

  public init(id: String, jid: JID, location: String?, handled: UInt32, trustsAccountIDs: Bool, sent: Sent? = nil) {
    self.id = id
    self.jid = jid
    self.location = location
    self.handled = handled
    self.trustsAccountIDs = trustsAccountIDs
    self.sent = sent
  }
}
