import Glibc

/// Which of the two writers fits the process.
public enum LogDestination {
  /// The journal when standard error is connected to it, else readable lines on standard error.
  public static func sink(environment: [String: String], descriptor: Int32 = STDERR_FILENO) -> any LogSink {
    isJournal(descriptor, environment: environment)
      ? JournalWriter() : TerminalWriter(descriptor: descriptor, environment: environment)
  }

  /// Whether `descriptor` is the stream that `$JOURNAL_STREAM` names by device and inode (systemd.exec(5)). The
  /// variable alone proves nothing: it is inherited by programs whose standard error goes elsewhere.
  static func isJournal(_ descriptor: Int32, environment: [String: String]) -> Bool {
    guard let stream = environment["JOURNAL_STREAM"] else { return false }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return false }
    return stream == "\(status.st_dev):\(status.st_ino)"
  }
}
