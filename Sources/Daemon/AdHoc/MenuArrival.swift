import Archive
import BotKit
import EventLoop
import JID
import SQLite
import XMPPStanzas
import XMPPStream

/// What is to be committed, and what to do once it is.
struct Delivery {
  let rows: [NewMessage]
  let send: @LoopActor () -> Void

  init(_ rows: [NewMessage] = [], send: @escaping @LoopActor () -> Void) {
    self.rows = rows
    self.send = send
  }
}

extension MessageFlow {
  /// Takes what a contact chose in a menu as the message that asks the same: decides, archives, acts. The row has the kind
  /// `normal`, no id, and the session's thread.
  func take(
    menu text: String, from requester: JID, session id: String, lang: String?, number: StreamManagement.HandledCount?
  ) {
    let came = ContinuousClock.now
    let time = wallClock()
    let thread = Menus.thread(of: id)
    let message = ChatMessage(
      sender: requester, body: text, resource: requester.resource, thread: thread, lang: lang, time: time)
    var row = NewMessage(.in, .normal, peer: requester.bare.description, time: time, body: text)
    row.resource = requester.resource
    row.thread = thread
    row.lang = lang
    let decision = router.decide(message, now: .now)
    var delivery: Delivery?
    var name: String?
    switch decision {
    case .answer(let answer):
      delivery = menus?.delivery(of: answer.text, failed: answer.kind != .builtin, to: requester, in: id)
    case .run(let command): name = command.request.command
    case .ignore, .heard: break
    }
    let rows = delivery?.rows ?? []
    let count = session.handOver(number)
    gate.write(bytes: 1_024 + text.utf8.count) { [row, name] transaction throws(DatabaseError) -> Int64? in
      if let count { transaction.noteHandled(count.h) }
      guard case .inserted(let message) = try transaction.insert(row) else { return nil }
      for row in rows { try transaction.insert(row) }
      if let name { try transaction.openCommand(name, message: message, at: time) }
      return message
    } done: { [weak self] number in
      if let count { self?.session.stored(count) }
      guard let self, let number else { return }
      countReceived()
      log.log(.messageReceived, at: .debug, "a choice in the menu by \(requester)", peer: requester.bare.description)
      metrics.received &+= 1
      measure(decision, came)
      act(decision, delivery, number, requester, id, came)
    } dropped: { [weak self] in
      if let count { self?.store(count) }
      self?.menus?.refuse(id, StanzaError(.cancel, .internalServerError))
    }
  }

  private func act(
    _ decision: Decision, _ delivery: Delivery?, _ number: Int64, _ requester: JID, _ id: String,
    _ came: ContinuousClock.Instant
  ) {
    switch decision {
    case .answer(let answer):
      delivery?.send()
      report(answer, to: requester)
    case .run(var command):
      command.id = number
      guard menus?.began(command, in: id) == true else { return close(number, .cancelled, Delivery {}) }
      start(command, came)
    case .heard:
      // A choice that is no longer open.
      menus?.refuse(id, AdHocCommand.Fault.sessionExpired.error("This choice is no longer open: begin again."))
    case .ignore(let reason):
      menus?.refuse(
        id, StanzaError(.wait, .resourceConstraint, "No answer: \(reason.rawValue). Try again in a moment."))
    }
  }
}
