import EventLoop
import Glibc
import JID
import Testing
import XMPPTesting

@testable import BotKit

@Suite("The commands' service", .serialized)
struct IsolationTests {
  let folder = Folder()
  let service: Service
  let brief = ProgramCommand.Limits(killGrace: .milliseconds(50), closeGrace: .milliseconds(50))

  init() throws { service = try Service(in: folder) }

  private func command(
    _ body: String, limits: ProgramCommand.Limits = .init(), timeout: Duration? = nil
  ) -> Command {
    script(body, in: folder, launcher: ServiceLauncher(socket: service.socket), limits: limits, timeout: timeout)
  }

  @Test("a program gets its arguments, its input and its environment, and its output and errors come back")
  func everything() async throws {
    let told = try await run(
      command(#"echo "$1,$2,$XMPPBOT_FROM,$XMPPBOT_API"; cat; echo >&2 noted; exit 3"#), text: "a 'b c' é字")
    #expect(told.text == "a,b c,alice@example.org,1\na 'b c' é字\ntest: failed (exit 3)")
    #expect(told.log == ["noted"])
    #expect(told.result == .exited(3))
  }

  @Test("arguments that are empty, or longer than a packet, arrive as given")
  func longArguments() async throws {
    let long = String(repeating: "x", count: 100_000)
    let told = try await run(command(#"echo "$#,${#1},${#2},[$3]""#), arguments: [long, long, ""])
    #expect(told.text == "3,100000,100000,[]")
  }

  @Test("a program starts in a folder of the service's, which is its own")
  func stateDirectory() async throws {
    let told = try await run(
      command(#"pwd; stat -c %a .; test "$PWD" = "$XMPPBOT_STATE_DIR" && touch file && echo same"#))
    #expect(told.text == "\(folder.path)/service/test\n700\nsame")
  }

  @Test("no descriptor and no signal mask is passed on")
  func clean() async throws {
    let told = try await run(command(#"ls /proc/self/fd; sed -n 's/^Sig\(Blk\|Ign\):\t//p' /proc/self/status"#))
    let lines = told.text?.split(separator: "\n") ?? []
    #expect(lines.prefix(4) == ["0", "1", "2", "3"])
    #expect(lines.suffix(2).map { UInt64($0, radix: 16).map { $0 & 0x7fff_ffff } } == [0, 0])
  }

  @Test(
    "it runs as another user, that reads neither the password nor the archive nor the daemon's memory",
    .enabled(if: geteuid() == 0))
  func secrets() async throws {
    folder.write("password", "secret", mode: 0o600)
    folder.write("archive.db", "secret", mode: 0o640)
    let told = try await run(
      command(
        """
        id -u; id -G
        cat \(folder.path)/password \(folder.path)/archive.db /proc/\(getpid())/environ /proc/\(getpid())/maps
        head -c 1 /proc/\(getpid())/mem
        ls \(folder.path)/service/../state; kill -0 \(getpid()); exit 0
        """))
    #expect(told.text == "65534\n65534")
    #expect(told.log.count { $0.contains("ermission denied") || $0.contains("not permitted") } >= 6, "\(told.log)")
  }

  @Test("a program that the service's user could not have got from root is not run", .enabled(if: geteuid() == 0))
  func trust() async throws {
    let path = folder.write("theirs", "#!/bin/sh\necho ran\n")
    chown(path, 12345, 12345)
    let command = Command(
      CommandDescription(name: "test"),
      ProgramCommand(words: [path], launcher: ServiceLauncher(socket: service.socket)), origin: path)
    let told = try await run(command)
    #expect(told.text == "test: failed (it cannot be started, the log says why)")
    #expect(
      told.log == [
        "\(path): \(path) belongs to user 12345, neither to root nor to user 65534, who would run it: chown root \(path)"
      ])
  }

  @Test(
    "who looks for commands and who runs them judge a file's owner alike, and say the same",
    .enabled(if: geteuid() == 0),
    arguments: [0, 65534, 12345, 65533] as [uid_t])
  func sameJudgement(owner: uid_t) async throws {
    let commands = folder.path + "/commands.d"
    mkdir(commands, 0o755)
    let path = folder.write("commands.d/tool", "#!/bin/sh\necho ran\n")
    let socket = service.socket
    LoopThread.start()
    let user: uid_t? = await withCheckedContinuation { continuation in
      EventLoop.main.post { ServiceLauncher(socket: socket).askUser { continuation.resume(returning: $0) } }
    }
    #expect(user == Service.nobody)
    func found(_ user: uid_t?) -> (commands: [Command], diagnostics: [CommandDiagnostic]) {
      CommandsDirectory.scan(path: commands, launcher: ServiceLauncher(socket: socket, user: user))
    }
    // What runs does so by the word of an earlier look.
    let command = try #require(found(user).commands.first)
    chown(path, owner, owner)
    let isFine = owner == 0 || owner == Service.nobody
    let (offered, refused) = found(user)
    let told = try await run(command)
    #expect(offered.isEmpty != isFine)
    #expect(told.log == refused.map(\.description))
    #expect((told.text == "ran") == isFine)
    // As long as it is not known who runs it, it has to be root's.
    #expect(found(nil).commands.isEmpty == (owner != 0))
    chown(path, 0, 0)
  }

  @Test("who waits for the service's answer waits for so long and no longer")
  func silence() async throws {
    _ = service.stop()
    unlink(service.socket)
    let deaf = try PacketSocket.make()
    defer { close(deaf) }
    let bound = try PacketSocket.withAddress(service.socket) { bind(deaf, $0, $1) }
    #expect(bound == 0 && listen(deaf, 8) == 0)
    let launcher = ServiceLauncher(socket: service.socket, patience: .milliseconds(20))
    LoopThread.start()
    let file: Result<Int32, LaunchFailure> = await withCheckedContinuation { continuation in
      EventLoop.main.post { launcher.open("a.txt", of: "test") { continuation.resume(returning: $0) } }
    }
    #expect(file == .failure(LaunchFailure(log: "the commands' service has not answered in 20 ms")))
    let user: uid_t? = await withCheckedContinuation { continuation in
      EventLoop.main.post { launcher.askUser { continuation.resume(returning: $0) } }
    }
    #expect(user == nil)
  }

  @Test("a program that can't be started fails politely, and the log says why")
  func cannotStart() async throws {
    let bare = folder.write("bare", "echo never\n")
    for (path, why) in [("/nonexistent/program", "No such file"), (bare, "#!/bin/sh")] {
      let command = Command(
        CommandDescription(name: "test"),
        ProgramCommand(words: [path], launcher: ServiceLauncher(socket: service.socket)), origin: path)
      let told = try await run(command)
      #expect(told.text == "test: failed (it cannot be started, the log says why)")
      #expect(told.log.first?.contains(why) == true, "\(told.log)")
    }
  }

  @Test("without the service a command fails politely, and the log says where to look")
  func noService() async throws {
    _ = service.stop()
    let told = try await run(command("echo never"))
    #expect(told.text == "test: failed (it cannot be started, the log says why)")
    #expect(told.log.first?.contains("xmppbotd-commands.socket") == true)
  }

  @Test("what is started with setsid, twice removed, ends with its command")
  func setsid() async throws {
    let lifeline = try Lifeline(folder)
    let told = try await run(
      command(
        lifeline.hold
          + "setsid sleep 1000 &\n(setsid sh -c 'trap \"\" TERM HUP; sleep 1000 & sleep 1000' &)\necho left",
        limits: brief))
    #expect(told.text == "left")
    #expect(lifeline.isReleased())
  }

  @Test("a program that ignores TERM is killed, and what it started with setsid, too")
  func stubborn() async throws {
    let lifeline = try Lifeline(folder)
    let told = try await run(
      command(
        "trap '' TERM\n" + lifeline.hold + "setsid sleep 1000 & while :; do sleep 1000; done", limits: brief,
        timeout: .milliseconds(100)))
    #expect(told.result == .timedOut(.milliseconds(100)))
    #expect(lifeline.isReleased())
  }

  @Test("a program may tidy up when TERM comes")
  func tidy() async throws {
    let limits = ProgramCommand.Limits(output: 4, killGrace: .seconds(60))
    let told = try await run(
      command("trap 'echo tidied >&2; exit 0' TERM\nsleep 1000 & echo 12345; wait", limits: limits))
    #expect(told.log == ["tidied"])
  }

  @Test("when the daemon is gone, so is every program")
  func daemonGone() async throws {
    let lifeline = try Lifeline(folder)
    LoopThread.start()
    let path = folder.write("script", "#!/bin/sh\n\(lifeline.hold)echo up; setsid sleep 1000 & sleep 1000\n")
    let streams = try Pipe(ours: .reading)
    let socket = service.socket
    let program = await withCheckedContinuation { continuation in
      EventLoop.main.post {
        let streams = ProgramLaunch.Streams(input: streams.writing, output: streams.writing, error: streams.writing)
        let launch = try? ProgramLaunch(
          arguments: [path], environment: [], folder: "test", resources: .init(), streams: streams)
        let program = launch.flatMap { launch in
          try? ServiceLauncher(socket: socket).start(launch) {}
        }
        continuation.resume(returning: Box(program))
      }
    }
    close(streams.writing)
    defer { close(streams.reading) }
    // It runs when it has said so.
    _ = fcntl(streams.reading, F_SETFL, 0)
    var word = [UInt8](repeating: 0, count: 3)
    #expect(read(streams.reading, &word, 3) == 3)
    EventLoop.main.post { program.value = nil }
    #expect(lifeline.isReleased())
  }

  @Test("a program that kills what watches it does not stay, and the next one runs")
  func supervisorKilled() async throws {
    let lifeline = try Lifeline(folder)
    let told = try await run(command(lifeline.hold + "setsid sleep 1000 & kill -9 $PPID; sleep 1000"))
    #expect(told.text?.hasSuffix("test: failed (it was interrupted)") == true)
    #expect(told.log.last?.contains("ended in its midst") == true)
    #expect(lifeline.isReleased())
    #expect(try await run(command("echo fine")).text == "fine")
  }

  @Test("TERM ends the service, and what it started with it")
  func stopped() async throws {
    let lifeline = try Lifeline(folder)
    let marker = folder.path + "/service/test/up"
    let command = command(lifeline.hold + "trap '' TERM; touch up; sleep 1000; sleep 1000")
    async let told = run(command)
    while access(marker, F_OK) != 0 { poll(nil, 0, 5) }
    #expect(service.stop() == 0)
    #expect(lifeline.isReleased())
    #expect(try await told.text == "test: failed (it was interrupted)")
  }

  @Test("only root and the owner of its socket may have programs started", .enabled(if: geteuid() == 0))
  func stranger() async throws {
    let request = """
      import socket
      s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
      s.connect("\(service.socket)")
      print(s.recv(1000).split(bytes(1))[2].decode())
      """
    folder.write("request.py", request, mode: 0o644)
    let told = try await run(command("exec /usr/bin/python3 \(folder.path)/request.py"))
    #expect(told.text == "user 65534 may not have programs started by this service", "\(told.log)")
  }

  @Test("forking without end comes to an end", .enabled(if: geteuid() == 0))
  func forkBomb() async throws {
    let lifeline = try Lifeline(folder)
    var limits = brief
    limits.resources.processes = 30
    let told = try await run(
      command(
        lifeline.hold + "bomb() { setsid true & bomb & bomb & sleep 1000; }\nbomb", limits: limits,
        timeout: .milliseconds(300)))
    #expect(told.result != .done)
    #expect(told.log.contains { $0.contains("fork") }, "\(told.log)")
    #expect(lifeline.isReleased())
    #expect(try await run(command("echo fine")).text == "fine")
  }

  @Test("a file in a command's folder, which is the service's alone, comes to the daemon; one elsewhere does not")
  func files() async throws {
    _ = try await run(
      command("umask 077; printf drawing >a.txt; ln -s /etc/passwd link; ln -s a.txt inner; mkfifo pipe"))
    let launcher = ServiceLauncher(socket: service.socket)
    let open = { @Sendable (path: String, name: String) in
      await withCheckedContinuation { continuation in
        EventLoop.main.post { launcher.open(path, of: name) { continuation.resume(returning: $0) } }
      }
    }
    let file = try await open("a.txt", "test").get()
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 16)
    #expect(read(file, &bytes, 16) == 7)
    for (path, name) in [
      ("/etc/passwd", "test"), ("link", "test"), ("inner", "test"), ("../../password", "test"), ("a.txt", "../test"),
    ] {
      guard case .failure = await open(path, name) else {
        Issue.record("\(path) of \(name) was opened")
        continue
      }
    }
  }

  @Test("forty programs one after the other leave no process behind")
  func leaks() async throws {
    for _ in 0..<40 { _ = try await run(command("(sleep 1000 &) ; echo x", limits: brief)) }
    while !Descendants.children(of: service.process).isEmpty { poll(nil, 0, 5) }
    #expect(service.stop() == 0)
  }
}

@Suite("Limits of a command", .serialized)
struct ResourceTests {
  let folder = Folder()

  @Test("a program that wants more memory than it may have gets none", arguments: Launching.allCases)
  func memory(_ way: Launching) async throws {
    let told = try await limited("x=$(head -c 100000000 /dev/zero | tr '\\0' x); echo got it", way) {
      $0.memory = 32 << 20
    }
    #expect(told.text?.contains("got it") == false)
    #expect(told.result != .done, "\(told.log)")
  }

  @Test("a program that keeps a processor busy for too long is ended", arguments: Launching.allCases)
  func processor(_ way: Launching) async throws {
    let told = try await limited("while :; do :; done", way) { $0.seconds = 1 }
    #expect(told.result == .failed("ended by signal \(SIGXCPU)"))
  }

  @Test("what is unlimited is not limited", arguments: Launching.allCases)
  func unlimited(_ way: Launching) async throws {
    let told = try await limited("ulimit -H -d; ulimit -H -t", way) {
      $0 = .init(memory: .max, processes: .max, seconds: .max)
    }
    #expect(told.text == "unlimited\nunlimited")
  }

  @Test("a limit can't be raised by the program", arguments: Launching.allCases)
  func hard(_ way: Launching) async throws {
    // A child of the daemon gets them a moment after it was started.
    let wait = way == .direct ? "until [ $(ulimit -H -t) = 6 ]; do :; done\n" : ""
    let told = try await limited(wait + "ulimit -H -d; ulimit -H -t", way) { $0 = .init(memory: 64 << 20, seconds: 5) }
    #expect(told.text == "65536\n6")
  }

  @Test(
    "a command's own limits come before those of all", arguments: [("memory: 1G", 1 << 30), ("cpu: 1m", 512 << 20)])
  func own(line: String, memory: Int) throws {
    folder.write("tool", "#!/bin/sh\n# \(line)\n")
    var limits = ProgramCommand.Limits()
    limits.resources = ResourceLimits(memory: 512 << 20, processes: 64)
    let (commands, faults) = CommandsDirectory.scan(
      path: folder.path, launcher: DirectLauncher(stateBase: folder.path), limits: limits)
    #expect(faults == [])
    guard case .waiting(let action)? = commands.first?.action, let program = action as? ProgramCommand else {
      Issue.record("no program")
      return
    }
    #expect(program.limits.resources.memory == memory)
    #expect(program.limits.resources.processes == 64)
    #expect(program.limits.resources.seconds == (line == "cpu: 1m" ? 60 : nil))
  }

  @Test(
    "a limit that is none refuses the command",
    arguments: [
      ("memory: lots", "512M"), ("memory: 1K", "at least 16M"), ("processes: 0", "a number"), ("cpu: 5", "20s"),
    ])
  func faults(line: String, hint: String) {
    folder.write("tool", "#!/bin/sh\n# \(line)\n")
    let (commands, faults) = CommandsDirectory.scan(path: folder.path, launcher: DirectLauncher(stateBase: folder.path))
    #expect(commands.isEmpty)
    #expect(faults.first?.description.contains(hint) == true)
  }

  private func limited(
    _ body: String, _ way: Launching, _ set: (inout ResourceLimits) -> Void
  ) async throws -> Told {
    let service = way == .service ? try Service(in: folder) : nil
    defer { withExtendedLifetime(service) {} }
    var limits = ProgramCommand.Limits()
    set(&limits.resources)
    return try await run(script(body, in: folder, launcher: way.launcher(in: folder, service), limits: limits))
  }
}

@Suite("What the daemon and the commands' service say to each other")
struct LaunchMessageTests {
  private func launch(_ arguments: [String], _ environment: [String] = ["A=b"]) throws -> ProgramLaunch {
    try ProgramLaunch(
      arguments: arguments, environment: environment, folder: "test",
      resources: .init(memory: 1 << 40, seconds: 7), streams: .init(input: 3, output: 4, error: 5))
  }

  @Test("a launch arrives as it was sent", arguments: [[], [""], ["a\nb", "", "é字"]])
  func roundTrip(arguments: [String]) throws {
    let launch = try launch(["/bin/x"] + arguments, arguments.isEmpty ? [] : ["A=b", "C="])
    let strings = try #require(LaunchMessage.strings(LaunchMessage.bytes(launch.message)))
    #expect(ProgramLaunch(message: strings, streams: launch.streams) == launch)
  }

  @Test(
    "an end arrives as it was sent",
    arguments: [
      ProgramExit.exited(64), .signalled(9), .unknown, .notStarted(LaunchFailure(reply: "no", log: "a: b: c")),
    ])
  func ends(exit: ProgramExit) throws {
    #expect(ProgramExit(message: try #require(LaunchMessage.strings(LaunchMessage.bytes(exit.message)))) == exit)
  }

  @Test("a launch that is cut short anywhere is none")
  func cut() throws {
    let launch = try launch(["/bin/x", "y"], [])
    let bytes = LaunchMessage.bytes(launch.message)
    for count in 0..<bytes.count {
      let strings = LaunchMessage.strings(bytes[..<count])
      #expect(strings.flatMap { ProgramLaunch(message: $0, streams: launch.streams) } == nil, "\(count) bytes")
    }
  }

  @Test("a folder elsewhere is refused", arguments: ["", "..", ".hidden", "a/b", "/etc"])
  func folders(name: String) throws {
    var message = try launch(["/bin/x"]).message
    message[0] = name
    #expect(ProgramLaunch(message: message, streams: .init(input: 0, output: 1, error: 2)) == nil)
  }
}
