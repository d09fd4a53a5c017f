import Daemon
import Glibc
import Systemd

/// The few colours of xmppbotctl, for somebody who looks: on a terminal only, and none where NO_COLOR (no-color.org) is set
/// or TERM is `dumb`. Never in JSON.
enum Ink: String {
  case good = "32"
  case warning = "33"
  case bad = "31"
  case heading = "1"

  private static let isWanted = TerminalWriter.Style.allowsColour(ProcessEnvironment.current())
  private static let isUsed = isWanted && Terminal.isInteractive
  private static let isUsedForErrors = isWanted && isatty(STDERR_FILENO) == 1

  /// `text`, which holds nothing that could itself be a colour (`Terminal.safe`), for standard output.
  func on(_ text: String) -> String { Self.isUsed ? painted(text) : text }

  /// The same for standard error.
  func onError(_ text: String) -> String { Self.isUsedForErrors ? painted(text) : text }

  func painted(_ text: String) -> String { "\u{1B}[\(rawValue)m\(text)\u{1B}[0m" }
}
