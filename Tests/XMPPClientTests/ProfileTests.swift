import Crypto
import EventLoop
import Testing
import XMPPClient
import XMPPStanzas
import XMPPTesting

@Suite("Avatar and nickname")
struct ProfileTests {
  init() { LoopThread.start() }

  private static let png: [UInt8] =
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 13] + Array("IHDR".utf8) + [0, 0, 0, 64, 0, 0, 0, 32]

  @LoopActor private func options(picture: Bool = true, nickname: String? = "Botty") throws -> SessionOptions {
    var options = try Conversation.options()
    options.avatar = picture ? try Avatar(Self.png) : nil
    options.nickname = nickname
    return options
  }

  private static let id = Hex.encode(Hash.digest(.sha1, png))

  /// The bot is online and has heard what the server can do.
  @LoopActor private func online(_ options: SessionOptions, pep: Bool) throws -> Conversation {
    let conversation = Conversation(options)
    let nick = options.nickname.map { "<nick xmlns='http://jabber.org/protocol/nick'>\($0)</nick>" } ?? ""
    let isOnline = Greeting.online.split(separator: "</status>")
    try conversation.play(isOnline[0] + "</status>" + nick + isOnline[1])
    let identity = pep ? "<identity category='pubsub' type='pep'/>" : ""
    try conversation.play(
      """
      server: <iq type='result' id='$own'><query xmlns='http://jabber.org/protocol/disco#info'>\(identity)</query></iq>
      the bot says nothing
      server: <iq type='error' id='$domain' from='example.org'><error type='cancel'>
       <service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
      """)
    return conversation
  }

  private let asks = """
    bot: <iq type='get' id='$nick'><pubsub xmlns='http://jabber.org/protocol/pubsub'>
     <items node='http://jabber.org/protocol/nick' max_items='1'/></pubsub></iq>
    bot: <iq type='get' id='$avatar'><pubsub xmlns='http://jabber.org/protocol/pubsub'>
     <items node='urn:xmpp:avatar:metadata' max_items='1'/></pubsub></iq>
    """

  @Test("what the server has not is published, the picture before the word of it (XEP-0084)")
  @LoopActor func publishes() throws {
    let conversation = try online(options(), pep: true)
    try conversation.play(asks)
    try conversation.play(
      """
      server: <iq type='error' id='$nick'><error type='cancel'>
       <item-not-found xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
      bot: <iq type='set' id='$1'><pubsub xmlns='http://jabber.org/protocol/pubsub'>
       <publish node='http://jabber.org/protocol/nick'><item id='current'>
       <nick xmlns='http://jabber.org/protocol/nick'>Botty</nick></item></publish></pubsub></iq>
      server: <iq type='result' id='$avatar'><pubsub xmlns='http://jabber.org/protocol/pubsub'>
       <items node='urn:xmpp:avatar:metadata'/></pubsub></iq>
      bot: <iq type='set' id='$2'><pubsub xmlns='http://jabber.org/protocol/pubsub'>
       <publish node='urn:xmpp:avatar:data'><item id='\(Self.id)'>
       <data xmlns='urn:xmpp:avatar:data'>\(Base64.encode(Self.png))</data></item></publish></pubsub></iq>
      the bot says nothing
      server: <iq type='result' id='$2'/>
      bot: <iq type='set' id='$3'><pubsub xmlns='http://jabber.org/protocol/pubsub'>
       <publish node='urn:xmpp:avatar:metadata'><item id='\(Self.id)'><metadata xmlns='urn:xmpp:avatar:metadata'>
       <info bytes='24' id='\(Self.id)' type='image/png' width='64' height='32'/></metadata></item></publish></pubsub></iq>
      """)
  }

  @Test("what the server has is not published again")
  @LoopActor func upToDate() throws {
    let conversation = try online(options(), pep: true)
    try conversation.play(asks)
    try conversation.play(
      """
      server: <iq type='result' id='$nick'><pubsub xmlns='http://jabber.org/protocol/pubsub'>
       <items node='http://jabber.org/protocol/nick'><item id='current'>
       <nick xmlns='http://jabber.org/protocol/nick'>Botty</nick></item></items></pubsub></iq>
      server: <iq type='result' id='$avatar'><pubsub xmlns='http://jabber.org/protocol/pubsub'>
       <items node='urn:xmpp:avatar:metadata'><item id='\(Self.id)'><metadata xmlns='urn:xmpp:avatar:metadata'>
       <info bytes='24' id='\(Self.id)' type='image/png'/></metadata></item></items></pubsub></iq>
      the bot says nothing
      """)
  }

  @Test("what is not configured is left alone")
  @LoopActor func nothing() throws {
    for pep in [true, false] {
      try online(options(picture: false, nickname: nil), pep: pep).play("the bot says nothing")
    }
  }

  @Test("a server that takes no avatar is no reason to go offline; it is told")
  @LoopActor func refused() throws {
    let conversation = try online(options(nickname: nil), pep: true)
    try conversation.play(
      """
      bot: <iq type='get' id='$avatar'><pubsub xmlns='http://jabber.org/protocol/pubsub'>
       <items node='urn:xmpp:avatar:metadata' max_items='1'/></pubsub></iq>
      server: <iq type='error' id='$avatar'><error type='auth'>
       <forbidden xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
      event: not published: the server did not take the avatar: forbidden
      """)
    #expect(conversation.session.isOnline)
  }

  @Test("a nickname and avatar that leave the configuration are taken back while the bot is online")
  @LoopActor func takenBack() throws {
    let conversation = try online(options(), pep: true)
    try conversation.play(asks)
    conversation.session.update(try options(picture: false, nickname: nil))
    try conversation.play(
      """
      bot: <presence><status>here</status><c xmlns='http://jabber.org/protocol/caps' hash='sha-1'
       node='https://example.org/bot' ver='$any'/></presence>
      bot: <iq type='get' id='$nick2'><pubsub xmlns='http://jabber.org/protocol/pubsub'>
       <items node='http://jabber.org/protocol/nick' max_items='1'/></pubsub></iq>
      bot: <iq type='get' id='$avatar2'><pubsub xmlns='http://jabber.org/protocol/pubsub'>
       <items node='urn:xmpp:avatar:metadata' max_items='1'/></pubsub></iq>
      server: <iq type='result' id='$nick2'><pubsub xmlns='http://jabber.org/protocol/pubsub'>
       <items node='http://jabber.org/protocol/nick'><item id='current'>
       <nick xmlns='http://jabber.org/protocol/nick'>Botty</nick></item></items></pubsub></iq>
      bot: <iq type='set' id='$1'><pubsub xmlns='http://jabber.org/protocol/pubsub'>
       <publish node='http://jabber.org/protocol/nick'><item id='current'>
       <nick xmlns='http://jabber.org/protocol/nick'/></item></publish></pubsub></iq>
      server: <iq type='result' id='$avatar2'><pubsub xmlns='http://jabber.org/protocol/pubsub'>
       <items node='urn:xmpp:avatar:metadata'><item id='\(Self.id)'><metadata xmlns='urn:xmpp:avatar:metadata'>
       <info bytes='24' id='\(Self.id)' type='image/png'/></metadata></item></items></pubsub></iq>
      bot: <iq type='set' id='$2'><pubsub xmlns='http://jabber.org/protocol/pubsub'>
       <publish node='urn:xmpp:avatar:metadata'><item id='current'>
       <metadata xmlns='urn:xmpp:avatar:metadata'/></item></publish></pubsub></iq>
      """)
  }

  @Test("without PEP both go into the vCard, beside what is there, and presence tells of it (XEP-0153)")
  @LoopActor func vCard() throws {
    let conversation = try online(options(), pep: false)
    try conversation.play(
      """
      bot: <iq type='get' id='$get'><vCard xmlns='vcard-temp'/></iq>
      server: <iq type='result' id='$get'><vCard xmlns='vcard-temp'><FN>The Bot</FN>
       <PHOTO><BINVAL>AAAA</BINVAL></PHOTO></vCard></iq>
      bot: <iq type='set' id='$set'><vCard xmlns='vcard-temp'><FN>The Bot</FN>
       <PHOTO><TYPE>image/png</TYPE><BINVAL>\(Base64.encode(Self.png))</BINVAL></PHOTO>
       <NICKNAME>Botty</NICKNAME></vCard></iq>
      the bot says nothing
      server: <iq type='result' id='$set'/>
      bot: <presence><status>here</status><nick xmlns='http://jabber.org/protocol/nick'>Botty</nick>
       <c xmlns='http://jabber.org/protocol/caps' hash='sha-1' node='https://example.org/bot' ver='$any'/>
       <x xmlns='vcard-temp:x:update'><photo>\(Self.id)</photo></x></presence>
      """)
  }

  @Test("a vCard that is right already is not uploaded, though its lines are broken")
  @LoopActor func vCardUpToDate() throws {
    let conversation = try online(options(nickname: nil), pep: false)
    let base64 = Base64.encode(Self.png)
    try conversation.play(
      """
      bot: <iq type='get' id='$get'><vCard xmlns='vcard-temp'/></iq>
      server: <iq type='result' id='$get'><vCard xmlns='vcard-temp'><PHOTO><BINVAL>\(base64.prefix(10))&#13;&#10; \(
        base64.dropFirst(10))</BINVAL></PHOTO></vCard></iq>
      bot: <presence><status>here</status><c xmlns='http://jabber.org/protocol/caps' hash='sha-1'
       node='https://example.org/bot' ver='$any'/><x xmlns='vcard-temp:x:update'>
       <photo>\(Self.id)</photo></x></presence>
      """)
  }

  @Test("a server that has neither PEP nor vCards is told of")
  @LoopActor func neither() throws {
    try online(options(), pep: false).play(
      """
      bot: <iq type='get' id='$get'><vCard xmlns='vcard-temp'/></iq>
      server: <iq type='error' id='$get'><error type='cancel'>
       <service-unavailable xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/></error></iq>
      event: not published: the server did not take the vCard: service-unavailable
      the bot says nothing
      """)
  }
}
