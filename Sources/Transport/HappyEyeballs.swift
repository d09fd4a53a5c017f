import EventLoop

/// Decides which address of a host to dial when (RFC 8305): IPv6 first, families in turn, the next one when the last
/// has not connected after 250 ms or has failed; the first to connect wins.
struct HappyEyeballs {
  enum Event: Equatable {
    /// The answer for one family; empty when there is none.
    case resolved(IPAddress.Family, [IPAddress])
    /// The timer last asked for has fired.
    case timer
    case connected(Int)
    case failed(Int, Errno)
  }

  enum Action: Equatable {
    /// Connect to the address; the number names the attempt.
    case dial(Int, IPAddress)
    /// Replaces the timer before.
    case setTimer(Duration)
    case cancelTimer
    case won(Int)
    case cancel(Int)
    /// Nothing is left to try.
    case gaveUp([AttemptFailure])
  }

  /// RFC 8305, section 8: Connection Attempt Delay and Resolution Delay.
  static let attemptDelay = Duration.milliseconds(250)
  static let resolutionDelay = Duration.milliseconds(50)
  /// Addresses of one family that are tried at most.
  static let addressLimit = 8

  private var v6 = Candidates()
  private var v4 = Candidates()
  private var dialled: [IPAddress] = []
  private var running: Set<Int> = []
  private var failures: [AttemptFailure] = []
  /// A timer runs: the next dial waits for it.
  private var waits = false
  private var isOver = false

  private struct Candidates {
    var addresses: ArraySlice<IPAddress> = []
    var isPending = true
  }

  mutating func handle(_ event: Event) -> [Action] {
    guard !isOver else { return [] }
    switch event {
    case .resolved(.v6, let addresses):
      v6 = Candidates(addresses: addresses.prefix(Self.addressLimit), isPending: false)
      // IPv4 may have waited for this answer; attempts that run go on waiting for their 250 ms.
      return dialled.isEmpty || !waits ? dialNext() : []
    case .resolved(.v4, let addresses):
      v4 = Candidates(addresses: addresses.prefix(Self.addressLimit), isPending: false)
      if v6.isPending, dialled.isEmpty, !addresses.isEmpty {
        waits = true
        return [.setTimer(Self.resolutionDelay)]
      }
      return waits ? [] : dialNext()
    case .timer:
      waits = false
      return dialNext()
    case .failed(let attempt, let error):
      guard running.remove(attempt) != nil else { return [] }
      failures.append(AttemptFailure(address: dialled[attempt], error: error))
      return dialNext()
    case .connected(let attempt):
      guard running.remove(attempt) != nil else { return [] }
      isOver = true
      return [.cancelTimer, .won(attempt)] + running.sorted().map { .cancel($0) }
    }
  }

  /// Gives up what is still going on: the driver's own time limit.
  mutating func stop() -> [Action] {
    guard !isOver else { return [] }
    isOver = true
    return [.cancelTimer] + running.sorted().map { .cancel($0) } + [.gaveUp(failures)]
  }

  private mutating func dialNext() -> [Action] {
    if let address = takeNext() {
      let attempt = dialled.count
      dialled.append(address)
      running.insert(attempt)
      waits = true
      return [.dial(attempt, address), .setTimer(Self.attemptDelay)]
    }
    waits = false
    guard running.isEmpty, !v6.isPending, !v4.isPending else { return [] }
    isOver = true
    return [.cancelTimer, .gaveUp(failures)]
  }

  private mutating func takeNext() -> IPAddress? {
    let v4First = dialled.last?.family == .v6
    return v4First
      ? v4.addresses.popFirst() ?? v6.addresses.popFirst()
      : v6.addresses.popFirst() ?? v4.addresses.popFirst()
  }
}
