import Configuration
import Glibc
import JID
import Systemd
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

  @Test("so is a folder in the midst of the way, where one link leads to another")
  func linkToLink() throws {
    let file = try scratch.write("x", to: "ca.pem", mode: 0o644)
    let folder = scratch.file("closed")
    mkdir(folder, 0o750)
    chmod(folder, 0o750)
    symlink("../ca.pem", folder + "/middle.pem")
    symlink("./closed/../closed/middle.pem", scratch.file("first.pem"))
    #expect(stranger.obstacle(to: scratch.file("first.pem"))?.contains("may not enter \(folder): ") == true)
    let way = try #require(PathWalk(scratch.file("first.pem")))
    #expect(way.end == file && way.exists && way.folders.contains(folder))
    symlink("circle", scratch.file("circle"))
    #expect(PathWalk(scratch.file("circle")) == nil)
  }

  @Test("what the unit's sandbox hides is named with the setting that hides it, links followed")
  func hidden() throws {
    var reader = stranger
    reader.sandbox = ServiceSandbox(unit: "bot.service", protectHome: "yes", privateTmp: true)
    let file = try scratch.write("x", to: "ca.pem", mode: 0o644)
    #expect(
      scratch.path.hasPrefix("/tmp/") || scratch.path.hasPrefix("/var/tmp/") == (reader.obstacle(to: file) != nil))
    symlink("/root/..", scratch.file("home"))
    let obstacle = reader.obstacle(to: scratch.file("home") + "/etc/passwd")
    #expect(obstacle?.hasPrefix("the service does not see it (") == true)
    #expect(reader.obstacle(to: "/root/../etc/passwd")?.contains("(ProtectHome=yes of bot.service)") == true)
    #expect(reader.obstacle(to: "/etc/passwd") == nil)
  }

  @Test("an archive where the daemon can't write is named: by its owner and mode, or by the sandbox")
  func archive() throws {
    let folder = scratch.file("data")
    mkdir(folder, 0o755)
    chmod(folder, 0o755)
    let archive = folder + "/archive.db"
    #expect(
      stranger.obstacle(toWriting: archive)?.hasSuffix("may not write in \(folder): install -d -o bot \(folder)")
        == true)
    // The daemon makes one folder, here within one that is not its user's.
    #expect(stranger.obstacle(toWriting: folder + "/new/archive.db")?.contains("may not write in \(folder)") == true)
    chmod(folder, 0o777)
    #expect(stranger.obstacle(toWriting: archive) == nil)
    #expect(stranger.obstacle(toWriting: folder + "/new/archive.db") == nil)
    // Put back as root from a backup, for one.
    try scratch.write("x", to: "data/archive.db", mode: 0o640)
    #expect(
      stranger.obstacle(toWriting: archive)
        == "user bot, as whom the daemon runs, may not read and write \(archive): chown bot: \(archive), and chmod 600")
    chmod(archive, 0o666)
    #expect(stranger.obstacle(toWriting: archive) == nil)
    var reader = stranger
    reader.sandbox = ServiceSandbox(unit: "bot.service", protectSystem: "strict", made: ["/var/lib/bot"])
    #expect(reader.obstacle(toWriting: "/var/lib/bot/archive.db") == nil)
    #expect(
      reader.obstacle(toWriting: archive)
        == "the service sees \(folder) read-only (ProtectSystem=strict of bot.service): systemctl edit bot.service, and there, "
        + "below [Service], ReadWritePaths=\(folder)")
    reader.sandbox?.named.append(folder)
    #expect(reader.obstacle(toWriting: archive) == nil)
    // Named before it was made, it keeps the service from its start.
    let missing = scratch.file("missing")
    #expect(
      reader.obstacle(toWriting: missing + "/archive.db")?.contains("install -d -o bot \(missing), then ") == true)
    reader.sandbox?.named.append(missing)
    #expect(
      reader.obstacle(toWriting: missing + "/archive.db")
        == "bot.service names \(missing) in ReadWritePaths=, and there is none: install -d -o bot \(missing)")
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
