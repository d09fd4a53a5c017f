import Archive
import EventLoop
import Glibc
import JID
import JSON
import XMPPClient

/// `xmppbotctl send`: the message is in the outbox before anything else is said, so it is not lost, whatever the answer.
extension Daemon {
  /// Seconds; whoever wants to wait for longer asks again.
  private static let longestWait = 86_400

  func serveSend(_ request: JSON, _ client: ControlClient) {
    let text = request["text"]?.stringValue ?? ""
    let file = request["file"]?.stringValue
    guard let to = request["to"]?.stringValue, file != nil || !text.isEmpty else {
      return client.fail(.usage, "a recipient and a text are needed")
    }
    let recipient: JID
    do {
      recipient = try JID(to)
    } catch {
      return client.fail(.usage, "'\(to)' is no address: \(error)")
    }
    if let meant = ForgottenDomain.meant(by: recipient, account: settings.account.jid, roster: session.roster) {
      return client.fail(
        .usage, "nothing was sent: '\(to)' would be a server, not a person: write \(meant), or whatever the domain is")
    }
    if let fault = gate.fault { return client.fail(.failed, "nothing was sent: \(fault)") }
    if let file { return upload(file, caption: text.isEmpty ? nil : text, to: recipient, request, client) }
    log.log(.messageSent, "\(client.peer) sends a message to \(recipient)", peer: recipient.bare.description)
    flow.rooms.prepare(recipient) { [weak self] in
      guard let self, !isRefused(recipient, request, client) else { return }
      accept(flow.outbox.rows(text, to: recipient), to: recipient, request, client)
    }
  }

  /// Whoever waits need not wait for a room that does not let us in; nor does more wait for one than should.
  private func isRefused(_ recipient: JID, _ request: JSON, _ client: ControlClient) -> Bool {
    if flow.outbox.isFull(recipient) {
      client.fail(
        .failed, "nothing was sent: \(Outbox.tooMuch) (\(Outbox.mostHeld) messages): look at xmppbotctl rooms")
      return true
    }
    guard request["wait"]?.boolValue != false, let failure = flow.rooms.obstacle(at: recipient) else { return false }
    client.fail(.failed, "nothing was sent: the bot is not in \(recipient.bare): \(failure); \(failure.remedy)")
    return true
  }

  /// The file is open already: the daemon may not read what the caller may, nor the other way round.
  private func upload(
    _ name: String, caption: String?, to recipient: JID, _ request: JSON, _ client: ControlClient
  ) {
    guard let descriptor = client.takeDescriptor() else {
      return client.fail(.usage, "the file did not come with the request")
    }
    guard session.isOnline, ending == nil else {
      close(descriptor)
      return client.fail(
        .offline, "nothing was sent: the bot is \(ending == nil ? "not online (\(statusLine))" : "stopping")")
    }
    log.log(.messageSent, "\(client.peer) sends a file to \(recipient)", peer: recipient.bare.description)
    do throws(UploadFailure) {
      let file = try UploadFile(owning: descriptor, name: name, fallback: "file")
      flow.uploads.start(file) { [weak self] result in
        guard let self else { return }
        switch result {
        case .success(let link):
          flow.rooms.prepare(recipient) { [weak self] in
            guard let self, !isRefused(recipient, request, client) else { return }
            accept(flow.rows(link, caption, to: recipient, nil), to: recipient, request, client)
          }
        case .failure(let failure):
          log.log(
            .uploadFailed, "\(client.peer)'s file was not sent: \(failure)", peer: recipient.bare.description)
          client.fail(failure == .offline ? .offline : .failed, "\(name) was not sent: \(failure)")
        }
      }
    } catch {
      client.fail(.failed, "\(name) was not sent: \(error)")
    }
  }

  /// Queues the messages, and waits for the server if that is asked for.
  private func accept(_ rows: [NewMessage], to recipient: JID, _ request: JSON, _ client: ControlClient) {
    // Until the row is on the disk nothing is promised; a fault of the archive is told rather than waited out.
    let key = ObjectIdentifier(client)
    awaitingArchive[key] = {
      client.fail(
        .failed, "\($0); the message waits in memory, goes when there is room, and is lost if the bot ends before")
    }
    guard request["wait"]?.boolValue != false else {
      return flow.outbox.accept(rows, to: recipient) { [weak self] in
        if self?.awaitingArchive.removeValue(forKey: key) != nil { client.finish(["state": "queued"]) }
      }
    }
    guard session.isOnline, ending == nil else {
      let state = ending == nil ? "not online (\(statusLine))" : "stopping"
      let offline = "the bot is \(state); the message is queued, and goes when it is online"
      return flow.outbox.accept(rows, to: recipient) { [weak self] in
        if self?.awaitingArchive.removeValue(forKey: key) != nil { client.fail(.offline, offline) }
      }
    }
    let seconds = min(max(1, request["timeout"]?.intValue ?? 30), Self.longestWait)
    let timer = surroundings.scheduler.schedule(after: .seconds(seconds)) { [weak self] in
      self?.flow.outbox.waiters.forget(rows)
      client.fail(
        .timedOut,
        "the server has not confirmed the message within \(seconds) s; it stays in the outbox until the server has it"
          + (self?.flow.rooms.state(of: recipient).map { " (as to the room: \($0))" } ?? ""))
    }
    flow.outbox.waiters.await(rows) { fate in
      timer.cancel()
      switch fate {
      case .acked: client.finish(["state": "acked"])
      case .failed(let reason): client.fail(.failed, "the message came back: \(reason)")
      }
    }
    flow.outbox.accept(rows, to: recipient) { [weak self] in _ = self?.awaitingArchive.removeValue(forKey: key) }
  }
}
