import BotKit
import EventLoop
import Glibc
import JID
import Configuration
import JSON
import Systemd
import Testing
import XMPPTesting

@testable import Daemon

/// A whole daemon with a handler that is a shell script.
@Suite("A daemon with a handler", .serialized)
struct HandlerTests {
  init() { LoopThread.start() }

  /// Serves `weather`, in as many ways as its argument says; answers messages; registers `toss`.
  private static let script = """
    #!/bin/sh
    field() { rest=${line#*"\\"$1\\":\\""}; printf %s "${rest%%'"'*}"; }
    say() { printf '%s\\n' "$1"; }
    say '{"type":"register","command":"toss","description":"Toss a coin"}'
    while IFS= read -r line; do
      id=$(field id)
      case $(field type) in
        command)
          case $(field text) in
            react) say "{\\"type\\":\\"react\\",\\"id\\":\\"$id\\",\\"emoji\\":\\"👍\\"}"
              say "{\\"type\\":\\"reply\\",\\"id\\":\\"$id\\",\\"text\\":\\"there\\"}" ;;
            where) say "{\\"type\\":\\"reply\\",\\"id\\":\\"$id\\",\\"text\\":\\"Where?\\",\\"choices\\":[\\"here\\",\\"there\\"]}" ;;
            send) say '{"type":"send","to":"bob@example.org","text":"psst"}'
              say "{\\"type\\":\\"reply\\",\\"id\\":\\"$id\\"}" ;;
            slow) : ;;
            *) say "{\\"type\\":\\"reply\\",\\"id\\":\\"$id\\",\\"text\\":\\"$$ $(field command) $(field text)\\"}" ;;
          esac ;;
        message) say "{\\"type\\":\\"reply\\",\\"id\\":\\"$id\\",\\"text\\":\\"heard $(field text)\\"}" ;;
        presence) say "{\\"type\\":\\"log\\",\\"text\\":\\"$(field from) $(field show)\\"}" ;;
      esac
    done
    """

  private static func settings(_ bench: Scratch, more: String = "") -> String {
    """
    [limits]
    rate = unlimited
    [handler bridge]
    exec = \(bench.file("bridge"))
    commands = weather
    events = command, message, presence, room
    allow = alice@example.net
    send = *@example.org
    \(more)

    """
  }

  @LoopActor private func online(more: String = "") async throws -> DaemonBench {
    let bench = try await DaemonBench.online()
    try bench.scratch.write(Self.script, to: "bridge", mode: 0o755)
    #expect(try bench.reload(Self.settings(bench.scratch, more: more)).isEmpty)
    #expect(await bench.turn { bench.daemon.flow.router.commands["toss"] != nil })
    return bench
  }

  @LoopActor private func say(_ body: String, to bench: DaemonBench, from: String = "alice@example.net/phone") throws {
    number += 1
    try bench.play(
      "server: <message from='\(from)' to='bot@example.org/r' type='chat' id='a\(number)'><body>\(body)</body></message>"
    )
  }
  @LoopActor private static var counter = 0
  @LoopActor private var number: Int {
    get { Self.counter }
    nonmutating set { Self.counter = newValue }
  }

  /// Waits for a row of ours that begins so.
  @LoopActor private func answer(_ start: String, _ bench: DaemonBench) async throws -> String? {
    let deadline = ContinuousClock.now + .seconds(20)
    while .now < deadline {
      if let row = try await bench.transcript().last(where: { $0.hasPrefix("> " + start) }) { return row }
    }
    return nil
  }

  @Test("answers commands, also those that it registers; help lists both")
  @LoopActor func commands() async throws {
    let bench = try await online()
    try say("weather Oslo", to: bench)
    let first = try await answer("", bench)
    #expect(first?.hasSuffix(" weather Oslo (sent)") == true)
    try say("toss now", to: bench)
    #expect(await bench.hears(" toss now<"))
    try say("help", to: bench)
    #expect(await bench.hears("toss — Toss a coin"))
    try say("weather Oslo", to: bench, from: "eve@example.net/phone")
    #expect(await bench.hears("weather: not allowed"))
  }

  @Test("reacts to the message that asked, and the archive has it")
  @LoopActor func reacts() async throws {
    let bench = try await online()
    try say("weather react", to: bench)
    #expect(
      await bench.hears("<reactions xmlns='urn:xmpp:reactions:0' id='a\(number)'><reaction>👍</reaction></reactions>"))
    #expect(await bench.hears("<body>there</body>"))
  }

  @Test("asks, and gets the choice as the command again")
  @LoopActor func chooses() async throws {
    let bench = try await online()
    try say("weather where", to: bench)
    #expect(await bench.hears("2. there<"))
    try say("2", to: bench)
    #expect(await bench.hears(" weather there<"))
  }

  @Test("sends where it may, and hears what is no command, and who comes")
  @LoopActor func events() async throws {
    let bench = try await online()
    try say("weather send", to: bench)
    #expect(await bench.hears("<body>psst</body>"))
    #expect(await bench.hears("weather: done"))
    try say("good morning", to: bench)
    #expect(await bench.hears("<body>heard good morning</body>"))
    try say("good morning", to: bench, from: "eve@example.net/phone")
    #expect(await bench.hears("I don't know"))
    try bench.play(
      "server: <presence from='alice@example.net/phone' to='bot@example.org/r'><show>away</show></presence>")
    try bench.play("server: <presence from='eve@example.net/phone' to='bot@example.org/r'><show>xa</show></presence>")
    #expect(
      await bench.turn {
        bench.recording.messages(.handlerOutput).contains { $0.hasSuffix(": alice@example.net away") }
      })
    #expect(!bench.recording.messages(.handlerOutput).contains { $0.contains("eve@example.net xa") })
  }

  @Test("a reload leaves it as it is, or lets it finish; its commands stay offered")
  @LoopActor func reload() async throws {
    let bench = try await online()
    try say("weather a", to: bench)
    let first = try await answer("", bench)?.split(separator: " ")[1]
    #expect(try bench.reload(Self.settings(bench.scratch) + "[command more]\nexec = /bin/true\n").isEmpty)
    #expect(bench.daemon.flow.router.commands["toss"] != nil)
    try say("weather b", to: bench)
    #expect(await bench.hears("\(first ?? "?") weather b<"), "the same process")
    #expect(try bench.reload(Self.settings(bench.scratch, more: "timeout = 9s")).isEmpty)
    try say("weather c", to: bench)
    #expect(await bench.hears(" weather c<"))
    let written = String(decoding: bench.dialer.stream?.written ?? [], as: UTF8.self)
    #expect(!written.contains("\(first ?? "?") weather c<"), "another process")
    #expect(bench.recording.messages(.handlerStarted).count == 2)
    #expect(try bench.reload("").isEmpty)
    #expect(bench.daemon.flow.router.commands["weather"] == nil && bench.daemon.flow.router.commands["toss"] == nil)
    #expect(await bench.turn { bench.recording.messages(.handlerEnded).count == 2 })
  }

  @Test("a name that is taken is no command of the handler's, and the operator is told")
  @LoopActor func collision() async throws {
    let bench = try await online(more: "commands = ping")
    #expect(
      bench.recording.messages(.commandFileRefused).contains {
        $0.contains("[handler bridge]: the command ping exists")
      })
  }

  @Test("its status is told")
  @LoopActor func status() async throws {
    let bench = try await online()
    #expect(
      bench.daemon.longRunning.json == [
        [
          "name": "bridge", "running": true, "restarts": 0, "last_end": .null, "next_start": .null, "in_flight": 0,
          "commands": ["weather", "toss"],
        ]
      ])
  }

  @Test("a reload starts it anew when its program was changed")
  @LoopActor func changed() async throws {
    let bench = try await online()
    try bench.scratch.write(Self.script.replacing("$$", with: "changed"), to: "bridge", mode: 0o755)
    #expect(try bench.reload(Self.settings(bench.scratch)).isEmpty)
    try say("weather now", to: bench)
    #expect(await bench.hears("<body>changed weather now</body>"))
  }

  @Test("the status says why it does not run, and when it will")
  @LoopActor func ends() async throws {
    let bench = try await DaemonBench.online()
    try bench.scratch.write("#!/bin/sh\nexit 3\n", to: "bridge", mode: 0o755)
    #expect(try bench.reload(Self.settings(bench.scratch)).isEmpty)
    #expect(await bench.turn { !bench.recording.messages(.handlerEnded).isEmpty })
    let status = bench.daemon.longRunning.json[0]
    #expect(status?["running"] == false && status?["restarts"] == 1 && status?["last_end"] == "exit 3")
    #expect(status?["next_start"]?.stringValue?.hasPrefix("in ") == true)
  }

  @Test("while the archive or the outbox is behind, it is not read")
  @LoopActor func backPressure() async throws {
    let bench = try await online()
    await bench.breakArchive()
    #expect(!bench.daemon.longRunning.reads)
  }

  @Test("what the section may say is checked, all at once")
  func faults() throws {
    do throws(ConfigurationProblems) {
      _ = try Settings.parse(
        """
        [account]
        jid = bot@example.org
        [handler bridge]
        exec = /nonexistent
        events = command, weather
        allow = @nobody
        send = somebody
        commands = two words, a/b
        """, environment: serviceEnvironment)
      Issue.record("it was taken")
    } catch {
      #expect(error.diagnostics.count >= 5, "\(error)")
    }
  }
}
