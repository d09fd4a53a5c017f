import Glibc
import Testing

@testable import BotKit

@Suite("Files that commands name")
struct CommandFileTests {
  let folder = Folder()
  /// The command's own.
  let own: String

  init() {
    own = folder.path + "/own"
    mkdir(own, 0o700)
    mkdir(own + "/deep", 0o700)
    folder.write("own/a.txt", "a")
    folder.write("own/deep/b.txt", "b")
    folder.write("secret", "s")
    mkdir(folder.path + "/own-not", 0o700)
    folder.write("own-not/c.txt", "c")
  }

  private func contents(_ path: String) throws(LaunchFailure) -> String {
    let file = try CommandFile.open(path, in: own)
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = read(file, &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  @Test("a file below the folder is opened, whatever way its name is written")
  func inside() throws {
    for (path, text) in [
      ("a.txt", "a"), ("./a.txt", "a"), ("deep/b.txt", "b"), ("deep/../a.txt", "a"), (own + "/a.txt", "a"),
      (own + "//deep/b.txt", "b"),
    ] {
      #expect(try contents(path) == text, "\(path)")
    }
  }

  @Test("a folder that is reached by a link is known by both of its names")
  func linkedFolder() throws {
    let alias = folder.path + "/alias"
    symlink(own, alias)
    for path in ["a.txt", alias + "/a.txt", own + "/a.txt"] {
      let file = try CommandFile.open(path, in: alias)
      close(file)
    }
  }

  @Test("what is elsewhere is refused, however its name leads there")
  func outside() {
    symlink("/etc/passwd", own + "/link")
    symlink("a.txt", own + "/inner")
    symlink("..", own + "/up")
    link(folder.path + "/secret", own + "/hard")
    for path in [
      "/etc/passwd", "../secret", "deep/../../secret", own + "/../secret", folder.path + "/own-not/c.txt", "link",
      "inner",
      "up/secret", "hard", own, own + "/", "..",
    ] {
      #expect(throws: LaunchFailure.self, "\(path)") { try CommandFile.open(path, in: own) }
    }
  }

  @Test("where nothing is below the folder, nothing is looked at: a path elsewhere is refused by its name alone")
  func byName() {
    // Were it looked for, it would be said that it is not there.
    #expect(
      throws: LaunchFailure(
        log: "/net/dead/x is not in the command's folder \(own), or behind a link: only what is there is sent")
    ) { try CommandFile.open("/net/dead/x", in: own) }
  }

  @Test("a pipe that nobody writes to makes nobody wait")
  func pipe() throws {
    mkfifo(own + "/pipe", 0o600)
    close(try CommandFile.open("pipe", in: own))
  }
}
