import Glibc

/// Makes system calls of a running process fail, as long as it exists (strace's fault injection).
final class Injection {
  /// Why there can be none here; nil when there can.
  static let obstacle: String? = {
    do {
      try Program.run(["/usr/bin/strace", "-o", "/dev/null", "-e", "inject=fsync:error=EIO", "/bin/true"])
      return nil
    } catch {
      return "no process can be traced: \(String(describing: error).split(separator: "\n").last ?? "")"
    }
  }()

  private let program: Program
  private let scratch: Scratch

  /// `calls`: names of system calls, with commas. `error`: such as "EIO". `files`: only calls on these.
  ///
  /// The threads that are there now are traced, not what the process starts (strace's -f). A shell starts programs with
  /// vfork(2) and sleeps, whatever signal comes, until its child goes on; strace keeps the child stopped while it waits
  /// for the shell to let go of it. So an strace that is told to end just then never does.
  init(into pid: pid_t, _ calls: String, error: String, onFiles files: [String] = []) throws {
    scratch = try Scratch()
    let threads = try Program.run(["/bin/ls", "/proc/\(pid)/task"]).split(separator: "\n").map(String.init)
    program = try Program(
      ["/usr/bin/strace", "-o", "/dev/null", "-e", "trace=\(calls)", "-e", "inject=\(calls):error=\(error)"]
        + threads.flatMap { ["-p", $0] } + files.flatMap { ["-P", $0] }, output: scratch.file("strace"))
    for _ in threads { _ = try program.line { $0.contains("attached") } }
  }

  /// Lets the process go on undisturbed.
  func end() throws {
    program.signal(SIGTERM)
    _ = try program.exit()
  }
}
