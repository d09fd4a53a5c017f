import Archive
import BotKit
import EventLoop
import JID
import SQLite
import Systemd
import XMPPClient
import XMPPStanzas

/// The way of a command that waits for a program: its row in the ledger is made with its message, and closed in the
/// transaction that queues its answer. So it runs once at most, and is answered once.
extension MessageFlow {
  func hooks() -> Dispatcher.Hooks { trials.hooks(besides: contactHooks()) }

  /// Those for commands of contacts.
  private func contactHooks() -> Dispatcher.Hooks {
    var hooks = Dispatcher.Hooks()
    hooks.onStarted = { [weak self] command in self?.startTyping(for: command) }
    hooks.onAction = { [weak self] command, action in self?.perform(action, of: command) }
    hooks.onQuestion = { [weak self] command, question in self?.menus?.put(question, of: command) ?? false }
    hooks.onFinished = { [weak self] command, outcome in self?.dispatcherEnded(command, outcome) }
    hooks.onLog = { [log] command, line in
      let message = command.request.message
      log.log(
        .handlerOutput, "\(command.request.command): \(line)", peer: message.sender.description,
        room: message.room?.description,
        command: command.request.command)
    }
    return hooks
  }

  private func dispatcherEnded(_ command: PendingCommand, _ outcome: CommandOutcome) {
    let message = command.request.message
    // Who gave it in a room is not known any more by then.
    if outcome.result == .interrupted, command.description.reruns, message.room == nil {
      // Its row in the ledger stays open for the next process.
      running[command.id] = nil
      menus?.leave(command.id)
      stopTyping(for: command, speaks: false)
      return log.log(
        .commandFailed, at: .info, "command \(command.request.command) runs again after the restart",
        peer: message.sender.description, command: command.request.command, stanzaID: message.messageID)
    }
    if outcome.result == .cancelled {
      // Who cancels wants no more of it.
      running[command.id] = nil
      return deliverEnding(of: command, outcome, [])
    }
    if menus?.takeEnding(of: command, outcome) == true { return }
    sayEnding(of: command, outcome)
  }

  /// All that it had to say is in `rows`, or was sent before.
  func deliverEnding(of command: PendingCommand, _ outcome: CommandOutcome, _ rows: [NewMessage]) {
    deliverEnding(of: command, outcome, prepare(rows, for: command.request.message))
  }

  func deliverEnding(of command: PendingCommand, _ outcome: CommandOutcome, _ answer: PreparedAnswer) {
    let message = command.request.message
    stopTyping(for: command, speaks: !answer.rows.isEmpty)
    closeLedgerRow(command.id, outcome.result, answer)
    let name = command.request.command
    metrics.count(name, outcome.result)
    let (event, words): (LogEvent, String) =
      outcome.result == .done ? (.commandRun, "ran") : (.commandFailed, "failed: \(outcome.result)")
    log.log(
      event, "command \(name) \(words)", peer: message.sender.description, room: message.room?.description,
      command: name, stanzaID: message.messageID, duration: outcome.duration)
  }

  /// Closes the ledger's row of a command, and queues its answer with that.
  func closeLedgerRow(_ id: Int64, _ result: CommandResult, _ answer: PreparedAnswer) {
    let rows = answer.rows
    let time = wallClock()
    let bytes = rows.reduce(512) { $0 + 512 + ($1.body?.utf8.count ?? 0) }
    gate.write(bytes: bytes) { transaction throws(DatabaseError) -> Bool in
      guard try transaction.finishCommand(message: id, outcome: result.description, at: time) else { return false }
      for row in rows { try transaction.insert(row) }
      return true
    } done: { [weak self] isFirst in
      self?.metrics.ended(id, at: .now)
      if isFirst { answer.send() }
    }
  }

  private func prepare(_ rows: [NewMessage], for message: ChatMessage) -> PreparedAnswer {
    let recipient = recipient(of: message)
    let rows = referring(rows, message)
    return PreparedAnswer(rows) { [weak self] in if let recipient { self?.outbox.committed(rows, to: recipient) } }
  }

  /// Takes up what an earlier process left open: what may run again does, for the rest its sender is told.
  func takeUp(_ commands: [OpenCommand]) {
    for open in commands {
      guard let message = ChatMessage(open.message, now: wallClock()) else {
        gate.write { transaction throws(DatabaseError) in
          _ = try transaction.finishCommand(
            message: open.message.id, outcome: "its sender can't be read", at: open.started)
        }
        continue
      }
      if var command = router.again(message, command: open.name) {
        command.id = open.message.id
        log.log(
          .commandRun, "command \(open.name) was cut short and runs again", peer: open.message.peer, command: open.name)
        dispatcher?.start(command)
      } else {
        log.log(
          .commandFailed, "command \(open.name) was cut short by the end of the process", peer: open.message.peer,
          command: open.name, stanzaID: open.message.messageID)
        // It may have been joined for a while only.
        if message.place == .room, let room = message.room, !rooms.isRoom(room) { rooms.visit(room) }
        let answer = Router.interrupted(open.name)
        router.replied(answer, to: message, now: .now)
        let rows = recipient(of: message).map { self.rows(answering: message, answer, command: nil, to: $0) } ?? []
        closeLedgerRow(open.message.id, .interrupted, prepare(rows, for: message))
      }
    }
  }

  /// Does something for the sender of a message, for which no command runs.
  func perform(_ action: CommandAction, for message: ChatMessage) {
    // What comes after the end of a trial has nobody to go to.
    if message.isTrial { return }
    switch action {
    case .react(let emoji): react(emoji, to: message)
    case .reply(let text), .edit(let text):
      guard let recipient = recipient(of: message) else { return }
      router.replied(text, to: message, now: .now)
      outbox.accept(rows(answering: message, text, command: nil, to: recipient), to: recipient)
    case .progress, .upload, .offer, .ask: break
    }
  }

  /// Puts emoji at the message that asked. Without an id of usual length it can't be named.
  func react(_ emoji: [String], to message: ChatMessage) {
    guard let id = message.reactionID, id.utf8.count <= ChatMessage.longestReference,
      let recipient = recipient(of: message)
    else { return }
    outbox.accept([outbox.reaction(.init(to: id, emoji: emoji), to: recipient)], to: recipient)
  }
}

extension ChatMessage {
  /// The message of a row; nil when its sender can't be read.
  init?(_ row: MessageRow, now: Int64) {
    guard let sender = try? JID(row.peer), let body = row.body else { return nil }
    // Of a room's occupant the row has no address: who it was is not known any more.
    let room = row.room.flatMap { try? JID($0) }
    self.init(
      sender: sender, body: body, resource: room == nil ? row.resource : nil, nick: row.nick, room: room,
      occupantID: row.occupantID, messageID: row.messageID, thread: row.thread, lang: row.lang, time: row.time,
      age: .microseconds(max(0, now - (row.delay ?? row.time))))
    originID = row.originID
    isPrivate = room != nil && row.kind != .groupchat
    if let id = row.stanzaID, id.by == row.room { roomID = id.id }
  }
}
