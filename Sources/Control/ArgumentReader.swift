import Configuration
import Daemon

/// Reads the command line a word at a time. What is not known is answered with the nearest that is.
struct ArgumentReader {
  private var words: ArraySlice<String>
  private var onlyWords = false

  init(_ words: [String]) {
    self.words = words[...]
  }

  /// An option of a verb.
  struct Option {
    var name: String
    /// What its value is called; nil for a switch.
    var value: String?
  }

  private static let common = [
    Option(name: "--config", value: "FILE"), Option(name: "--socket", value: "PATH"), Option(name: "--json"),
    Option(name: "--help"), Option(name: "--version"),
  ]

  /// The next word that is no option of every verb's; those are taken into `context` on the way.
  mutating func nextWord(taking context: inout Context) throws(ControlFailure) -> String? {
    var values: [String: String] = [:]
    return try next(options: [], &values, &context)
  }

  /// All that is left: words, and the values of `options` (of a switch: the empty text).
  mutating func rest(
    _ options: [Option], _ context: inout Context
  ) throws(ControlFailure) -> (words: [String], values: [String: String]) {
    var found: [String] = []
    var values: [String: String] = [:]
    while let word = try next(options: options, &values, &context) { found.append(word) }
    return (found, values)
  }

  private mutating func next(
    options: [Option], _ values: inout [String: String], _ context: inout Context
  ) throws(ControlFailure) -> String? {
    while let word = words.popFirst() {
      if onlyWords || !word.hasPrefix("-") || word == "-" { return word }
      if word == "--" {
        onlyWords = true
        continue
      }
      let (name, attached) = Self.split(word == "-h" ? "--help" : word)
      let known = options + Self.common
      guard let option = known.first(where: { $0.name == name }) else {
        let hint = nearest(to: name, in: known.map(\.name)).map { "did you mean \($0)?" } ?? "see --help"
        throw ControlFailure(.usage, "unknown option \(name): \(hint)")
      }
      let value = try value(of: option, attached)
      switch name {
      case "--config": context.configuration = value.absolutePath
      case "--socket": context.socket = value.absolutePath
      case "--json": context.json = true
      case "--help": context.wantsHelp = true
      case "--version": context.wantsVersion = true
      default: values[name] = value
      }
    }
    return nil
  }

  private mutating func value(of option: Option, _ attached: String?) throws(ControlFailure) -> String {
    guard let name = option.value else {
      if attached != nil { throw ControlFailure(.usage, "\(option.name) takes no value") }
      return ""
    }
    guard let value = attached ?? words.popFirst() else {
      throw ControlFailure(.usage, "\(option.name) needs a value: \(option.name) \(name)")
    }
    return value
  }

  private static func split(_ word: String) -> (String, String?) {
    guard let equals = word.firstIndex(of: "=") else { return (word, nil) }
    return (String(word[..<equals]), String(word[word.index(after: equals)...]))
  }
}
