import Glibc

/// The bot's own DNS (Tests/Servers/names.py), on an address of loopback, port 53.
final class Names {
  /// Why there can be none here; nil when there can.
  static let obstacle: String? = {
    do {
      let names = try Names()
      try withExtendedLifetime(names) { _ = try Program.run(names.launcher() + ["/bin/true"]) }
      return nil
    } catch {
      return "no DNS server or resolv.conf of its own: \(String(describing: error).split(separator: "\n").last ?? "")"
    }
  }()

  private let program: Program
  private let scratch: Scratch
  private let address: String

  init() throws {
    scratch = try Scratch()
    address = "127.53.0.\(Counter.next() % 250 + 1)"
    program = try Program([Server.scripts + "/names.py", address], output: scratch.file("questions"))
    _ = try program.line { $0 == "ready" }
  }

  /// What a program is started with to ask this server.
  func launcher() throws -> [String] { try Self.launcher(resolving: address, in: scratch) }

  private static func launcher(resolving address: String, in scratch: Scratch) throws -> [String] {
    let file = try scratch.write("nameserver \(address)\noptions timeout:2 attempts:2\n", to: "resolv.conf")
    let script = "mount --bind \"$0\" \"$(readlink -f /etc/resolv.conf)\" && exec \"$@\""
    return ["/usr/bin/unshare", "--mount", "/bin/sh", "-c", script, file]
  }

  func tell(_ line: String) { program.write(line) }

  /// Waits until somebody asks for the addresses of `name`.
  func awaitQuestion(_ name: String, within time: Duration = .seconds(90)) throws {
    _ = try program.line(within: time) { $0.hasSuffix(" \(name)") }
  }

  func forgetQuestions() { _ = program.output.takeAll() }
}
