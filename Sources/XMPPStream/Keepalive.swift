/// When to ping the server and when to give it up (XEP-0199 section 4.2). Pure.
///
/// Anything at all that arrives, white space too, shows that the link lives. A link that dies is noticed within
/// `interval` + `timeout` after the last byte.
public struct Keepalive: Sendable {
  public enum Action: Sendable, Hashable {
    /// Look again then.
    case wait(until: ContinuousClock.Instant)
    /// Send a ping, and look again then.
    case ping(until: ContinuousClock.Instant)
    /// The link is dead.
    case giveUp
  }

  private let interval: Duration
  private let timeout: Duration
  private var lastHeard: ContinuousClock.Instant
  private var pinged: ContinuousClock.Instant?

  public init(interval: Duration, timeout: Duration, now: ContinuousClock.Instant) {
    self.interval = interval
    self.timeout = timeout
    lastHeard = now
  }

  /// Bytes came in.
  public mutating func heard(at now: ContinuousClock.Instant) {
    lastHeard = now
    pinged = nil
  }

  /// Something made the link doubtful, such as a change of the network: the next check pings.
  public mutating func doubt(at now: ContinuousClock.Instant) {
    guard pinged == nil else { return }
    lastHeard = now.advanced(by: .zero - interval)
  }

  /// The time asked for has come.
  public mutating func check(at now: ContinuousClock.Instant) -> Action {
    if let pinged {
      let end = pinged.advanced(by: timeout)
      return now >= end ? .giveUp : .wait(until: end)
    }
    let due = lastHeard.advanced(by: interval)
    guard now >= due else { return .wait(until: due) }
    pinged = now
    return .ping(until: now.advanced(by: timeout))
  }
}
