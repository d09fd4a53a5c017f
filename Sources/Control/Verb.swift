import Configuration
import Daemon

/// One thing that xmppbotctl does.
struct Verb: Sendable {
  var path: [String]
  /// What follows it, for the help.
  var arguments: String
  var summary: String
  var run: @Sendable (inout ArgumentReader, inout Context) throws(ControlFailure) -> Void

  static let all: [Verb] = [
    check, register, status, send, roster, commands, archiveSearch, archiveExport, archiveStatistics, reload, logLevel,
  ]

  var usage: String {
    (["xmppbotctl"] + path + (arguments.isEmpty ? [] : [arguments])).joined(separator: " ")
  }

  var help: String { "usage: \(usage)\n\n\(summary)." }

  static var overview: String {
    let lines = all.map { verb in
      let left = (verb.path + (verb.arguments.isEmpty ? [] : [verb.arguments])).joined(separator: " ")
      return "  " + Table.padded(left, 46) + "  " + verb.summary
    }
    return """
      usage: xmppbotctl [--config FILE] [--socket PATH] VERB …

      \(lines.joined(separator: "\n"))

      Every table has --json. --config names the daemon's configuration, --socket its control socket.
      """
  }

  static func unknown(_ path: [String]) -> ControlFailure {
    let text = path.joined(separator: " ")
    let hint =
      nearest(to: text, in: all.map { $0.path.joined(separator: " ") }).map { "did you mean '\($0)'?" }
      ?? "the verbs are " + Set(all.map { $0.path[0] }).sorted().joined(separator: ", ")
    return ControlFailure(.usage, "unknown verb '\(text)': \(hint)")
  }

  /// For a verb that takes no words.
  static func refuse(_ words: [String], _ path: String) throws(ControlFailure) {
    if let word = words.first { throw ControlFailure(.usage, "'\(path)' takes no '\(word)'") }
  }
}
