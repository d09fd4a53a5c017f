import EventLoop
import JID
import JSON
import XMPPClient

/// `xmppbotctl send`: the message is in the outbox before anything else is said, so it is not lost, whatever the answer.
extension Daemon {
  func serveSend(_ request: JSON, _ client: ControlClient) {
    guard let to = request["to"]?.stringValue, let text = request["text"]?.stringValue, !text.isEmpty else {
      return client.fail(.usage, "a recipient and a text are needed")
    }
    let recipient: JID
    do {
      recipient = try JID(to)
    } catch {
      return client.fail(.usage, "'\(to)' is no address: \(error)")
    }
    if let fault = gate.fault { return client.fail(.failed, "nothing was sent: \(fault)") }
    log.log(.messageSent, "\(client.peer) sends a message to \(recipient)", peer: recipient.bare.description)
    let rows = flow.outbox.rows(text, to: recipient)
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
    let seconds = max(1, request["timeout"]?.intValue ?? 30)
    let timer = surroundings.scheduler.schedule(after: .seconds(seconds)) { [weak self] in
      self?.flow.outbox.forget(rows)
      client.fail(
        .timedOut,
        "the server has not confirmed the message within \(seconds) s; it stays in the outbox until the server has it")
    }
    flow.outbox.await(rows) { fate in
      timer.cancel()
      switch fate {
      case .acked: client.finish(["state": "acked"])
      case .failed(let reason): client.fail(.failed, "the message came back: \(reason)")
      }
    }
    flow.outbox.accept(rows, to: recipient) { [weak self] in _ = self?.awaitingArchive.removeValue(forKey: key) }
  }
}
