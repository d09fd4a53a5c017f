/// When to ping the server and when to give it up (XEP-0199 section 4.2). Pure.
///
/// Anything at all that arrives, white space too, shows that the link lives. A link that dies is noticed within
/// `interval` + `timeout` after the last byte. On a narrow link a ping may stand behind much else that was written: its time
/// begins when the other side has that, and while the other side takes what comes before it, the link lives, too.
public struct Keepalive: Sendable {
  public enum Action: Sendable, Hashable {
    /// Look again then.
    case wait(until: ContinuousClock.Instant)
    /// Send a ping, and look again then.
    case ping(until: ContinuousClock.Instant)
    /// The link is dead.
    case giveUp
  }

  /// Where a ping stands that has much before it, in bytes since the link began.
  private struct Place {
    var end: Int
    /// What the other side had when that was last looked at.
    var delivered: Int
  }

  /// Bytes before a ping that are no delay worth considering.
  public static let backlog = 16_384

  private let interval: Duration
  private let timeout: Duration
  private var lastHeard: ContinuousClock.Instant
  /// When the time of the ping began that has no answer yet.
  private var pinged: ContinuousClock.Instant?
  /// Where that ping stands; nil when it is with the other side, or has little before it.
  private var place: Place?

  public init(interval: Duration, timeout: Duration, now: ContinuousClock.Instant) {
    self.interval = interval
    self.timeout = timeout
    lastHeard = now
  }

  /// Bytes came in.
  public mutating func heard(at now: ContinuousClock.Instant) {
    lastHeard = now
    pinged = nil
    place = nil
  }

  /// The ping that was asked for is written: it ends at the byte `written`, of which the other side has `delivered`.
  public mutating func sent(written: Int, delivered: Int) {
    guard pinged != nil, written - delivered > Self.backlog else { return }
    place = Place(end: written, delivered: delivered)
  }

  /// Something made the link doubtful, such as a change of the network: the next check pings.
  public mutating func doubt(at now: ContinuousClock.Instant) {
    guard pinged == nil else { return }
    lastHeard = now.advanced(by: .zero - interval)
  }

  /// The time asked for has come. `delivered`: the bytes that the other side has.
  public mutating func check(at now: ContinuousClock.Instant, delivered: Int = 0) -> Action {
    if var pinged {
      if let place, delivered > place.delivered {
        pinged = now
        self.pinged = now
        self.place = delivered >= place.end ? nil : Place(end: place.end, delivered: delivered)
      }
      let end = pinged.advanced(by: timeout)
      return now >= end ? .giveUp : .wait(until: end)
    }
    let due = lastHeard.advanced(by: interval)
    guard now >= due else { return .wait(until: due) }
    pinged = now
    return .ping(until: now.advanced(by: timeout))
  }
}
