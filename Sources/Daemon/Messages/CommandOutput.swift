import Archive
import BotKit
import EventLoop
import JID
import Systemd
import XMPPClient

/// What commands say becomes messages: in pieces, as corrections of messages that are there, or as a file with a link.
extension MessageFlow {
  /// A text that takes more messages than this goes up as a file.
  static let mostPieces = 10
  /// From so many things that wait behind files on, handlers are not read.
  static let mostWaiting = 100

  /// Does it, or keeps it until the file before it is there.
  func perform(_ action: CommandAction, of command: PendingCommand) {
    if menus?.perform(action, of: command) == true { return }
    if running[command.id]?.isUploading == true {
      // What it has printed so far is of no interest any more by then.
      if case .progress = action { return }
      running[command.id]?.waiting.append(action)
      return
    }
    switch action {
    case .reply(let text): reply(text, of: command)
    case .edit(let text): correct(text, of: command)
    case .progress(let text): show(text, of: command)
    case .upload(let file): upload(file, of: command)
    // That has a hook of its own.
    case .ask: break
    case .react(let emoji): react(emoji, to: command.request.message)
    case .offer(let options, let asked):
      router.offered(options, asked: asked, by: command.request.command, to: command.request.message, now: .now)
    }
  }

  /// Tells when what waits becomes too much, and when it is no more.
  func watchWaiting() {
    let isCrowded = running.values.reduce(0) { $0 + $1.waiting.count } >= Self.mostWaiting
    guard isCrowded != self.isCrowded else { return }
    self.isCrowded = isCrowded
    if isCrowded { return onCrowded(true) }
    // Not at once: what waits goes before what is read then.
    EventLoop.main.post { [weak self] in
      if let self, !self.isCrowded { onCrowded(false) }
    }
  }

  private func reply(_ text: String, of command: PendingCommand) {
    let message = command.request.message
    guard let recipient = recipient(of: message) else { return }
    router.replied(text, to: message, now: .now)
    guard let pieces = pieces(text, for: message, to: recipient) else { return upload(.text(text), of: command) }
    var shown = ShownText()
    let rows = rows(shown.show(pieces, newID: session.newID), to: recipient, message.thread)
    running[command.id, default: RunningOutput()].last = shown
    accept(rows, for: message, to: recipient)
  }

  /// A correction stays one of messages, however long it is.
  private func correct(_ text: String, of command: PendingCommand) {
    let message = command.request.message
    guard let recipient = recipient(of: message) else { return }
    router.replied(text, to: message, now: .now)
    let most = mostPieces(for: message)
    var pieces = allPieces(text, for: message, to: recipient)
    if pieces.count > most {
      pieces.removeLast(pieces.count - most)
      pieces[most - 1] += "\n(cut off: a correction has \(most) messages at most)"
    }
    let changes = running[command.id, default: RunningOutput()].last.show(pieces, newID: session.newID)
    accept(rows(changes, to: recipient, message.thread), for: message, to: recipient)
  }

  /// Only to who is there: for others the end is enough.
  private func show(_ text: String, of command: PendingCommand) {
    let message = command.request.message
    guard session.isOnline, let recipient = recipient(of: message) else { return }
    // Without pieces it will be a file.
    guard let pieces = pieces(text, for: message, to: recipient) else { return }
    var shown = running[command.id]?.progress ?? ShownText()
    let changes = shown.show(pieces, newID: session.newID)
    running[command.id, default: RunningOutput()].progress = shown
    accept(rows(changes, to: recipient, message.thread), for: message, to: recipient)
  }

  private func rows(
    _ changes: [(id: String, change: ShownText.Change)], to recipient: JID, _ thread: String?
  ) -> [NewMessage] {
    changes.map { id, change in
      var row = outbox.row(change.body, to: recipient, thread: thread, id: id)
      if case .correct(let first, _) = change { row.replaces = first }
      return row
    }
  }

  // MARK: - The end

  /// What a command says last, in messages or as a file, when all that it sent before is there.
  func sayEnding(of command: PendingCommand, _ outcome: CommandOutcome) {
    if running[command.id]?.isUploading == true {
      running[command.id]?.ending = outcome
      return
    }
    let output = running.removeValue(forKey: command.id)
    let message = command.request.message
    guard let text = outcome.text, let recipient = recipient(of: message) else {
      return deliverEnding(of: command, outcome, [])
    }
    let pieces = pieces(text, for: message, to: recipient)
    if pieces == nil, let printed = outcome.printed, outcome.result != .interrupted {
      var rest = outcome
      rest.printed = nil
      running[command.id] = RunningOutput(ending: rest)
      return upload(.text(printed), of: command)
    }
    router.replied(text, to: message, now: .now)
    var shown = output?.progress ?? ShownText()
    let all = pieces ?? piecesAsTheyFit(text, for: message, to: recipient, command: command.request.command)
    deliverEnding(of: command, outcome, rows(shown.show(all, newID: session.newID), to: recipient, message.thread))
  }

  // MARK: - Files

  private func upload(_ file: CommandUpload, of command: PendingCommand) {
    let message = command.request.message
    running[command.id, default: RunningOutput()].isUploading = true
    uploads.start(file, of: file.folder ?? command.request.command) { [weak self] result in
      guard let self else { return }
      var rows: [NewMessage] = []
      if let recipient = recipient(of: message) {
        switch result {
        case .success(let link):
          rows = captionRows(of: file, for: command, to: recipient)
          rows += self.rows(link, nil, to: recipient, message.thread)
        case .failure(let failure):
          report(failure, of: command)
          rows = instead(of: file, failure, to: recipient, message)
        }
      }
      uploaded(rows, of: command)
    }
  }

  /// The messages that bring a link.
  func rows(_ link: String, _ caption: String?, to recipient: JID, _ thread: String?) -> [NewMessage] {
    let before = caption.map { outbox.rows($0, to: recipient, thread: thread) } ?? []
    return before + [outbox.row(link, to: recipient, thread: thread, id: FileLink.id(session.newID()))]
  }

  /// What comes before a link. In a room it says for whom: a link stands alone in its message, or clients don't show the file.
  private func captionRows(of file: CommandUpload, for command: PendingCommand, to recipient: JID) -> [NewMessage] {
    let message = command.request.message
    guard message.place == .room else {
      return file.caption.map { outbox.rows($0, to: recipient, thread: message.thread) } ?? []
    }
    let caption = file.caption ?? "\(command.request.command) answers with a file:"
    return rows(answering: message, caption, command: nil, to: recipient)
  }

  /// What can be said of a file without it: its text, as far as ten messages hold it, and why there is no file.
  private func instead(
    of file: CommandUpload, _ failure: UploadFailure, to recipient: JID, _ message: ChatMessage
  ) -> [NewMessage] {
    let reason = "(\(failure.forContact))"
    guard case .bytes(let bytes) = file.content, FileKind.of(bytes) == .text else {
      return rows(answering: message, reason, command: nil, to: recipient)
    }
    let text = OutputText.clean(bytes)
    let whole = allPieces(text, for: message, to: recipient)
    let most = mostPieces(for: message)
    if whole.count <= most { return rows(answering: message, text + "\n" + reason, command: nil, to: recipient) }
    return (whole.prefix(most) + [reason]).map {
      outbox.row($0, to: recipient, thread: message.thread, id: session.newID())
    }
  }

  private func report(_ failure: UploadFailure, of command: PendingCommand) {
    let message = command.request.message
    log.log(
      .uploadFailed, "a file of the command \(command.request.command) was not sent: \(failure)",
      peer: message.sender.description, command: command.request.command, stanzaID: message.messageID)
  }

  /// The file is there, or will not be: `rows` say so, and what waits for it follows. When that is the end, all of it is in one
  /// transaction.
  private func uploaded(_ rows: [NewMessage], of command: PendingCommand) {
    guard var output = running[command.id] else { return }
    let waiting = output.waiting
    output.isUploading = false
    output.waiting = []
    // A link is not corrected.
    output.last = ShownText()
    running[command.id] = output
    if waiting.isEmpty, let ending = output.ending {
      running[command.id] = nil
      let message = command.request.message
      let text = recipient(of: message).flatMap { recipient in
        ending.text.map { self.rows(answering: message, $0, command: command.request.command, to: recipient) }
      }
      return deliverEnding(of: command, ending, rows + (text ?? []))
    }
    let message = command.request.message
    if let recipient = recipient(of: message) { accept(rows, for: message, to: recipient) }
    for action in waiting { perform(action, of: command) }
    guard running[command.id]?.isUploading != true, let ending = output.ending else { return }
    running[command.id]?.ending = nil
    sayEnding(of: command, ending)
  }
}

extension CommandUpload {
  /// A text that is too long for messages; a block's fences are no part of it.
  fileprivate static func text(_ text: String) -> CommandUpload {
    let fence = "```"
    let isBlock = text.hasPrefix(fence + "\n") && text.hasSuffix("\n" + fence) && text.utf8.count >= 8
    let inside = isBlock ? text.dropFirst(4).dropLast(4) : text[...]
    return CommandUpload(.bytes(Array(inside.utf8) + Array("\n".utf8)))
  }
}
