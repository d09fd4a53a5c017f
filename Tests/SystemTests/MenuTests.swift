import Glibc
import JSON
import Testing

extension SystemTests {
  @Suite("Menus")
  struct MenuTests {
    private static let deploy = """
      # description: Deploy a release
      # allow: everyone
      # field: service choice web|db required "Which service"
      # field: notes lines "What changed"
      for argument; do echo "[$argument]"; done
      """

    /// One step of a command, as the peer's client takes it.
    private func menu(_ peer: Peer, _ step: String) throws -> JSON { try peer.query("menu", step) }

    @Test("a client lists the commands, fills in a form, and reads the answer", arguments: Server.Kind.allCases)
    func form(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server)
      try bot.addCommand("deploy", Self.deploy)
      try bot.addCommand("secret", "echo secret")
      try bot.startOnline()
      let alice = try bot.peer(on: server)

      let list = try alice.query("commands")["commands"]
      #expect(list?["deploy"] == "Deploy a release")
      #expect(list?["secret"] == nil)
      #expect(try menu(alice, #"{"node": "secret"}"#)["condition"] == "item-not-found")

      let page = try menu(alice, #"{"node": "deploy"}"#)
      let session = try #require(page["sessionid"]?.stringValue)
      #expect(page["status"] == "executing")
      #expect(page["fields"]?["service"]?["type"] == "list-single")
      #expect(page["fields"]?["service"]?["options"] == ["web", "db"])

      let again = try menu(
        alice, #"{"node": "deploy", "sessionid": "\#(session)", "action": "complete", "fields": {"service": "x"}}"#)
      #expect(again["notes"] == ["Which service: choose one of web, db."])
      let done = try menu(
        alice,
        #"{"node": "deploy", "sessionid": "\#(session)", "action": "complete", "fields": {"service": "web", "notes": "it's\nnew"}}"#
      )
      #expect(done["status"] == "completed")
      #expect(done["fields"]?["answer"]?["value"] == "[web]\n[it's\nnew]")

      let rows = try bot.rows("SELECT direction, kind, body FROM message ORDER BY id")
      #expect(
        rows == [
          ["direction": "in", "kind": "normal", "body": "deploy web 'it'\\''s\nnew'"],
          ["direction": "out", "kind": "chat", "body": "[web]\n[it's\nnew]"],
        ])
      #expect(try bot.rows("SELECT name, outcome FROM commands") == [["name": "deploy", "outcome": "done"]])
      #expect(alice.events("message").allSatisfy { $0["body"] == "" })
    }

    @Test("another device can't go on with a session, and cancel ends it", arguments: Server.Kind.allCases)
    func sessions(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server)
      try bot.addCommand("deploy", Self.deploy)
      try bot.startOnline()
      let phone = try bot.peer(on: server)
      let laptop = try Peer(phone.account, on: server, talkingTo: bot, resource: "laptop")
      let session = try menu(phone, #"{"node": "deploy"}"#)["sessionid"]?.stringValue ?? ""
      let submit = #"{"node": "deploy", "sessionid": "\#(session)", "fields": {"service": "web"}}"#
      #expect(try menu(laptop, submit)["condition"] == "not-allowed")
      let cancel = #"{"node": "deploy", "sessionid": "\#(session)", "action": "cancel"}"#
      #expect(try menu(phone, cancel)["status"] == "canceled")
      #expect(try menu(phone, submit)["condition"] == "not-allowed")
      #expect(try bot.rows("SELECT id FROM message").isEmpty)
    }

    @Test("a command that was cut short by a kill is answered with a message after the restart")
    func killed() throws {
      let server = try Server.shared(.prosody)
      let bot = try Bot(on: server)
      try bot.addCommand("sleep", "# allow: everyone\necho begun >&2\nexec sleep 60")
      try bot.startOnline()
      let alice = try bot.peer(on: server)
      alice.tell(#"menu \#(bot.fullJID) {"node": "sleep"}"#)
      try bot.logged("begun")
      bot.signal(SIGKILL)
      _ = try bot.exit()
      try bot.startOnline()
      #expect(try alice.message().hasPrefix("sleep: interrupted, I was restarted while it ran."))
    }
  }
}
