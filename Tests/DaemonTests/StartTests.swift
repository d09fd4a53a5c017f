import EventLoop
import Glibc
import JID
import SQLite
import Systemd
import Testing
import XMPPTesting

@testable import Archive
@testable import Daemon

@Suite("The start of the daemon")
struct StartTests {
  init() { LoopThread.start() }

  private func parts(_ scratch: Scratch) throws -> Daemon.Parts {
    try Daemon.Parts(file: scratch.file("bot.conf"), environment: [:], sink: Recording(), handlers: [])
  }

  private func failure(_ scratch: Scratch) -> StartFailure? {
    do throws(StartFailure) {
      _ = try Daemon.Parts(file: scratch.file("bot.conf"), environment: [:], sink: Recording(), handlers: [])
      return nil
    } catch {
      return error
    }
  }

  @Test("a second daemon on the same archive, or the same socket, is one clear line, and may be tried again")
  func second() async throws {
    let scratch = try Scratch()
    try DaemonBench.configure(scratch, "")
    let first = try parts(scratch)
    let archive = failure(scratch)
    #expect(archive?.code == .failed && archive?.lines.count == 1)
    #expect(archive?.lines.first?.contains("another process has the archive open") == true)
    try DaemonBench.configure(scratch, "", archive: "other.db")
    let socket = failure(scratch)
    #expect(socket?.code == .failed)
    #expect(
      socket?.lines == [
        "control socket \(scratch.file("run/control.sock")): another xmppbotd is running with this socket; stop it first"
      ])
    first.control.close()
    first.archive.close()
  }

  @Test("the socket's folder is made, for the daemon's user and group; the socket is theirs alone")
  func folder() async throws {
    let scratch = try Scratch()
    try DaemonBench.configure(scratch, "")
    let parts = try parts(scratch)
    var status = stat()
    #expect(stat(scratch.file("run"), &status) == 0 && status.st_mode & 0o777 & ~0o750 == 0)
    #expect(stat(scratch.file("run/control.sock"), &status) == 0 && status.st_mode & 0o777 == 0o660)
    parts.control.close()
    #expect(stat(scratch.file("run/control.sock"), &status) != 0)
    parts.archive.close()
  }

  @Test("a socket that a killed daemon left is replaced; a file that is no socket is left alone")
  func leftovers() throws {
    let scratch = try Scratch()
    let path = scratch.file("s")
    let dead = try ControlSocket(listeningAt: path)
    close(dead.descriptor)
    let second = try ControlSocket(listeningAt: path)
    second.close()
    try scratch.write("precious", to: "s")
    #expect(throws: ControlSocketError.self) { try ControlSocket(listeningAt: path) }
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_size == 8)
  }

  @Test("a folder two levels deep is not made, and the line says what to do")
  func missingFolder() throws {
    let scratch = try Scratch()
    do throws(ControlSocketError) {
      _ = try ControlSocket(listeningAt: scratch.file("a/b/s"))
      Issue.record("there is a socket now")
    } catch {
      #expect(error.description.hasSuffix("create \(scratch.file("a/b"))"))
    }
  }

  @Test("an archive from the future is a matter for the operator: exit code 78")
  func future() async throws {
    let scratch = try Scratch()
    try DaemonBench.configure(scratch, "")
    let first = try parts(scratch)
    first.control.close()
    await withCheckedContinuation { continuation in
      first.archive.write { transaction throws(DatabaseError) in
        try transaction.queries.connection.setPragma("user_version", to: 99)
      } completion: { _ in
        continuation.resume()
      }
    }
    first.archive.close()
    let failure = failure(scratch)
    #expect(failure?.code == .configuration && failure?.lines.count == 1)
  }

  @Test("the resource stays the same from run to run; another account's roster is forgotten, and its mechanisms")
  @LoopActor func memory() async throws {
    let scratch = try Scratch()
    try DaemonBench.configure(scratch, "")
    func memory(_ parts: Daemon.Parts) async throws -> Memory {
      try await withCheckedThrowingContinuation { done in Memory.read(for: parts) { done.resume(with: $0) } }
    }
    let first = try parts(scratch)
    let before = try await memory(first)
    try await withCheckedThrowingContinuation { done in
      first.archive.write { transaction throws(DatabaseError) in
        try transaction.replaceRoster([RosterEntry(jid: "alice@example.net", subscription: .both)])
        try transaction.setMeta(.rosterVersion, to: "7")
        try transaction.setMeta(.saslFloor, to: "SCRAM-SHA-256")
      } completion: {
        done.resume(with: $0)
      }
    }
    let same = try await memory(first)
    #expect(same.resource == before.resource && !same.resource.isEmpty)
    #expect(same.roster.version == "7" && same.roster.items.count == 1)
    first.control.close()
    first.archive.close()

    try DaemonBench.configure(scratch, "")
    let text =
      "[account]\njid = other@example.org\npassword-file = \(scratch.file("password"))\n"
      + "[archive]\npath = \(scratch.file("archive.db"))\n[control]\nsocket = \(scratch.file("s"))\n"
    try scratch.write(text, to: "bot.conf")
    let second = try parts(scratch)
    let other = try await memory(second)
    #expect(other.roster.version == nil && other.roster.items.isEmpty && other.floor == nil)
    #expect(other.resource == before.resource)
    second.control.close()
    second.archive.close()
  }
}
