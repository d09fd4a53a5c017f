/// A file that a command sends to its contact, who gets a link to it.
public struct CommandUpload: Sendable, Hashable {
  public enum Content: Sendable, Hashable {
    case bytes([UInt8])
    /// A file in the command's own folder (XMPPBOT_STATE_DIR): its path there, or from `/` on. Any other is refused, since the bot
    /// may read what the command may not.
    case file(path: String)
  }

  public var content: Content
  /// What it is called; nil: after the command, or the file.
  public var name: String?
  /// A message that comes before the link.
  public var caption: String?
  /// The folder in which the file is; nil: the command's.
  public var folder: String?

  public init(_ content: Content, name: String? = nil, caption: String? = nil, folder: String? = nil) {
    self.content = content
    self.name = name
    self.caption = caption
    self.folder = folder
  }
}
