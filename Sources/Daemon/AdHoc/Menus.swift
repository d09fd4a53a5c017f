import Archive
import BotKit
import Crypto
import EventLoop
import JID
import Systemd
import XML
import XMPPClient
import XMPPStanzas
import XMPPStream

/// Every command as an ad-hoc command (XEP-0050 1.3): what contacts choose in their client's menu is archived, limited and
/// run as if they had written it in a chat; `MenuSessions` decides what each request gets.
///
/// The answer to a request that waits is a message of ours in the archive that happens to travel in an IQ: if the server does
/// not confirm it, it goes again, as an ordinary message.
@LoopActor
final class Menus: RequestService {
  nonisolated static let features: Set<String> = [Namespace.commands, Namespace.dataForms]

  /// A command that was started from a menu.
  private struct Run {
    let name: String
    let title: String
    let requester: JID
    var request: OpenRequest?
    /// With its row in the ledger, once it is there.
    var pending: PendingCommand?
    var command: Int64? { pending?.id }
    /// What it said while a request waits for it.
    var replies: [String] = []
    /// What it asks the contact to choose from when it ends, and what it calls that question.
    var offer: (options: [String], asked: String)?
  }

  private unowned let flow: MessageFlow
  private var sessions = MenuSessions()
  private var runs: [String: Run] = [:]
  /// The sessions by the row of their commands.
  private var sessionsOfCommands: [Int64: String] = [:]
  private var timer: (work: any ScheduledWork, due: ContinuousClock.Instant)?
  private var denials = NoticeThrottle()

  init(_ flow: MessageFlow) { self.flow = flow }

  private var now: ContinuousClock.Instant { flow.gate.scheduler.now }
  private var catalog: MenuCatalog { MenuCatalog(router: flow.router) }

  // MARK: - Requests

  func handles(_ iq: IQ, _ payload: Element) -> Bool {
    if payload.isNamed("command", Namespace.commands) { return true }
    guard payload.name == "query", [Namespace.discoInfo, Namespace.discoItems].contains(payload.namespace),
      let node = payload["node"]
    else { return false }
    return node == Namespace.commands || flow.router.commands[node] != nil
  }

  func answer(_ request: OpenRequest, number: StreamManagement.HandledCount?) {
    defer { watchTime() }
    let iq = request.iq
    let requester = catalog.requester(iq, account: flow.session.options.account)
    if request.payload.name == "query" {
      flow.session.take(number)
      guard iq.kind == .get, let node = request.payload["node"] else {
        return _ = request.answer(.failure(StanzaError(.cancel, .notAllowed)))
      }
      let own = (iq.to ?? flow.session.options.account).description
      return _ = request.answer(
        catalog.answer(request.payload, node: node, to: requester, own: own, room: request.room))
    }
    do throws(StanzaError) {
      guard iq.kind == .set else { throw StanzaError(.modify, .badRequest) }
      try go(on: request, try AdHocCommand.Request(request.payload), from: requester, number)
    } catch {
      flow.session.take(number)
      request.answer(.failure(error))
    }
  }

  private func go(
    on request: OpenRequest, _ command: AdHocCommand.Request, from requester: JID?,
    _ number: StreamManagement.HandledCount?
  ) throws(StanzaError) {
    // Who may not use a command any more may still stop it. A foreign session is as unknown as a foreign command.
    if let requester, command.action == .cancel, let id = command.sessionID {
      let step = sessions.go(on: id, command, by: requester, nil, at: now)
      flow.session.take(number)
      return perform(step, id, request, command.node)
    }
    guard let requester, let form = catalog.form(command.node, for: requester) else {
      deny(command.node, to: request.iq.from)
      throw StanzaError(.cancel, .itemNotFound)
    }
    if let kind = command.form?.kind, kind == .form || kind == .result {
      throw AdHocCommand.Fault.badPayload.error("Send the form as one that was filled in.")
    }
    let entries = command.form?.entries
    let id = command.sessionID ?? Random.identifier()
    var next = sessions
    let step: MenuSessions.Step
    if command.sessionID != nil {
      step = next.go(on: id, command, by: requester, entries, at: now)
    } else if command.action == .execute {
      step = next.begin(form, id: id, by: requester, entries, at: now)
    } else {
      throw AdHocCommand.Fault.badAction.error()
    }
    if step.isPage, !flow.router.admitsPage(for: ChatMessage(sender: requester, body: ""), now: .now) {
      // All is as before: the same may be sent again.
      throw Self.tryLater(.tooMany)
    }
    sessions = next
    if case .run(let filled) = step { return run(filled, form, id, request, requester, number) }
    flow.session.take(number)
    perform(step, id, request, form.name)
  }

  /// What the contact is told of a message that got no answer.
  nonisolated static func tryLater(_ reason: Decision.Reason) -> StanzaError {
    StanzaError(.wait, .resourceConstraint, "No answer: \(reason.rawValue). Try again in a moment.")
  }

  private func perform(_ step: MenuSessions.Step, _ id: String, _ request: OpenRequest, _ node: String) {
    func show(_ page: MenuPage) {
      request.answer(.success(page.answer(node: node, sessionID: id).element))
    }
    switch step {
    case .show(let form, let faults, let entries): show(MenuPage(form, faults: faults, entries: entries))
    case .ask(let question, let faults, let entries): show(MenuPage(question, faults: faults, entries: entries))
    case .run: break
    case .answer(let answer):
      hold(request, in: id)
      if let command = runs[id]?.command { flow.dispatcher?.answer(command, answer) }
    case .wait: hold(request, in: id)
    case .leave:
      let command = forget(id)
      show(.asMessage)
      // Whatever it asks from now on, nobody is there to answer.
      if let command { flow.dispatcher?.answer(command, .unavailable) }
    case .cancel(let stopsCommand):
      let waiting = runs[id]?.request
      let command = forget(id)
      show(.canceled)
      waiting?.answer(.success(MenuPage.canceled.answer(node: node, sessionID: id).element))
      if stopsCommand, let command { flow.dispatcher?.stop(command, .cancelled) }
    case .over: show(MenuPage(note: .info, "\(node) has ended; its answer came as a message."))
    case .refuse(let error): request.answer(.failure(error))
    }
  }

  /// The log hears of it; the contact, that there is no such command.
  private func deny(_ node: String, to contact: JID?) {
    guard let command = flow.router.commands[node], let contact else { return }
    let name = command.description.name
    guard let line = denials.line("\(contact.bare) may not use \(name)", at: .now) else { return }
    flow.log.log(.commandDenied, line, peer: contact.bare.description, command: name)
  }

  // MARK: - Running

  private func run(
    _ filled: FilledForm, _ form: CommandForm, _ id: String, _ request: OpenRequest, _ requester: JID,
    _ number: StreamManagement.HandledCount?
  ) {
    runs[id] = Run(name: form.name, title: form.title, requester: requester)
    hold(request, in: id)
    flow.take(menu: filled, from: requester, session: id, lang: request.payload.lang, number: number)
  }

  private func hold(_ request: OpenRequest, in id: String) {
    runs[id]?.request = request
    request.onClosed = { [weak self] in
      self?.stopWaiting(in: id)
      self?.watchTime()
    }
  }

  /// The command has its row in the ledger. False: the contact has cancelled it meanwhile.
  func began(_ command: PendingCommand, in id: String) -> Bool {
    guard runs[id] != nil else { return false }
    runs[id]?.pending = command
    sessionsOfCommands[command.id] = id
    return true
  }

  /// Nothing will come of what was asked.
  func refuse(_ id: String, _ error: StanzaError) {
    let request = runs[id]?.request
    forget(id)
    sessions.finished(id, at: now)
    request?.answer(.failure(error))
    watchTime()
  }

  /// Whether a menu still waits for the command.
  private func isAwaited(_ command: Int64) -> Bool {
    sessionsOfCommands[command].flatMap { runs[$0] }?.request?.isOpen ?? false
  }

  /// What a running command does for a contact who uses a menu; false when it is to be done as in a chat.
  func perform(_ action: CommandAction, of command: PendingCommand) -> Bool {
    defer { watchTime() }
    guard let id = sessionsOfCommands[command.id], isAwaited(command.id) else { return false }
    return gather(action, in: id)
  }

  /// A running command asks. Whether there is a contact with a menu who is asked.
  func put(_ question: Question, of command: PendingCommand) -> Bool {
    defer { watchTime() }
    guard let id = sessionsOfCommands[command.id], let run = runs[id] else { return false }
    let page = MenuPage(question, faults: [], entries: []).answer(node: run.name, sessionID: id).element
    guard run.request?.hasRoom(for: page) ?? true, let isShown = sessions.asked(id, question, at: now) else {
      return false
    }
    if isShown, let request = run.request {
      stopWaiting(in: id)
      request.answer(.success(page))
    } else {
      flow.outbox.send(
        "\(run.name) has a question: go on in the menu where you began it.", to: run.requester,
        thread: Self.thread(of: id))
    }
    return true
  }

  /// Keeps what the command says for the answer to the request that waits.
  private func gather(_ action: CommandAction, in id: String) -> Bool {
    switch action {
    case .reply(let text): runs[id]?.replies.append(text)
    case .edit(let text):
      _ = runs[id]?.replies.popLast()
      runs[id]?.replies.append(text)
    // Its end is soon enough.
    case .progress: break
    case .offer(let options, let asked):
      // The router knows of it, too: the choice may as well be made in a chat.
      runs[id]?.offer = options.isEmpty ? nil : (options, asked)
      return false
    default: return false
    }
    let bytes = runs[id]?.replies.reduce(0) { $0 + $1.utf8.count + 1 } ?? 0
    // It will not fit into one answer.
    if bytes > StanzaBudget.least { answerInBetween(id) }
    return true
  }

  /// From now on what the command says goes as messages, with what was kept.
  private func stopWaiting(in id: String) {
    sessions.requestClosed(id)
    runs[id]?.request?.onClosed = {}
    runs[id]?.request = nil
    let replies = runs[id]?.replies ?? []
    runs[id]?.replies = []
    guard let pending = runs[id]?.pending else { return }
    for reply in replies { flow.perform(.reply(reply), of: pending) }
  }

  /// The request that waits is answered, though the command still runs.
  private func answerInBetween(_ id: String) {
    guard let run = runs[id] else { return }
    stopWaiting(in: id)
    run.request?.answer(.success(MenuPage.stillRunning(run.name).answer(node: run.name, sessionID: id).element))
  }

  /// The run is no menu's any more; the row of its command.
  @discardableResult
  private func forget(_ id: String) -> Int64? {
    guard let run = runs.removeValue(forKey: id) else { return nil }
    if let command = run.command { sessionsOfCommands[command] = nil }
    return run.command
  }

  // MARK: - The end

  /// A command has ended: its answer is brought to the request that waits. False: all that it says goes as in a chat.
  func takeEnding(of command: PendingCommand, _ outcome: CommandOutcome) -> Bool {
    guard let id = sessionsOfCommands[command.id], let run = runs[id] else { return false }
    let isUploading = flow.running[command.id]?.isUploading ?? false
    let text = (run.replies + [outcome.text].compactMap { $0 }).joined(separator: "\n")
    // They are in the text now; nothing says them once more while it is being committed.
    runs[id]?.replies = []
    guard isAwaited(command.id), !isUploading,
      flow.outbox.isOneMessage(text, to: run.requester, thread: Self.thread(of: id))
    else {
      _ = closeRun(id, .asMessage, token: nil)
      for reply in run.replies { flow.perform(.reply(reply), of: command) }
      return false
    }
    flow.running[command.id] = nil
    if !text.isEmpty { flow.router.replied(text, to: command.request.message, now: .now) }
    if text.isEmpty {
      let page = outcome.result == .done ? MenuPage(note: .info, "Done.") : MenuPage(note: .error, "\(outcome.result)")
      flow.deliverEnding(
        of: command, outcome, PreparedAnswer { [weak self] in _ = self?.closeRun(id, page, token: nil) })
    } else {
      let failed = outcome.result != .done
      flow.deliverEnding(of: command, outcome, prepare(text, failed: failed, to: run.requester, in: id))
    }
    return true
  }

  /// How the text is brought to the contact: by the request that waits, or else as messages.
  func prepare(_ text: String, failed: Bool, to recipient: JID, in id: String) -> PreparedAnswer {
    guard let run = runs[id], let request = run.request,
      case let (page, choice) = ending(text, failed: failed, of: run),
      request.hasRoom(for: page.answer(node: run.name, sessionID: id).element),
      let row = flow.outbox.row(forReply: text, to: recipient, thread: Self.thread(of: id))
    else {
      let rows = flow.outbox.rows(text, to: recipient, thread: Self.thread(of: id))
      return PreparedAnswer(rows) { [weak self] in
        self?.flow.outbox.committed(rows, to: recipient)
        _ = self?.closeRun(id, .asMessage, token: nil)
      }
    }
    return PreparedAnswer([row]) { [weak self, page] in
      self?.flow.outbox.committed(row) { token in self?.closeRun(id, page, token: token, offering: choice) ?? false }
    }
  }

  /// The page with which a command ends that says `text`, and the form in which its contact goes on to choose.
  private func ending(_ text: String, failed: Bool, of run: Run) -> (MenuPage, choice: CommandForm?) {
    guard let offer = run.offer else { return (MenuPage(answer: text, failed: failed, title: run.title), nil) }
    let choice = CommandForm(choosing: offer.options, asked: offer.asked, of: run.name, title: run.title)
    var page = MenuPage(choice, faults: [], entries: [])
    page.notes = [.init(.info, text)]
    return (page, choice)
  }

  /// The command has ended: who waits is told. Whether somebody was. `choice`: the session goes on with this.
  private func closeRun(_ id: String, _ page: MenuPage, token: String?, offering choice: CommandForm? = nil) -> Bool {
    defer { watchTime() }
    let run = runs[id]
    forget(id)
    let goesOn = choice.map { sessions.offered(id, $0, at: now) } ?? false
    if !goesOn { sessions.finished(id, at: now) }
    guard let run, let request = run.request else { return false }
    return request.answer(.success(page.answer(node: run.name, sessionID: id).element), token: token)
  }

  /// The thread that joins question and answer in the archive, and shows that they came by a menu.
  nonisolated static func thread(of session: String) -> String { "menu-" + session }

  /// Whether this was chosen in a menu: then nobody looks at a chat to see who types.
  nonisolated static func isOrigin(of message: ChatMessage) -> Bool {
    message.messageID == nil && message.thread?.hasPrefix("menu-") == true
  }

  /// The command goes on in the next process, which answers with a message.
  func leave(_ command: Int64) {
    guard let id = sessionsOfCommands[command] else { return }
    _ = closeRun(id, MenuPage(note: .info, "The bot restarts; the answer comes as a message."), token: nil)
  }

  // MARK: - Time

  private func watchTime() {
    guard let due = sessions.nextDeadline else { return timer = nil }
    if let timer, timer.due <= due { return }
    let work = flow.gate.scheduler.schedule(after: max(.zero, now.duration(to: due))) { [weak self] in
      self?.timer = nil
      self?.expire()
    }
    timer = (work, due)
  }

  private func expire() {
    for expiry in sessions.expire(at: now) {
      switch expiry {
      case .stillRunning(let id):
        answerInBetween(id)
      case .abandoned(let id):
        if let command = forget(id) {
          flow.dispatcher?.stop(command, .failed("its question was not answered in time"))
        }
      }
    }
    watchTime()
  }
}
