import Archive
import BotKit
import EventLoop
import JID
import SQLite
import XMPPStanzas
import XMPPStream

extension MessageFlow {
  /// Takes what a contact chose in a menu as the message that asks the same: decides, archives, acts. The row has the kind
  /// `normal`, no id, and the session's thread.
  func take(
    menu form: FilledForm, from requester: JID, session id: String, lang: String?,
    number: StreamManagement.HandledCount?
  ) {
    let text = form.text
    let came = ContinuousClock.now
    let time = wallClock()
    let thread = Menus.thread(of: id)
    let message = ChatMessage(
      sender: requester, body: text, resource: requester.resource, thread: thread, lang: lang, time: time)
    var row = NewMessage(.in, .normal, peer: requester.bare.description, time: time, body: text)
    row.resource = requester.resource
    row.thread = thread
    row.lang = lang
    let decision = router.decide(form, as: message, now: .now)
    var answer: PreparedAnswer?
    var name: String?
    switch decision {
    case .answer(let known):
      answer = menus?.prepare(known.text, failed: known.kind != .builtin, to: requester, in: id)
    case .run(let command): name = command.request.command
    case .ignore, .heard: break
    }
    let rows = answer?.rows ?? []
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
      act(decision, answer, number, requester, id, came)
    } dropped: { [weak self] in
      if let count { self?.store(count) }
      self?.menus?.refuse(id, StanzaError(.cancel, .internalServerError))
    }
  }

  private func act(
    _ decision: Decision, _ prepared: PreparedAnswer?, _ number: Int64, _ requester: JID, _ id: String,
    _ came: ContinuousClock.Instant
  ) {
    switch decision {
    case .answer(let answer):
      prepared?.send()
      report(answer, to: ChatMessage(sender: requester, body: ""))
    case .run(var command):
      command.id = number
      guard menus?.began(command, in: id) == true else { return closeLedgerRow(number, .cancelled, PreparedAnswer {}) }
      start(command, came)
    case .heard: menus?.refuse(id, StanzaError(.cancel, .itemNotFound))
    case .ignore(let reason): menus?.refuse(id, Menus.tryLater(reason))
    }
  }
}
