import Crypto
import HTTP
import JID

/// A way in: who knows its token may have messages sent, to the addresses that it names and to no others.
public struct Webhook: Sendable {
  public let name: String
  public let token: SecretBytes
  /// Bare addresses; the first is for who names none.
  public let recipients: [JID]
  public let template: HookTemplate

  /// A token that is shorter could be guessed.
  public static let shortestToken = 16

  public init(name: String, token: SecretBytes, recipients: [JID], template: HookTemplate) {
    self.name = name
    self.token = token
    self.recipients = recipients
    self.template = template
  }

  /// Looks at a call before its body is read.
  public func admit(_ head: HTTPHead) throws(HookRefusal) {
    guard head.method == "POST" else { throw .method(head.method) }
    // A signature is of the body.
    if try !isAuthorized(head), head.headers[.hubSignature] == nil { throw .unauthorized }
    guard template.takes(head.mediaType) else { throw .mediaType(head.mediaType, template) }
    _ = try recipient(head.arguments[.to])
  }

  /// What a whole call that was admitted asks for.
  public func read(_ request: HTTPRequest) throws(HookRefusal) -> HookCall {
    guard try isAuthorized(request.head) || isSigned(request) else { throw .unauthorized }
    let rendered = try template.render(request)
    guard let text = rendered.text else { return .nothing(rendered.reason) }
    return .message(text, to: try recipient(request.head.arguments[.to] ?? rendered.to))
  }

  /// Whether the head names the token. False where it names none.
  private func isAuthorized(_ head: HTTPHead) throws(HookRefusal) -> Bool {
    let given: Substring
    if let field = head.headers[.authorization] {
      let words = field.split(separator: " ", maxSplits: 1)
      guard words.count == 2, words[0].lowercased() == "bearer" else { throw .unauthorized }
      given = words[1]
    } else if let field = head.headers[.gitlabToken] {
      given = field[...]
    } else {
      return false
    }
    // Compared in constant time.
    guard SecretBytes(Array(given.utf8)) == token else { throw .unauthorized }
    return true
  }

  /// GitHub's way, and Gitea's: the body under the token as key.
  private func isSigned(_ request: HTTPRequest) -> Bool {
    guard let field = request.head.headers[.hubSignature], field.hasPrefix("sha256=") else { return false }
    let right = Hex.encode(HMAC.authenticate(request.body, key: token, using: .sha256))
    return ConstantTime.equal(Array(field.dropFirst("sha256=".count).lowercased().utf8), Array(right.utf8))
  }

  private func recipient(_ text: String?) throws(HookRefusal) -> JID {
    guard let text else {
      guard let first = recipients.first else { throw .recipient("nobody", recipients) }
      return first
    }
    guard let jid = try? JID(text) else { throw .address(text) }
    guard recipients.contains(jid) else { throw .recipient(text, recipients) }
    return jid
  }
}

/// What a call comes to.
public enum HookCall: Sendable, Hashable {
  case message(String, to: JID)
  /// It says nothing that anybody would want to read; why.
  case nothing(String)
}
