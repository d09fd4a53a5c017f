import Glibc

/// A wall clock of the bot's own, which can be set while it runs (Tests/Servers/wallclock.c). The machine's is never
/// touched.
final class WallClock {
  private static let library = Result {
    let path = try Scratch.root.get() + "/wallclock.so"
    try Program.run([
      "/bin/sh", "-c", "exec \"$(command -v cc || command -v clang)\" -shared -fPIC -O -o \"$1\" \"$2\"", "sh", path,
      Server.scripts + "/wallclock.c",
    ])
    return path
  }

  /// Why there can be none here; nil when there can.
  static var obstacle: String? {
    guard case .failure = library else { return nil }
    return "no C compiler"
  }

  /// What a program is started with to have this clock.
  let environment: [String: String]
  private let scratch: Scratch

  /// `days`: how far it is ahead of the machine's.
  init(days: Int) throws {
    scratch = try Scratch()
    environment = ["LD_PRELOAD": try Self.library.get(), "WALL_CLOCK": scratch.file("offset")]
    try set(days: days)
  }

  func set(days: Int) throws {
    var seconds = Int64(days) * 86_400
    // Written in place and in one piece: it is mapped into the bot.
    let file = open(scratch.file("offset"), O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
    defer { close(file) }
    guard pwrite(file, &seconds, 8, 0) == 8 else { throw Problem("the clock: \(systemError())") }
  }
}
