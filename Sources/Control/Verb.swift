import Configuration
import Daemon

/// One thing that xmppbotctl does.
struct Verb: Sendable {
  var path: [String]
  /// The words that follow it, for the help; empty for none.
  var arguments = ""
  var options: [Option] = []
  var summary: String
  /// More for the help.
  var details = ""
  var run: @Sendable (Call) throws(ControlFailure) -> Void

  static let all: [Verb] = [
    check, register, status, send, roster, rooms, commands, run, archiveSearch, archiveExport, archiveStatistics,
    archiveCheck, archiveBackup, archivePrune, archiveRecover, metrics, reload, logLevel, forgetMechanism,
  ]

  static var firstWords: String {
    var seen: [String] = []
    for verb in all where !seen.contains(verb.path[0]) { seen.append(verb.path[0]) }
    return seen.joined(separator: ", ")
  }

  var takesWords: Bool { !arguments.isEmpty }

  private var usage: String {
    ([path.joined(separator: " "), arguments] + options.map { $0.isRequired ? $0.usage : "[\($0.usage)]" }).filter {
      !$0.isEmpty
    }
    .joined(separator: " ")
  }

  var help: String {
    let lines = (options + Option.common).map { "  " + Table.padded($0.usage, 18) + "  " + $0.help }
    return "usage: xmppbotctl \(usage)\n\n\(summary).\(details.isEmpty ? "" : "\n" + details)\n\n"
      + lines.joined(separator: "\n")
  }

  static var overview: String {
    let lines = all.map {
      "  " + Table.padded(($0.path + [$0.arguments]).joined(separator: " ") + " ", 27) + $0.summary
    }
    return """
      usage: xmppbotctl [--config FILE] [--socket PATH] VERB …

      \(lines.joined(separator: "\n"))

      VERB --help says more. Every table has --json.
      Exit codes: 0 done, 1 failed, 2 usage, 3 the daemon is not running, 4 the bot is offline, 5 not allowed,
      6 timed out, 78 configuration.
      """
  }

  static func unknown(_ path: [String]) -> ControlFailure {
    let text = path.joined(separator: " ")
    let hint =
      nearest(to: text, in: all.map { $0.path.joined(separator: " ") }).map { "did you mean '\($0)'?" }
      ?? "the verbs are \(firstWords)"
    return ControlFailure(.usage, "unknown verb '\(text)': \(hint)")
  }
}
