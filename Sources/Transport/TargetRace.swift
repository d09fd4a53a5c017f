import EventLoop
import Glibc

/// Connects to one server: looks its addresses up and dials them as `HappyEyeballs` says.
@LoopActor
final class TargetRace {
  enum Outcome {
    /// A connected descriptor, the receiver's to close.
    case connected(Int32)
    case failed(TargetFailure)
  }

  private let endpoint: Endpoint
  private let completion: @LoopActor (Outcome) -> Void
  private var machine = HappyEyeballs()
  private var attempts: [Int: Attempt] = [:]
  private var timer: TimerSource?
  private var lookupError: DNSError?
  private var timedOut = false
  private var isOver = false

  private struct Attempt {
    let descriptor: Int32
    let source: DescriptorSource
  }

  /// `completion` is called once, unless `cancel()` comes first, and never from within a call.
  init(_ endpoint: Endpoint, completion: @escaping @LoopActor (Outcome) -> Void) {
    self.endpoint = endpoint
    self.completion = completion
  }

  func start(_ channel: DNSChannel) {
    if let known = Self.knownAddresses(of: endpoint.host) {
      EventLoop.main.post { [weak self] in
        for family in [IPAddress.Family.v6, .v4] {
          self?.handle(.resolved(family, known.filter { $0.family == family }))
        }
      }
      return
    }
    for family in [IPAddress.Family.v6, .v4] {
      channel.addresses(of: endpoint.host, family) { [weak self] in self?.resolved(family, $0) }
    }
  }

  /// The addresses that need no lookup: a literal's own, and loopback for localhost (RFC 6761, section 6.3).
  private static func knownAddresses(of host: String) -> [IPAddress]? {
    if let address = IPAddress(host) { return [address] }
    guard host == "localhost" || host.hasSuffix(".localhost") else { return nil }
    return [IPAddress("::1"), IPAddress("127.0.0.1")].compactMap(\.self)
  }

  private func resolved(_ family: IPAddress.Family, _ result: Result<[IPAddress], DNSError>) {
    switch result {
    case .success(let addresses): handle(.resolved(family, addresses))
    case .failure(let error):
      // "There is none" is the least telling of two errors.
      if lookupError == nil || lookupError?.kind == .notFound { lookupError = error }
      handle(.resolved(family, []))
    }
  }

  /// Gives up, with a failure that says so.
  func timeOut() {
    timedOut = true
    perform(machine.stop())
  }

  /// Ends it; `completion` is not called.
  func cancel() {
    isOver = true
    _ = machine.stop()
    timer?.cancel()
    timer = nil
    for attempt in attempts.values { end(attempt) }
    attempts = [:]
  }

  private func handle(_ event: HappyEyeballs.Event) {
    perform(machine.handle(event))
  }

  private func perform(_ actions: [HappyEyeballs.Action]) {
    for action in actions where !isOver {
      switch action {
      case .dial(let number, let address): dial(number, address)
      case .setTimer(let delay):
        timer?.cancel()
        timer = TimerSource(after: delay) { [weak self] in self?.handle(.timer) }
      case .cancelTimer:
        timer?.cancel()
        timer = nil
      case .cancel(let number):
        if let attempt = attempts.removeValue(forKey: number) { end(attempt) }
      case .won(let number):
        guard let attempt = attempts.removeValue(forKey: number) else { continue }
        attempt.source.cancel()
        finish(.connected(attempt.descriptor))
      case .gaveUp(let failures):
        finish(
          .failed(TargetFailure(endpoint: endpoint, lookup: lookupError, attempts: failures, timedOut: timedOut)))
      }
    }
  }

  private func finish(_ outcome: Outcome) {
    let completion = completion
    EventLoop.main.post { [weak self] in
      if let self, !isOver {
        isOver = true
        completion(outcome)
      } else if case .connected(let descriptor) = outcome {
        close(descriptor)
      }
    }
  }

  private func dial(_ number: Int, _ address: IPAddress) {
    do throws(Errno) {
      let descriptor = try Socket.open(address.family)
      do throws(Errno) {
        // A connection that stands at once is writable at once: the loop tells either way.
        _ = try Socket.connect(descriptor, to: address, port: endpoint.port)
      } catch {
        close(descriptor)
        throw error
      }
      let source = DescriptorSource(descriptor, .writable) { [weak self] _ in self?.dialled(number) }
      attempts[number] = Attempt(descriptor: descriptor, source: source)
    } catch {
      // Told in a turn of its own, so that the actions at hand are carried out first.
      EventLoop.main.post { [weak self] in self?.handle(.failed(number, error)) }
    }
  }

  private func dialled(_ number: Int) {
    guard let attempt = attempts[number] else { return }
    let code = Socket.pendingError(attempt.descriptor)
    if code == 0 { return handle(.connected(number)) }
    attempts[number] = nil
    end(attempt)
    handle(.failed(number, Errno(code: code)))
  }

  private func end(_ attempt: Attempt) {
    attempt.source.cancel()
    close(attempt.descriptor)
  }
}
