import Systemd

/// Keeps what is logged. Tests use it from one thread.
final class RecordingSink: LogSink, @unchecked Sendable {  // Only the test's own thread touches it.
  private(set) var records: [LogRecord] = []

  func write(_ record: LogRecord) { records.append(record) }
}

/// A file of this repository.
func repositoryPath(_ path: String, file: String = #filePath) -> String {
  file.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/") + "/" + path
}
