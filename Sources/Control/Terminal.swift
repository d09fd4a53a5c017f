import Daemon
@preconcurrency import Glibc

/// What the person at the other end sees.
enum Terminal {
  static let isInteractive = isatty(STDOUT_FILENO) == 1

  /// Columns of the terminal; nil when the output goes elsewhere.
  static var width: Int? {
    guard isInteractive else { return nil }
    var size = winsize()
    guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
    return Int(size.ws_col)
  }

  /// Why some of the output could not be written; 0: it could. Only the main thread prints.
  nonisolated(unsafe) private static var obstacle: Int32 = 0

  /// What was printed is on its way. Who stopped reading ends us quietly, also where the signal is ignored for the sake of sockets.
  static func flush() {
    guard fflush(stdout) != 0, obstacle == 0 else { return }
    obstacle = errno
    guard obstacle == EPIPE else { return }
    signal(SIGPIPE, SIG_DFL)
    raise(SIGPIPE)
  }

  /// What was printed has arrived: a full disk must not pass for success.
  static func finish() throws(ControlFailure) {
    flush()
    guard obstacle != 0 || ferror(stdout) != 0 else { return }
    throw ControlFailure(
      .failed,
      "the output could not be written" + (obstacle == 0 ? "" : ": \(String(cString: strerror(obstacle)))"))
  }

  /// A line on standard error; `mark`, where there is one, says that the verb failed.
  static func complain(_ line: String, mark: String = "") {
    let bytes = Array((Ink.bad.onError(mark) + safe(line) + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }

  /// `text` in one line, with what could move the cursor or turn the writing direction made visible. What strangers sent
  /// goes to a terminal only through here.
  static func safe(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if scalar == "\n" {
        result += "⏎"
      } else if isUnsafe(scalar) {
        result += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// The same, with its lines left as lines; unchanged where nobody looks.
  static func safeLines(_ text: String) -> String {
    guard isInteractive else { return text }
    return text.split(separator: "\n", omittingEmptySubsequences: false).map { safe(String($0)) }.joined(
      separator: "\n")
  }

  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF: true
    default: false
    }
  }
}

extension String {
  /// This path, from the root on.
  var absolutePath: String {
    guard !hasPrefix("/"), let folder = getcwd(nil, 0) else { return self }
    defer { free(folder) }
    return String(cString: folder) + "/" + self
  }
}
