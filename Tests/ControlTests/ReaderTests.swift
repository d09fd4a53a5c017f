import Configuration
import Glibc
import JID
import Testing

@testable import Control

@Suite("What check as root says of files that the daemon's user can't read")
struct ReaderTests {
  private let scratch: Scratch
  /// Neither the owner of the files nor in their group.
  private let stranger = Reader(name: "bot", user: 54_321, groups: [54_321])

  init() throws {
    scratch = try Scratch()
    chmod(scratch.path, 0o755)
  }

  @Test("a file that only its owner reads is named with the user and the remedy")
  func modes() throws {
    let file = try scratch.write("x", to: "bot.conf", mode: 0o640)
    #expect(
      stranger.obstacle(to: file)?.hasPrefix("user bot, as whom the daemon runs, may not read it: chgrp bot") == true)
    let owner = Reader(name: "owner", user: getuid() == 0 ? 54_321 : getuid(), groups: [getgid()])
    #expect(owner.obstacle(to: file) == nil)
    chmod(file, 0o644)
    #expect(stranger.obstacle(to: file) == nil)
    #expect(stranger.obstacle(to: scratch.file("password")) == nil)
  }

  @Test("so is a folder on the way that they may not enter")
  func folders() throws {
    let file = try scratch.write("x", to: "bot.conf", mode: 0o644)
    chmod(scratch.path, 0o750)
    let obstacle = stranger.obstacle(to: file)
    #expect(obstacle?.contains("may not enter \(scratch.path): ") == true)
    #expect(obstacle?.hasSuffix("chmod o+x \(scratch.path)") == true)
    #expect(Reader(name: "root", user: 0, groups: [0]).obstacle(to: file) == nil)
  }

  @Test("so is a folder that holds only a link to the file, as Prosody's does to certificates")
  func links() throws {
    let file = try scratch.write("x", to: "ca.pem", mode: 0o644)
    let folder = scratch.file("certs")
    mkdir(folder, 0o750)
    chmod(folder, 0o750)
    symlink(file, folder + "/link.pem")
    let obstacle = stranger.obstacle(to: folder + "/link.pem")
    #expect(obstacle?.contains("may not enter \(folder): ") == true)
    #expect(obstacle?.contains("install -m 644 \(folder)/link.pem /etc/xmppbotd/") == true)
  }

  @Test("all files are looked at that the configuration consists of or names for the daemon to read, each once")
  func configuration() throws {
    let secret = try scratch.write("x", to: "password", mode: 0o600)
    let file = try scratch.write(
      "[account]\npassword-file = \(secret)\navatar = /nonexistent\n[room a@b]\npassword-file = \(secret)\n",
      to: "bot.conf", mode: 0o600)
    let lines = stranger.lines(ConfigurationParser.read(path: file).document)
    #expect(lines.map(\.found) == [file, secret])
    #expect(lines.last?.warning?.hasSuffix("may not read it: chown bot \(secret)") == true)
    #expect(lines.allSatisfy { $0.text.hasPrefix("!!  readable") })
  }
}

@Suite("What register says when the server refuses")
struct RegisterTests {
  @Test("the account is made by the server's administrator, with commands to copy")
  func administrator() throws {
    let remedy = Registration.byAdministrator(try JID("bot@chat.lan"))
    #expect(remedy.contains("prosodyctl adduser bot@chat.lan"))
    #expect(remedy.contains("ejabberdctl register bot chat.lan PASSWORD"))
  }
}
