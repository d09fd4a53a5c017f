import Glibc
import Testing

/// A folder that vanishes with its owner; all lie in one folder of this process's own.
final class Scratch: Sendable {
  let path: String

  init() throws {
    path = try Self.root.get() + "/\(Counter.next())"
    guard mkdir(path, 0o755) == 0 else { throw Problem("\(path): \(systemError())") }
  }

  deinit {
    _ = try? Program.run(["/bin/rm", "-rf", path])
  }

  func file(_ name: String) -> String { path + "/" + name }

  /// Writes a file below this folder, with folders as needed, and returns its path.
  @discardableResult
  func write(_ text: String, to name: String, mode: mode_t = 0o644) throws -> String {
    let path = file(name)
    for (index, character) in path.enumerated() where character == "/" && index > self.path.count {
      mkdir(String(path.prefix(index)), 0o755)
    }
    guard let stream = fopen(path, "w") else { throw Problem("\(path): \(systemError())") }
    defer { fclose(stream) }
    fputs(text, stream)
    chmod(path, mode)
    return path
  }

  /// Everything of this process's; a guardian removes it, and ends what was started, when this process ends in any way.
  static let root = Result {
    let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(base)/xmppbotd-test.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Problem("no scratch folder in \(base): \(systemError())") }
    let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    mkdir(path + "/running", 0o700)
    for kind in ["servers", "containers", "networks", "groups", "mounts"] { mkdir(path + "/" + kind, 0o700) }
    // In a session of its own, so that what ends ours as a whole does not end it.
    guardian = try Program(
      ["/usr/bin/setsid", Server.scripts + "/guardian", path], output: "/dev/null", isGuarded: false)
    return path
  }

  // Kept, since the other end of its standard input is what tells the guardian that we live. Set once, before any use.
  nonisolated(unsafe) private static var guardian: Program?
}

/// Numbers for names that must differ.
enum Counter {
  // The suites run one after another.
  nonisolated(unsafe) private static var last = 0

  static func next() -> Int {
    last += 1
    return last
  }
}

func systemError(_ code: Int32 = errno) -> String { String(cString: strerror(code)) }

/// The whole of a file; empty when there is none.
func contents(of path: String) -> String {
  guard let stream = fopen(path, "r") else { return "" }
  defer { fclose(stream) }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65_536)
  while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 { bytes += buffer[..<count] }
  return String(decoding: bytes, as: UTF8.self)
}
