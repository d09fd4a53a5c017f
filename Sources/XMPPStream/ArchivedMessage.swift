import JID
import XML
import XMPPStanzas

/// A message out of an archive that we asked, as `OriginPolicy` lets it in (XEP-0313).
public struct ArchivedMessage: Sendable {
  /// Whose archive: our own account, or a room. Bare.
  public var archive: JID
  /// The archive's id of the message.
  public var id: String
  /// The query that it answers.
  public var queryID: String
  /// When the archive took it: microseconds since 1970, UTC. Nil if the archive doesn't say; then its age is not known.
  public var stamp: Int64?
  /// Its only stanza-id is the archive's. Its delay is at least the archive's: a sender who says that it is younger lies.
  public var message: Message
  /// The message as it came, without what it was wrapped in.
  public var element: Element
  /// Our account sent it, from whatever device.
  public var isOwn: Bool

  public init(
    archive: JID, id: String, queryID: String, stamp: Int64?, message: Message, element: Element, isOwn: Bool
  ) {
    self.archive = archive
    self.id = id
    self.queryID = queryID
    self.stamp = stamp
    self.message = message
    self.element = element
    self.isOwn = isOwn
  }
}
