import JID
import Testing
import XML
import XMPPStanzas

@Suite("Reactions (XEP-0444)")
struct ReactionTests {
  @Test("the example of section 3.2 is read")
  func read() throws {
    let message = try message(
      """
      <message to='romeo@capulet.net/orchard' id='96d73204-a57a-11e9-88b8-4889e7820c76' type='chat'>
       <reactions id='744f6e18-a57a-11e9-a656-4889e7820c76' xmlns='urn:xmpp:reactions:0'>
       <reaction>👋</reaction><reaction>🐢</reaction></reactions><store xmlns='urn:xmpp:hints'/></message>
      """)
    #expect(message.reactions == Reactions(to: "744f6e18-a57a-11e9-a656-4889e7820c76", ["👋", "🐢"]))
    #expect(message.body == nil)
  }

  @Test("what is no emoji, or comes twice, is passed over; none is a reaction, too; without an id it is none")
  func odd() throws {
    let many = (0..<100).map { "<reaction>\($0)</reaction>" }.joined()
    func reactions(_ xml: String) throws -> Reactions? {
      try message("<message><reactions xmlns='urn:xmpp:reactions:0' \(xml)</reactions></message>").reactions
    }
    #expect(try reactions("id='a'><reaction>👍</reaction><reaction>👍</reaction><reaction/>")?.emoji == ["👍"])
    #expect(try reactions("id='a'><reaction>two words</reaction><other>x</other>")?.emoji == [])
    #expect(try reactions("id='a'>\(many)")?.emoji.count == 32)
    #expect(try reactions("id='a'><reaction>\(String(repeating: "x", count: 200))</reaction>")?.emoji == [])
    #expect(try reactions("><reaction>👍</reaction>") == nil)
  }

  @Test("ours is to be stored, and asks for nothing")
  func written() throws {
    var message = Message(.chat, to: try JID("alice@example.org/phone"), id: "r1")
    message.reactions = Reactions(to: "m1", ["👍"])
    #expect(
      message.element.xml
        == "<message xmlns='jabber:client' type='chat' to='alice@example.org/phone' id='r1'>"
        + "<reactions xmlns='urn:xmpp:reactions:0' id='m1'><reaction>👍</reaction></reactions>"
        + "<store xmlns='urn:xmpp:hints'/></message>")
  }
}
