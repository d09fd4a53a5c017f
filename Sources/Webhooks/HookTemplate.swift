import HTTP
import JSON

/// What a hook is sent, and so how a message is made of it.
public enum HookTemplate: String, Sendable, Hashable, CaseIterable {
  /// The body is the message.
  case text
  /// `{"text": …}`, and `"to"` if need be.
  case json
  /// Alertmanager's webhook_config, version 4.
  case alertmanager
  /// Grafana's contact point of the kind "webhook".
  case grafana
  case gitlab
  case github

  /// The media type that it takes.
  var mediaType: String { self == .text ? "text/plain" : "application/json" }

  func takes(_ given: String?) -> Bool {
    switch self {
    case .text: given == nil || given == mediaType
    default: given == mediaType || given?.hasSuffix("+json") == true
    }
  }

  /// The text of a call.
  func render(_ request: HTTPRequest) throws(HookRefusal) -> Rendered {
    guard let whole = String(validating: request.body, as: UTF8.self) else {
      throw .body("it is not UTF-8", "encode it as UTF-8")
    }
    guard self != .text else { return try Rendered(body: whole) }
    let body: JSON
    do throws(JSONError) {
      body = try JSON(parsing: request.body)
    } catch {
      throw .body("\(error)", "send one JSON object")
    }
    guard body.objectValue != nil else { throw .body("it is no JSON object", "send one JSON object") }
    switch self {
    case .text, .json:
      guard let text = body["text"]?.stringValue else {
        throw .body("it has no `text`", #"send {"text": "…"}"#)
      }
      if let to = body["to"], to.stringValue == nil { throw .body("its `to` is no text", "name one address") }
      return try Rendered(body: text, to: body["to"]?.stringValue)
    case .alertmanager: return try AlertTemplate.alertmanager(body)
    case .grafana: return try AlertTemplate.grafana(body)
    case .gitlab: return try GitLabTemplate.render(body, event: request.head.headers[.gitlabEvent])
    case .github: return try GitHubTemplate.render(body, event: request.head.headers[.githubEvent])
    }
  }
}

/// What a template makes of a call.
struct Rendered: Sendable, Hashable {
  /// Nil: nothing is worth a message.
  var text: String?
  /// Why there is no text.
  var reason = ""
  /// Whom the body names.
  var to: String?

  /// A text that is the whole message.
  init(body text: String, to: String? = nil) throws(HookRefusal) {
    let clean = HookText.block(text)
    if clean.isEmpty { throw .body("there is no text in it", "write something") }
    self.text = clean
    self.to = to
  }

  /// Lines of a summary; empty ones are left out.
  init(lines: [String?]) {
    text = HookText.block(lines.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: "\n"))
  }

  init(nothing reason: String) { self.reason = reason }
}

extension JSON {
  /// The text at the end of a path of keys, on one line; a number counts, too. Nil when it is missing or empty.
  func line(_ keys: String..., limit: Int = 300) -> String? {
    let end = value(at: keys[...])
    guard let text = end?.stringValue ?? end?.intValue.map(String.init) else { return nil }
    let line = HookText.line(text, limit)
    return line.isEmpty ? nil : line
  }

  /// The address at the end of a path of keys.
  func link(_ keys: String...) -> String? { HookText.link(value(at: keys[...])?.stringValue) }

  /// Not a loop over an optional: Swift 6.3 can't optimise that one.
  private func value(at path: ArraySlice<String>) -> JSON? {
    guard let first = path.first else { return self }
    return self[first]?.value(at: path.dropFirst())
  }
}
