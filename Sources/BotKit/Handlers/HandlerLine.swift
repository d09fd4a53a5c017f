import JSON

/// What a handler says in one line. Members that are not known are passed over, so that later versions may add some.
enum HandlerLine: Hashable {
  case reply(Reply)
  case edit(id: String, text: String, done: Bool)
  /// None: the reaction is taken back.
  case react(id: String, emoji: [String], done: Bool)
  /// A file in the handler's own folder.
  case upload(id: String, path: String, name: String?, caption: String?, done: Bool)
  case send(to: String, text: String)
  case register(command: String, description: String?, usage: String?)
  case log(HandlerSeverity, String)
  case pong
  /// A type that is not known.
  case other(String)

  /// The types that are known, for whoever has mistyped one.
  static let types = ["reply", "edit", "react", "upload", "send", "register", "log", "pong"]

  struct Reply: Hashable {
    var id: String
    var text: String?
    /// Nil where it is left out.
    var done: Bool?
    var result = "done"
    var choices: [String] = []
  }

  /// Why a line says nothing, in words for its author.
  struct Fault: Error, Hashable {
    let text: String
  }

  /// The most options that can be chosen from, and the most reactions to one message.
  static let mostChoices = 50
  static let mostReactions = 10

  init(_ line: [UInt8]) throws(Fault) {
    let json: JSON
    do throws(JSONError) {
      json = try JSON(parsing: Self.repaired(line))
    } catch {
      throw Fault(text: error.description)
    }
    guard case .object(let members) = json else { throw Fault(text: "it is no JSON object") }
    try self.init(members)
  }

  private init(_ members: JSONObject) throws(Fault) {
    let fields = Fields(members: members)
    switch try fields.word("type") {
    case "reply": self = .reply(try Self.reply(fields))
    case "edit":
      self = .edit(id: try fields.id(), text: try fields.text("text"), done: try fields.flag("done") ?? false)
    case "react":
      self = .react(
        id: try fields.id(), emoji: try Self.reactions(fields), done: try fields.flag("done") ?? false)
    case "upload":
      self = .upload(
        id: try fields.id(), path: try fields.word("path"), name: try fields.optionalText("name"),
        caption: try fields.optionalText("caption"), done: try fields.flag("done") ?? false)
    case "send": self = .send(to: try fields.word("to"), text: try fields.text("text"))
    case "register":
      self = .register(
        command: try fields.word("command"), description: try fields.optionalText("description"),
        usage: try fields.optionalText("usage"))
    case "log":
      // A level that is not known is no reason to lose the text.
      let level = try fields.optionalText("level").flatMap { HandlerSeverity(rawValue: $0.lowercased()) }
      self = .log(level ?? .info, try fields.text("text"))
    case "pong": self = .pong
    case let type: self = .other(type)
    }
  }

  private static func reply(_ fields: Fields) throws(Fault) -> Reply {
    var reply = Reply(id: try fields.id())
    reply.text = try fields.optionalText("text")
    reply.done = try fields.flag("done")
    reply.result = try fields.optionalText("result") ?? "done"
    reply.choices = try fields.texts("choices").map { $0.split(whereSeparator: \.isNewline).joined(separator: " ") }
    if reply.choices.count > mostChoices { throw Fault(text: "there are more than \(mostChoices) choices") }
    if reply.choices.contains(where: { $0.allSatisfy(\.isWhitespace) }) {
      throw Fault(text: "one of the choices is empty")
    }
    return reply
  }

  private static func reactions(_ fields: Fields) throws(Fault) -> [String] {
    let emoji =
      if case .array = fields.members["emoji"] { try fields.texts("emoji") } else { [try fields.text("emoji")] }
    let given = emoji.filter { !$0.isEmpty }
    guard given.count <= mostReactions, given.allSatisfy({ $0.utf8.count <= 64 && !$0.contains(where: \.isWhitespace) })
    else { throw Fault(text: "\"emoji\" has to be one emoji, or a list of a few") }
    return given
  }

  /// UTF-8 without NUL, whatever came.
  private static func repaired(_ line: [UInt8]) -> [UInt8] {
    let line = line.contains(0) ? line.filter { $0 != 0 } : line
    return line.allSatisfy { $0 < 0x80 } ? line : Array(String(decoding: line, as: UTF8.self).utf8)
  }
}

/// The members of a line, each taken as what it should be.
private struct Fields {
  typealias Fault = HandlerLine.Fault
  let members: JSONObject

  func word(_ key: String) throws(Fault) -> String {
    let word = try text(key)
    if word.isEmpty { throw Fault(text: "\"\(key)\" is empty") }
    return word
  }

  /// An id; a number will do, since they look like numbers.
  func id() throws(Fault) -> String {
    if let number = members["id"]?.intValue { return String(number) }
    return try word("id")
  }

  func text(_ key: String) throws(Fault) -> String {
    guard let text = try optionalText(key) else { throw Fault(text: "\"\(key)\" is missing") }
    return text
  }

  func optionalText(_ key: String) throws(Fault) -> String? {
    switch members[key] {
    case nil, .null: return nil
    case .string(let text): return OutputText.clean(text.utf8)
    default: throw Fault(text: "\"\(key)\" is no string")
    }
  }

  func texts(_ key: String) throws(Fault) -> [String] {
    guard let value = members[key], !value.isNull else { return [] }
    let texts = value.arrayValue?.compactMap(\.stringValue) ?? []
    guard let all = value.arrayValue, all.count == texts.count else {
      throw Fault(text: "\"\(key)\" is no list of strings")
    }
    return texts.map { OutputText.clean($0.utf8) }
  }

  func flag(_ key: String) throws(Fault) -> Bool? {
    switch members[key] {
    case nil, .null: return nil
    case .bool(let value): return value
    default: throw Fault(text: "\"\(key)\" is neither true nor false")
    }
  }
}
