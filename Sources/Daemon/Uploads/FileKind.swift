/// What a file is, as its first bytes tell: enough for clients to show it.
struct FileKind: Sendable, Hashable {
  let contentType: String
  /// With the dot.
  let ending: String

  static let text = FileKind(contentType: "text/plain; charset=utf-8", ending: ".txt")
  static let unknown = FileKind(contentType: "application/octet-stream", ending: ".bin")

  private static let signatures: [(bytes: [UInt8], kind: FileKind)] = [
    ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], FileKind(contentType: "image/png", ending: ".png")),
    ([0xff, 0xd8, 0xff], FileKind(contentType: "image/jpeg", ending: ".jpg")),
    (Array("GIF8".utf8), FileKind(contentType: "image/gif", ending: ".gif")),
    (Array("%PDF-".utf8), FileKind(contentType: "application/pdf", ending: ".pdf")),
    ([0x1f, 0x8b], FileKind(contentType: "application/gzip", ending: ".gz")),
    ([0x50, 0x4b, 0x03, 0x04], FileKind(contentType: "application/zip", ending: ".zip")),
    (Array("<svg".utf8), FileKind(contentType: "image/svg+xml", ending: ".svg")),
  ]

  /// `head`: the first bytes of a file, or all of them.
  static func of(_ head: some Collection<UInt8>) -> FileKind {
    if let known = signatures.first(where: { head.starts(with: $0.bytes) }) { return known.kind }
    if head.starts(with: "RIFF".utf8), head.dropFirst(8).starts(with: "WEBP".utf8) {
      return FileKind(contentType: "image/webp", ending: ".webp")
    }
    return head.contains(0) || !isUTF8(head) ? unknown : text
  }

  /// The end may cut a character in two.
  private static func isUTF8(_ head: some Collection<UInt8>) -> Bool {
    (0...3).contains { String(validating: head.dropLast($0), as: UTF8.self) != nil }
  }
}
