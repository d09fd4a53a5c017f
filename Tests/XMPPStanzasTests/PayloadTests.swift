import Crypto
import JID
import Testing
import XML
import XMPPStanzas

@Suite("Payloads")
struct PayloadTests {
  // MARK: - Service discovery, capabilities

  @Test("the simple example of XEP-0115 section 5.2 has its hash")
  func capsExample() {
    let info = DiscoInfo(
      identities: [.init(category: "client", type: "pc", name: "Exodus 0.9.1")],
      features: [
        "http://jabber.org/protocol/caps", "http://jabber.org/protocol/disco#info",
        "http://jabber.org/protocol/disco#items", "http://jabber.org/protocol/muc",
      ])
    let caps = Caps(node: "http://code.google.com/p/exodus", info: info)
    #expect(caps.verification == "QgayPKawpkPSDYmwT/WM94uAlu0=")
    #expect(caps.discoNode == "http://code.google.com/p/exodus#QgayPKawpkPSDYmwT/WM94uAlu0=")
  }

  @Test("features and identities are sorted by bytes, not as people sort")
  func capsOrder() {
    func verification(_ identities: [DiscoInfo.Identity], _ features: Set<String>) -> String {
      Caps(node: "n", info: DiscoInfo(identities: identities, features: features)).verification
    }
    let bot = DiscoInfo.Identity(category: "client", type: "bot", name: "é")
    let pc = DiscoInfo.Identity(category: "client", type: "Pc")
    let expected = Base64.encode(
      Hash.digest(.sha1, Array("client/Pc//<client/bot//é<B<a<\u{FF21}<\u{1F600}<".utf8)))
    #expect(verification([bot, pc], ["\u{1F600}", "a", "\u{FF21}", "B"]) == expected)
    #expect(verification([pc, bot], ["B", "\u{FF21}", "a", "\u{1F600}"]) == expected)
  }

  @Test("disco information is read and written")
  func disco() throws {
    let info = DiscoInfo(
      node: "n", identities: [.init(category: "pubsub", type: "pep"), .init(category: "account", type: "registered")],
      features: ["b", "a"])
    #expect(DiscoInfo(try Element(parsing: info.element.xml)) == info)
    #expect(info.has(identity: "pubsub", "pep"))
    #expect(!info.has(identity: "pubsub", "registered"))
    #expect(DiscoInfo(Element("query", Namespace.discoItems)) == nil)
  }

  // MARK: - Roster

  @Test("a roster is read; items without a good address are left out, resources are cut off")
  func roster() throws {
    let query = try #require(
      RosterQuery(
        Element(
          parsing: """
            <query xmlns='jabber:iq:roster' ver='7'>
            <item jid='Alice@Example.org/x' name='A' subscription='both'><group>g1</group><group>g2</group></item>
            <item jid='bob@example.org' ask='subscribe' subscription='mad'/><item jid='@'/><item/>
            <other jid='eve@evil.example'/><item xmlns='other' jid='eve@evil.example'/></query>
            """)))
    #expect(query.version == "7")
    #expect(
      try query.items == [
        RosterItem(jid: JID("alice@example.org"), name: "A", subscription: .both, groups: ["g1", "g2"]),
        RosterItem(jid: JID("bob@example.org"), isPending: true),
      ])
  }

  @Test("a set tells name and groups, and of the subscription only that the item goes")
  func rosterSet() throws {
    let alice = try JID("alice@example.org")
    let set = RosterQuery(items: [
      RosterItem(jid: alice, name: "A", subscription: .both, isPending: true, groups: ["g"])
    ])
    #expect(
      set.element.xml
        == "<query xmlns='jabber:iq:roster'><item jid='alice@example.org' name='A'><group>g</group></item></query>")
    let removal = RosterQuery(items: [RosterItem(jid: alice, subscription: .remove)])
    #expect(
      removal.element.xml
        == "<query xmlns='jabber:iq:roster'><item jid='alice@example.org' subscription='remove'/></query>")
  }

  // MARK: - Avatar

  private static let pngStart: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]

  @Test("a PNG is known by its first bytes and tells its size")
  func png() throws {
    let header = Self.pngStart + [0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 1, 2, 0, 0, 0, 7]
    let avatar = try Avatar(header)
    #expect(avatar.type == .png)
    #expect(avatar.size?.width == 258 && avatar.size?.height == 7)
    #expect(avatar.id == Hex.encode(Hash.digest(.sha1, header)))
    #expect(Avatar.id(inMetadata: avatar.metadata) == avatar.id)
    #expect(Base64.decode(avatar.data.text) == header)
    #expect(Avatar.id(inMetadata: Avatar.none) == nil)
  }

  @Test(
    "a PNG that is cut off or of a senseless size has none",
    arguments: [
      [], [0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 1],
      [0, 0, 0, 13] + Array("IDAT".utf8) + [0, 0, 0, 1, 0, 0, 0, 1],
      [0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 0, 0, 0, 0, 0, 1],
      [0, 0, 0, 13] + Array("IHDR".utf8) + [255, 255, 255, 255, 0, 0, 0, 1],
    ] as [[UInt8]])
  func brokenPNG(_ rest: [UInt8]) throws {
    let avatar = try Avatar(Self.pngStart + rest)
    #expect(avatar.size == nil)
    #expect(avatar.metadata.child("info", Namespace.avatarMetadata)?["width"] == nil)
  }

  @Test("a JPEG is one; what is no picture, empty or too large is refused with a reason")
  func types() throws {
    #expect(try Avatar([0xFF, 0xD8, 0xFF, 0xE0]).type == .jpeg)
    #expect(throws: AvatarError.empty) { try Avatar([]) }
    #expect(throws: AvatarError.unknownType) { try Avatar(Array("<svg/>".utf8)) }
    #expect(throws: AvatarError.unknownType) { try Avatar([0xFF, 0xD8]) }
    #expect(throws: AvatarError.tooLarge(65_537)) {
      try Avatar(Self.pngStart + [UInt8](repeating: 0, count: 65_537 - 8))
    }
    #expect(throws: Never.self) { try Avatar(Self.pngStart + [UInt8](repeating: 0, count: 65_536 - 8)) }
    #expect(AvatarError.tooLarge(65_537).description.contains("65536"))
  }

  // MARK: - Nodes, vCard

  @Test("only the node that was asked for answers")
  func nodes() throws {
    let answer = try Element(
      parsing: """
        <pubsub xmlns='http://jabber.org/protocol/pubsub'><items node='n'><item id='1'>
        <nick xmlns='http://jabber.org/protocol/nick'>B</nick></item></items></pubsub>
        """)
    #expect(PubSub.payload(in: answer, of: "n").flatMap(Nickname.name) == "B")
    #expect(PubSub.payload(in: answer, of: "m") == nil)
    #expect(PubSub.payload(in: nil, of: "n") == nil)
    #expect(PubSub.payload(in: PubSub.newestItem(of: "n"), of: "n") == nil)
  }

  @Test("of a vCard only picture and nickname change")
  func vCard() throws {
    var card = try #require(
      VCard(
        Element(
          parsing: """
            <vCard xmlns='vcard-temp'><FN>F</FN><NICKNAME>old</NICKNAME><PHOTO><EXTVAL>http://x</EXTVAL></PHOTO>\
            <PHOTO><BINVAL>!!</BINVAL></PHOTO></vCard>
            """)))
    #expect(card.nickname == "old" && card.photoID == nil)
    let avatar = try Avatar([0xFF, 0xD8, 0xFF, 0xE0])
    card.set(avatar)
    card.set(nickname: "new")
    #expect(card.photoID == avatar.id && card.nickname == "new")
    #expect(card.element.elements.map(\.name) == ["FN", "PHOTO", "NICKNAME"])
    card.set(nil)
    card.set(nickname: nil)
    #expect(card.element.elements.map(\.name) == ["FN"])
    #expect(VCard(Element("vCard", "other")) == nil)
  }
}
