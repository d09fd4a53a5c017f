import Glibc

/// What the guardian has to remove when this process ends before it could do so itself: networks, memory groups, mounts.
struct Mark {
  private let path: String

  /// `kind`: "networks", "groups" or "mounts".
  init(_ kind: String, _ name: String, text: String = "") throws {
    path = try Scratch.root.get() + "/\(kind)/\(name)"
    guard let stream = fopen(path, "w") else { throw Problem("\(path): \(systemError())") }
    fputs(text, stream)
    fclose(stream)
  }

  func remove() { unlink(path) }
}
