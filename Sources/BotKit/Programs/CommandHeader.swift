/// What a program says about itself: `# key: value` lines near its top, or `key = value` lines of its NAME.conf.
struct CommandHeader {
  static let keys =
    ["description", "usage", "allow", "where", "timeout", "output", "rerun", "live", "field"] + ResourceLimits.keys

  /// A fault in a header, with the remedy.
  struct Fault: Error, Hashable {
    let problem: String
    let remedy: String
  }

  private(set) var description = ""
  private(set) var usage: String?
  private(set) var allow: [AccessRule] = []
  private(set) var places: Places = .chat
  private(set) var timeout: Duration?
  private(set) var style = ProgramCommand.Style.text
  private(set) var reruns = false
  private(set) var resources = ResourceLimits()
  /// What it prints is shown while it runs.
  private(set) var isLive = false
  private(set) var fields: [CommandField] = []

  /// Reads the comments of a script; of a binary (a NUL is in it) nothing. Comments that are no known key are just comments.
  init(script: [UInt8]) throws(Fault) {
    guard !script.contains(0) else { return }
    for line in String(decoding: script, as: UTF8.self).split(whereSeparator: \.isNewline) {
      guard let marker = ["#", "//", "--"].first(where: line.hasPrefix),
        case let comment = line.dropFirst(marker.count), let colon = comment.firstIndex(of: ":")
      else { continue }
      let key = Self.trim(comment[..<colon]).lowercased()
      if Self.keys.contains(key) {
        try set(key, Self.trim(comment[comment.index(after: colon)...]))
      } else if let meant = Self.meant(by: key) {
        throw Fault(problem: "“\(key):” is no key", remedy: "did you mean \(meant)?")
      }
    }
  }

  /// The key that a comment's first word is one slip away from: a mistyped `allow` must not pass as a comment. `where`,
  /// `live` and `field` are too near to words that people write.
  private static func meant(by word: String) -> String? {
    guard word.utf8.count <= 16 else { return nil }
    return keys.first { !["where", "live", "field"].contains($0) && Suggestion.distance(Array(word), Array($0)) == 1 }
  }

  /// Reads a NAME.conf, in which nothing unknown may stand.
  init(configuration: String) throws(Fault) {
    for line in configuration.split(whereSeparator: \.isNewline) {
      let text = Self.trim(line)
      if text.isEmpty || text.hasPrefix("#") || text.hasPrefix(";") { continue }
      guard let equals = text.firstIndex(of: "=") else {
        throw Fault(problem: "“\(text)” is no setting", remedy: "write key = value")
      }
      let key = Self.trim(text[..<equals])
      guard Self.keys.contains(key) else {
        let nearest = Suggestion.nearest(to: key, among: Self.keys).map { "did you mean \($0)?" }
        throw Fault(
          problem: "“\(key)” is no key", remedy: nearest ?? "the keys are \(Self.keys.joined(separator: ", "))")
      }
      try set(key, Self.trim(text[text.index(after: equals)...]))
    }
  }

  private mutating func set(_ key: String, _ value: String) throws(Fault) {
    switch key {
    case "description": description = value
    case "usage": usage = value.isEmpty ? nil : value
    case "allow":
      do { allow += try AccessRule.list(value) } catch { throw Fault(problem: "allow: \(error)", remedy: "correct it") }
      if allow.count > 1, allow.contains(.none) {
        throw Fault(problem: "allow: none stands beside others", remedy: "leave none alone, or take it away")
      }
    case "where": places = try Self.places(value)
    case "timeout":
      guard let duration = Units.duration(value, in: ProgramCommand.timeouts) else {
        throw Fault(
          problem: "timeout: “\(value)” is no duration from 100ms to 1d", remedy: "write it as 500ms, 20s or 5m")
      }
      timeout = duration
    case "rerun": reruns = try Self.flag(key, value)
    case "live": isLive = try Self.flag(key, value)
    case "field":
      do throws(FieldFault) {
        fields.append(try CommandField(line: value))
        if let fault = CommandField.fault(in: fields) { throw fault }
      } catch {
        throw Fault(problem: "field: \(error.problem)", remedy: error.remedy)
      }
    case _ where ResourceLimits.keys.contains(key):
      guard resources.set(key, value) else {
        throw Fault(problem: "\(key): “\(value)” is not known", remedy: ResourceLimits.remedy(key))
      }
    default:
      guard let style = ProgramCommand.Style(rawValue: value) else {
        throw Fault(problem: "output: “\(value)” is not known", remedy: "write text, code or file")
      }
      self.style = style
    }
  }

  private static func flag(_ key: String, _ value: String) throws(Fault) -> Bool {
    guard value == "yes" || value == "no" else {
      throw Fault(problem: "\(key): “\(value)” is not known", remedy: "write yes or no")
    }
    return value == "yes"
  }

  private static func places(_ value: String) throws(Fault) -> Places {
    var places: Places = []
    for word in value.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
      switch word {
      case "chat": places.insert(.chat)
      case "room": places.insert(.room)
      default: throw Fault(problem: "where: “\(word)” is not known", remedy: "write chat, room, or both")
      }
    }
    if places.isEmpty { throw Fault(problem: "where: nothing is named", remedy: "write chat, room, or both") }
    return places
  }

  private static func trim(_ text: Substring) -> String {
    let start = text.drop(while: \.isWhitespace)
    return start.lastIndex { !$0.isWhitespace }.map { String(start[...$0]) } ?? ""
  }
}
