import Configuration
import Daemon

/// An option of xmppbotctl.
struct Option: Sendable {
  var name: String
  /// What its value is called; nil for a switch.
  var value: String?
  var help: String
  /// The verb does nothing without it.
  var isRequired: Bool

  init(_ name: String, _ value: String? = nil, _ help: String, isRequired: Bool = false) {
    self.name = name
    self.value = value
    self.help = help
    self.isRequired = isRequired
  }

  /// Those that stand before the verb or behind it.
  static let common = [
    Option("--config", "FILE", "the daemon's configuration (default: \(Settings.defaultFile))"),
    Option("--socket", "PATH", "the daemon's control socket (default: as the configuration says)"),
    Option("--json", nil, "output for programs"), Option("--help", nil, "print this"),
    Option("--version", nil, "print the version"),
  ]

  var usage: String { value.map { "\(name) \($0)" } ?? name }
}

/// Reads the command line a word at a time. What is not known is answered with the nearest that is.
struct ArgumentReader {
  private var words: ArraySlice<String>
  private var onlyWords = false
  /// The options read so far; a switch has the empty text.
  private(set) var options: [String: String] = [:]

  init(_ words: [String]) {
    self.words = words[...]
  }

  /// The next word that is no option; options of `known` before it are taken.
  mutating func next(_ known: [Option]) throws(ControlFailure) -> String? {
    while let word = words.popFirst() {
      if onlyWords || !word.hasPrefix("-") || word == "-" { return word }
      if word == "--" {
        onlyWords = true
        continue
      }
      let (name, attached) = Self.split(word == "-h" ? "--help" : word)
      guard let option = known.first(where: { $0.name == name }) else { throw Self.unknown(name, known) }
      options[name] = try value(of: option, attached)
    }
    return nil
  }

  private static func unknown(_ name: String, _ known: [Option]) -> ControlFailure {
    let hint =
      nearest(to: name, in: known.map(\.name)).map { "did you mean \($0)?" }
      ?? "see --help; put -- before words that begin with -"
    return ControlFailure(.usage, "unknown option \(name): \(hint)")
  }

  private mutating func value(of option: Option, _ attached: String?) throws(ControlFailure) -> String {
    if option.value == nil {
      if attached != nil { throw ControlFailure(.usage, "\(option.name) takes no value") }
      return ""
    }
    guard let value = attached ?? words.popFirst() else {
      throw ControlFailure(.usage, "\(option.name) needs a value: \(option.usage)")
    }
    return value
  }

  private static func split(_ word: String) -> (String, String?) {
    guard let equals = word.firstIndex(of: "=") else { return (word, nil) }
    return (String(word[..<equals]), String(word[word.index(after: equals)...]))
  }
}
