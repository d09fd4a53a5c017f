import Archive
import BotKit
import EventLoop
import JID
import Systemd
import XMPPClient
import XMPPStanzas

/// What contacts' clients are told besides answers: receipts, markers, that the bot is typing. None of it is kept, none is
/// sent for what is not in the archive, and none tells a stranger that the bot is there.
extension MessageFlow {
  // MARK: - Receipts and markers

  /// XEP-0184 (1.4.0): the message is in the archive, which is as far as it goes with a bot. Only for who may see our
  /// presence (section 8).
  func confirm(_ arrival: Arrival) {
    let message = arrival.message
    guard message.receipt == .request, let (recipient, id) = whoMayBeTold(arrival) else { return }
    var notice = Message(message.kind, to: recipient, id: session.newID())
    notice.receipt = .received(id)
    session.sendCourtesy(notice.element)
  }

  /// XEP-0333 (1.0.0): a command was taken up, or a message answered.
  func mark(_ arrival: Arrival) {
    let message = arrival.message
    guard message.marker == .markable, let (recipient, id) = whoMayBeTold(arrival) else { return }
    var notice = Message(message.kind, to: recipient, id: session.newID())
    notice.marker = .displayed(id)
    session.sendCourtesy(notice.element)
  }

  private func whoMayBeTold(_ arrival: Arrival) -> (JID, id: String)? {
    let message = arrival.message
    guard let peer = arrival.peer, let id = Message.usable(message.id),
      message.kind == .chat || message.kind == .normal,
      !message.concernsRoom, session.roster.isContact(peer)
    else { return nil }
    switch arrival.way {
    case .live: break
    case .carbon: return nil
    case .archived:
      // Whoever sent it long ago does not wait any more.
      guard arrival.mayAct(as: session.boundResource), let stamp = message.delay?.stamp,
        Duration.microseconds(wallClock() - stamp) <= router.maxAge
      else { return nil }
    }
    return (peer, id)
  }

  // MARK: - Typing

  func startTyping(for command: PendingCommand) {
    let message = command.request.message
    guard message.room == nil, !Menus.isOrigin(of: message), let contact = recipient(of: message) else { return }
    show(typing.began(command.id, of: contact, thread: message.thread))
  }

  /// `speaks`: a message of ours follows.
  func stopTyping(for command: PendingCommand, speaks: Bool) {
    let message = command.request.message
    guard message.room == nil, !Menus.isOrigin(of: message), let contact = recipient(of: message) else { return }
    show(typing.ended(command.id, of: contact, speaks: speaks))
  }

  /// A message of ours was sent.
  func said(to contact: JID) {
    guard typing.said(to: contact) else { return }
    // Often the next thing is the end, or one more message.
    renewal?.cancel()
    renewal = gate.scheduler.schedule(after: .seconds(2)) { [weak self] in
      guard let self else { return }
      renewal = nil
      for notice in typing.renewals() { show(notice) }
    }
  }

  private func show(_ notice: TypingStates.Notice?) {
    guard let notice else { return }
    var message = Message(.chat, to: notice.recipient, id: session.newID())
    message.chatState = notice.state
    message.thread = notice.thread
    session.sendCourtesy(message.element)
  }

  // MARK: - Replies

  /// Archives `rows`, which answer `message`, and sends them.
  func accept(_ rows: [NewMessage], for message: ChatMessage, to recipient: JID) {
    outbox.accept(referring(rows, message), to: recipient)
  }

  /// The contact has written this.
  func heard(_ message: ChatMessage) {
    if message.place == .chat { newest.update(message.sender, else: "") { $0 = message.referenceID ?? "" } }
  }

  // MARK: - Bots

  /// Asks whoever sends nothing that is a command what it is (XEP-0030). Bots, and who takes no messages (XEP-0506), get no
  /// more answers to what is no command.
  func askIfDoubtful(_ message: ChatMessage, after decision: Decision, at address: JID) {
    guard case .answer(let answer) = decision, answer.kind == .unknown, router.isDoubtful(message) else { return }
    session.request(.get, to: address, DiscoInfo.request()) { [weak self] result in
      guard let self, case .success(let iq) = result, let info = iq.payload.flatMap(DiscoInfo.init),
        info.has(identity: "client", "bot") || info.features.contains(Namespace.noReply)
      else { return }
      router.isAutomaton(message, now: .now)
      log.log(
        .messageReceived, "\(message.sender) says that it is a bot: only commands are answered",
        peer: message.sender.description)
    }
  }
}
