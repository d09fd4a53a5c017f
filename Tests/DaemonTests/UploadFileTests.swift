import BotKit
import Glibc
import Testing

@testable import Daemon

@Suite("Files that are to be sent")
struct UploadFileTests {
  private let scratch: Scratch
  private var folder: String { scratch.file("state") }

  init() throws {
    scratch = try Scratch()
    mkdir(scratch.file("state"), 0o700)
    try scratch.write("secret", to: "archive.db")
    try scratch.write("drawing", to: "state/a.txt")
  }

  private func open(_ path: String) throws -> UploadFile {
    try UploadFile(opened: CommandFile.open(path, in: folder), path: path, name: nil, fallback: "draw")
  }

  @Test("a command's file is found in its folder, by a short path or a long one")
  func own() throws {
    mkdir(folder + "/sub", 0o700)
    try scratch.write("deeper", to: "state/sub/b.txt")
    #expect(try open("a.txt").size == 7)
    #expect(try open(folder + "/a.txt").name == "a.txt")
    #expect(try open("sub/../sub/b.txt").name == "b.txt")
  }

  @Test("no path, link or second name leads out of the folder to what the daemon alone may read")
  func outside() throws {
    symlink(scratch.file("archive.db"), folder + "/link")
    symlink(scratch.path, folder + "/up")
    link(scratch.file("archive.db"), folder + "/second")
    mkfifo(folder + "/pipe", 0o600)
    for path in [
      "../archive.db", scratch.file("archive.db"), "link", "up/archive.db", "second", "/etc/passwd", "missing", ".",
      "pipe", "/dev/zero",
    ] {
      #expect(throws: (any Error).self, "\(path)") { try open(path) }
    }
  }

  @Test(
    "names are such that every system takes them",
    arguments: [
      ("a.txt", "a.txt"), ("/etc/passwd", "passwd"), ("../../x", "x"), ("..", nil), ("", nil),
      ("a\n\u{1b}[31mb.png", "a[31mb.png"),
      (".bashrc", "bashrc"), ("C:\\x.txt", "C:x.txt"),
      (String(repeating: "ä", count: 80) + ".jpeg", String(repeating: "ä", count: 47) + ".jpeg"),
    ] as [(String, String?)])
  func names(given: String, name: String?) {
    #expect(UploadFile.name(given) == name)
  }

  @Test("what a file is, its first bytes say")
  func kinds() throws {
    let kinds: [([UInt8], String, String)] = [
      (Array("héllo".utf8), "text/plain; charset=utf-8", "draw.txt"),
      ([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0], "image/png", "draw.png"),
      ([0xff, 0xd8, 0xff, 0xe0], "image/jpeg", "draw.jpg"), ([0, 1, 2], "application/octet-stream", "draw.bin"),
      (Array(String(repeating: "é", count: 400).utf8), "text/plain; charset=utf-8", "draw.txt"),
      (Array("x".utf8) + Array(String(repeating: "é", count: 400).utf8), "text/plain; charset=utf-8", "draw.txt"),
    ]
    for (bytes, type, name) in kinds {
      let file = try UploadFile(bytes, name: nil, fallback: "draw")
      #expect(file.contentType == type && file.name == name && file.size == bytes.count)
    }
    #expect(throws: UploadFailure.unreadable("it is empty")) { try UploadFile([], name: nil, fallback: "draw") }
  }
}
