import JSON
import Testing

extension SystemTests {
  @Suite("What others ask the bot's client")
  struct QueryTests {
    @Test(
      "ping, version, time, last activity and disco are answered, all else refused", arguments: Server.Kind.allCases)
    func answers(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server).startOnline()
      let alice = try bot.peer(on: server)
      // ejabberd lets only contacts ask for the last activity.
      alice.tell("subscribe \(bot.account.jid)")
      _ = try alice.presence("")
      #expect(try alice.query("ping")["type"] == "result")
      let version = try alice.query("version")
      #expect(version["name"] == "xmppbotd" && version["version"] != "")
      let time = try alice.query("time")
      #expect(time["utc"]?.stringValue?.hasPrefix("20") == true && time["tzo"] != nil)
      let last = try alice.query("last")
      #expect(last["seconds"] == 0, "\(last)")
      let disco = try alice.query("disco")
      #expect(disco["identities"]?[0]?.arrayValue?.prefix(2) == ["client", "bot"])
      let features = Set(disco["features"]?.arrayValue?.compactMap(\.stringValue) ?? [])
      #expect(
        features.isSuperset(of: [
          "urn:xmpp:ping", "jabber:iq:version", "urn:xmpp:time", "jabber:iq:last",
          "http://jabber.org/protocol/disco#info",
        ]))
      for payload in ["<query xmlns='jabber:iq:private'/>", "<secret xmlns='urn:example:unknown'/>"] {
        let refusal = try alice.query("request", payload)
        #expect(refusal["type"] == "error" && refusal["condition"] == "service-unavailable")
      }
    }

    @Test("the hash in the bot's presence is the one of what it tells", arguments: Server.Kind.allCases)
    func capabilities(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server).startOnline()
      let alice = try bot.peer(on: server)
      alice.tell("subscribe \(bot.account.jid)")
      let presence = try alice.presence("")
      let node = presence["caps"]?["node"]?.stringValue ?? ""
      let hash = presence["caps"]?["ver"]?.stringValue ?? ""
      #expect(presence["caps"]?["hash"] == "sha-1")
      let answer = try alice.query(
        "request", "<query xmlns='http://jabber.org/protocol/disco#info' node='\(node)#\(hash)'/>")
      #expect(answer["type"] == "result")
      // XEP-0115 section 5.1, computed by other hands.
      let disco = try alice.query("disco")
      let features = (disco["features"]?.arrayValue?.compactMap(\.stringValue) ?? []).sorted()
      let name = disco["identities"]?[0]?[3]?.stringValue ?? ""
      let text = "client/bot//\(name)<" + features.map { $0 + "<" }.joined()
      let computed = try Program.run([
        "/bin/sh", "-c", "printf %s \"$1\" | openssl dgst -sha1 -binary | base64", "sh", text,
      ])
      #expect(computed == hash + "\n")
    }
  }
}
