import Glibc
import JID
import Testing

@testable import BotKit

@Suite("commands.d")
struct CommandsDirectoryTests {
  let folder = Folder()

  func scan() -> (names: [String], diagnostics: [String], commands: [Command]) {
    let (commands, diagnostics) = CommandsDirectory.scan(
      path: folder.path, launcher: DirectLauncher(stateBase: folder.path + "/state"))
    return (commands.map(\.description.name), diagnostics.map(\.description), commands)
  }

  @Test("a script's comments describe it, in the style of its language")
  func header() throws {
    folder.write(
      "deploy",
      """
      #!/bin/sh
      # Copyright: nobody
      # description: Deploy a release
      #usage:deploy SERVICE
      // where: chat, room
      -- timeout: 5m
      # output: code
      # allow: @ops, *@example.org
      # allow: alice@example.com
      """)
    let (_, diagnostics, commands) = scan()
    #expect(diagnostics == [])
    let command = try #require(commands.first)
    #expect(
      command.description
        == CommandDescription(
          name: "deploy", description: "Deploy a release", usage: "deploy SERVICE",
          allow: [.group("ops"), .domain("example.org"), .address(try JID("alice@example.com"))],
          places: [.chat, .room]))
    #expect(command.timeout == .seconds(300))
    #expect(command.origin == folder.path + "/deploy")
  }

  @Test("none beside others is refused, for it says two things")
  func noneBesideOthers() {
    folder.write("odd", "#!/bin/sh\n# allow: everyone\n# allow: none\n")
    folder.write("off", "#!/bin/sh\n# allow: none\n")
    let (names, diagnostics, _) = scan()
    #expect(names == ["off"])
    #expect(diagnostics.count == 1 && diagnostics[0].contains("allow: none stands beside others"))
  }

  @Test("a line that is not whole within the first 4,096 bytes is not read: half an address is another one")
  func halfALine() {
    let line = "# allow: alice@example.com"
    let filling = "#!/bin/sh\n" + String(repeating: "#\n", count: (4_096 - 10 - line.utf8.count + 2) / 2)
    folder.write("long", filling + line + "\n")
    #expect(scan().commands.first?.description.allow == [.group("admins")])
  }

  @Test("a command that says nothing is for administrators, in chats")
  func defaults() throws {
    folder.write("plain", "#!/bin/sh\n")
    let command = try #require(scan().commands.first)
    #expect(command.description.allow == [.group("admins")])
    #expect(command.description.places == .chat)
    #expect(command.timeout == nil)
  }

  @Test("a binary is described by NAME.conf beside it, and what it happens to contain is not read")
  func binary() throws {
    folder.write("tool", "\u{7f}ELF\0\n# allow: everyone\n")
    #expect(scan().commands.first?.description.allow == [.group("admins")])
    folder.write("tool.conf", "; about\ndescription = A tool\nallow = roster\n\nwhere = room\n", mode: 0o644)
    let description = try #require(scan().commands.first).description
    #expect(description.description == "A tool")
    #expect(description.allow == [.roster])
    #expect(description.places == .room)
  }

  @Test("keys may be written with capitals, and other comments with a colon are just comments")
  func capitals() throws {
    folder.write("tool", "#!/bin/sh\n# Note: careful\n# Here: be dragons\n# Description: A tool\n# Allow: everyone\n")
    #expect(scan().diagnostics == [])
    let description = try #require(scan().commands.first).description
    #expect(description.description == "A tool")
    #expect(description.allow == [.everyone])
  }

  @Test(
    "a script that the kernel could not start is refused when it is found, with the remedy",
    arguments: [
      ("#!/bin/sh\r\necho hi\r\n", "sed -i 's/\\r$//'"), ("echo hi\n", "begin it with a line such as #!/bin/sh"),
      ("", "begin it with"), ("#! /usr/bin/pythno -u\n", "/usr/bin/pythno: No such file or directory"),
    ])
  func interpreter(script: String, hint: String) {
    folder.write("tool", script)
    let (names, diagnostics, _) = scan()
    #expect(names == [])
    #expect(diagnostics.count == 1)
    #expect(diagnostics.first?.contains(hint) == true, "\(diagnostics)")
  }

  @Test("field lines describe its form; a wrong one keeps it from being offered; a comment about fields is a comment")
  func fields() {
    folder.write(
      "deploy", "#!/bin/sh\n# Fields: none\n# field: service choice web|db required\n# field: notes lines\n")
    #expect(
      scan().commands.first?.description.fields == [
        CommandField("service", .choice(["web", "db"]), required: true), CommandField("notes", .lines),
      ])
    folder.write("tool", "#!/bin/sh\n# field: service txt\n")
    folder.write("twice", "#!/bin/sh\n# field: a text\n# field: a text\n")
    let (names, diagnostics, _) = scan()
    #expect(names == ["deploy"])
    #expect(
      diagnostics == [
        "\(folder.path)/tool: field: service: “txt” is no kind: did you mean text?",
        "\(folder.path)/twice: field: there are two fields with the name a: rename one of them",
      ])
  }

  @Test("only the first 4 KB are searched for a description")
  func farAway() {
    folder.write("long", "#!/bin/sh\n" + String(repeating: "# padding\n", count: 500) + "# allow: everyone\n")
    #expect(scan().commands.first?.description.allow == [.group("admins")])
  }

  @Test(
    "what others may write or change is refused and named, with the remedy",
    arguments: [(0o775, "chmod go-w"), (0o757, "chmod go-w"), (0o644, "chmod 755")] as [(mode_t, String)])
  func modes(mode: mode_t, remedy: String) {
    folder.write("fine", "#!/bin/sh\n")
    folder.write("bad", "#!/bin/sh\n", mode: mode)
    let (names, diagnostics, _) = scan()
    #expect(names == ["fine"])
    #expect(diagnostics.count == 1)
    #expect(diagnostics.first?.contains(folder.path + "/bad") == true)
    #expect(diagnostics.first?.contains(remedy) == true)
  }

  @Test("a file of another user is refused", .enabled(if: geteuid() == 0))
  func owner() {
    let path = folder.write("theirs", "#!/bin/sh\n")
    chown(path, 12345, 12345)
    #expect(scan().names == [])
    #expect(scan().diagnostics == ["\(path): \(path) belongs to user 12345, not to root: chown root \(path)"])
  }

  @Test("a folder that others may write is refused as a whole")
  func folderMode() {
    folder.write("fine", "#!/bin/sh\n")
    chmod(folder.path, 0o777)
    let (names, diagnostics, _) = scan()
    #expect(names == [])
    #expect(diagnostics == ["\(folder.path): others may write \(folder.path): chmod go-w \(folder.path)"])
  }

  @Test("a link is followed when its target and the target's folder pass too")
  func links() {
    let elsewhere = Folder()
    let target = elsewhere.write("target", "#!/bin/sh\n# description: linked\n")
    symlink(target, folder.path + "/linked")
    symlink("/nonexistent", folder.path + "/dangling")
    #expect(scan().names == ["linked"])
    #expect(scan().diagnostics.count == 1)
    chmod(elsewhere.path, 0o777)
    #expect(scan().names == [])
  }

  @Test("hidden files and backups are passed over, other names that are no command are told")
  func names() {
    folder.write(".hidden", "#!/bin/sh\n")
    folder.write("backup~", "#!/bin/sh\n")
    folder.write("run.sh", "#!/bin/sh\n")
    folder.write("Deploy", "#!/bin/sh\n")
    folder.write("orphan.conf", "", mode: 0o644)
    mkdir(folder.path + "/subfolder", 0o755)
    let (names, diagnostics, _) = scan()
    #expect(names == [])
    #expect(diagnostics.count == 4)
    #expect(diagnostics.contains { $0.contains("orphan.conf: there is no program orphan beside it") })
    #expect(diagnostics.contains { $0.contains("subfolder: it is no regular file") })
  }

  @Test(
    "a fault in the description refuses the command rather than guess",
    arguments: [
      ("# allow: example.org", "allow: “example.org”"), ("# timeout: soon", "20s"), ("# where: nowhere", "chat, room"),
      ("# output: video", "text, code or file"), ("# live: always", "yes or no"), ("# timeout: 0s", "20s"),
      ("# allow: evryone", "did you mean everyone?"),
      ("# alow: everyone", "did you mean allow?"), ("# Allows: everyone", "did you mean allow?"),
    ])
  func faults(line: String, hint: String) {
    folder.write("faulty", "#!/bin/sh\n" + line + "\n")
    let (names, diagnostics, _) = scan()
    #expect(names == [])
    #expect(diagnostics.first?.contains(hint) == true)
  }

  @Test("an unknown key in a NAME.conf is answered with the nearest")
  func unknownKey() {
    folder.write("tool", "#!/bin/sh\n")
    folder.write("tool.conf", "alow = everyone\n", mode: 0o644)
    #expect(scan().diagnostics == ["\(folder.path)/tool.conf: “alow” is no key: did you mean allow?"])
  }

  @Test("a NAME.conf that others may write is refused")
  func configurationMode() {
    folder.write("tool", "#!/bin/sh\n")
    folder.write("tool.conf", "allow = everyone\n", mode: 0o666)
    #expect(scan().names == [])
  }

  @Test("a folder that does not exist has no commands and no fault")
  func missing() {
    let (commands, diagnostics) = CommandsDirectory.scan(
      path: folder.path + "/none", launcher: DirectLauncher(stateBase: folder.path))
    #expect(commands.isEmpty)
    #expect(diagnostics.isEmpty)
  }

  @Test("a program that others could change since the scan is not run")
  func changed() async throws {
    let path = folder.write("tool", "#!/bin/sh\necho ran\n")
    let command = try #require(scan().commands.first)
    #expect(try await run(command).text == "ran")
    chmod(path, 0o777)
    let told = try await run(command)
    #expect(told.text == "tool: failed (it cannot be started, the log says why)")
    #expect(told.log == ["\(path): others may write \(path): chmod go-w \(path)"])
  }
}

@Suite("Units")
struct UnitsTests {
  @Test(
    "durations are read and written",
    arguments: [
      ("500ms", "500 ms"), ("20s", "20 s"), ("90s", "90 s"), ("5m", "5 min"), ("2h", "2 h"), ("90d", "2160 h"),
    ])
  func durations(text: String, shown: String) throws {
    #expect(Units.text(try #require(Units.duration(text, in: .zero ... .seconds(365 * 86_400)))) == shown)
  }

  @Test(
    "what is no duration is refused",
    arguments: [
      "", "s", "5", "-5s", "+5s", "0s", "1.5s", "5s s", "9999999999s", "366d", "999999999d", "9999999999999999999d",
      "+",
    ])
  func noDurations(text: String) {
    #expect(Units.duration(text, in: .milliseconds(1) ... .seconds(365 * 86_400)) == nil)
  }

  @Test(
    "long times are told by their two largest units",
    arguments: [
      (0, "0 s"), (59, "59 s"), (125, "2 min 5 s"), (7200, "2 h"), (90061, "1 d 1 h"),
    ])
  func approximate(seconds: Int, text: String) {
    #expect(Units.approximate(.seconds(seconds)) == text)
  }
}
