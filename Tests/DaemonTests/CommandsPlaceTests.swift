import Configuration
import EventLoop
import Glibc
import Systemd
import Testing
import XMPPTesting

@testable import BotKit
@testable import Daemon

@Suite("Where commands run, and as whom", .serialized)
struct CommandsPlaceTests {
  init() { LoopThread.start() }

  @Test("in the service where its socket is, or where it was written into the configuration; else as children")
  func place() throws {
    let scratch = try Scratch()
    let socket = scratch.file("s")
    #expect(Settings.Isolation(socket: nil).place() == nil)
    #expect(Settings.Isolation(socket: socket).place() == nil)
    #expect(Settings.Isolation(socket: socket, isRequired: true).place() == socket)
    try scratch.write("", to: "s")
    #expect(Settings.Isolation(socket: socket).place() == socket)
  }

  @Test(
    "under systemd they run in the service or not at all, also when its socket is missing; unless the operator says so")
  func closed() throws {
    func isolation(_ commands: String, _ environment: [String: String] = serviceEnvironment) throws
      -> Settings.Isolation
    {
      try Settings.parse(
        "[account]\njid = bot@example.org\n[commands]\n" + commands, file: "/etc/xmppbotd/nobodys.conf",
        environment: environment
      ).isolation
    }
    let socket = "/run/xmppbotd-commands-nobodys.sock"
    #expect(access(socket, F_OK) != 0)
    #expect(try isolation("").place() == socket)
    #expect(try isolation("isolated = yes").place() == socket)
    #expect(try isolation("isolated = no").place() == nil)
    #expect(try isolation("", [:]).place() == nil)
    #expect(try isolation("isolated = yes", [:]).place() == socket)
    #expect(throws: ConfigurationProblems.self) { try isolation("isolated = no\nsocket = /run/x.sock") }
  }

  @Test("commands, handlers and files agree about it after each reload")
  @LoopActor func agreement() async throws {
    let bench = try await DaemonBench()
    func areIsolated() -> [Bool] {
      [
        bench.daemon.isIsolated, bench.daemon.longRunning.launcher is ServiceLauncher,
        bench.daemon.flow.uploads.launcher is ServiceLauncher,
      ]
    }
    #expect(areIsolated() == [false, false, false])
    #expect(try bench.reload("[commands]\nsocket = /nonexistent/commands.sock\n").isEmpty)
    #expect(areIsolated() == [true, true, true])
    #expect(try bench.reload("").isEmpty)
    #expect(areIsolated() == [false, false, false])
  }

  @Test(
    "who owns a command's file is judged by who will run it, when the service has said who that is",
    .enabled(if: geteuid() == 0))
  func user() async throws {
    let bench = try await DaemonBench()
    mkdir(bench.scratch.file("commands.d"), 0o755)
    for (name, owner) in [("roots", 0), ("theirs", 12_345), ("bots", 12_346)] as [(String, uid_t)] {
      try bench.scratch.write("#!/bin/sh\n", to: "commands.d/\(name)", mode: 0o755)
      chown(bench.scratch.file("commands.d/\(name)"), owner, owner)
    }
    let socket = bench.scratch.file("service.sock")
    let listener = try PacketSocket.make()
    defer { close(listener) }
    let bound = try PacketSocket.withAddress(socket) { bind(listener, $0, $1) }
    try #require(bound == 0 && listen(listener, 8) == 0)

    #expect(try await bench.reload("[commands]\nsocket = \(socket)\n") == [])
    #expect(await offered(bench) == ["roots"])
    let connection = accept(listener, nil, nil)
    #expect(try PacketSocket.receive(from: connection)?.strings == [LaunchMessage.version, "user"])
    try PacketSocket.send(["user", "12345"], on: connection)
    close(connection)
    #expect(await bench.turn { bench.daemon.commandsUser != nil })
    #expect(await offered(bench) == ["roots", "theirs"])
    let bots = bench.scratch.file("commands.d/bots")
    #expect(
      bench.recording.messages(.commandFileRefused).last
        == "\(bots): \(bots) belongs to user 12346, neither to root nor to user 12345, who would run it: chown root \(bots)"
    )
  }

  @LoopActor private func offered(_ bench: DaemonBench) -> [String] {
    ["bots", "roots", "theirs"].filter { bench.daemon.flow.router.commands[$0] != nil }
  }
}
