import Glibc

/// A memory cgroup (v1) for one process: it gets so much, and is killed when it takes more.
final class MemoryGroup {
  private static let root = "/sys/fs/cgroup/memory"

  /// Why there can be none here; nil when there can.
  static let obstacle: String? = {
    do {
      _ = try MemoryGroup()
      return nil
    } catch {
      return "no memory cgroup: \(error)"
    }
  }()

  private let path: String
  private let mark: Mark

  init() throws {
    let name = "xmppbotd-test-\(getpid())-\(Counter.next())"
    path = Self.root + "/" + name
    mark = try Mark("groups", name)
    guard mkdir(path, 0o755) == 0, access(path + "/memory.limit_in_bytes", W_OK) == 0 else {
      let error = systemError()
      rmdir(path)
      mark.remove()
      throw Problem("\(path): \(error)")
    }
  }

  deinit {
    rmdir(path)
    mark.remove()
  }

  func take(_ pid: pid_t) throws { try write(String(pid), to: "cgroup.procs") }

  /// What its processes have now may grow by so many bytes.
  func allow(more bytes: Int) throws {
    let usage = Int(contents(of: path + "/memory.usage_in_bytes").prefix { $0 != "\n" }) ?? 0
    try write(String(usage + bytes), to: "memory.limit_in_bytes")
  }

  private func write(_ text: String, to name: String) throws {
    guard let stream = fopen(path + "/" + name, "w") else { throw Problem("\(path)/\(name): \(systemError())") }
    let written = fputs(text, stream)
    guard fclose(stream) == 0, written >= 0 else { throw Problem("\(path)/\(name): \(systemError())") }
  }
}
