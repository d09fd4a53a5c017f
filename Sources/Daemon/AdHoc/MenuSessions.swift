import BotKit
import JID
import XMPPStanzas

/// The sessions that contacts have with commands in their menus (XEP-0050 1.3). Pure: a request and the time in, what to do
/// about it out.
///
/// A session belongs to one full address. It begins with the command's form, or at once with its run where there is nothing
/// to ask; while the command runs a request waits for it, but not longer than servers and clients wait for an answer.
struct MenuSessions {
  struct Limits {
    /// Sessions of one contact, with all their devices.
    var perContact = 4
    var total = 64
    /// A form that nobody sends back for so long is forgotten.
    var idle = Duration.seconds(600)
    /// A request is answered by then, whether the command has ended or not.
    var patience = Duration.seconds(10)
  }

  /// What a request comes to.
  enum Step: Hashable {
    /// The command's form, with what is wrong with how it was filled in.
    case show(CommandForm, [String], [FormEntry])
    /// The same of a form that the running command wants filled in.
    case ask(Question, [String], [FormEntry])
    /// The command is to run, as if this had been written in a chat. The request waits.
    case run(FilledForm)
    /// The running command gets the answer to its question. The request waits.
    case answer(QuestionAnswer)
    /// The command still runs. The request waits.
    case wait
    /// The contact no longer looks; what the command still says comes as messages.
    case leave
    case cancel(stopsCommand: Bool)
    /// The command has ended since, and its answer came as a message.
    case over
    case refuse(StanzaError)

    /// It brings a page of a form, or takes one in: what a contact may have only so often. What is run is counted where it is
    /// decided upon.
    var isPage: Bool {
      switch self {
      case .show, .ask, .answer: true
      case .run, .wait, .leave, .cancel, .over, .refuse: false
      }
    }
  }

  /// What time brings.
  enum Expiry: Hashable {
    /// The request that waits in this session is to be answered: the command still runs.
    case stillRunning(String)
    /// Nobody answered what the command asked.
    case abandoned(String)
  }

  private enum Stage {
    case form(CommandForm)
    case running
    /// `isShown`: a request has brought it to the contact.
    case asked(Question, isShown: Bool)
    case finished
  }

  private struct Session {
    let requester: JID
    let node: String
    var stage: Stage
    /// Nobody waits longer; nil while the command runs.
    var deadline: ContinuousClock.Instant?
    /// The request that waits is answered then; nil when none does.
    var answerBy: ContinuousClock.Instant?

    /// It may make room for another one.
    var isIdle: Bool {
      switch stage {
      case .form, .finished: true
      case .running, .asked: false
      }
    }
  }

  private let limits: Limits
  private var sessions: [String: Session] = [:]

  init(_ limits: Limits = Limits()) { self.limits = limits }

  var count: Int { sessions.count }

  /// The first request for a command. `id`: new, and nobody can guess it; `entries`: the form, if it came with it.
  mutating func begin(
    _ form: CommandForm, id: String, by requester: JID, _ entries: [FormEntry]?, at now: ContinuousClock.Instant
  ) -> Step {
    guard makeRoom(for: requester) else {
      return .refuse(StanzaError(.wait, .resourceConstraint, "Too many menus are open: finish or cancel one first."))
    }
    var session = Session(
      requester: requester, node: form.name, stage: .form(form), deadline: now + limits.idle, answerBy: nil)
    let step: Step
    if let entries = entries ?? (form.fields.isEmpty ? [] : nil) {
      step = submit(form, entries, to: &session, at: now)
      if case .refuse = step { return step }
    } else {
      step = .show(form, [], [])
    }
    sessions[id] = session
    return step
  }

  /// A request that goes on with a session.
  mutating func go(
    on id: String, _ request: AdHocCommand.Request, by requester: JID, _ entries: [FormEntry]?,
    at now: ContinuousClock.Instant
  ) -> Step {
    // Who guesses learns nothing: another's session is as unknown as one that never was.
    guard var session = sessions[id], session.requester == requester, session.node == request.node else {
      return .refuse(AdHocCommand.Fault.sessionExpired.error("This menu is no longer open: begin again."))
    }
    if request.action == .cancel {
      sessions[id] = nil
      return .cancel(stopsCommand: !session.isIdle)
    }
    let step = step(&session, request.action, entries, at: now)
    switch step {
    case .leave, .over: sessions[id] = nil
    default: sessions[id] = session
    }
    return step
  }

  private func step(
    _ session: inout Session, _ action: AdHocCommand.Action, _ entries: [FormEntry]?, at now: ContinuousClock.Instant
  ) -> Step {
    switch session.stage {
    case .form(let form):
      guard action == .execute || action == .complete else { return Self.badAction }
      return submit(form, entries ?? [], to: &session, at: now)
    case .asked(let question, isShown: false):
      guard action != .complete else { return .leave }
      session.stage = .asked(question, isShown: true)
      session.deadline = now + limits.idle
      return .ask(question, [], [])
    case .asked(let question, isShown: true):
      return answer(question, action, entries ?? [], in: &session, at: now)
    case .running:
      if action == .complete, session.answerBy == nil { return .leave }
      guard action == .execute || action == .next, session.answerBy == nil else { return Self.badAction }
      session.answerBy = now + limits.patience
      return .wait
    case .finished: return .over
    }
  }

  private static let badAction = Step.refuse(AdHocCommand.Fault.badAction.error())

  private func submit(
    _ form: CommandForm, _ entries: [FormEntry], to session: inout Session, at now: ContinuousClock.Instant
  ) -> Step {
    do throws(FormFault) {
      let filled = try form.filled(entries)
      run(&session, at: now)
      return .run(filled)
    } catch {
      session.deadline = now + limits.idle
      switch error {
      case .malformed(let reason): return .refuse(AdHocCommand.Fault.badPayload.error(reason))
      case .unfit(let reasons): return .show(form, reasons, entries)
      }
    }
  }

  private func answer(
    _ question: Question, _ action: AdHocCommand.Action, _ entries: [FormEntry], in session: inout Session,
    at now: ContinuousClock.Instant
  ) -> Step {
    if action == .prev, question.mayGoBack {
      run(&session, at: now)
      return .answer(.back)
    }
    guard action == .execute || action == (question.isLast ? .complete : .next) else { return Self.badAction }
    do throws(FormFault) {
      let values = try question.fields.values(of: entries)
      run(&session, at: now)
      return .answer(.values(values))
    } catch {
      session.deadline = now + limits.idle
      switch error {
      case .malformed(let reason): return .refuse(AdHocCommand.Fault.badPayload.error(reason))
      case .unfit(let reasons): return .ask(question, reasons, entries)
      }
    }
  }

  private func run(_ session: inout Session, at now: ContinuousClock.Instant) {
    session.stage = .running
    session.deadline = nil
    session.answerBy = now + limits.patience
  }

  // MARK: - What the command does

  /// The running command asks. Whether a request waits that brings it to the contact; nil when nobody is there to ask.
  mutating func asked(_ id: String, _ question: Question, at now: ContinuousClock.Instant) -> Bool? {
    guard let session = sessions[id], case .running = session.stage else { return nil }
    let isShown = session.answerBy != nil
    sessions[id]?.stage = .asked(question, isShown: isShown)
    sessions[id]?.answerBy = nil
    sessions[id]?.deadline = now + limits.idle
    return isShown
  }

  /// The command has ended and offers a choice, which `form` shows. Whether a request waits that brings it to the contact.
  mutating func offered(_ id: String, _ form: CommandForm, at now: ContinuousClock.Instant) -> Bool {
    guard sessions[id]?.answerBy != nil else { return false }
    sessions[id]?.stage = .form(form)
    sessions[id]?.answerBy = nil
    sessions[id]?.deadline = now + limits.idle
    return true
  }

  /// The command has ended.
  mutating func finished(_ id: String, at now: ContinuousClock.Instant) {
    guard let session = sessions[id] else { return }
    guard session.answerBy == nil else { return sessions[id] = nil }
    sessions[id]?.stage = .finished
    sessions[id]?.deadline = now + limits.idle
  }

  /// The request that waited can't be answered any more.
  mutating func requestClosed(_ id: String) { sessions[id]?.answerBy = nil }

  // MARK: - Time

  /// When to look again; nil while nothing waits.
  var nextDeadline: ContinuousClock.Instant? {
    sessions.values.lazy.compactMap { [$0.deadline, $0.answerBy].compactMap { $0 }.min() }.min()
  }

  mutating func expire(at now: ContinuousClock.Instant) -> [Expiry] {
    var expired: [Expiry] = []
    for (id, session) in sessions {
      if let answerBy = session.answerBy, answerBy <= now {
        sessions[id]?.answerBy = nil
        expired.append(.stillRunning(id))
      }
      if let deadline = session.deadline, deadline <= now {
        sessions[id] = nil
        if case .asked = session.stage { expired.append(.abandoned(id)) }
      }
    }
    return expired
  }

  /// Whether another session may begin; those that only wait for a form make room, the longest idle first.
  private mutating func makeRoom(for requester: JID) -> Bool {
    let own = sessions.filter { $0.value.requester.isSameAccount(as: requester) }
    if own.count >= limits.perContact, !evictOne(of: own) { return false }
    return sessions.count < limits.total || evictOne(of: sessions)
  }

  private mutating func evictOne(of candidates: [String: Session]) -> Bool {
    let idle = candidates.filter(\.value.isIdle)
    guard let oldest = idle.min(by: { ($0.value.deadline ?? .now) < ($1.value.deadline ?? .now) }) else { return false }
    sessions[oldest.key] = nil
    return true
  }
}
