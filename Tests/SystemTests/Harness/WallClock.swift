import Glibc

/// A wall clock of the bot's own, which can be set while it runs (libfaketime). The machine's is never touched.
final class WallClock {
  private static let library = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"

  /// Why there can be none here; nil when there can.
  static let obstacle: String? = access(path, R_OK) == 0 ? nil : "no libfaketime"

  private static let path: String = {
    let found = try? Program.run(["/bin/sh", "-c", "ls /usr/lib/*/faketime/libfaketimeMT.so.1"])
    return found.map { String($0.prefix { $0 != "\n" }) } ?? library
  }()

  private let scratch: Scratch

  /// `offset`: such as "+365d" or "-1h".
  init(_ offset: String) throws {
    scratch = try Scratch()
    try set(offset)
  }

  func set(_ offset: String) throws {
    // Replaced as a whole: the library may read it at any moment.
    try scratch.write(offset + "\n", to: "next")
    guard rename(scratch.file("next"), scratch.file("offset")) == 0 else {
      throw Problem("the clock: \(systemError())")
    }
  }

  /// What a program is started with to have this clock. Its monotonic clocks stay as they are.
  var environment: [String: String] {
    [
      "LD_PRELOAD": Self.path, "FAKETIME_TIMESTAMP_FILE": scratch.file("offset"), "FAKETIME_NO_CACHE": "1",
      "DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_RESET": "1",
    ]
  }
}
