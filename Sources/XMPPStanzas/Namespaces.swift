/// The namespaces that the bot speaks, each with the document that defines it.
public enum Namespace {
  // RFC 6120: Core
  public static let stream = "http://etherx.jabber.org/streams"
  public static let client = "jabber:client"
  public static let streamErrors = "urn:ietf:params:xml:ns:xmpp-streams"
  public static let stanzaErrors = "urn:ietf:params:xml:ns:xmpp-stanzas"
  public static let tls = "urn:ietf:params:xml:ns:xmpp-tls"
  public static let sasl = "urn:ietf:params:xml:ns:xmpp-sasl"
  public static let bind = "urn:ietf:params:xml:ns:xmpp-bind"
  // RFC 3921, which RFC 6121 replaced: servers of its time want a session established after binding.
  public static let session = "urn:ietf:params:xml:ns:xmpp-session"
  // RFC 6121: Instant Messaging and Presence
  public static let roster = "jabber:iq:roster"
  public static let rosterVersioning = "urn:xmpp:features:rosterver"
  /// XEP-0004: Data Forms
  public static let dataForms = "jabber:x:data"
  /// XEP-0012: Last Activity
  public static let lastActivity = "jabber:iq:last"
  /// XEP-0030: Service Discovery
  public static let discoInfo = "http://jabber.org/protocol/disco#info"
  public static let discoItems = "http://jabber.org/protocol/disco#items"
  /// XEP-0045: Multi-User Chat
  public static let muc = "http://jabber.org/protocol/muc"
  public static let mucUser = "http://jabber.org/protocol/muc#user"
  public static let mucOwner = "http://jabber.org/protocol/muc#owner"
  /// XEP-0050: Ad-Hoc Commands
  public static let commands = "http://jabber.org/protocol/commands"
  /// XEP-0054: vcard-temp
  public static let vCard = "vcard-temp"
  /// XEP-0059: Result Set Management
  public static let resultSet = "http://jabber.org/protocol/rsm"
  /// XEP-0060: Publish-Subscribe
  public static let pubsub = "http://jabber.org/protocol/pubsub"
  public static let pubsubEvent = "http://jabber.org/protocol/pubsub#event"
  /// XEP-0066: Out of Band Data
  public static let outOfBand = "jabber:x:oob"
  /// XEP-0077: In-Band Registration
  public static let register = "jabber:iq:register"
  public static let registerFeature = "http://jabber.org/features/iq-register"
  /// XEP-0084: User Avatar
  public static let avatarData = "urn:xmpp:avatar:data"
  public static let avatarMetadata = "urn:xmpp:avatar:metadata"
  /// XEP-0085: Chat State Notifications
  public static let chatStates = "http://jabber.org/protocol/chatstates"
  /// XEP-0092: Software Version
  public static let version = "jabber:iq:version"
  /// XEP-0115: Entity Capabilities
  public static let caps = "http://jabber.org/protocol/caps"
  /// XEP-0153: vCard-Based Avatars
  public static let vCardUpdate = "vcard-temp:x:update"
  /// XEP-0172: User Nickname
  public static let nickname = "http://jabber.org/protocol/nick"
  /// XEP-0184: Message Delivery Receipts
  public static let receipts = "urn:xmpp:receipts"
  /// XEP-0199: XMPP Ping
  public static let ping = "urn:xmpp:ping"
  /// XEP-0202: Entity Time
  public static let time = "urn:xmpp:time"
  /// XEP-0203: Delayed Delivery
  public static let delay = "urn:xmpp:delay"
  /// XEP-0198: Stream Management
  public static let streamManagement = "urn:xmpp:sm:3"
  /// XEP-0280: Message Carbons
  public static let carbons = "urn:xmpp:carbons:2"
  /// XEP-0297: Stanza Forwarding
  public static let forward = "urn:xmpp:forward:0"
  /// XEP-0308: Last Message Correction
  public static let correct = "urn:xmpp:message-correct:0"
  /// XEP-0313: Message Archive Management
  public static let archive = "urn:xmpp:mam:2"
  /// XEP-0333: Displayed Markers
  public static let markers = "urn:xmpp:chat-markers:0"
  /// XEP-0334: Message Processing Hints
  public static let hints = "urn:xmpp:hints"
  /// XEP-0359: Unique and Stable Stanza IDs
  public static let stanzaID = "urn:xmpp:sid:0"
  /// XEP-0363: HTTP File Upload
  public static let upload = "urn:xmpp:http:upload:0"
  /// XEP-0380: Explicit Message Encryption
  public static let explicitEncryption = "urn:xmpp:eme:0"
  /// XEP-0421: Occupant identifiers
  public static let occupantID = "urn:xmpp:occupant-id:0"
  /// XEP-0424: Message Retraction
  public static let retract = "urn:xmpp:message-retract:1"
  /// XEP-0440: SASL Channel-Binding Type Capability
  public static let channelBinding = "urn:xmpp:sasl-cb:0"
  /// XEP-0444: Message Reactions
  public static let reactions = "urn:xmpp:reactions:0"
  /// XEP-0461: Message Replies
  public static let reply = "urn:xmpp:reply:0"
  /// XEP-0478: Stream Limits Advertisement
  public static let streamLimits = "urn:xmpp:stream-limits:0"
  /// XEP-0506: No-reply JIDs
  public static let noReply = "urn:xmpp:noreply:0"
}
