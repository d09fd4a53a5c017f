import Glibc
import Testing

@testable import Configuration

@Suite("Files and drop-ins")
struct ConfigurationFilesTests {
  let folder: ScratchFolder

  init() throws {
    folder = try ScratchFolder()
  }

  @Test("drop-ins are read after the file, in the byte order of their names; hidden and other files are not")
  func dropIns() throws {
    let file = try folder.write("[a]\nx = main\n", to: "bot.conf")
    try folder.makeFolder("bot.conf.d")
    for name in ["10-b.conf", "2-c.conf", "Z.conf", "a.conf"] {
      try folder.write("[a]\nx = \(name)\n", to: "bot.conf.d/" + name)
    }
    for name in [".hidden.conf", "a.conf~", "README"] { try folder.write("[a]\nx = no\n", to: "bot.conf.d/" + name) }
    let parser = ConfigurationParser.read(path: file)
    #expect(parser.problems.isEmpty)
    #expect(
      parser.document.section("a")?.entries.map(\.value) == ["main", "10-b.conf", "2-c.conf", "Z.conf", "a.conf"])
    #expect(parser.document.section("a")?.entries.last?.location.file == file + ".d/a.conf")
  }

  @Test("a drop-in that is a link to /dev/null is empty")
  func masked() throws {
    let file = try folder.write("[a]\nx = 1\n", to: "bot.conf")
    try folder.makeFolder("bot.conf.d")
    _ = try folder.make("bot.conf.d/x.conf") { symlink("/dev/null", $0) }
    #expect(ConfigurationParser.read(path: file).problems.isEmpty)
  }

  @Test("a file that is not there is reported")
  func missing() {
    let path = folder.path + "/none.conf"
    #expect(
      ConfigurationParser.read(path: path).problems.map(\.description) == [
        "\(path): does not exist: create it, or name another one with --config FILE"
      ])
  }

  @Test("a folder in place of a file is reported")
  func directory() throws {
    let path = try folder.makeFolder("bot.conf")
    #expect(
      ConfigurationParser.read(path: path).problems.map(\.description) == ["\(path): is a directory: name a file"])
  }

  @Test("a pipe in place of a file is reported, and not waited for")
  func pipe() throws {
    let path = try folder.make("pipe.conf") { mkfifo($0, 0o600) }
    #expect(
      ConfigurationParser.read(path: path).problems.map(\.description) == [
        "\(path): is not a regular file: name a regular file"
      ])
  }

  @Test("a file that may not be read is reported", .enabled(if: geteuid() != 0, "root may read everything"))
  func unreadable() throws {
    let path = try folder.write("", to: "bot.conf", mode: 0)
    #expect(
      ConfigurationParser.read(path: path).problems.map(\.description) == [
        "\(path): cannot be read: permission denied: use sudo, or let user \(userName(geteuid())) read it"
      ])
  }

  @Test("an endless file is not read into memory")
  func huge() throws {
    let path = try folder.write(Array(repeating: UInt8(ascii: "\n"), count: 1 << 20 + 1), to: "bot.conf")
    #expect(
      ConfigurationParser.read(path: path).problems.map(\.description) == [
        "\(path): is longer than 1048576 bytes: name the right file"
      ])
  }
}
