/// What a ``StreamParser`` accepts. The defaults fit a client: only its own server sends it long stanzas, such as a roster
/// of some thousand contacts; what strangers send, servers limit to less, though one byte of theirs may come as six. What exceeds
/// a limit is skipped; only a stanza without an end ends the stream.
public struct ParserLimits: Sendable, Hashable {
  /// Bytes of a first-level child, finished or not.
  public var stanzaBytes: Int
  /// Bytes of one that is read to its end and skipped.
  public var skippedBytes: Int
  /// Bytes of one tag with its attributes, and of everything up to the end of the stream header.
  public var tokenBytes: Int
  /// Elements inside each other, the stream itself included.
  public var depth: Int
  /// Those of a stanza that is skipped. What servers let strangers send does not reach this (512 KiB are 175,000 at most), and
  /// each costs 170 bytes until its end, so more ends the stream.
  public var skippedDepth: Int
  /// Attributes of one element, and namespaces that it declares.
  public var attributes: Int
  /// Elements and runs of text in a stanza; each costs more memory than its bytes.
  public var nodes: Int

  public init(
    stanzaBytes: Int = 1 << 20, skippedBytes: Int = 1 << 23, tokenBytes: Int = 1 << 16, depth: Int = 64,
    skippedDepth: Int = 200_000, attributes: Int = 64, nodes: Int = 50_000
  ) {
    self.stanzaBytes = stanzaBytes
    self.skippedBytes = max(stanzaBytes, skippedBytes)
    self.tokenBytes = tokenBytes
    self.depth = depth
    self.skippedDepth = max(depth, skippedDepth)
    self.attributes = attributes
    self.nodes = nodes
  }
}
