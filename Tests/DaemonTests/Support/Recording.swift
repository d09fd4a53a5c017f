import SQLite
import Systemd

/// Keeps what is logged.
final class Recording: LogSink {
  private let records = Monitor<[LogRecord]>([])

  func write(_ record: LogRecord) { records.withLock { $0.append(record) } }

  var all: [LogRecord] { records.withLock { $0 } }

  /// The messages of one kind of event.
  func messages(_ event: LogEvent) -> [String] { all.filter { $0.event == event }.map(\.message) }
}

/// Something that is not to go on before a test says so.
final class Barrier: Sendable {
  private let isOpen = Monitor(false)

  func open() {
    isOpen.signal {
      $0 = true
      return true
    }
  }

  /// Blocks the calling thread.
  func wait() { isOpen.wait(until: nil, for: { $0 }, { _ in }) }
}
