import Glibc
import JSON

/// How far a long verb has come, in one line of the terminal. On standard error, since the output may go elsewhere; and only
/// where somebody looks.
final class ProgressLine {
  private let title: String
  private let isShown: Bool
  private var last: Int?

  /// `besideOutput`: the verb prints rows meanwhile, which show by themselves how far it is where they go to a terminal.
  init(_ title: String, json: Bool, besideOutput: Bool = false) {
    self.title = title
    isShown = isatty(STDERR_FILENO) == 1 && !json && !(besideOutput && Terminal.isInteractive)
  }

  deinit { end() }

  /// `percent`: what is done, of a hundred.
  func show(_ percent: Int) {
    guard isShown, percent != last else { return }
    last = percent
    put("\r" + Self.text(title, percent))
  }

  func show(_ row: JSON) {
    if let percent = row["percent"]?.intValue { show(percent) }
  }

  /// Takes the line away.
  func end() {
    guard isShown, last != nil else { return }
    last = nil
    put("\r\u{1b}[K")
  }

  static func text(_ title: String, _ percent: Int) -> String {
    let percent = min(100, max(0, percent))
    let done = percent / 5
    return title + " [" + String(repeating: "#", count: done) + String(repeating: ".", count: 20 - done) + "] "
      + String(repeating: " ", count: 3 - String(percent).count) + "\(percent) %"
  }

  private func put(_ text: String) {
    let bytes = Array(text.utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }
}
