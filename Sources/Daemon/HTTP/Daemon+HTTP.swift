import Archive
import EventLoop
import HTTP
import JID
import Webhooks

/// HTTP: what it is told and what it asks for.
extension Daemon {
  static func webHooks(_ reference: Reference) -> WebInterface.Hooks {
    var hooks = WebInterface.Hooks()
    hooks.metrics = { reference.daemon?.metricsText ?? "# EOF\n" }
    hooks.state = { reference.daemon?.stateWord ?? "stopping" }
    hooks.obstacle = { reference.daemon?.obstacle }
    hooks.send = { text, recipient, done in reference.daemon?.send(text, to: recipient, done) }
    return hooks
  }

  /// One word for what the bot is doing.
  private var stateWord: String {
    if ending != nil { return "stopping" }
    return switch state {
    case .online: gate.fault == nil ? "online" : "archive-fault"
    case .connecting: "connecting"
    case .waiting: "offline"
    case .stopped: "stopping"
    }
  }

  private var obstacle: (reason: String, seconds: Int)? {
    if ending != nil { return ("the bot is stopping", 5) }
    if let fault = gate.fault { return ("\(fault)", 60) }
    if outboxIsFull { return ("too many messages wait until the bot is online", 60) }
    return nil
  }

  /// As `xmppbotctl send --queue` does it: nothing is promised until it is on the disk.
  private func send(
    _ text: String, to recipient: JID, _ done: @escaping @LoopActor (Result<String, HookRefusal>) -> Void
  ) {
    flow.rooms.prepare(recipient) { [weak self] in self?.queue(text, to: recipient, done) }
  }

  private func queue(
    _ text: String, to recipient: JID, _ done: @escaping @LoopActor (Result<String, HookRefusal>) -> Void
  ) {
    if flow.outbox.isFull(recipient) {
      let remedy = "send later; `xmppbotctl rooms` tells why the bot is not in the room"
      return done(.failure(HookRefusal(503, "outbox", Outbox.tooMuch, remedy: remedy)))
    }
    let rows = flow.outbox.rows(text, to: recipient)
    // Held by the closure below, so that nothing else has its identity meanwhile.
    let waiter = Waiter()
    awaitingArchive[ObjectIdentifier(waiter)] = { error in
      done(
        .failure(
          HookRefusal(
            503, "archive", "\(error); the message waits in memory, and is lost if the bot ends before it is written",
            remedy: "make room on the disk; sending it again would send it twice")))
    }
    flow.outbox.accept(rows, to: recipient) { [weak self] in
      guard self?.awaitingArchive.removeValue(forKey: ObjectIdentifier(waiter)) != nil else { return }
      done(.success(rows.first?.messageID ?? ""))
    }
  }

  /// Stands for one who waits.
  private final class Waiter {}
}

/// Sockets for HTTP.
struct HTTPSockets: Sendable {
  /// What the socket's unit has to say as `FileDescriptorName=`.
  static let name = "http"
  /// The one that the service manager passed; it stays open as long as the process runs.
  let passed: Int32?

  /// What the settings ask for; nil: nothing.
  func listener(for address: HTTPAddress?) throws(StartFailure) -> HTTPListener? {
    guard let address else { return nil }
    do throws(HTTPListener.Failure) {
      return try HTTPListener(address, passed: passed)
    } catch {
      throw StartFailure(error.isInUse ? .failed : .configuration, [error.description])
    }
  }
}
