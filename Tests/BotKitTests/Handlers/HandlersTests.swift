import EventLoop
import Glibc
import JID
import Testing
import XMPPTesting

@testable import BotKit

/// Real programs, as their authors get them wrong and right.
@Suite("Handlers that run", .serialized)
struct HandlersTests {
  init() { LoopThread.start() }

  /// Answers each command with its text.
  static let echo = """
    while IFS= read -r line; do
      case $line in *'"type":"command"'*) reply "$(field id)" "$$ $(field text)" ;; esac
    done
    """

  private static var hasty: HandlerLimits {
    var limits = HandlerLimits()
    limits.firstRestart = .milliseconds(10)
    limits.longestRestart = .milliseconds(50)
    limits.killGrace = .milliseconds(50)
    limits.pong = .milliseconds(50)
    return limits
  }

  @Test("one process answers one command after the other")
  @LoopActor func answers() async throws {
    let bench = HandlerBench()
    bench.start(Self.echo)
    let first = try await bench.ask("Oslo")
    let second = try await bench.ask("Rome")
    #expect(first?.hasSuffix(" Oslo") == true)
    #expect(second?.hasSuffix(" Rome") == true)
    #expect(first?.split(separator: " ").first == second?.split(separator: " ").first, "the same process")
    #expect(
      bench.handlers.status == [
        .init(
          name: "bridge", isRunning: true, restarts: 0, lastEnd: nil, nextStart: nil, commands: ["weather"], inFlight: 0
        )
      ])
    await bench.stop()
    #expect(bench.handlers.status.isEmpty)
  }

  @Test("it starts in a folder of its own, with little in its environment, and standard error goes to the log")
  @LoopActor func surroundings() async throws {
    let bench = HandlerBench()
    bench.start("pwd >&2; env | sort | tr '\\n' ' ' >&2; echo >&2; " + Self.echo)
    #expect(await bench.turn { bench.said("XMPPBOT_API=1 XMPPBOT_HANDLER=bridge XMPPBOT_STATE_DIR=") })
    #expect(bench.said(bench.folder.path + "/state/bridge.handler"))
    await bench.stop()
  }

  @Test("one that dies fails what it had not answered, and is started again; what comes meanwhile waits for that")
  @LoopActor func dies() async throws {
    let bench = HandlerBench(limits: Self.hasty)
    bench.start(
      """
      while IFS= read -r line; do
        case $line in
          *'"text":"die"'*) printf '{"type":"reply"'; exit 3 ;;
          *'"type":"command"'*) reply "$(field id)" fine ;;
        esac
      done
      """)
    let (deadly, after) = (try bench.use("die"), try bench.use("after"))
    #expect(await bench.end(deadly) == "weather: failed (it ended before it had answered)")
    #expect(await bench.end(after) == "weather: failed (it ended before it had answered)")
    // The process has ended and the next one is not there yet, or just so.
    #expect(try await bench.ask("again") == "fine")
    #expect(bench.starts == 2)
    #expect(bench.handlers.status.first?.restarts == 1)
    #expect(bench.said(#"in the line: {"type":"reply""#), "what it said in mid-line is logged")
    await bench.stop()
  }

  @Test("what it said just before its end counts")
  @LoopActor func lastWords() async throws {
    let bench = HandlerBench(limits: Self.hasty)
    bench.start(
      "while IFS= read -r line; do case $line in *'\"type\":\"command\"'*) reply \"$(field id)\" last; exit 0 ;; esac; done"
    )
    for run in 0..<5 {
      #expect(await bench.turn { bench.starts == run + 1 })
      #expect(try await bench.ask() == "last")
    }
    await bench.stop()
  }

  @Test("one that can't be started is tried again, and its commands are put off")
  @LoopActor func missing() async throws {
    var limits = Self.hasty
    limits.hold = .milliseconds(50)
    let bench = HandlerBench(limits: limits)
    bench.handlers.update([
      HandlerDescription(
        name: "bridge", words: ["/nonexistent/handler"], commands: ["weather"], allow: [.everyone])
    ])
    bench.handlers.start()
    #expect(try await bench.ask() == "weather: try again later")
    #expect(await bench.turn { (bench.handlers.status.first?.restarts ?? 0) >= 3 })
    await bench.stop()
  }

  @Test("one that hangs is found out by the first command that takes too long, and is killed though it ignores TERM")
  @LoopActor func hangs() async throws {
    let bench = HandlerBench(limits: Self.hasty)
    bench.start(
      """
      trap '' TERM
      read -r line
      if [ -e hung ]; then while IFS= read -r line; do case $line in *command*) reply "$(field id)" fine ;; esac; done; fi
      : >hung
      while :; do sleep 1000; done
      """)
    #expect(await bench.turn { access(bench.folder.path + "/state/bridge.handler/hung", F_OK) == 0 })
    let number = try bench.use("x", timeout: .milliseconds(50))
    #expect(await bench.end(number) == "weather: stopped, it took longer than 50 ms")
    #expect(await bench.turn { bench.said("it hangs") && bench.starts == 2 })
    #expect(try await bench.ask() == "fine")
    await bench.stop()
  }

  @Test("one that is slow but answers the ping stays")
  @LoopActor func slow() async throws {
    var limits = Self.hasty
    limits.pong = .seconds(20)
    let bench = HandlerBench(limits: limits)
    bench.start(
      """
      while IFS= read -r line; do
        case $line in
          *'"text":"slow"'*) ;;
          *'"type":"command"'*) reply "$(field id)" "$seen" ;;
          *'"type":"cancel"'*) seen="$seen cancel $(field id) $(field reason)" ;;
          *'"type":"ping"'*) seen="$seen ping"; echo '{"type":"pong"}' ;;
        esac
      done
      """)
    let number = try bench.use("slow", timeout: .milliseconds(50))
    _ = await bench.end(number)
    #expect(try await bench.ask("how") == " cancel 1 timeout ping")
    #expect(bench.starts == 1)
    await bench.stop()
  }

  @Test("one whose answer to the ping nobody reads is not taken for one that hangs")
  @LoopActor func unread() async throws {
    let bench = HandlerBench(limits: Self.hasty)
    bench.start(
      "while IFS= read -r line; do case $line in *ping*) say '{\"type\":\"pong\"}' ;; *fine*) reply \"$(field id)\" fine ;; esac; done"
    )
    #expect(await bench.turn { bench.starts == 1 })
    bench.handlers.setReading(false)
    let number = try bench.use("slow", timeout: .milliseconds(10))
    _ = await bench.end(number)
    for _ in 0..<100 { await bench.turnOnce() }
    bench.handlers.setReading(true)
    #expect(try await bench.ask("fine") == "fine")
    #expect(bench.starts == 1)
    await bench.stop()
  }

  @Test("one that closes its standard output is of no use, and is started again")
  @LoopActor func closesOutput() async throws {
    let bench = HandlerBench(limits: Self.hasty)
    bench.start("exec >&-; while IFS= read -r line; do :; done")
    #expect(await bench.turn { bench.starts >= 2 })
    await bench.stop()
  }

  // MARK: - What it may do

  @Test("it sends to whom its section lets it, and is told when not")
  @LoopActor func sends() async throws {
    let bench = HandlerBench()
    bench.start(
      """
      echo '{"type":"send","to":"alice@example.org","text":"hi"}'
      echo '{"type":"send","to":"eve@example.net","text":"hi"}'
      echo '{"type":"send","to":"@@","text":"hi"}'
      errors=0
      while IFS= read -r line; do
        case $line in
          *'"type":"error"'*) errors=$((errors + 1)) ;;
          *'"type":"command"'*) reply "$(field id)" "$errors errors" ;;
        esac
      done
      """)
    #expect(await bench.turn { bench.said("is no address") })
    #expect(try await bench.ask() == "2 errors")
    #expect(bench.log.sent == ["alice@example.org: hi"])
    #expect(bench.said("eve@example.net is not among those whom `send` in [handler bridge] names"))
    await bench.stop()
  }

  @Test("it registers commands, which get the rights of its section")
  @LoopActor func registers() async throws {
    let bench = HandlerBench()
    bench.start(
      """
      say '{"type":"register","command":"toss","description":"Toss\\na coin","usage":"toss [SIDE]"}'
      echo '{"type":"register","command":"weather","description":"The weather"}'
      echo '{"type":"register","command":"ping"}'
      cat >/dev/null
      """)
    #expect(await bench.turn { bench.log.registered.count == 3 })
    #expect(bench.said("“ping”: the command ping exists already: rename it"))
    let commands = bench.handlers.commands.map(\.description)
    #expect(commands.map(\.name) == ["weather", "toss"])
    #expect(commands.map(\.description) == ["The weather", "Toss a coin"])
    #expect(commands.allSatisfy { $0.allow == [.everyone] })
    await bench.stop()
  }

  @Test("it hears what contacts write, if it listens, and answers")
  @LoopActor func hears() async throws {
    let bench = HandlerBench()
    bench.start(
      "while IFS= read -r line; do case $line in *'\"type\":\"message\"'*) reply \"$(field id)\" \"$(field text)!\" ;; esac; done"
    )
    #expect(bench.handlers.listeners == [Listener(allow: [.everyone])])
    let message = ChatMessage(sender: try JID("alice@example.org"), body: "hello")
    bench.handlers.heard(message) { _ in false }
    bench.handlers.heard(message) { _ in true }
    #expect(await bench.turn { !bench.log.answers.isEmpty })
    #expect(bench.log.answers == [.reply("hello!")])
    await bench.stop()
  }

  @Test("one that shouts waits while nobody takes what it says")
  @LoopActor func shouts() async throws {
    let bench = HandlerBench()
    bench.start("yes '{\"type\":\"send\",\"to\":\"a@example.org\",\"text\":\"x\"}'")
    #expect(await bench.turn { bench.log.sent.count > 1000 })
    bench.handlers.setReading(false)
    let count = bench.log.sent.count
    for _ in 0..<50 { await bench.turnOnce() }
    #expect(bench.log.sent.count == count)
    bench.handlers.setReading(true)
    #expect(await bench.turn { bench.log.sent.count > count + 1000 })
    await bench.stop()
  }

  @Test("one that prints no line break costs no more than a line's memory")
  @LoopActor func noLineBreak() async throws {
    let bench = HandlerBench()
    bench.start("head -c 3000000 /dev/zero | tr '\\0' x; echo; " + Self.echo)
    #expect(try await bench.ask("x")?.hasSuffix(" x") == true)
    #expect(bench.said("a line of 3000000 bytes was dropped"))
    await bench.stop()
  }

  // MARK: - Changes

  /// Answers `slow` when the file `go` is there, and all else at once.
  static let patient = """
    while IFS= read -r line; do
      case $line in
        *'"text":"slow"'*) (id=$(field id); read -r word <../../go; reply "$id" "$word") & ;;
        *'"type":"command"'*) reply "$(field id)" VERSION ;;
        *'"type":"shutdown"'*) stopping=1 ;;
      esac
    done
    wait
    """

  @Test("a handler whose section did not change goes on, with what it has begun")
  @LoopActor func unchanged() async throws {
    let bench = HandlerBench()
    let fifo = bench.folder.path + "/go"
    mkfifo(fifo, 0o600)
    let description = bench.start(Self.patient)
    let number = try bench.use("slow")
    _ = try await bench.ask()
    bench.handlers.update([description])
    bench.folder.write("go", "survived\n")
    #expect(await bench.end(number) == "survived")
    #expect(bench.starts == 1)
    await bench.stop()
  }

  @Test("one whose section changed finishes what it has begun, while the new one takes what comes")
  @LoopActor func changed() async throws {
    let bench = HandlerBench()
    mkfifo(bench.folder.path + "/go", 0o600)
    bench.start(Self.patient)
    let number = try bench.use("slow")
    #expect(try await bench.ask() == "VERSION")
    bench.handlers.update([bench.description(Self.patient.replacing("VERSION", with: "new"), file: "other")])
    #expect(try await bench.ask() == "new")
    bench.folder.write("go", "survived\n")
    #expect(await bench.end(number) == "survived")
    #expect(
      await bench.turn {
        bench.log.notices.contains(.ended(handler: "bridge", how: "exit 0", next: nil))
      }, "it ends when it has nothing more to do")
    await bench.stop()
  }

  @Test("one that does not finish in time is ended; what it had begun has failed")
  @LoopActor func deadline() async throws {
    var limits = Self.hasty
    limits.shutdown = .milliseconds(100)
    let bench = HandlerBench(limits: limits)
    bench.start("trap '' TERM; while :; do read -r line || sleep 1000; done")
    let number = try bench.use("slow")
    bench.handlers.update([bench.description(Self.echo, file: "other")])
    #expect(await bench.end(number) == "weather: failed (it ended before it had answered)")
    #expect(try await bench.ask("x")?.hasSuffix(" x") == true)
    await bench.stop()
  }

  @Test("a command that waits for a start goes to the successor, and still has its time-out")
  @LoopActor func heldCommand() async throws {
    var limits = Self.hasty
    limits.firstRestart = .seconds(1000)
    limits.longestRestart = .seconds(1000)
    let bench = HandlerBench(limits: limits)
    bench.start("exit 1")
    #expect(await bench.turn { bench.handlers.status.first?.isRunning == false })
    let (served, stuck) = (try bench.use("x"), try bench.use("stuck", timeout: .milliseconds(200)))
    bench.handlers.update([
      bench.description(
        "while IFS= read -r line; do case $line in *stuck*) ;; *'\"type\":\"command\"'*) reply \"$(field id)\" new ;; esac; done",
        file: "other")
    ])
    #expect(await bench.end(served) == "new")
    #expect(await bench.end(stuck) == "weather: stopped, it took longer than 200 ms")
    await bench.stop()
  }

  @Test("at the end it is told, may finish what it has begun, and goes")
  @LoopActor func ends() async throws {
    let bench = HandlerBench()
    bench.start(
      """
      while IFS= read -r line; do
        case $line in
          *'"type":"command"'*) id=$(field id) ;;
          *'"type":"shutdown"'*) say "$line" >&2; reply "$id" bye ;;
        esac
      done
      """)
    let number = try bench.use()
    await bench.stop()
    #expect(bench.log.finished[number]?.text == "bye")
    #expect(bench.said(#""deadline":2"#))
  }
}

extension String {
  fileprivate func replacing(_ part: String, with other: String) -> String {
    split(separator: part, omittingEmptySubsequences: false).joined(separator: other)
  }
}
