import Archive
import BotKit
import Crypto
import EventLoop
import JID
import SASL
import SQLite
import Systemd
import XMPPClient
import XMPPStanzas
import XMPPStream

/// What the archive remembers from earlier runs.
struct Memory: Sendable {
  var roster = XMPPClient.Roster()
  var floor: MechanismFloor?
  /// The same for this installation, so that a new process takes the place of the old one's session.
  var resource = ""
  /// The id of the newest message.
  var messages: Int64 = 0
  /// Messages of ours that wait to be sent, or are in doubt.
  var queued = 0
  /// The stream that may be resumed.
  var stream: SuspendedStream?
  /// Commands that an earlier process did not finish.
  var openCommands: [OpenCommand] = []
  /// Up to where the account's archive on the server is known.
  var cursor: String?
  /// The newest stamp of a server: microseconds since 1970, UTC.
  var newestStamp: Int64?
  /// What came last, oldest first: by this repetitions are known.
  var recent: [RecentMessage] = []

  /// Our places in rooms, on the stream that may be resumed.
  var rooms: [JID] = []
  /// Contacts that were told that encrypted messages can't be read.
  var toldOfEncryption: [JID] = []

  private static let recentLimit = 500

  /// Nothing.
  init() {}

  /// Reads it, and calls back on the loop.
  static func read(for parts: Daemon.Parts, done: @escaping @LoopActor (Result<Memory, ArchiveError>) -> Void) {
    let account = parts.settings.account.jid.description
    let proposed =
      MachineIdentity.applicationID().map { "xmppbotd-" + $0.prefix(8) }
      ?? "xmppbotd-" + Random.identifier(bytes: 6)
    parts.archive.write { transaction throws(DatabaseError) in
      try Memory(transaction, account: account, proposedResource: proposed)
    } completion: { result in
      LoopActor.assumeIsolated { done(result) }
    }
  }

  private init(
    _ transaction: borrowing ArchiveTransaction, account: String, proposedResource: String
  ) throws(DatabaseError) {
    messages = try transaction.queries.newestID()
    queued = try transaction.queries.queuedCount() + transaction.queries.sentCount()
    resource = try transaction.queries.meta(.resource) ?? proposedResource
    guard try transaction.queries.meta(.account) == account else {
      // Another account's roster and its server's mechanisms say nothing of this one.
      try transaction.replaceRoster([])
      for key in [MetaKey.rosterVersion, .saslFloor, .rooms] { try transaction.setMeta(key, to: nil) }
      try transaction.setStream(nil)
      try transaction.setMeta(.account, to: account)
      try transaction.setMeta(.resource, to: resource)
      return
    }
    stream = try transaction.queries.streamRecord().flatMap(SuspendedStream.init)
    rooms = (try transaction.queries.meta(.rooms) ?? "").split(separator: "\n").compactMap {
      try? JID(received: String($0))
    }
    openCommands = try transaction.queries.openCommands()
    cursor = try transaction.queries.cursor(of: account)
    newestStamp = try transaction.queries.newestStamp()
    recent = try transaction.queries.recentIncoming(limit: Self.recentLimit)
    toldOfEncryption = try transaction.queries.recentRecipients(of: Router.encryptedText).compactMap { try? JID($0) }
    floor = try transaction.queries.meta(.saslFloor).flatMap(MechanismFloor.init(rawValue:))
    roster = XMPPClient.Roster(
      items: try transaction.queries.roster().compactMap(RosterItem.init),
      version: try transaction.queries.meta(.rosterVersion))
  }
}

extension SuspendedStream {
  init?(_ record: StreamRecord) {
    guard let jid = try? JID(record.jid), jid.isFull else { return nil }
    self.init(
      id: record.id, jid: jid, location: record.location, handled: record.handled, trustsAccountIDs: record.trustsIDs,
      sent: record.sent.map { .init(count: $0.count, last: $0.last) })
  }
}

extension ArchiveGate {
  /// Keeps what the stream can be resumed by; nil: nothing.
  func keep(_ stream: SuspendedStream?) {
    let record = stream.map {
      StreamRecord(
        id: $0.id, jid: $0.jid.description, location: $0.location, handled: $0.handled,
        sent: $0.sent.map { .init(count: $0.count, last: $0.last) }, trustsIDs: $0.trustsAccountIDs)
    }
    write { transaction throws(DatabaseError) in try transaction.setStream(record) }
  }

  /// Keeps the roster as it now is, so that after a restart only what changed need be sent (RFC 6121 section 2.6).
  func keep(_ roster: XMPPClient.Roster, _ change: XMPPClient.Roster.Change) {
    write { transaction throws(DatabaseError) in
      switch change {
      case .replaced: try transaction.replaceRoster(roster.items.values.compactMap(RosterEntry.init))
      case .updated(let item):
        if let entry = RosterEntry(item) { try transaction.upsertRoster(entry) }
      case .removed(let jid): try transaction.deleteRoster(jid: jid.description)
      }
      try transaction.setMeta(.rosterVersion, to: roster.version)
    }
  }
}

extension RosterItem {
  init?(_ entry: RosterEntry) {
    guard let jid = try? JID(entry.jid) else { return nil }
    self.init(
      jid: jid, name: entry.name, subscription: Subscription(rawValue: entry.subscription.rawValue) ?? .none,
      isPending: entry.ask, groups: entry.groups)
  }
}

extension RosterEntry {
  init?(_ item: RosterItem) {
    guard let subscription = Subscription(rawValue: item.subscription.rawValue) else { return nil }
    self.init(
      jid: item.jid.description, name: item.name, subscription: subscription, ask: item.isPending, groups: item.groups)
  }
}

/// What logins are made of, and what they leave: the strongest mechanism seen goes into the archive, derived keys stay in
/// memory.
@LoopActor
final class CredentialKeeper {
  var password: SecretBytes
  private var floor: MechanismFloor?
  private var saltedPassword: SaltedPassword?
  private let gate: ArchiveGate

  init(password: SecretBytes, floor: MechanismFloor?, gate: ArchiveGate) {
    self.password = password
    self.floor = floor
    self.gate = gate
  }

  var current: XMPPStream.Credentials {
    XMPPStream.Credentials(password: password, floor: floor, saltedPassword: saltedPassword) {
      Base64.encode(Random.bytes(18))
    }
  }

  /// The next login may be weaker than those before. The archive still has to be told.
  func forgetMechanism() { floor = nil }

  func remember(_ login: Login) {
    saltedPassword = login.saltedPassword
    guard login.floor != floor else { return }
    floor = login.floor
    gate.write { transaction throws(DatabaseError) in
      try transaction.setMeta(.saslFloor, to: login.floor.rawValue)
    }
  }
}
