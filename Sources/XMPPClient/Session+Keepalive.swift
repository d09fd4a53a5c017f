import XML
import XMPPStanzas
import XMPPStream

/// Whether the link lives (XEP-0199).
extension Session {
  func heard() {
    keepalive?.heard(at: environment.scheduler.now)
  }

  func checkKeepalive() {
    guard var keepalive else { return }
    let now = environment.scheduler.now
    // While we don't listen, silence proves nothing.
    if isReadingPaused { keepalive.heard(at: now) }
    if hasWaitedTooLong(now) { return link?.abort(.silent) ?? () }
    let action = keepalive.check(at: now, delivered: link?.deliveredBytes ?? 0)
    self.keepalive = keepalive
    let next: ContinuousClock.Instant
    switch action {
    case .giveUp: return link?.abort(.silent) ?? ()
    case .wait(let time): next = time
    case .ping(let time):
      next = time
      // To the account's server: that it is there is all we want to know, any answer will do.
      request(.get, to: options.account.server, Element("ping", Namespace.ping)) { _ in }
      self.keepalive?.sent(written: link?.writtenBytes ?? 0, delivered: link?.deliveredBytes ?? 0)
    }
    keepaliveTimer = environment.scheduler.schedule(after: now.duration(to: next)) { [weak self] in
      self?.checkKeepalive()
    }
  }
}
