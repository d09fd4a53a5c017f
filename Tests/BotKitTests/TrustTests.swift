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

  /// Why the program `name` in the scratch folder may not be run; nil when it may.
  private func problem(of name: String) -> String? {
    do throws(CommandDiagnostic) {
      try FileTrust.check(folder.path + "/" + name, runBy: geteuid())
      return nil
    } catch {
      return "\(error.problem): \(error.remedy)"
    }
  }

  @Test("each folder on the way to it counts: who may rename one of them decides what is run")
  func folders() {
    mkdir(folder.path + "/a", 0o755)
    mkdir(folder.path + "/a/b", 0o755)
    folder.write("a/b/tool", "#!/bin/sh\n")
    #expect(problem(of: "a/b/tool") == nil)
    for above in ["/a/b", "/a", ""] {
      let path = folder.path + above
      for mode: mode_t in [0o775, 0o757] {
        chmod(path, mode)
        #expect(problem(of: "a/b/tool") == "others may write \(path): chmod go-w \(path)")
      }
      chmod(path, 0o755)
    }
    #expect(problem(of: "a/b/tool") == nil)
  }

  @Test("a folder like /tmp may be on the way, where nobody can rename what is another's, but is not one for programs")
  func sticky() {
    mkdir(folder.path + "/tmp", 0o755)
    chmod(folder.path + "/tmp", 0o1777)
    mkdir(folder.path + "/tmp/mine", 0o755)
    folder.write("tmp/mine/tool", "#!/bin/sh\n")
    folder.write("tmp/tool", "#!/bin/sh\n")
    #expect(problem(of: "tmp/mine/tool") == nil)
    #expect(problem(of: "tmp/tool")?.hasPrefix("others may write") == true)
  }

  @Test("a folder of another user's on the way is refused, however deep the program lies", .enabled(if: geteuid() == 0))
  func anothersFolder() {
    mkdir(folder.path + "/theirs", 0o755)
    mkdir(folder.path + "/theirs/bin", 0o755)
    folder.write("theirs/bin/tool", "#!/bin/sh\n")
    let path = folder.path + "/theirs"
    chown(path, 12345, 12345)
    #expect(problem(of: "theirs/bin/tool") == "\(path) belongs to user 12345, not to root: chown root \(path)")
    symlink(path + "/bin/tool", folder.path + "/link")
    #expect(problem(of: "link") == "\(path) belongs to user 12345, not to root: chown root \(path)")
    chown(path, 0, 0)
    #expect(problem(of: "link") == nil)
  }

  @Test("the program's own name stays as it is written")
  func name() throws {
    let link = folder.path + "/link"
    symlink("/bin/cat", link)
    #expect(try output(of: [link, "/proc/self/cmdline"]) == "\(link)\0/proc/self/cmdline\0")
  }
}
