import EventLoop
import Glibc
import JID
import Testing
import XMPPTesting

@testable import BotKit

/// Real programs. One after the other, since some of them count the process's descriptors.
@Suite("Programs", .serialized)
struct ProgramTests {
  let folder = Folder()

  /// Short, where a test makes a program overstep them.
  let brief = ProgramCommand.Limits(killGrace: .milliseconds(50), closeGrace: .milliseconds(50))

  @Test("standard output is the reply, without its last line break")
  func reply() async throws {
    let told = try await run(script("echo one; echo two", in: folder))
    #expect(told.text == "one\ntwo")
    #expect(told.result == .done)
    #expect(told.started == 1)
  }

  @Test("a reply needs no line break at its end")
  func noNewline() async throws {
    #expect(try await run(script("printf abc", in: folder)).text == "abc")
  }

  @Test("a program that prints nothing is reported as done")
  func silent() async throws {
    #expect(try await run(script("exit 0", in: folder)).text == "test: done")
  }

  @Test("arguments arrive as given: no shell sees them")
  func arguments() async throws {
    let given = ["; rm -rf /", "$(id)", "`id`", "a\nb", "", "*", "-x", "é 字", "'", "\\", "$HOME"]
    let command = script(#"for a in "$@"; do printf '<%s>' "$a"; done"#, in: folder, words: ["first word"])
    let told = try await run(command, arguments: given)
    #expect(told.text == (["first word"] + given).map { "<\($0)>" }.joined())
  }

  @Test("standard input is the text after the command's name, then the end")
  func input() async throws {
    #expect(try await run(script("cat", in: folder), text: "deploy  'it'\n now").text == "deploy  'it'\n now")
    #expect(try await run(script("cat; echo end", in: folder)).text == "end")
  }

  @Test("more input than a pipe holds arrives whole")
  func longInput() async throws {
    let text = String(repeating: "0123456789", count: 20_000)
    let command = script("wc -c", in: folder)
    let message = try ChatMessage(sender: JID("alice@example.org"), body: "test")
    #expect(try await run(command, text: text, arguments: [], from: message).text == "200000")
  }

  @Test("a program that ignores its input does no harm")
  func inputIgnored() async throws {
    let text = String(repeating: "x", count: 1_000_000)
    let message = try ChatMessage(sender: JID("alice@example.org"), body: "test")
    let command = script("exec 0<&-; echo fine", in: folder)
    #expect(try await run(command, text: text, arguments: [], from: message).text == "fine")
  }

  @Test("the environment is what the interface promises and nothing else")
  func environment() async throws {
    let message = try ChatMessage(
      sender: JID("alice@example.org"), body: "Test  some text", resource: "phone", nick: "Al",
      room: JID("ops@rooms.example.org"), occupantID: "occupant1", messageID: "m1", lang: "fr")
    let command = Command(
      CommandDescription(name: "test"),
      ProgramCommand(words: ["/usr/bin/env"], launcher: DirectLauncher(stateBase: folder.path)), origin: "test")
    let told = try await run(command, arguments: [], from: message)
    let lines = Set(told.text?.split(separator: "\n").map(String.init) ?? [])
    let inherited = (["PATH", "LANG", "HOME", "TZ"] as [String]).compactMap { name in
      getenv(name).map { "\(name)=\(String(cString: $0))" }
    }
    let expected =
      inherited + [
        "XMPPBOT_API=1", "XMPPBOT_COMMAND=test", "XMPPBOT_FROM=alice@example.org", "XMPPBOT_RESOURCE=phone",
        "XMPPBOT_NICK=Al", "XMPPBOT_ROOM=ops@rooms.example.org", "XMPPBOT_OCCUPANT_ID=occupant1",
        "XMPPBOT_MESSAGE_ID=m1", "XMPPBOT_LANG=fr", "XMPPBOT_TEXT=Test  some text",
        "XMPPBOT_STATE_DIR=\(folder.path)/test",
      ]
    #expect(lines == Set(expected))
  }

  @Test("in a chat the room is there and empty")
  func emptyRoom() async throws {
    #expect(try await run(script(#"echo "[${XMPPBOT_ROOM-unset}]""#, in: folder)).text == "[]")
  }

  @Test("a program starts in a folder of its own that nobody else may enter")
  func stateDirectory() async throws {
    let told = try await run(
      script(#"pwd; stat -c %a . ..; test "$PWD" = "$XMPPBOT_STATE_DIR" && echo same"#, in: folder))
    #expect(told.text == "\(folder.path)/state/test\n700\n700\nsame")
  }

  @Test("a state folder that is a link elsewhere is refused")
  func stateLink() async throws {
    mkdir(folder.path + "/state", 0o700)
    symlink("/tmp", folder.path + "/state/test")
    let told = try await run(script("echo never", in: folder))
    #expect(told.text == "test: failed (it cannot be started, the log says why)")
    #expect(told.log.first?.contains("no folder for the command's state") == true)
  }

  @Test(
    "exit codes mean what the interface says",
    arguments: [
      (0, "out"), (64, "out\nUsage: test THING"), (75, "out\ntest: try again later"), (77, "out\ntest: not allowed"),
      (3, "out\ntest: failed (exit 3)"), (255, "out\ntest: failed (exit 255)"),
    ])
  func exitCodes(code: Int, text: String) async throws {
    #expect(try await run(script("echo out; exit \(code)", in: folder)).text == text)
  }

  @Test(
    "exit codes are told when nothing was printed",
    arguments: [
      (64, CommandResult.usage, "Usage: test THING"), (75, .tryLater, "test: try again later"),
      (77, .notAllowed, "test: not allowed"), (1, .exited(1), "test: failed (exit 1)"),
    ])
  func silentExitCodes(code: Int, result: CommandResult, text: String) async throws {
    let told = try await run(script("exit \(code)", in: folder))
    #expect(told.result == result)
    #expect(told.text == text)
  }

  @Test("a program that a signal ends has failed")
  func crashed() async throws {
    let told = try await run(script("kill -SEGV $$", in: folder))
    #expect(told.result == .failed("ended by signal 11"))
  }

  @Test("standard error goes to the log line by line, not to the contact")
  func standardError() async throws {
    let told = try await run(script(#"echo one >&2; echo reply; printf 'two\033[31m\001!' >&2"#, in: folder))
    #expect(told.log == ["one", "two!"])
    #expect(told.text == "reply")
  }

  @Test("a program that shouts on standard error is cut short in the log")
  func shouting() async throws {
    let told = try await run(script("seq 1 5000 >&2; head -c 5000 /dev/zero | tr '\\0' x >&2; echo done", in: folder))
    #expect(told.log.count == LineSplitter.most + 1)
    #expect(told.log.last == "(4801 more lines left out)")
    #expect(told.text == "done")
  }

  @Test("broken UTF-8, NUL and control characters do not reach the contact")
  func cleaned() async throws {
    let told = try await run(
      script(#"printf 'a\000b\377c\303\033[1md\033[0m\r\n\te\007\302\205f\357\277\277g'"#, in: folder))
    #expect(told.text == "ab\u{fffd}c\u{fffd}d\n\tefg")
  }

  @Test("a gigabyte of output is cut off, and the program and its children are stopped")
  func flood() async throws {
    let lifeline = try Lifeline(folder)
    let limits = ProgramCommand.Limits(output: 4096, killGrace: .milliseconds(50))
    let command = script(lifeline.hold + "yes 0123456789 | head -c 1000000000 | cat", in: folder, limits: limits)
    let told = try await run(command)
    #expect(told.result == .outputLimit(4096))
    #expect(told.text?.hasPrefix("0123456789\n0123456789\n") == true)
    #expect(told.text?.hasSuffix("\n(cut off at 4 K)") == true)
    #expect((told.text?.utf8.count ?? 0) < 4200)
    #expect(lifeline.isReleased())
  }

  @Test("output of exactly the limit is not cut, and a character never is")
  func limit() async throws {
    let limits = ProgramCommand.Limits(output: 4)
    #expect(try await run(script("printf 1234", in: folder, limits: limits)).text == "1234")
    #expect(try await run(script("printf 123éé", in: folder, limits: limits)).text == "123\n(cut off at 4 bytes)")
  }

  @Test("a program that hangs is ended at its time-out, with what it printed")
  func hang() async throws {
    let lifeline = try Lifeline(folder)
    let command = script(
      lifeline.hold + "echo working; sleep 1000 & sleep 1000", in: folder, limits: brief, timeout: .milliseconds(100))
    let told = try await run(command)
    #expect(told.result == .timedOut(.milliseconds(100)))
    #expect(told.text?.hasSuffix("test: stopped, it took longer than 100 ms") == true)
    #expect(lifeline.isReleased())
  }

  @Test("a program that ignores TERM is killed, and so are its children")
  func stubborn() async throws {
    let lifeline = try Lifeline(folder)
    let command = script(
      "trap '' TERM\n" + lifeline.hold + "sleep 1000 & while :; do sleep 1000; done", in: folder, limits: brief,
      timeout: .milliseconds(100))
    let told = try await run(command)
    #expect(told.result == .timedOut(.milliseconds(100)))
    #expect(lifeline.isReleased())
  }

  @Test("a program may tidy up when TERM comes")
  func tidy() async throws {
    let limits = ProgramCommand.Limits(output: 4, killGrace: .seconds(60))
    let command = script(
      "trap 'echo tidied >&2; exit 0' TERM\nsleep 1000 & echo 12345; wait", in: folder, limits: limits)
    let told = try await run(command)
    #expect(told.log == ["tidied"])
    #expect(told.text == "1234\n(cut off at 4 bytes)")
  }

  @Test("a child that holds the output open keeps nobody waiting, and is killed")
  func orphan() async throws {
    let lifeline = try Lifeline(folder)
    let told = try await run(script(lifeline.hold + "sleep 1000 & echo started", in: folder, limits: brief))
    #expect(told.text == "started")
    #expect(told.result == .done)
    #expect(lifeline.isReleased())
  }

  @Test("a program that closes its output and goes on is waited for")
  func closesOutput() async throws {
    let told = try await run(script("echo early; exec >&- 2>&-; sleep 0.1; exit 3", in: folder))
    #expect(told.text == "early\ntest: failed (exit 3)")
  }

  @Test("signals that this process blocks or ignores are as usual in the program")
  func signals() async throws {
    signal(SIGPIPE, SIG_IGN)
    let told = try await run(script(#"exec sed -n 's/^Sig\(Blk\|Ign\):\t//p' /proc/self/status"#, in: folder))
    let masks = told.text?.split(separator: "\n").map { UInt64($0, radix: 16).map { $0 & 0x7fff_ffff } }
    // The C library keeps signals 32 and 33, beyond the mask, to itself.
    #expect(masks == [0, 0])
  }

  @Test("no descriptor is passed on")
  func descriptors() async throws {
    let open = Glibc.open("/dev/null", O_RDONLY)
    defer { close(open) }
    // 3 is what ls reads the folder by.
    #expect(try await run(script("ls /proc/self/fd", in: folder)).text == "0\n1\n2\n3")
  }

  @Test("a program that is missing, not executable or without an interpreter fails politely, and the log says why")
  func cannotStart() async throws {
    let bare = folder.write("bare", "echo never\n")
    let plain = folder.write("plain", "#!/bin/sh\n", mode: 0o644)
    for (path, why) in [
      ("/nonexistent/program", "No such file"), (bare, "#!/bin/sh"), (plain, "it is not executable"),
    ] {
      let command = Command(
        CommandDescription(name: "test"),
        ProgramCommand(words: [path], launcher: DirectLauncher(stateBase: folder.path + "/state")), origin: path
      )
      let told = try await run(command)
      #expect(told.text == "test: failed (it cannot be started, the log says why)")
      #expect(told.log.first?.contains(why) == true)
    }
  }

  @Test("arguments too long for a program, or with a NUL, are an answer")
  func badArguments() async throws {
    let command = script("echo never", in: folder)
    let long = try await run(command, arguments: [String(repeating: "x", count: 200_000)])
    #expect(long.text == "test: failed (that is too long: send less text)")
    let null = try await run(command, arguments: ["a\0b"])
    #expect(null.text == "test: failed (the arguments contain a NUL character: remove it)")
  }

  @Test("output = code makes a preformatted block")
  func code() async throws {
    #expect(try await run(script("echo x", in: folder, style: .code)).text == "```\nx\n```")
  }

  @Test("output = file sends the very bytes, and says something only where that is needed")
  func file() async throws {
    let told = try await run(script(#"printf 'a\000b\033[1m'"#, in: folder, style: .file))
    #expect(told.actions == [.upload(CommandUpload(.bytes(Array("a\0b\u{1b}[1m".utf8))))])
    #expect(told.text == nil && told.result == .done)
    #expect(try await run(script("exit 0", in: folder, style: .file)).text == "test: done")
    let failed = try await run(script("echo x; exit 3", in: folder, style: .file))
    #expect(failed.actions.count == 1 && failed.text == "test: failed (exit 3)")
  }

  @Test("live = yes shows what is printed while the program runs, and all of it at the end")
  func live() async throws {
    // It goes on only when what it has printed was shown.
    let command = script("echo one; sleep 1.2; echo two", in: folder, style: .code, isLive: true)
    let told = try await run(command)
    #expect(told.actions.first == .progress("```\none\n```"))
    #expect(told.text == "```\none\ntwo\n```")
    #expect(try await run(script("echo one; echo two", in: folder, isLive: true)).actions.isEmpty)
  }

  @Test("a program that has ended is no zombie")
  func reaped() async throws {
    let process = try #require(pid_t(try await run(script("echo $$", in: folder)).text ?? ""))
    #expect(kill(process, 0) == -1)
  }

  @Test("a hundred runs, good and bad, leave no descriptor behind")
  func leaks() async throws {
    let commands = [
      script("echo ok; echo log >&2", in: folder),
      Command(
        CommandDescription(name: "none"),
        ProgramCommand(words: ["/nonexistent"], launcher: DirectLauncher(stateBase: folder.path)), origin: ""),
    ]
    let before = pipesAndProcesses()
    for number in 0..<100 { _ = try await run(commands[number % 2]) }
    // Other tests may hold some at this moment; a leak would be at least one for each run.
    #expect(pipesAndProcesses() < before + 50)
  }

  /// How many descriptors of this process are pipes or pidfds.
  private func pipesAndProcesses() -> Int {
    (0..<1024).count { number in
      var target = [UInt8](repeating: 0, count: 64)
      let count = readlink("/proc/self/fd/\(number)", &target, target.count)
      let name = String(decoding: target.prefix(max(0, count)), as: UTF8.self)
      return name.hasPrefix("pipe:") || name.contains("pidfd")
    }
  }
}

/// A FIFO that a script and all its children hold open: it ends when the last of them is gone.
final class Lifeline {
  private let descriptor: Int32
  /// What the script says to hold it.
  let hold: String

  init(_ folder: Folder) throws {
    let path = folder.path + "/lifeline"
    mkfifo(path, 0o600)
    // For programs of another user, too.
    chmod(path, 0o666)
    descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
    hold = "exec 9>\(path)\n"
    if descriptor < 0 { throw Errno(code: errno) }
  }

  /// Waits until nobody holds it.
  func isReleased() -> Bool {
    _ = fcntl(descriptor, F_SETFL, 0)
    var byte: UInt8 = 0
    return read(descriptor, &byte, 1) == 0
  }

  deinit { close(descriptor) }
}
