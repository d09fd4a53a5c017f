import EventLoop
import JID

/// `join ROOM [NICK]`, for administrators. No password: it would stand in two archives; a room that has one is given a
/// section with a password-file.
struct JoinRoom: WaitingCommand {
  static let description = CommandDescription(
    name: "join", description: "Join a room", usage: "join ROOM [NICK]")

  let service: RoomService
  var takesText: Bool { true }

  func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
    let running = Abandonable(events)
    guard let first = request.arguments.first else {
      events.finish(.usage)
      return running
    }
    // A nickname may have spaces.
    let words = request.arguments.dropFirst()
    let nick = words.isEmpty ? nil : words.joined(separator: " ")
    do throws(RoomService.Refusal) {
      let room = try RoomService.room(first)
      service.join(room, nick) { result in
        switch result {
        case .success(let standing): events.finish(.done, Self.text(room, standing))
        case .failure(let refusal): events.finish(.failed(refusal.text))
        }
      }
    } catch {
      events.finish(.failed(error.text))
    }
    return running
  }

  private static func text(_ room: JID, _ standing: RoomService.Standing) -> String {
    let stay =
      standing.isConfigured
      ? "My configuration names it, so I am there after a restart, too."
      : "I stay until leave \(room), or until I am restarted; [room \(room)] in my configuration makes it lasting."
    return "I am in \(room) as \(standing.nick). \(stay)"
  }
}

/// `leave ROOM`, for administrators.
struct LeaveRoom: WaitingCommand {
  static let description = CommandDescription(name: "leave", description: "Leave a room", usage: "leave ROOM")

  let service: RoomService

  func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
    guard request.arguments.count == 1 else {
      events.finish(.usage)
      return Abandonable(events)
    }
    do throws(RoomService.Refusal) {
      let room = try RoomService.room(request.arguments[0])
      let back =
        try service.leave(room).get().isConfigured
        ? " My configuration names it: a reload or a restart brings me back." : ""
      events.finish(.done, "I have left \(room).\(back)")
    } catch {
      events.finish(.failed(error.text))
    }
    return Abandonable(events)
  }
}

/// `say ROOM TEXT`, for administrators: the bot's own words.
struct Say: WaitingCommand {
  static let description = CommandDescription(
    name: "say", description: "Say something in a room", usage: "say ROOM TEXT…")

  let service: RoomService
  var takesText: Bool { true }

  func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
    guard let (_, text) = Router.firstWord(request.text[...]), !text.isEmpty, let first = request.arguments.first else {
      events.finish(.usage)
      return Abandonable(events)
    }
    do throws(RoomService.Refusal) {
      let room = try RoomService.room(first)
      if let refusal = service.say(room, String(text)) { throw refusal }
      events.finish(.done, "Said in \(room).")
    } catch {
      events.finish(.failed(error.text))
    }
    return Abandonable(events)
  }
}

/// `rooms`, for administrators.
struct ListRooms: WaitingCommand {
  static let description = CommandDescription(name: "rooms", description: "The rooms that I am in")

  let service: RoomService

  func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
    let lines = service.list().map { line in
      "\(line.room) as \(line.nick) — \(line.state)\(line.isConfigured ? "" : " (until the next restart)")"
    }
    events.finish(.done, lines.isEmpty ? "I am in no room." : lines.joined(separator: "\n"))
    return Abandonable(events)
  }
}

extension RoomService {
  /// The address of a room, as an administrator types it.
  static func room(_ text: String) throws(Refusal) -> JID {
    do {
      let room = try JID(text)
      if room.local != nil, room.resource == nil { return room }
    } catch {
      throw Refusal("\(Answers.quoted(text)) is no address: \(error)")
    }
    throw Refusal("\(Answers.quoted(text)) is no room's address: that is like ops@conference.example.org")
  }
}
