import Glibc
import JSON

/// A Debian of its own that systemd has booted (Tests/Servers/container). It shares this machine's network, and so the
/// servers on loopback. Booted once; it ends with this process.
final class Machine: Sendable {
  /// Why none can be booted here; nil when one can. Makes its root file system, which takes a minute the first time.
  static let obstacle: String? = {
    do {
      let reason = try container("obstacle")
      return reason.isEmpty ? nil : reason
    } catch {
      return "\(error)"
    }
  }()

  private static let booted = Result { try Machine() }
  static func shared() throws -> Machine { try booted.get() }

  private let folder: String
  /// The words before those of a program that is to run inside. Tests of a machine run one after the other.
  nonisolated(unsafe) private var entry: [String]

  private init() throws {
    folder = try Scratch.root.get() + "/containers/\(Counter.next())"
    entry = try Self.container("start", folder).split(separator: " ").map(String.init)
  }

  /// Has it boot again. What is in /run is gone, as on any machine.
  func reboot() throws { entry = try Self.container("reboot", folder).split(separator: " ").map(String.init) }

  /// Has it boot again as after a loss of its power, but that what it wrote is on the disk.
  func crash() throws { entry = try Self.container("crash", folder).split(separator: " ").map(String.init) }

  /// Its root file system, without what is mounted inside, such as /run.
  var root: String { folder + "/root" }

  /// Runs a program inside; what it wrote, if it succeeded.
  @discardableResult
  func run(_ words: String..., input: String? = nil) throws -> String {
    let (exit, output) = try attempt(words, input: input)
    guard exit == .code(0) else { throw problem("\(words.joined(separator: " ")): \(exit)\n\(output)") }
    return output
  }

  /// Runs a program inside, to whatever end.
  func attempt(_ words: String...) throws -> (exit: Program.Exit, output: String) { try attempt(words) }

  func attempt(_ words: [String], input: String? = nil) throws -> (exit: Program.Exit, output: String) {
    try Self.finish(entry + words, input: input)
  }

  /// Writes a file inside, root's, with folders as needed.
  func write(_ text: String, to path: String, mode: String = "644") throws {
    try run(
      "sh", "-c", "umask 077; mkdir -p -m 755 \"${1%/*}\" && cat >\"$1\" && chmod \"$2\" \"$1\"", "sh", path, mode,
      input: text)
  }

  /// Brings a file of ours in.
  func bring(_ file: String, to path: String) throws { try Program.run(["/bin/cp", file, root + path]) }

  /// Brings the libraries of programs in that no package of Debian's has.
  func bringLibraries(of programs: [String]) throws {
    try Program.run([Server.scripts + "/container", "libraries", folder] + programs)
  }

  /// A property of a unit, as systemctl shows it.
  func property(_ name: String, of unit: String) throws -> String {
    String(try run("systemctl", "show", "--property", name, "--value", unit).prefix { $0 != "\n" })
  }

  /// Entries of the journal that have all of these fields, such as XMPPBOT_EVENT=online; the oldest first.
  func journal(_ fields: String...) throws -> [JSON] {
    let (_, output) = try Self.finish(entry + ["journalctl", "--no-pager", "--quiet", "--output=json"] + fields)
    return output.split(separator: "\n").compactMap { try? JSON(parsing: Array($0.utf8)) }
  }

  /// Looks again and again until `look` finds something. Else it says what was awaited, what was there instead, and what
  /// the journal has.
  @discardableResult
  func eventually<T>(
    _ what: String, within time: Duration = .seconds(30), instead: () throws -> String = { "nothing" },
    _ look: () throws -> T?
  ) throws -> T {
    let deadline = Deadline(after: time)
    while true {
      if let found = try look() { return found }
      if deadline.hasPassed {
        throw problem("expected within \(time): \(what)\nthere was: \((try? instead()) ?? "no answer")")
      }
      _ = Deadline(after: .milliseconds(50)).awaitReadable([])
    }
  }

  /// The journal's last lines, for whoever reads of a failure.
  var lastLines: String {
    let lines = try? Self.finish(entry + ["journalctl", "--no-pager", "--quiet", "--lines=25", "--output=short"])
    return "the journal's last lines:\n\(lines?.output ?? "none")"
  }

  func problem(_ text: String) -> Problem { Problem("\(text)\n\(lastLines)") }

  @discardableResult
  private static func container(_ words: String...) throws -> String {
    let (exit, output) = try finish([Server.scripts + "/container"] + words, within: .seconds(600))
    guard exit == .code(0) else { throw Problem("container \(words.joined(separator: " ")): \(output)") }
    return String(output.split(separator: "\n").last ?? "")
  }

  private static func finish(
    _ words: [String], input: String? = nil, within time: Duration = .seconds(120)
  ) throws -> (exit: Program.Exit, output: String) {
    let file = try Scratch.root.get() + "/output.\(Counter.next())"
    defer { unlink(file) }
    let program = try Program(words, output: file)
    if let input { program.write(input) }
    program.closeInput()
    return (try program.exit(within: time), contents(of: file))
  }
}
