import Glibc

/// The built programs, run to their end. Blocks.
enum Tool {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  struct Outcome: Sendable {
    var code: Int32
    var output: String
    var errors: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }
  }

  /// Runs xmppbotctl.
  static func control(_ arguments: String..., input: String = "") throws -> Outcome {
    try run([programs + "/xmppbotctl"] + arguments, input: input)
  }

  /// Runs a line of shell in which `$xmppbotctl` and `$xmppbotd` are the programs.
  static func shell(_ line: String) throws -> Outcome {
    try run(
      ["/bin/sh", "-c", "xmppbotctl=\(programs)/xmppbotctl; xmppbotd=\(programs)/xmppbotd\n" + line], input: "")
  }

  /// A program with a time-out, so that a hang is a failure. 128 + N: it was ended by signal N.
  private static func run(_ words: [String], input: String) throws -> Outcome {
    let files = try [0, 1, 2].map { _ in try anonymousFile() }
    defer { files.forEach { close($0) } }
    _ = input.withCString { Glibc.write(files[0], $0, strlen($0)) }
    lseek(files[0], 0, SEEK_SET)
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (target, file) in files.enumerated() { posix_spawn_file_actions_adddup2(&actions, file, Int32(target)) }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    // Other tests of this process ignore or block some.
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    let arguments = ["/usr/bin/timeout", "60"] + words
    var pointers = arguments.map { strdup($0) } + [nil]
    defer { pointers.forEach { free($0) } }
    var environment = [strdup("PATH=/usr/bin:/bin"), strdup("HOME=/nonexistent"), nil]
    defer { environment.forEach { free($0) } }
    var pid: pid_t = 0
    let result = posix_spawn(&pid, arguments[0], &actions, &attributes, &pointers, &environment)
    guard result == 0 else { throw Failure(description: String(cString: strerror(result))) }
    var status: Int32 = 0
    while waitpid(pid, &status, 0) < 0, errno == EINTR {}
    let signal = status & 0x7f
    return Outcome(
      code: signal == 0 ? (status >> 8) & 0xff : 128 + signal, output: contents(files[1]), errors: contents(files[2]))
  }

  private static func anonymousFile() throws -> Int32 {
    var template = Array("/tmp/control-tests-XXXXXX".utf8CString)
    let descriptor = mkstemp(&template)
    guard descriptor >= 0 else { throw Failure(description: String(cString: strerror(errno))) }
    unlink(template)
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    return descriptor
  }

  private static func contents(_ file: Int32) -> String {
    lseek(file, 0, SEEK_SET)
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 65_536)
    while case let count = read(file, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Said by the environment, else the folder of the running tests.
  static let programs: String = {
    if let path = getenv("XMPPBOTD_PROGRAMS") { return String(cString: path) }
    guard let path = realpath("/proc/self/exe", nil) else { return "." }
    defer { free(path) }
    return String(String(cString: path).split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 })
  }()
}
