import Glibc

/// A disk so small that it can be filled: a tmpfs.
final class SmallDisk {
  /// Why there can be none here; nil when there can.
  static let obstacle: String? = {
    do {
      _ = try SmallDisk(megabytes: 1)
      return nil
    } catch {
      return "no tmpfs can be mounted: \(String(describing: error).split(separator: "\n").last ?? "")"
    }
  }()

  let path: String
  private let scratch: Scratch
  private let mark: Mark

  init(megabytes: Int) throws {
    scratch = try Scratch()
    path = scratch.file("disk")
    mkdir(path, 0o755)
    mark = try Mark("mounts", "disk-\(Counter.next())", text: path)
    do {
      try Program.run(["/bin/mount", "-t", "tmpfs", "-o", "size=\(megabytes)m", "tmpfs", path])
    } catch {
      mark.remove()
      throw error
    }
  }

  deinit {
    _ = try? Program.run(["/bin/umount", "-l", path])
    mark.remove()
  }

  /// Takes all the room that is left.
  func fill() throws {
    try Program.run(["/bin/sh", "-c", "cat /dev/zero >\"$1/filler\" 2>/dev/null || :", "sh", path])
  }

  func empty() { unlink(path + "/filler") }
}
