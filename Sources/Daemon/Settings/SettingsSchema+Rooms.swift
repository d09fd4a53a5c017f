import BotKit
import Configuration
import Crypto
import JID
import XMPPStream

extension SettingsSchema {
  enum Room {
    static let nick = Key(
      "nick", .nick, otherwise: "the nickname in [account], else the part of its jid before the @",
      "The bot's name in the room.")
    static let passwordFile = Key(
      "password-file", .path, "A file that holds the room's password and that only its owner can read.")
    static let prefix = Key(
      "prefix", .word, default: Settings.Room.usualPrefix,
      "With what a command begins in the room; the bot's nick and a colon will do, too.")

    static let section = Schema.Section(
      "room", argument: "JID", argumentKind: .roomAddress, "A room that the bot is to be in.",
      keys: [nick.description, passwordFile.description, prefix.description])
  }
}

extension Settings {
  /// `[room JID]`
  public struct Room: Sendable, Hashable {
    public static let usualPrefix = "!"

    /// Bare, normalised.
    public var jid: JID
    /// Nil: the usual one.
    public var nick: String?
    /// Nil: the room has no password.
    public var passwordFile: String?
    public var prefix: String
  }

  /// The bot's nickname in rooms whose section names none.
  public var usualNick: String {
    for name in [account.nickname, account.jid.local] {
      if let name, let place = try? account.jid.server.with(resource: name), let nick = place.resource { return nick }
    }
    return "bot"
  }
}

extension SettingsReader {
  mutating func rooms(account: JID?, groups: [Settings.Group]) -> [Settings.Room] {
    var known: Set<JID> = []
    return document.sections("room").compactMap { section in
      guard let name = section.name, let jid = try? JID(name),
        let prefix = section.value(of: SettingsSchema.Room.prefix)
      else { return nil }
      guard known.insert(jid).inserted else {
        report(section, "", "\(section.title) is the room \(jid), which has a section already", "keep one of the two")
        return nil
      }
      // What comes from a room comes from its occupants: the owner of the address would have no rights any more.
      if let account, jid.isSameAccount(as: account) {
        report(section, "", "\(section.title) is the bot's own address", "write the address of a room")
        return nil
      }
      if let group = groups.first(where: { $0.members.contains(.address(jid)) }) {
        report(
          section, "", "\(section.title) is no room: the address is a member of [group \(group.name)]",
          "write the address of a room, or take it out of the group")
        return nil
      }
      return Settings.Room(
        jid: jid, nick: section.value(of: SettingsSchema.Room.nick),
        passwordFile: section.value(of: SettingsSchema.Room.passwordFile), prefix: prefix)
    }
  }
}

extension RoomEntry {
  /// The rooms of the configuration, with their passwords.
  static func all(_ settings: Settings) throws(ConfigurationProblems) -> [RoomEntry] {
    var entries: [RoomEntry] = []
    var problems: [Diagnostic] = []
    for room in settings.rooms {
      do throws(ConfigurationProblems) {
        entries.append(
          RoomEntry(room.jid, nick: room.nick ?? settings.usualNick, password: try password(of: room)))
      } catch {
        problems += error.diagnostics
      }
    }
    if !problems.isEmpty { throw ConfigurationProblems(problems) }
    return entries
  }

  private static func password(of room: Settings.Room) throws(ConfigurationProblems) -> String? {
    guard let path = room.passwordFile else { return nil }
    let file = SecretFile(secret: "password", path: path, mustBePrivate: true)
    guard let bytes = try file.read() else { throw file.problem("is empty", "write the room's password into it") }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension ValueKind where Value == String {
  /// The address of a room.
  static var roomAddress: ValueKind {
    ValueKind(syntax: "JID") { text throws(ValueProblem) in
      let remedy = "write it as ops@conference.example.org"
      let jid: JID
      do throws(JIDError) {
        jid = try JID(text)
      } catch {
        throw ValueProblem("is no address: \(error)", remedy: remedy)
      }
      guard jid.local != nil else { throw ValueProblem("names no room", remedy: remedy) }
      guard jid.isBare else { throw ValueProblem("has a slash in it", remedy: "write the name in the room as `nick`") }
      return jid.description
    }
  }

  /// A name in a room.
  static var nick: ValueKind {
    ValueKind(syntax: "TEXT") { text throws(ValueProblem) in
      do throws(JIDError) {
        return try JID(local: nil, domain: "example.org", resource: text).resource ?? text
      } catch {
        throw ValueProblem("is no name for a room: \(error)", remedy: "choose another")
      }
    }
  }
}
