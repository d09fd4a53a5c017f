import Glibc

/// The way that the kernel takes to a file, links followed one by one (path_resolution(7)): `realpath` tells its end only, and
/// not the folders of links in between.
struct PathWalk {
  /// Those that are entered, in order, the root not among them; without links.
  private(set) var folders: [String] = []
  /// The file itself, without links.
  private(set) var end = ""
  /// False where some name on the way is not there; what follows it is then taken as it is written.
  private(set) var exists = true

  /// Nil where links go round in circles.
  init?(_ path: String) {
    // The kernel's limit.
    var links = 40
    var names = Self.names(path.absolutePath)
    while let name = names.popLast() {
      if !end.isEmpty, folders.last != end { folders.append(end) }
      if name == ".." {
        end = String(end[..<(end.lastIndex(of: "/") ?? end.startIndex)])
        continue
      }
      let next = end + "/" + name
      guard let target = Self.target(next) else {
        end = next
        exists = exists && access(next, F_OK) == 0
        continue
      }
      links -= 1
      if links == 0 { return nil }
      if target.hasPrefix("/") { end = "" }
      names += Self.names(target)
    }
  }

  /// The last one first.
  private static func names(_ path: String) -> [String] {
    path.split(separator: "/").filter { $0 != "." }.map(String.init).reversed()
  }

  /// Where the link leads; nil for all that is none.
  private static func target(_ path: String) -> String? {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &buffer, buffer.count)
    return count > 0 ? String(decoding: buffer.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self) : nil
  }
}
