import HTTP
import JID

/// Why a call is refused, as its sender is told.
public struct HookRefusal: Error, Sendable, Hashable {
  public var status: Int
  /// What is wrong.
  public var thing: String
  public var reason: String
  public var remedy: String
  public var fields: [HTTPResponse.Field] = []

  public init(_ status: Int, _ thing: String, _ reason: String, remedy: String, _ fields: [HTTPResponse.Field] = []) {
    self.status = status
    self.thing = thing
    self.reason = reason
    self.remedy = remedy
    self.fields = fields
  }

  public var response: HTTPResponse { HTTPResponse(refusing: status, thing, reason, remedy: remedy, fields) }

  static let unauthorized = HookRefusal(
    401, "token", "the request names no token, or a wrong one",
    remedy: "send the hook's token as `Authorization: Bearer TOKEN`, as X-Gitlab-Token, or use it as GitHub's secret",
    [.init("WWW-Authenticate", "Bearer")])

  static func method(_ method: String) -> HookRefusal {
    HookRefusal(405, "method", "\(method) does nothing here", remedy: "use POST", [.init("Allow", "POST")])
  }

  static func mediaType(_ given: String?, _ template: HookTemplate) -> HookRefusal {
    HookRefusal(
      415, "content type",
      "\(given ?? "no content type") is not what this hook takes (template = \(template.rawValue))",
      remedy: "send Content-Type: \(template.mediaType) (curl: -H 'Content-Type: \(template.mediaType)')")
  }

  static func address(_ text: String) -> HookRefusal {
    HookRefusal(422, "to", "'\(HookText.line(text, 100))' is no address", remedy: "write it as name@example.org")
  }

  static func recipient(_ text: String, _ allowed: [JID]) -> HookRefusal {
    HookRefusal(
      403, "to", "this token may not send to \(HookText.line(text, 100))",
      remedy: "name one of its own: " + allowed.map(\.description).joined(separator: ", "))
  }

  static func body(_ reason: String, _ remedy: String) -> HookRefusal {
    HookRefusal(422, "body", reason, remedy: remedy)
  }

  /// No call is taken before so many seconds.
  public static func tooMany(seconds: Int) -> HookRefusal {
    HookRefusal(
      429, "rate", "this hook is called more often than its rate allows",
      remedy: "wait \(seconds) s, or raise `rate` in its section", [.init("Retry-After", "\(seconds)")])
  }

  public static func unknown(_ path: String) -> HookRefusal {
    HookRefusal(
      404, "path", "there is nothing at \(HookText.line(path, 100))",
      remedy: "see that the configuration has a section [webhook NAME] for /hook/NAME")
  }

  /// Nothing can be promised now; nothing was sent.
  public static func unavailable(_ reason: String, seconds: Int) -> HookRefusal {
    HookRefusal(
      503, "bot", "nothing was sent: \(reason)", remedy: "try again in a moment", [.init("Retry-After", "\(seconds)")])
  }
}
