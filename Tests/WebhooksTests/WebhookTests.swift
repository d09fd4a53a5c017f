import Crypto
import HTTP
import JID
import Testing

@testable import Webhooks

private let secret = "0123456789abcdef-secret"

@Suite("Who may call a webhook, and what for")
struct WebhookTests {
  private func hook(_ template: HookTemplate = .text, to: [String] = ["alice@example.org", "bob@example.org"]) throws
    -> Webhook
  {
    Webhook(
      name: "x", token: SecretBytes(Array(secret.utf8)), recipients: try to.map { try JID($0) }, template: template)
  }

  private func head(
    _ headers: [HTTPHead.Header: String] = [.authorization: "Bearer " + secret], to: String? = nil,
    method: String = "POST"
  ) -> HTTPHead {
    var head = HTTPHead(method, "/hook/x")
    head.headers = headers
    if let to { head.arguments[.to] = to }
    return head
  }

  /// The status of the refusal; nil when it was taken.
  private func status(_ hook: Webhook, _ head: HTTPHead, _ body: String = "hello") -> Int? {
    do throws(HookRefusal) {
      try hook.admit(head)
      _ = try hook.read(HTTPRequest(head, body: Array(body.utf8)))
      return nil
    } catch {
      #expect(!error.thing.isEmpty && !error.reason.isEmpty && !error.remedy.isEmpty)
      #expect(!"\(error)".contains(secret))
      return error.status
    }
  }

  @Test("the token opens it, as a bearer's or as GitLab sends it")
  func token() throws {
    #expect(status(try hook(), head()) == nil)
    #expect(status(try hook(), head([.authorization: "bearer " + secret])) == nil)
    #expect(status(try hook(), head([.gitlabToken: secret])) == nil)
  }

  @Test(
    "no token, another, a part of it, more than it, or another scheme do not",
    arguments: [
      [:], [.authorization: "Bearer"], [.authorization: "Bearer "], [.authorization: secret],
      [.authorization: "Bearer \(secret.dropLast())"], [.authorization: "Bearer \(secret)x"],
      [.authorization: "Basic \(secret)"], [.gitlabToken: ""], [.gitlabToken: secret.uppercased()],
      [.authorization: "Bearer wrong-wrong-wrong", .gitlabToken: secret],
    ] as [[HTTPHead.Header: String]])
  func wrongToken(_ headers: [HTTPHead.Header: String]) throws {
    #expect(status(try hook(), head(headers)) == 401)
  }

  @Test("a signature of the body with the token as key opens it, and of another body does not")
  func signature() throws {
    let body = #"{"text": "hello"}"#
    let code = HMAC.authenticate(Array(body.utf8), key: Array(secret.utf8), using: .sha256)
    let right: [HTTPHead.Header: String] = [
      .hubSignature: "sha256=" + Hex.encode(code), .contentType: "application/json",
    ]
    let hook = try hook(.json)
    #expect(status(hook, head(right), body) == nil)
    #expect(status(hook, head(right), body + " ") == 401)
    for wrong in ["sha256=", "sha1=" + Hex.encode(code), Hex.encode(code), "sha256=\(Hex.encode(code).dropLast())"] {
      #expect(status(hook, head([.hubSignature: wrong, .contentType: "application/json"]), body) == 401)
    }
  }

  @Test("GitHub's own example of a signature")
  func published() throws {
    // docs.github.com, "Validating webhook deliveries": this secret and payload give this signature.
    let hook = Webhook(
      name: "x", token: SecretBytes(Array("It's a Secret to Everybody".utf8)), recipients: [try JID("a@example.org")],
      template: .text)
    let head = head([.hubSignature: "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"])
    #expect(status(hook, head, "Hello, World!") == nil)
  }

  @Test("it sends to who is named among its own, and else to the first")
  func recipient() throws {
    let hook = try hook()
    #expect(try hook.read(HTTPRequest(head(), body: [0x61])) == .message("a", to: try JID("alice@example.org")))
    #expect(
      try hook.read(HTTPRequest(head(to: "BOB@example.org"), body: [0x61]))
        == .message("a", to: try JID("bob@example.org")))
    #expect(status(hook, head(to: "carol@example.org")) == 403)
    #expect(status(hook, head(to: "bob@example.org/phone")) == 403)
    #expect(status(hook, head(to: "@")) == 422)
  }

  @Test("a body may name one, too, and no other")
  func recipientInBody() throws {
    let hook = try hook(.json)
    let json: [HTTPHead.Header: String] = [.authorization: "Bearer " + secret, .contentType: "application/json"]
    let request = HTTPRequest(head(json), body: Array(#"{"text": "a", "to": "bob@example.org"}"#.utf8))
    #expect(try hook.read(request) == .message("a", to: try JID("bob@example.org")))
    #expect(status(hook, head(json), #"{"text": "a", "to": "carol@example.org"}"#) == 403)
  }

  @Test("only POST does something")
  func method() throws {
    #expect(status(try hook(), head(method: "GET")) == 405)
    #expect(status(try hook(), head(method: "PUT")) == 405)
  }

  @Test("each template takes its own type of content")
  func contentType() throws {
    func type(_ template: HookTemplate, _ type: String?, _ body: String) throws -> Int? {
      var headers: [HTTPHead.Header: String] = [.authorization: "Bearer " + secret]
      headers[.contentType] = type
      return status(try hook(template), head(headers), body)
    }
    #expect(try type(.text, nil, "a") == nil)
    #expect(try type(.text, "Text/Plain; charset=utf-8", "a") == nil)
    #expect(try type(.text, "application/x-www-form-urlencoded", "a") == 415)
    #expect(try type(.text, "application/json", "a") == 415)
    #expect(try type(.json, "application/json;charset=UTF-8", #"{"text":"a"}"#) == nil)
    #expect(try type(.json, "text/plain", #"{"text":"a"}"#) == 415)
    #expect(try type(.json, nil, #"{"text":"a"}"#) == 415)
  }

  @Test("a text that is none is refused")
  func noText() throws {
    #expect(status(try hook(), head(), "") == 422)
    #expect(status(try hook(), head(), " \r\n") == 422)
    let bytes = HTTPRequest(head(), body: [0xFF, 0xFE])
    #expect(throws: HookRefusal.self) { try hook().read(bytes) }
  }
}

@Suite("How often a webhook may be called")
struct CallRateTests {
  private let start = ContinuousClock.now

  @Test("so many at once, then as many again in each period, evenly")
  func rate() {
    var rate = CallRate(count: 3, per: .seconds(30))
    #expect((0..<3).allSatisfy { _ in rate.admit(at: start) == nil })
    #expect(rate.admit(at: start) == .seconds(10))
    #expect(rate.admit(at: start + .seconds(9)) == .seconds(1))
    #expect(rate.admit(at: start + .seconds(10)) == nil)
    #expect(rate.admit(at: start + .seconds(10)) == .seconds(10))
  }

  @Test("what is refused does not count, and an idle hook has all its calls again")
  func recovers() {
    var rate = CallRate(count: 2, per: .seconds(10))
    for _ in 0..<50 { _ = rate.admit(at: start) }
    #expect(rate.admit(at: start + .seconds(5)) == nil)
    #expect((0..<2).allSatisfy { _ in rate.admit(at: start + .seconds(100)) == nil })
    #expect(rate.admit(at: start + .seconds(100)) != nil)
  }
}
