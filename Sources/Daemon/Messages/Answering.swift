import Archive
import BotKit
import JID

/// What an answer looks like where it goes: in a chat as it is, in a room with the nickname of who asked before it, and shorter.
extension MessageFlow {
  /// Where the answer to `message` goes; nil: to nobody.
  func recipient(of message: ChatMessage) -> JID? {
    if let room = message.room {
      if message.isPrivate { return rooms.place(of: message) }
      return rooms.isRoom(room) ? room : nil
    }
    return message.resource.map { try? message.sender.with(receivedResource: $0) } ?? message.sender
  }

  /// A text that takes more messages than this goes up as a file.
  func mostPieces(for message: ChatMessage) -> Int { message.place == .room ? RoomAnswer.mostPieces : Self.mostPieces }

  /// All messages that a text takes.
  func allPieces(_ text: String, for message: ChatMessage, to recipient: JID) -> [String] {
    guard message.place == .room else { return outbox.pieces(text, to: recipient, thread: message.thread) }
    return RoomAnswer.marked(
      outbox.pieces(
        RoomAnswer.addressed(text, to: message.nick, isMistakable: isMistakable(message)), to: recipient,
        thread: message.thread, longest: RoomAnswer.longest))
  }

  /// Somebody else in the room may take the asker's nickname for their own. In a crowd not everybody is known.
  private func isMistakable(_ message: ChatMessage) -> Bool {
    guard let nick = message.nick, let room = message.room.flatMap({ rooms.rooms[$0] }) else { return false }
    return room.isCrowd || RoomNick.isMistakable(nick, among: room.occupants.map(\.nick))
  }

  /// The messages that a text takes; nil when those are too many.
  func pieces(_ text: String, for message: ChatMessage, to recipient: JID) -> [String]? {
    let most = mostPieces(for: message)
    guard text.utf8.count <= most * StanzaBudget.longest else { return nil }
    let pieces = allPieces(text, for: message, to: recipient)
    return pieces.count <= most ? pieces : nil
  }

  /// The messages of a text that can be no file: all of it in a chat, what is not too long for a room in a room. `command`: what
  /// to use elsewhere for the whole.
  func piecesAsTheyFit(_ text: String, for message: ChatMessage, to recipient: JID, command: String?) -> [String] {
    let pieces = allPieces(text, for: message, to: recipient)
    guard message.place == .room, pieces.count > RoomAnswer.mostPieces else { return pieces }
    let isElsewhere = command.map { router.commands[$0]?.description.places.contains(.chat) == true } ?? false
    return RoomAnswer.cut(pieces, command: isElsewhere ? command : nil)
  }

  /// The rows of an answer that is known at once.
  func rows(answering message: ChatMessage, _ text: String, command: String?, to recipient: JID) -> [NewMessage] {
    let pieces = piecesAsTheyFit(text, for: message, to: recipient, command: command)
    let rows = pieces.map { outbox.row($0, to: recipient, thread: message.thread, id: session.newID()) }
    return message.place == .room ? referring(rows, message) : rows
  }

  /// XEP-0461 (0.2.1): `rows` refer to `message`, which they answer: in a room always, by the room's own id, since others speak
  /// meanwhile; in a chat where the contact has written something else since, else it is plain what is answered. No quotation:
  /// clients that can't show a reply show the answer alone.
  func referring(_ rows: [NewMessage], _ message: ChatMessage) -> [NewMessage] {
    guard let id = message.referenceID, id.utf8.count <= ChatMessage.longestReference,
      message.place == .room || newest[message.sender] != id
    else { return rows }
    return rows.map { row in
      var row = row
      row.replyTo = id
      return row
    }
  }
}
