import EventLoop
import HTTP
import JID
import JSON
import OpenMetrics
import Systemd
import Webhooks

/// What the bot offers over HTTP, if it is configured: metrics, whether it is well, and ways in for other programs.
@LoopActor
final class WebInterface {
  /// What is asked of the daemon.
  struct Hooks {
    var metrics: @LoopActor () -> String = { "" }
    /// "online", or what else it is doing.
    var state: @LoopActor () -> String = { "" }
    /// Why nothing can be sent now, and after how many seconds it may be tried again; nil: it can.
    var obstacle: @LoopActor () -> (reason: String, seconds: Int)? = { nil }
    /// Queues a message, and tells its id when it is on the disk, or what is in the way.
    var send: @LoopActor (String, JID, @escaping @LoopActor (Result<String, HookRefusal>) -> Void) -> Void = {
      _, _, _ in
    }
    nonisolated init() {}
  }

  /// A hook and what became of its calls.
  private struct Entry {
    var hook: Webhook
    /// Nil: as often as anybody likes.
    var rate: CallRate?
    var taken: UInt64 = 0
    var ignored: UInt64 = 0
    var refused: UInt64 = 0
  }

  static let metricsPath = "/metrics"
  static let healthPath = "/healthz"
  static let hookPath = "/hook/"

  private let log: Logger
  private let hooks: Hooks
  private var entries: [String: Entry] = [:]
  private var servesMetrics = true
  private var server: HTTPServer?
  private var refusals = NoticeThrottle()

  init(log: Logger, hooks: Hooks) {
    self.log = log
    self.hooks = hooks
  }

  /// Where it listens.
  var address: HTTPAddress? { server?.listener.address }

  /// Listens there from now on, or nowhere. What listens now ends.
  func listen(on listener: HTTPListener?) {
    server?.close()
    server = nil
    guard let listener else { return }
    server = HTTPServer(
      listener, screen: { [weak self] head in self?.screen(head) },
      handler: { [weak self] request, reply in self?.answer(request, reply) })
    if server == nil {
      log.log(.webhookRefused, at: .error, "there is no memory or descriptor for HTTP on \(listener.address)")
    }
  }

  /// Puts the settings into force. The counts of hooks that stay go on, and so does the rate of one that is the same.
  func use(_ settings: Settings, _ webhooks: [Webhook]) {
    servesMetrics = settings.http.metrics
    let before = entries
    entries = [:]
    for hook in webhooks {
      let rate = settings.webhooks.first { $0.name == hook.name }.flatMap { CallRate($0.rate) }
      var entry = before[hook.name] ?? Entry(hook: hook, rate: rate)
      entry.hook = hook
      if entry.rate?.count != rate?.count || entry.rate?.period != rate?.period { entry.rate = rate }
      entries[hook.name] = entry
    }
  }

  func close() {
    server?.close()
    server = nil
  }

  func writeMetrics(to writer: inout OpenMetricsWriter) {
    guard !entries.isEmpty else { return }
    writer.family("xmppbotd_webhook_calls", .counter, "Calls of webhooks, and what became of them.")
    for (name, entry) in entries.sorted(by: { $0.key < $1.key }) {
      writer.sample(entry.taken, ["hook": name, "result": "taken"])
      writer.sample(entry.ignored, ["hook": name, "result": "ignored"])
      writer.sample(entry.refused, ["hook": name, "result": "refused"])
    }
  }

  // MARK: - Requests

  /// What is known before a request's body is read.
  private func screen(_ head: HTTPHead) -> HTTPResponse? {
    if head.path == Self.metricsPath, servesMetrics { return Self.onlyGet(head) }
    if head.path == Self.healthPath { return Self.onlyGet(head) }
    guard let name = Self.hookName(head.path), let hook = entries[name]?.hook else {
      return HookRefusal.unknown(head.path).response
    }
    do throws(HookRefusal) {
      try hook.admit(head)
      return nil
    } catch {
      return refuse(name, error)
    }
  }

  private func answer(_ request: HTTPRequest, _ reply: HTTPReply) {
    switch request.head.path {
    case Self.metricsPath: reply(HTTPResponse(200, OpenMetricsWriter.contentType, Array(hooks.metrics().utf8)))
    case Self.healthPath:
      let state = hooks.state()
      reply(HTTPResponse(state == "online" ? 200 : 503, ["state": .string(state)]))
    case let path:
      // The configuration may have changed while the body came.
      guard let name = Self.hookName(path), entries[name] != nil else {
        return reply(HookRefusal.unknown(path).response)
      }
      call(name, request, reply)
    }
  }

  private static func onlyGet(_ head: HTTPHead) -> HTTPResponse? {
    if head.method == "GET" || head.method == "HEAD" { return nil }
    return HTTPResponse(
      refusing: 405, "method", "\(head.path) is read only", remedy: "use GET", [.init("Allow", "GET, HEAD")])
  }

  private static func hookName(_ path: String) -> String? {
    path.hasPrefix(hookPath) ? String(path.dropFirst(hookPath.count)) : nil
  }

  // MARK: - Webhooks

  private func call(_ name: String, _ request: HTTPRequest, _ reply: HTTPReply) {
    guard let hook = entries[name]?.hook else { return }
    do throws(HookRefusal) {
      let call = try hook.read(request)
      // Counted for who knows the token only.
      if let wait = entries[name]?.rate?.admit(at: .now) {
        throw HookRefusal.tooMany(seconds: max(1, Int((wait / .seconds(1)).rounded(.up))))
      }
      switch call {
      case .nothing(let reason):
        entries[name]?.ignored += 1
        log.log(.webhookCalled, at: .debug, "webhook \(name): nothing to tell: \(reason)")
        reply(HTTPResponse(200, ["state": "ignored", "reason": .string(reason)]))
      case .message(let text, let recipient): try send(text, to: recipient, name, reply)
      }
    } catch {
      reply(refuse(name, error))
    }
  }

  private func send(_ text: String, to recipient: JID, _ name: String, _ reply: HTTPReply) throws(HookRefusal) {
    if let obstacle = hooks.obstacle() { throw .unavailable(obstacle.reason, seconds: obstacle.seconds) }
    hooks.send(text, recipient) { [weak self] result in
      switch result {
      case .success(let id):
        self?.entries[name]?.taken += 1
        self?.log.log(
          .webhookCalled, "webhook \(name) sends a message to \(recipient)", peer: recipient.description, stanzaID: id)
        reply(HTTPResponse(202, ["id": .string(id), "state": "queued"]))
      case .failure(let refusal):
        reply(self?.refuse(name, refusal) ?? refusal.response)
      }
    }
  }

  private func refuse(_ name: String, _ refusal: HookRefusal) -> HTTPResponse {
    entries[name]?.refused += 1
    if let line = refusals.line("webhook \(name) refused (\(refusal.status)): \(refusal.reason)", at: .now) {
      log.log(.webhookRefused, line)
    }
    return refusal.response
  }
}

extension CallRate {
  /// Nil: unlimited.
  init?(_ rate: Settings.Limits.Rate) {
    guard case .commands(let count, let period) = rate else { return nil }
    self.init(count: count, per: period)
  }
}
