import Daemon
import Glibc
import Systemd

/// The program xmppbotctl: finds its verb, does it, and returns the exit code (`ExitCode`).
public enum ControlProgram {
  public static func run() -> Int32 {
    StandardDescriptors.ensure()
    // Who stops reading (`head`) ends us quietly, also where a parent had the signal ignored.
    signal(SIGPIPE, SIG_DFL)
    do {
      try run(Array(CommandLine.arguments.dropFirst()))
      try Terminal.finish()
      return ExitCode.done.rawValue
    } catch {
      fflush(nil)
      for line in error.reason.split(separator: "\n", omittingEmptySubsequences: false) {
        Terminal.complain(line.isEmpty ? "" : " \(line)", mark: "xmppbotctl:")
      }
      return error.code.rawValue
    }
  }

  private static func run(_ words: [String]) throws(ControlFailure) {
    var reader = ArgumentReader(words)
    var path: [String] = []
    var wantsHelp = false
    // A verb may be of two words.
    while let word = try reader.next(Option.common) {
      if word == "help", path.isEmpty {
        wantsHelp = true
        continue
      }
      path.append(word)
      if let verb = Verb.all.first(where: { $0.path == path }) {
        return wantsHelp ? print(verb.help) : try run(verb, &reader)
      }
      if !Verb.all.contains(where: { $0.path.starts(with: path) }) { throw Verb.unknown(path) }
    }
    if reader.options["--version"] != nil { return print("xmppbotctl \(Product.version)") }
    wantsHelp = wantsHelp || reader.options["--help"] != nil
    guard path.isEmpty else { return try explain(path, wantsHelp) }
    guard wantsHelp else {
      throw ControlFailure(.usage, "name a verb: \(Verb.firstWords); xmppbotctl --help says what they do")
    }
    print(Verb.overview)
  }

  private static func run(_ verb: Verb, _ reader: inout ArgumentReader) throws(ControlFailure) {
    var words: [String] = []
    while let word = try reader.next(verb.options + Option.common) { words.append(word) }
    if reader.options["--help"] != nil { return print(verb.help) }
    if !verb.takesWords, let word = words.first {
      throw ControlFailure(.usage, "'\(verb.path.joined(separator: " "))' takes no '\(word)'")
    }
    try verb.run(Call(words: words, options: reader.options, environment: ProcessEnvironment.current()))
  }

  /// What may follow the first word of a verb.
  private static func explain(_ path: [String], _ wantsHelp: Bool) throws(ControlFailure) {
    let further = Verb.all.filter { $0.path.starts(with: path) }
    if wantsHelp { return print(further.map(\.help).joined(separator: "\n\n")) }
    throw ControlFailure(
      .usage,
      "'\(path.joined(separator: " "))' needs one more word: "
        + further.map { $0.path.joined(separator: " ") }.joined(separator: ", "))
  }
}
