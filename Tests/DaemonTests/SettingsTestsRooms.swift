import Configuration
import JID
import Testing
import XMPPStream

@testable import Daemon

@Suite("Settings of rooms")
struct SettingsTestsRooms {
  private func settings(_ text: String, account: String = "jid = robot@example.org") throws -> Settings {
    try Settings.parse("[account]\n\(account)\n\(text)", environment: serviceEnvironment)
  }

  private func problems(_ text: String) -> [String] {
    do throws(ConfigurationProblems) {
      _ = try Settings.parse("[account]\njid = robot@example.org\n\(text)", environment: serviceEnvironment)
      return []
    } catch {
      return error.diagnostics.map(\.description)
    }
  }

  @Test("a section is a room, with the bot's nickname or the first part of its address")
  func defaults() throws {
    let room = try #require(try settings("[room OPS@Conference.example.org]\n").rooms.first)
    #expect(room == .init(jid: try JID("ops@conference.example.org"), nick: nil, passwordFile: nil, prefix: "!"))
    let plain = try RoomEntry.all(try settings("[room ops@conference.example.org]\n"))
    #expect(plain.map(\.nick) == ["robot"] && plain.map(\.purpose) == [.configured])
    let named = try RoomEntry.all(
      try settings("[room ops@conference.example.org]\n", account: "jid = robot@example.org\nnickname = Robby"))
    #expect(named.map(\.nick) == ["Robby"])
    let own = try RoomEntry.all(try settings("[room ops@conference.example.org]\nnick = Bot 7\nprefix = %\n"))
    #expect(own.map(\.nick) == ["Bot 7"])
  }

  @Test(
    "what is no room, or twice the same, is an error",
    arguments: [
      ("[room conference.example.org]\n", "names no room"), ("[room ops@conference.example.org/bot]\n", "has a slash"),
      ("[room ops@@x]\n", "is no address"), ("[room a@b.org]\nprefix = two words\n", "more than one word"),
      ("[room a@b.org]\n[room A@B.org]\n", "has a section already"),
      ("[room Robot@example.org]\n", "is the bot's own address"),
      ("[group admins]\nmember = a@b.org\n[room A@B.org]\n", "is a member of [group admins]"),
      ("[room a@b.org]\nnick = a\u{200b}\n", "is no name for a room"),
    ])
  func mistakes(_ text: String, _ problem: String) {
    let found = problems(text)
    #expect(found.count == 1)
    #expect(found.first?.contains(problem) == true)
  }

  @Test("a password comes from a file that others can't read")
  func password() throws {
    let scratch = try Scratch()
    let path = scratch.file("ops.password")
    let settings = try settings("[room ops@conference.example.org]\npassword-file = \(path)\n")
    #expect(throws: ConfigurationProblems.self) { try RoomEntry.all(settings) }
    try scratch.write("sesame\n", to: "ops.password", mode: 0o644)
    #expect(throws: ConfigurationProblems.self) { try RoomEntry.all(settings) }
    try scratch.write("sesame\n", to: "ops.password", mode: 0o600)
    #expect(try RoomEntry.all(settings).map(\.password) == ["sesame"])
  }
}
