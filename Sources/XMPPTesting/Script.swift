/// A conversation between the bot and its server, as a person reads it:
///
///     the bot connects
///     server: <stream:features>…</stream:features>
///     bot: <iq type='get' id='$ping'><ping xmlns='urn:xmpp:ping'/></iq>
///     server: <iq type='result' id='$ping'/>
///     after 60s
///
/// One step a line; a line that begins with more white space than the step continues it. `$name` in what the bot says
/// stands for any value, and for that value from then on; `#` begins a comment line.
public struct Script: Sendable {
  public enum Step: Sendable, Hashable {
    case server(String)
    case bot(String)
    case silence
    case connects
    case connectsDirectly
    case cannotConnect(String)
    case handshake
    case after(Duration)
    case lost
    case closes
    case event(String)
  }

  public struct Line: Sendable {
    /// Counted from 1 in the script.
    public let number: Int
    public let step: Step
  }

  public let lines: [Line]

  public init(_ text: String) throws(ScriptError) {
    var lines: [Line] = []
    var pending: (number: Int, text: String)?
    func finish() throws(ScriptError) {
      guard let (number, text) = pending else { return }
      lines.append(Line(number: number, step: try Self.step(text, number)))
      pending = nil
    }
    for (index, raw) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let content = raw.drop { $0 == " " }
      if content.isEmpty || content.hasPrefix("#") { continue }
      if raw.hasPrefix(" "), let (number, begun) = pending {
        pending = (number, begun + " " + content)
      } else {
        try finish()
        pending = (index + 1, String(content))
      }
    }
    try finish()
    self.lines = lines
  }

  private static func step(_ text: String, _ number: Int) throws(ScriptError) -> Step {
    if let xml = after("server:", text) { return .server(xml) }
    if let xml = after("bot:", text) { return .bot(xml) }
    if let event = after("event:", text) { return .event(event) }
    if let reason = after("the bot cannot connect:", text) { return .cannotConnect(reason) }
    if let time = after("after", text) {
      guard let seconds = Double(time.dropLast()), time.hasSuffix("s") else {
        throw ScriptError(line: number, reason: "'\(time)' is no time such as 60s")
      }
      return .after(.milliseconds(Int(seconds * 1_000)))
    }
    switch text {
    case "the bot connects": return .connects
    case "the bot connects with direct TLS": return .connectsDirectly
    case "TLS is established": return .handshake
    case "the connection is lost": return .lost
    case "the bot closes the connection": return .closes
    case "the bot says nothing": return .silence
    default: throw ScriptError(line: number, reason: "'\(text)' is no step")
    }
  }

  private static func after(_ word: String, _ text: String) -> String? {
    text.hasPrefix(word) ? String(text.dropFirst(word.count).drop { $0 == " " }) : nil
  }
}

/// Where a script went another way than it says.
public struct ScriptError: Error, Sendable, CustomStringConvertible {
  public var line: Int
  public var reason: String
  public var description: String { "line \(line): \(reason)" }
}
