import EventLoop
import Glibc
import JSON
import TestSupport
import Testing
import XMPPTesting

@testable import Daemon

@Suite("The metrics' text", .serialized)
struct MetricsTextTests {
  init() { LoopThread.start() }

  /// What is set up so that every family is there.
  private static let everything = """
    [handler bridge]
    exec = /bin/cat
    [http]
    listen = unix:SCRATCH/http.sock
    [webhook alerts]
    token-file = SCRATCH/token
    to = alice@example.org

    """

  /// A daemon with something of everything, online, and the archive counted.
  @LoopActor
  static func bench() async throws -> DaemonBench {
    let bench = try await DaemonBench()
    try bench.goOnline()
    try bench.scratch.write("0123456789abcdef", to: "token", mode: 0o600)
    #expect(try bench.reload(everything.replacing("SCRATCH", with: bench.scratch.path)).isEmpty)
    await bench.settle()
    #expect(await bench.turn { bench.daemon.archiveRows.estimate(total: 0, now: .now) != nil })
    return bench
  }

  @Test("families are whole and in order, units are the ends of names, labels are well-formed, and the end is marked")
  func wellFormed() async throws {
    let bench = try await Self.bench()
    let text = await bench.daemon.metricsText
    #expect(text.hasSuffix("\n# EOF\n"))
    var family = ""
    var kind = ""
    var seen: Set<String> = []
    var samples: Set<String> = []
    for line in text.split(separator: "\n").dropLast() {
      if line.hasPrefix("# ") {
        let words = line.split(separator: " ", maxSplits: 3).map(String.init)
        if words[1] == "TYPE" {
          (family, kind) = (words[2], words[3])
          #expect(seen.insert(family).inserted, "\(family) comes twice")
        }
        #expect(words[2] == family, "\(line)")
        if words[1] == "UNIT" { #expect(family.hasSuffix("_" + words[3])) }
        if words[1] == "HELP" { #expect(words[3].hasSuffix("."), "\(line)") }
        continue
      }
      let suffixes =
        ["counter": ["_total"], "info": ["_info"], "histogram": ["_bucket", "_count", "_sum"]][kind] ?? [""]
      let name = line.prefix { $0 != "{" && $0 != " " }
      #expect(suffixes.contains { name == family + $0 }, "\(line)")
      let space = try #require(line.lastIndex(of: " "))
      #expect(Double(line[line.index(after: space)...]) != nil, "\(line)")
      let isNew = samples.insert(String(line[..<space])).inserted
      #expect(isNew, "\(line)")
    }
    for name in ["xmppbotd_handler_up", "xmppbotd_webhook_calls", "xmppbotd_archive_messages", "process_cpu_seconds"] {
      #expect(seen.contains(name), "\(name)")
    }
    await bench.daemon.web.close()
  }

  @Test("what happens is counted")
  func counts() async throws {
    let bench = try await DaemonBench.online()
    let before = await bench.daemon.metricsText
    #expect(before.contains("\nxmppbotd_online 1\n") && before.contains("\nxmppbotd_messages_received_total 0\n"))
    #expect(before.contains("\nxmppbotd_certificate_remaining_seconds "))
    try await bench.play(
      "server: <message from='alice@example.net/p' to='bot@example.org/r' type='chat' id='1'><body>ping</body></message>"
    )
    await bench.settle()
    try await bench.play(
      "server: <message from='alice@example.net/p' to='bot@example.org/r' type='chat' id='2'><body>deploy</body></message>"
    )
    await bench.settle()
    let text = await bench.daemon.metricsText
    #expect(text.contains("\nxmppbotd_messages_received_total 2\n"))
    #expect(text.contains("\nxmppbotd_messages_sent_total 2\n"))
    #expect(text.contains("\nxmppbotd_commands_total{command=\"ping\",result=\"done\"} 1\n"))
    #expect(text.contains("\nxmppbotd_unknown_words_total 1\n"))
    #expect(text.contains("\nxmppbotd_answer_latency_seconds_count{kind=\"immediate\"} 2\n"))
    #expect(!text.contains("alice"))
    try await bench.play("the connection is lost")
    let offline = await bench.daemon.metricsText
    #expect(offline.contains("\nxmppbotd_online 0\n") && offline.contains("\nxmppbotd_disconnects_total 1\n"))
    #expect(offline.contains("\nxmppbotd_certificate_remaining_seconds "))
  }

  @Test("xmppbotctl gets the same text")
  func verb() async throws {
    let bench = try await DaemonBench.online()
    let answer = try ControlCaller(bench.socket).ask(["verb": "metrics"]).end.result
    #expect(answer?["text"]?.stringValue?.contains("\nxmppbotd_online 1\n") == true)
  }

  /// Names of metrics in a text, as PromQL has them.
  private func names(in text: String) -> Set<String> {
    Set(
      text.split(whereSeparator: { !($0.isLetter || $0.isNumber || $0 == "_") || !$0.isASCII }).map(String.init)
        .filter { ($0.hasPrefix("xmppbotd_") || $0.hasPrefix("process_")) && !$0.hasSuffix("_") })
  }

  @Test(
    "whatever the dashboard, the alerts and the manual name is there",
    arguments: ["etc/grafana/xmppbotd.json", "etc/prometheus/xmppbotd.rules.yml", "docs/watching.md"])
  func named(_ file: String) async throws {
    let bench = try await Self.bench()
    var text = await bench.daemon.metricsText
    // Of commands nothing is told before the first.
    text += "xmppbotd_commands_total 1\n"
    let samples = Set(
      text.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { String($0.prefix { $0 != "{" && $0 != " " }) })
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    let contents = String(decoding: readFile("\(root)/\(file)"), as: UTF8.self)
    let named = names(in: contents)
    #expect(named.count > 5)
    #expect(named.filter { !samples.contains($0) }.sorted() == [])
    if file.hasSuffix("json") { #expect(try JSON(parsing: contents)["panels"]?.arrayValue?.isEmpty == false) }
    await bench.daemon.web.close()
  }

  @Test("docs/watching.md explains every metric of the bot's own")
  func explained() async throws {
    let bench = try await Self.bench()
    let text = await bench.daemon.metricsText
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    let named = names(in: String(decoding: readFile("\(root)/docs/watching.md"), as: UTF8.self))
    let families = text.split(separator: "\n").filter { $0.hasPrefix("# TYPE xmppbotd_") }
      .map { $0.split(separator: " ").map(String.init) }
    for family in families {
      let suffix = ["counter": "_total", "info": "_info", "histogram": "_bucket"][family[3]] ?? ""
      #expect(named.contains(family[2] + suffix), "\(family[2])")
    }
    await bench.daemon.web.close()
  }
}
