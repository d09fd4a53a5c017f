/// Messages that are the link to a file, and nothing else: they go out with it marked as such (XEP-0066), which is what makes
/// clients show the file. The id says so, since the archive has no column for it: one that waits is a link after a restart,
/// too.
enum FileLink {
  private static let mark = ".file"

  static func id(_ id: String) -> String { id + mark }

  static func isLink(_ id: String) -> Bool { id.hasSuffix(mark) }
}
