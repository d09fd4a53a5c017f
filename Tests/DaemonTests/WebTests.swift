import Archive
import EventLoop
import Glibc
import JSON
import SQLite
import TestSupport
import Testing
import XMPPTesting

@testable import Daemon

@Suite("HTTP of a whole daemon: metrics and webhooks", .serialized)
struct WebTests {
  private static let token = "0123456789abcdef0123456789abcdef"
  private static let bearer = "Authorization: Bearer " + token

  init() { LoopThread.start() }

  /// A daemon that speaks HTTP. `hook`: further lines of its webhook.
  @LoopActor
  private func bench(_ hook: String = "", http: String = "", online: Bool = true) async throws -> DaemonBench {
    let bench = try await DaemonBench()
    if online {
      try bench.goOnline()
      await bench.settle()
    }
    try bench.scratch.write(Self.token + "\n", to: "token", mode: 0o600)
    #expect(try bench.reload(Self.sections(bench, hook, http: http)) == [])
    return bench
  }

  private static func sections(
    _ bench: DaemonBench, _ hook: String = "", http: String = "", socket: String = "http.sock"
  )
    -> String
  {
    """
    [http]
    listen = unix:\(bench.scratch.file(socket))
    \(http)
    [webhook alerts]
    token-file = \(bench.scratch.file("token"))
    to = alice@example.net, bob@example.net
    \(hook)

    """
  }

  private func ask(
    _ bench: DaemonBench, _ method: String, _ target: String, _ fields: [String] = [], body: String? = nil,
    socket: String = "http.sock"
  ) throws -> HTTPCaller.Answer {
    try #require(try HTTPCaller.ask(bench.scratch.file(socket), method, target, fields, body: body))
  }

  private func close(_ bench: DaemonBench) async { await { @LoopActor in bench.daemon.web.close() }() }

  @Test("metrics are served as what they are")
  func metrics() async throws {
    let bench = try await bench()
    let answer = try ask(bench, "GET", "/metrics")
    #expect(answer.status == 200)
    #expect(answer.fields["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
    #expect(answer.body.hasSuffix("# EOF\n") && answer.body.contains("\nxmppbotd_online 1\n"))
    #expect(try ask(bench, "POST", "/metrics", body: "x").status == 405)
    await close(bench)
  }

  @Test("metrics may be left out; health says whether the bot is online, and everything else is not there")
  func paths() async throws {
    let bench = try await bench(http: "metrics = no")
    #expect(try ask(bench, "GET", "/metrics").status == 404)
    let health = try ask(bench, "GET", "/healthz")
    #expect(health.status == 200 && health.body == "{\"state\":\"online\"}\n")
    for path in ["/", "/hook", "/hook/", "/hook/other", "/hook/alerts/", "/%2e%2e/etc/passwd", "//metrics"] {
      #expect(try ask(bench, "GET", path).status == 404, "\(path)")
    }
    try await bench.play("the connection is lost")
    let offline = try ask(bench, "GET", "/healthz")
    #expect(offline.status == 503 && offline.body == "{\"state\":\"offline\"}\n")
    await close(bench)
  }

  @Test("a text arrives at the contact, and is in the archive when it is answered")
  func text() async throws {
    let bench = try await bench()
    let answer = try ask(bench, "POST", "/hook/alerts", [Self.bearer], body: "disk <full> & hot\u{1B}[2J\n")
    #expect(answer.status == 202)
    let json = try JSON(parsing: answer.body)
    #expect(json["state"] == "queued" && json["id"]?.stringValue?.isEmpty == false)
    #expect(await bench.hears("<body>disk &lt;full&gt; &amp; hot\u{FFFD}[2J</body>"))
    #expect(await bench.hears("to='alice@example.net'"))
    #expect(try await bench.transcript() == ["> disk <full> & hot\u{FFFD}[2J (sent)"])
    #expect(bench.recording.messages(.webhookCalled) == ["webhook alerts sends a message to alice@example.net"])
    await close(bench)
  }

  @Test("offline it is queued, as with xmppbotctl send --queue")
  func offline() async throws {
    let bench = try await bench(online: false)
    #expect(try ask(bench, "POST", "/hook/alerts?to=bob@example.net", [Self.bearer], body: "hello").status == 202)
    #expect(try await bench.transcript() == ["> hello (queued)"])
    await close(bench)
  }

  @Test("nothing is sent without the token, nor to whom it does not name; each refusal says what to do")
  func refused() async throws {
    let bench = try await bench("template = json\nrate = unlimited")
    let json = "Content-Type: application/json"
    let calls: [(Int, String, String, [String], String)] = [
      (401, "POST", "/hook/alerts", [json], #"{"text": "x"}"#),
      (401, "POST", "/hook/alerts", [json, "Authorization: Bearer wrong"], #"{"text": "x"}"#),
      (403, "POST", "/hook/alerts?to=eve@example.net", [json, Self.bearer], #"{"text": "x"}"#),
      (403, "POST", "/hook/alerts", [json, Self.bearer], #"{"text": "x", "to": "eve@example.net"}"#),
      (404, "POST", "/hook/other", [json, Self.bearer], #"{"text": "x"}"#),
      (405, "PUT", "/hook/alerts", [json, Self.bearer], #"{"text": "x"}"#),
      (
        413, "POST", "/hook/alerts", [json, Self.bearer],
        #"{"text": ""# + String(repeating: "x", count: 262_144) + "\"}"
      ),
      (415, "POST", "/hook/alerts", [Self.bearer], "x"), (422, "POST", "/hook/alerts", [json, Self.bearer], "{}"),
      (422, "POST", "/hook/alerts?to=@@", [json, Self.bearer], #"{"text": "x"}"#),
    ]
    for (status, method, target, fields, body) in calls {
      let answer = try ask(bench, method, target, fields, body: body)
      #expect(answer.status == status, "\(method) \(target) \(fields) \(body.prefix(40))")
      let refusal = try JSON(parsing: answer.body)
      for key in ["error", "reason", "remedy"] {
        #expect(refusal[key]?.stringValue?.isEmpty == false, "\(answer.body)")
      }
      #expect(!answer.body.contains(Self.token))
    }
    #expect(try await bench.transcript().isEmpty)
    #expect(bench.recording.messages(.webhookCalled).isEmpty)
    #expect(
      bench.recording.messages(.webhookRefused).contains(
        "webhook alerts refused (401): the request names no token, or a wrong one"))
    #expect(!bench.recording.all.contains { $0.message.contains(Self.token) })
    await close(bench)
  }

  @Test("over its rate a hook says when to come again; who does not know the token does not use the rate up")
  func rate() async throws {
    let bench = try await bench("rate = 2/1h")
    for _ in 0..<10 { #expect(try ask(bench, "POST", "/hook/alerts", body: "x").status == 401) }
    for _ in 0..<2 { #expect(try ask(bench, "POST", "/hook/alerts", [Self.bearer], body: "x").status == 202) }
    let answer = try ask(bench, "POST", "/hook/alerts", [Self.bearer], body: "x")
    #expect(answer.status == 429)
    #expect(answer.fields["retry-after"].flatMap { Int($0) }.map { (1...1_800).contains($0) } == true)
    // A reload that leaves the rate as it is gives no new calls.
    #expect(try await bench.reload(Self.sections(bench, "rate = 2/1h\ntemplate = text")) == [])
    #expect(try ask(bench, "POST", "/hook/alerts", [Self.bearer], body: "x").status == 429)
    #expect(try ask(bench, "GET", "/metrics").body.contains("{hook=\"alerts\",result=\"refused\"} 12\n"))
    await close(bench)
  }

  @Test("a flood of refusals does not fill the journal")
  func flood() async throws {
    let bench = try await bench()
    for _ in 0..<100 { #expect(try ask(bench, "POST", "/hook/alerts", body: "x").status == 401) }
    #expect((20..<60).contains(bench.recording.messages(.webhookRefused).count))
    await close(bench)
  }

  @Test("an alert becomes a summary; a call with nothing to tell is taken and not sent")
  func template() async throws {
    let bench = try await bench("template = github")
    let fields = [Self.bearer, "Content-Type: application/json"]
    let push =
      #"{"ref":"refs/heads/main","after":"1","before":"2","commits":[{"message":"fix"}],"repository":{"full_name":"a/b"}}"#
    #expect(try ask(bench, "POST", "/hook/alerts", fields + ["X-GitHub-Event: push"], body: push).status == 202)
    let quiet = try ask(bench, "POST", "/hook/alerts", fields + ["X-GitHub-Event: check_run"], body: "{}")
    #expect(quiet.status == 200 && quiet.body.contains("ignored"))
    #expect(try await bench.transcript() == ["> a/b: 1 commit to main\n- fix (sent)"])
    await close(bench)
  }

  @Test("a disk that is full is 503, and nothing is promised")
  func archiveFault() async throws {
    let bench = try await bench()
    await bench.breakArchive()
    let answer = try ask(bench, "POST", "/hook/alerts", [Self.bearer], body: "x")
    #expect(answer.status == 503 && answer.fields["retry-after"] == "60")
    #expect(answer.body.contains("nothing was sent: the archive's disk is full"))
    await close(bench)
  }

  @Test("a reload moves, opens and closes the listener, and the stream stays")
  func reloads() async throws {
    let bench = try await bench()
    #expect(try await bench.reload(Self.sections(bench, socket: "other.sock")) == [])
    #expect(try ask(bench, "GET", "/metrics", socket: "other.sock").status == 200)
    #expect(access(bench.scratch.file("http.sock"), F_OK) != 0)
    #expect(try await bench.reload("") == [])
    #expect(access(bench.scratch.file("other.sock"), F_OK) != 0)
    #expect(await bench.daemon.session.isOnline)
    #expect(bench.recording.messages(.reloaded).contains { $0.contains("HTTP is spoken nowhere any more") })
    await close(bench)
  }

  @Test("a reload that can't listen fails, and what was in force stays")
  func reloadFails() async throws {
    let bench = try await bench()
    try bench.scratch.write("", to: "file")
    let faults = try await bench.reload("[limits]\nrate = 5/1m\n" + Self.sections(bench, socket: "file"))
    #expect(faults.count == 1 && faults[0].contains("[http] listen: unix:") && faults[0].contains("is no socket"))
    #expect(await bench.daemon.settings.limits.rate == .commands(20, per: .seconds(10)))
    #expect(try ask(bench, "GET", "/metrics").status == 200)
    await close(bench)
  }

  @Test("a token is in force with the reload that reads it")
  func newToken() async throws {
    let bench = try await bench()
    try bench.scratch.write(String(repeating: "n", count: 20), to: "token", mode: 0o600)
    #expect(try ask(bench, "POST", "/hook/alerts", [Self.bearer], body: "x").status == 202)
    #expect(await bench.reload() == [])
    #expect(try ask(bench, "POST", "/hook/alerts", [Self.bearer], body: "x").status == 401)
    let new = "Authorization: Bearer nnnnnnnnnnnnnnnnnnnn"
    #expect(try ask(bench, "POST", "/hook/alerts", [new], body: "x").status == 202)
    await close(bench)
  }

  @Test(
    "a token that others can read, a short one, and none at all are faults",
    arguments: [
      ("0123456789abcdef", 0o644, "chmod 600"), ("short", 0o600, "less than 16 bytes"), ("", 0o600, "is empty"),
    ])
  func badToken(_ text: String, _ mode: Int, _ fault: String) async throws {
    let bench = try await bench()
    try bench.scratch.write(text, to: "token", mode: mode_t(mode))
    let faults = await bench.reload()
    #expect(faults.count == 1 && faults[0].contains(fault), "\(faults)")
    #expect(try ask(bench, "POST", "/hook/alerts", [Self.bearer], body: "x").status == 202)
    await close(bench)
  }

  @Test("a bot that stops takes no more calls, and its socket goes")
  func stops() async throws {
    let bench = try await bench()
    let holder = try HTTPCaller(bench.scratch.file("http.sock"))
    await { @LoopActor in bench.daemon.stop() }()
    #expect(try ask(bench, "POST", "/hook/alerts", [Self.bearer], body: "x").status == 503)
    try await bench.awaitGoodbye()
    try await bench.play("server: </stream:stream>")
    #expect(await bench.awaitExit() == .done)
    #expect(access(bench.scratch.file("http.sock"), F_OK) != 0)
    #expect(try holder.answer() == nil)
  }
}
