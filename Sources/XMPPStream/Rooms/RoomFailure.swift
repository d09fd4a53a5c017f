import XMPPStanzas

/// Why the bot is not in a room, what to do about it, and how soon it may try again.
public struct RoomFailure: Error, Sendable, Hashable, CustomStringConvertible {
  /// XEP-0045, section 7.2 (what refuses an entry) and sections 8 to 10 (what ends a stay).
  public enum Cause: Sendable, Hashable {
    case wrongPassword, banned, membersOnly, nickTaken, nickRefused, notFound, mayNotCreate, full, gone
    case serverNotFound, serverSilent, noAnswer, refused
    case kicked, removed, shutDown, technical, destroyed, ended
  }

  /// How long to wait before the room is tried again.
  enum Patience {
    /// It heals by itself: from 15 seconds on, twice as long each time, ten minutes at most.
    case short
    /// Somebody has done it, or must do something about it: from a minute on, twice as long each time, an hour at most.
    case long
    /// An hour.
    case utmost

    func delay(afterFailures count: Int) -> Duration {
      switch self {
      case .short: .seconds(min(600, 15 << min(count, 6)))
      case .long: .seconds(min(3_600, 60 << min(count, 6)))
      case .utmost: .seconds(3_600)
      }
    }
  }

  public var cause: Cause
  /// What the room says about it, made harmless.
  public var detail: String?

  public init(_ cause: Cause, _ detail: String? = nil) {
    self.cause = cause
    self.detail = detail.flatMap(Self.harmless)
  }

  /// The answer to a request to enter.
  init(_ error: StanzaError) {
    let cause: Cause =
      switch error.condition {
      case .notAuthorized: .wrongPassword
      case .forbidden: .banned
      case .registrationRequired, .subscriptionRequired: .membersOnly
      case .conflict: .nickTaken
      case .notAcceptable, .jidMalformed: .nickRefused
      case .itemNotFound: .notFound
      case .notAllowed: .mayNotCreate
      case .serviceUnavailable, .resourceConstraint: .full
      case .gone, .redirect: .gone
      case .remoteServerNotFound: .serverNotFound
      case .remoteServerTimeout: .serverSilent
      case .recipientUnavailable, .internalServerError: .technical
      default: .refused
      }
    self.init(cause, cause == .refused ? error.description : error.text)
  }

  /// Our own presence has ended.
  init(end user: RoomUser) {
    if let destroyed = user.destroyed {
      let place = destroyed.alternative.map { "its place is taken by \($0)" }
      self.init(.destroyed, [destroyed.reason, place].compactMap(\.self).joined(separator: "; "))
      return
    }
    let causes: [(Int, Cause)] = [
      (RoomUser.Status.banned, .banned), (RoomUser.Status.shutDown, .shutDown),
      (RoomUser.Status.technical, .technical), (RoomUser.Status.affiliationLost, .removed),
      (RoomUser.Status.membersOnly, .removed), (RoomUser.Status.kicked, .kicked),
    ]
    let cause = causes.first { user.status.contains($0.0) }?.1 ?? .ended
    let by = user.actor.map { "by \($0)" }
    self.init(cause, [by, user.reason].compactMap(\.self).joined(separator: ": "))
  }

  var patience: Patience {
    switch cause {
    case .serverSilent, .serverNotFound, .noAnswer, .shutDown, .technical, .ended: .short
    case .kicked, .full, .nickTaken, .notFound, .membersOnly, .removed, .mayNotCreate, .destroyed, .refused: .long
    case .banned, .wrongPassword, .nickRefused, .gone: .utmost
    }
  }

  /// Waiting alone may end it: no message that waits for the room need be given up.
  public var mayHeal: Bool {
    switch patience {
    case .short: true
    case .long, .utmost: cause == .kicked || cause == .full
    }
  }

  /// Why, without what the room says about it.
  public var reason: String {
    switch cause {
    case .wrongPassword: "it wants a password, and not the one that the bot has"
    case .banned: "the bot is banned there, or its account may not enter"
    case .membersOnly: "it is for members only"
    case .nickTaken: "the nickname is taken, and those like it, too"
    case .nickRefused: "it refuses the nickname"
    case .notFound: "there is no such room, or it is locked"
    case .mayNotCreate: "there is no such room, and the bot may not make it"
    case .full: "it is full, or its service is not available"
    case .gone: "it is gone from this address"
    case .serverNotFound: "its server is not found"
    case .serverSilent: "its server can't be reached"
    case .noAnswer: "it does not answer"
    case .refused: "it refuses"
    case .kicked: "the bot was kicked"
    case .removed: "the room is for members, and the bot is none (any more)"
    case .shutDown: "its service was shut down"
    case .technical: "its service has lost the bot"
    case .destroyed: "it was destroyed"
    case .ended: "the stay has ended, and the room does not say why"
    }
  }

  public var remedy: String {
    switch cause {
    case .wrongPassword: "put the room's password into the file that password-file in its section names, and reload"
    case .banned: "ask an admin of the room to lift the ban, or remove its section"
    case .membersOnly, .removed: "ask an admin of the room to make the bot's address a member, or remove its section"
    case .nickTaken: "choose another nick in the room's section"
    case .nickRefused: "write the nick that is reserved for the bot there, or another one, into the room's section"
    case .notFound: "compare the address in the section's name; if it is right, the room must be made or unlocked first"
    case .mayNotCreate:
      "compare the address in the section's name; if it is right, have the room made by somebody who may"
    case .full: "nothing, or ask an admin of the room for more places"
    case .gone: "ask where it went, and write the new address into the section's name"
    case .serverNotFound: "compare the domain in the section's name; if it is right, it may be down"
    case .serverSilent, .noAnswer, .shutDown, .technical, .ended: "nothing: the bot tries again"
    case .refused: "ask an admin of the room"
    case .kicked: "ask an admin of the room what the bot did wrong, or remove its section"
    case .destroyed: "remove its section; if the room is made again, the bot enters it"
    }
  }

  /// What happened to somebody else, in few words.
  var wordsOfOthers: String {
    let what =
      switch cause {
      case .banned: "banned"
      case .kicked: "kicked"
      case .removed: "not a member"
      default: "the connection was lost"
      }
    return what + (detail.map { " (\($0))" } ?? "")
  }

  public var description: String { reason + (detail.map { " (\($0))" } ?? "") }

  /// Text that others have a hand in, for logs and tables: one line, and a short one; nil when nothing is left.
  static func harmless(_ text: String) -> String? {
    var clean = ""
    for scalar in text.unicodeScalars.prefix(200) {
      clean.unicodeScalars.append(scalar.properties.generalCategory.isText ? scalar : " ")
    }
    let words = clean.split(separator: " ").joined(separator: " ")
    return words.isEmpty ? nil : words
  }
}

extension Unicode.GeneralCategory {
  /// It is seen, and moves nothing about.
  fileprivate var isText: Bool {
    switch self {
    case .control, .format, .surrogate, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse: false
    default: true
    }
  }
}
