import EventLoop
import Glibc
import Testing

@testable import BotKit

@Suite("What was checked is what is run")
struct TrustTests {
  let folder = Folder()

  private func prepare(_ arguments: [String], _ output: Int32) throws -> (PreparedLaunch, ProgramLaunch.Streams) {
    let streams = ProgramLaunch.Streams(input: output, output: output, error: output)
    let launch = try ProgramLaunch(
      arguments: arguments, environment: [], folder: "test", resources: .init(), streams: streams)
    return (try PreparedLaunch(launch, stateBase: folder.path + "/state"), streams)
  }

  /// What a program prints until its end, and what is done between the check and the start.
  private func output(of arguments: [String], _ between: () -> Void = {}) throws -> String {
    let pipe = try Pipe(ours: .reading)
    _ = fcntl(pipe.reading, F_SETFL, 0)
    defer { close(pipe.reading) }
    let (prepared, streams) = try prepare(arguments, pipe.writing)
    between()
    let process = try Spawn.leader(prepared, streams)
    close(pipe.writing)
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = read(pipe.reading, &buffer, buffer.count), count > 0 { text += buffer[..<count] }
    waitpid(process, nil, 0)
    return String(decoding: text, as: UTF8.self)
  }

  @Test("a link that leads elsewhere after the check changes nothing")
  func swapped() throws {
    let good = folder.write("good", "#!/bin/sh\necho good\n")
    let bad = folder.write("bad", "#!/bin/sh\necho bad\n")
    let link = folder.path + "/link"
    symlink(good, link)
    let told = try output(of: [link]) {
      unlink(link)
      symlink(bad, link)
    }
    #expect(told == "good\n")
  }

  @Test("the program's own name stays as it is written")
  func name() throws {
    let link = folder.path + "/link"
    symlink("/bin/cat", link)
    #expect(try output(of: [link, "/proc/self/cmdline"]) == "\(link)\0/proc/self/cmdline\0")
  }
}
