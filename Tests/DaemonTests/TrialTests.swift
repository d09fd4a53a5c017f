import BotKit
import EventLoop
import Glibc
import JSON
import Systemd
import Testing
import XMPPTesting

@testable import Daemon

@Suite("Trying a command out: xmppbotctl run, and who may use what", .serialized)
struct TrialTests {
  init() { LoopThread.start() }

  /// A daemon with `script` as the command `try` of the configuration.
  private func bench(_ script: String, _ more: String = "", limits: String = "") async throws -> DaemonBench {
    let bench = try await DaemonBench()
    try bench.scratch.write("#!/bin/sh\n" + script + "\n", to: "try", mode: 0o755)
    let faults = try await bench.reload(
      """
      \(limits.isEmpty ? "" : "[limits]\n" + limits)
      [group admins]
      member = root@example.org
      member = *@ops.example.org
      [command try]
      exec = \(bench.scratch.file("try")) fixed
      description = Tries
      where = chat, room
      \(more)

      """)
    #expect(faults == [])
    return bench
  }

  private func run(
    _ bench: DaemonBench, _ words: String..., from: String? = "root@example.org/desk", and more: [String: JSON] = [:]
  ) throws -> (rows: [JSON], end: ControlMessage) {
    var request = JSONObject([("verb", "run"), ("command", .string(words[0]))])
    request["arguments"] = .array(words.dropFirst().map(JSON.string))
    request["from"] = from.map(JSON.string)
    for (key, value) in more { request[key] = value }
    return try ControlCaller(bench.socket).ask(.object(request))
  }

  @Test(
    "a program runs as for the contact: arguments, environment, input; its words and its log come back; nothing is archived or sent"
  )
  func program() async throws {
    let bench = try await bench(
      #"echo "$1 $2 $3|$XMPPBOT_FROM|$XMPPBOT_RESOURCE|$XMPPBOT_COMMAND|$XMPPBOT_TEXT|$(cat)"; echo careful >&2"#)
    let (rows, end) = try run(bench, "try", "a b", "c")
    #expect(
      rows == [
        ["log": "careful"],
        ["reply": "fixed a b c|root@example.org|desk|try|try 'a b' c|'a b' c"],
      ])
    #expect(end.result == [:])
    #expect(try await bench.transcript() == [])
    #expect(await bench.daemon.flow.outbox.waiting == 0)
    #expect(
      bench.recording.messages(.commandRun).contains { $0.hasSuffix("tries out the command try as root@example.org") })
    #expect(bench.recording.messages(.handlerOutput) == [])
  }

  @Test("what a handler does for the contact after the end reaches nobody")
  func afterTheEnd() async throws {
    let bench = try await DaemonBench()
    try bench.scratch.write(
      #"""
      #!/bin/sh
      while IFS= read -r line; do
        case $line in
          '{"type":"command"'*)
            id=${line#*'"id":"'}
            id=${id%%'"'*}
            printf '{"type":"reply","id":"%s","text":"there"}\n' "$id"
            printf '{"type":"react","id":"%s","emoji":"👍"}\n' "$id"
            printf '{"type":"log","text":"reacted"}\n'
            ;;
        esac
      done
      """#, to: "bridge", mode: 0o755)
    let section = "[handler bridge]\nexec = \(bench.scratch.file("bridge"))\ncommands = late\nallow = everyone\n"
    #expect(try await bench.reload(section) == [])
    let (rows, end) = try run(bench, "late", from: "a@example.net")
    #expect(rows == [["reply": "there"]] && end.result == [:])
    #expect(await bench.turn { bench.recording.messages(.handlerOutput).contains { $0.hasSuffix(": reacted") } })
    #expect(try await bench.transcript() == [])
  }

  @Test("what a command says while it runs, and takes back, is told as it comes")
  func replies() async throws {
    let slow = Slow(saying: "half-way")
    let bench = try await DaemonBench(handlers: [slow])
    await slow.gate.open()
    let (rows, end) = try run(bench, "slow", from: "a@example.net")
    #expect(rows == [["reply": "half-way"], ["reply": "at last"]])
    #expect(end.result == [:])
  }

  @Test("built-in commands answer as the contact's rights are")
  func builtin() async throws {
    let bench = try await bench("true")
    #expect(try run(bench, "ping", "it's", "me", from: "a@example.net").rows == [["reply": "pong it's me"]])
    let help = try run(bench, "help", from: "a@example.net").rows
    #expect(help[0]["reply"]?.stringValue?.contains("try") == false)
    #expect(try run(bench, "help").rows[0]["reply"]?.stringValue?.contains("try — Tries") == true)
  }

  @Test("who may not use it: exit code 5, with the rule and where it stands")
  func denied() async throws {
    let bench = try await bench("touch \"$XMPPBOT_STATE_DIR/ran\"")
    let (rows, end) = try run(bench, "try", from: "alice@example.net")
    #expect(rows[0]["reply"]?.stringValue?.hasPrefix("try: not allowed. Ask an administrator") == true)
    #expect(
      end.failure == ControlFailure(.notAllowed, "alice@example.net may not use try: it is for @admins (the default)"))
    #expect(try run(bench, "try", from: "bob@ops.example.org").end.result == [:])
  }

  @Test(
    "each ending has its exit code",
    arguments: [
      ("exit 77", ExitCode.notAllowed, "try: not allowed"), ("exit 64", .usage, "Usage: try THING"),
      ("exit 3", .failed, "try: failed (exit 3)"), ("exit 75", .failed, "try: try again later"),
      ("sleep 60", .timedOut, "try: stopped, it took longer than 200 ms"),
    ])
  func endings(script: String, code: ExitCode, text: String) async throws {
    let bench = try await bench(script, "usage = try THING\ntimeout = 200ms")
    let (rows, end) = try run(bench, "try")
    #expect(rows.last?["reply"] == .string(text))
    #expect(end.failure?.code == code)
  }

  @Test("what can't be run is a mistake of usage: an unknown command, the wrong place, no address")
  func usage() async throws {
    let bench = try await bench("true", "where = \nwhere = room")
    let unknown = try run(bench, "tyr", and: ["room": "ops@rooms.example.org"])
    #expect(unknown.rows[0]["reply"]?.stringValue?.contains("Did you mean try?") == true)
    #expect(unknown.end.failure == ControlFailure(.usage, "tyr was not run: unknown"))
    #expect(try run(bench, "try").end.failure == ControlFailure(.usage, "try was not run: misplaced"))
    #expect(try run(bench, "try", and: ["room": "ops@rooms.example.org"]).end.result == [:])
    for (request, words): ([String: JSON], String) in [
      (["from": "a@@b"], "--from: 'a@@b' is no address"), (["from": nil], "say who is to have sent it"),
      (["role": "moderator"], "add --room JID"),
      (["room": "r@c.example", "role": "boss"], "--role: 'boss' is none of none, visitor, participant, moderator"),
    ] {
      let failure = try run(bench, "try", and: request).end.failure
      #expect(failure?.code == .usage && failure?.reason.contains(words) == true, "\(request): \(failure as Any)")
    }
  }

  @Test("in a room the affiliation counts, and the program is told the room")
  func room() async throws {
    let bench = try await bench("echo \"$XMPPBOT_ROOM|$XMPPBOT_TEXT\"", "allow = affiliation:admin")
    let room: [String: JSON] = ["room": "ops@rooms.example.org"]
    #expect(try run(bench, "try", and: room).end.failure?.code == .notAllowed)
    let owner = try run(bench, "try", from: "x@example.net", and: room.merging(["affiliation": "owner"]) { $1 })
    #expect(owner.rows == [["reply": "ops@rooms.example.org|!try"]])
  }

  @Test("an operator who goes away stops the command")
  func cancelled() async throws {
    let bench = try await bench("echo begun >&2; exec sleep 60")
    do {
      let caller = try ControlCaller(bench.socket)
      caller.send(#"{"verb":"run","command":"try","from":"root@example.org"}"#)
      #expect(try caller.line() == #"{"row":{"log":"begun"}}"#)
      #expect(await bench.daemon.dispatcher.running == 1)
      withExtendedLifetime(caller) {}
    }
    #expect(await bench.turn { bench.daemon.dispatcher.running == 0 })
    #expect(try await bench.transcript() == [])
  }

  @Test("an operator who takes nothing for a while is spared what is of passing interest, and gets the rest")
  func behind() async throws {
    let bench = try await DaemonBench()
    let puppet = Puppet()
    await offer(puppet, bench)
    let caller = try ControlCaller(bench.socket)
    caller.send(#"{"verb":"run","command":"draw","from":"a@example.net"}"#)
    #expect(await bench.turn { puppet.events != nil })
    await say(puppet, 200) { .progress(String(repeating: "x", count: 65_536) + "\($0)") }
    await say(puppet, 1) { _ in .reply("what counts") }
    await finish(puppet, "end")
    let told = try rows(of: caller)
    #expect(told.count { $0.contains("progress") } < 30)
    #expect(told.suffix(3) == [#"{"row":{"reply":"what counts"}}"#, #"{"row":{"reply":"end"}}"#, #"{"done":{}}"#])
  }

  @Test("a command whose operator takes nothing is ended when too much waits")
  func notTaken() async throws {
    let bench = try await DaemonBench()
    let puppet = Puppet()
    await offer(puppet, bench)
    let caller = try ControlCaller(bench.socket)
    caller.send(#"{"verb":"run","command":"draw","from":"a@example.net"}"#)
    #expect(await bench.turn { puppet.events != nil })
    await say(puppet, 200) { _ in .reply(String(repeating: "x", count: 65_536)) }
    #expect(await bench.turn { bench.daemon.dispatcher.running == 0 })
    let told = try rows(of: caller)
    #expect(told.count < 100)
    #expect(told.last == #"{"error":"draw: what it says is not read","code":1}"#)
  }

  @LoopActor private func say(_ puppet: Puppet, _ count: Int, _ action: @Sendable (Int) -> CommandAction) {
    for number in 0..<count { puppet.events?.perform(action(number)) }
  }

  @LoopActor private func offer(_ puppet: Puppet, _ bench: DaemonBench) {
    _ = bench.daemon.flow.router.commands.add(puppet.command)
  }

  @LoopActor private func finish(_ puppet: Puppet, _ text: String) { puppet.events?.finish(.done, text) }

  /// All lines of an answer.
  private func rows(of caller: ControlCaller) throws -> [String] {
    var rows: [String] = []
    while let line = try caller.line() {
      rows.append(line)
      if !line.hasPrefix(#"{"row""#) { break }
    }
    return rows
  }

  @Test(
    "trials count among the commands that run: with no place free they wait, and the end of the bot interrupts them")
  func places() async throws {
    let slow = Slow()
    let bench = try await DaemonBench("[limits]\nconcurrent = 1\n", handlers: [slow])
    let first = try ControlCaller(bench.socket)
    first.send(#"{"verb":"run","command":"slow","from":"a@example.net"}"#)
    #expect(await bench.turn { bench.daemon.dispatcher.running == 1 })
    let second = try ControlCaller(bench.socket)
    second.send(#"{"verb":"run","command":"slow","from":"b@example.net"}"#)
    #expect(await bench.turn { bench.daemon.dispatcher.queued == 1 })
    await bench.daemon.stop()
    #expect(try second.line()?.contains("interrupted") == true)
    #expect(try second.line() == #"{"error":"slow: interrupted","code":1}"#)
    await slow.gate.open()
    #expect(try first.line() == #"{"row":{"reply":"at last"}}"#)
  }

  @Test("commands tells who may use what, and where that is said; refused files with the remedy; the members of groups")
  func commands() async throws {
    let bench = try await bench("true", "allow = roster, affiliation:owner")
    mkdir(bench.scratch.file("commands.d"), 0o755)
    try bench.scratch.write("#!/bin/sh\n# allow: everyone\n", to: "commands.d/open", mode: 0o755)
    try bench.scratch.write("#!/bin/sh\n", to: "commands.d/plain", mode: 0o755)
    try bench.scratch.write("#!/bin/sh\n", to: "commands.d/unsafe", mode: 0o777)
    #expect(await bench.reload() == [])
    let (rows, end) = try ControlCaller(bench.socket).ask(["verb": "commands"])
    let byName = Dictionary(uniqueKeysWithValues: rows.map { ($0["name"]?.stringValue ?? "", $0) })
    let own = try #require(byName["try"])
    #expect(own["allow"] == ["roster", "affiliation:owner"] && own["origin"] == "[command try]")
    #expect(own["where"] == ["chat", "room"])
    #expect(own["allow_from"]?.stringValue?.hasPrefix(bench.scratch.file("bot.conf") + ":") == true)
    #expect(byName["open"]?["allow_from"] == .string(bench.scratch.file("commands.d/open")))
    #expect(byName["plain"]?["allow"] == ["@admins"] && byName["plain"]?["allow_from"] == "the default")
    #expect(byName["ping"]?["allow_from"] == "built in")
    let unsafe = bench.scratch.file("commands.d/unsafe")
    #expect(end.result?["refused"] == [.string("\(unsafe): others may write \(unsafe): chmod go-w \(unsafe)")])
    #expect(end.result?["groups"] == [["name": "admins", "members": ["*@ops.example.org", "root@example.org"]]])
  }

  @Test("for one contact commands tells what they may use, and by which rule")
  func forOne() async throws {
    let bench = try await bench("true", "allow = @admins, affiliation:owner")
    func rights(_ more: [String: JSON]) throws -> String {
      var request = JSONObject([("verb", "commands")])
      for (key, value) in more { request[key] = value }
      let rows = try ControlCaller(bench.socket).ask(.object(request)).rows
      let row = rows.first { $0["name"] == "try" }
      return (row?["allowed"]?.boolValue == true ? "yes: " : "no: ") + (row?["by"]?.stringValue ?? "none")
    }
    #expect(try rights(["for": "Bob@OPS.example.org/x"]) == "yes: @admins (*@ops.example.org)")
    #expect(try rights(["for": "alice@example.net"]) == "no: none")
    #expect(
      try rights(["for": "alice@example.net", "room": "ops@rooms.example.org", "affiliation": "owner"])
        == "yes: affiliation:owner")
    #expect(try ControlCaller(bench.socket).ask(["verb": "commands", "for": "a@@b"]).end.failure?.code == .usage)
  }
}
