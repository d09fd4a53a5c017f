import Synchronization

/// Writes events to the journal or a terminal. Copies share one level and one sink.
public struct Logger: Sendable {
  private final class Shared: Sendable {
    /// The rank of the least important level that is written.
    let threshold: Atomic<UInt8>
    let tracesStanzas: Atomic<Bool>
    let sink: any LogSink

    init(level: LogLevel, tracesStanzas: Bool, sink: any LogSink) {
      threshold = Atomic(level.rank)
      self.tracesStanzas = Atomic(tracesStanzas)
      self.sink = sink
    }
  }

  private let shared: Shared
  private let account: String?

  /// - Parameter tracesStanzas: `[log] xml`: whether stanzas are written, whatever the level.
  public init(level: LogLevel = .info, tracesStanzas: Bool = false, sink: any LogSink) {
    shared = Shared(level: level, tracesStanzas: tracesStanzas, sink: sink)
    account = nil
  }

  private init(shared: Shared, account: String?) {
    self.shared = shared
    self.account = account
  }

  /// This logger, with `jid` in each record that names no other account.
  public func forAccount(_ jid: String) -> Logger { Logger(shared: shared, account: jid) }

  /// The least important level that is written. Takes effect at once, in every copy and thread.
  public var level: LogLevel {
    get { LogLevel.allCases.first { $0.rank == shared.threshold.load(ordering: .relaxed) } ?? .info }
    nonmutating set { shared.threshold.store(newValue.rank, ordering: .relaxed) }
  }

  /// Whether stanzas are written (`[log] xml`).
  public var tracesStanzas: Bool {
    get { shared.tracesStanzas.load(ordering: .relaxed) }
    nonmutating set { shared.tracesStanzas.store(newValue, ordering: .relaxed) }
  }

  /// Whether an event of `level` would be written.
  public func isEnabled(_ level: LogLevel) -> Bool {
    level.rank <= shared.threshold.load(ordering: .relaxed)
  }

  /// Writes an event. Nothing is evaluated when its level is not enabled.
  /// - Parameters:
  ///   - level: in place of the event's own.
  ///   - message: one sentence; what came from the network may be in it as it is.
  public func log(
    _ event: LogEvent, at level: LogLevel? = nil, _ message: @autoclosure () -> String,
    jid: @autoclosure () -> String? = nil, peer: @autoclosure () -> String? = nil,
    room: @autoclosure () -> String? = nil, command: @autoclosure () -> String? = nil,
    stanzaID: @autoclosure () -> String? = nil, duration: @autoclosure () -> Duration? = nil
  ) {
    let level = level ?? event.level
    guard isEnabled(level) else { return }
    shared.sink.write(
      LogRecord(
        event: event, level: level, message: message(), jid: jid() ?? account, peer: peer(), room: room(),
        command: command(), stanzaID: stanzaID(), duration: duration()))
  }

  /// Writes a stanza, with its secrets blanked by the caller, when `[log] xml` asks for it.
  public func traceStanza(_ text: @autoclosure () -> String) {
    guard tracesStanzas else { return }
    shared.sink.write(LogRecord(event: .stanzaTrace, message: text(), jid: account))
  }
}
