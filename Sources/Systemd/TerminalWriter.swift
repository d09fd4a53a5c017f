import Glibc

/// Writes records as readable lines to a descriptor: `time level event message key=value…`.
public struct TerminalWriter: LogSink {
  /// How the lines look.
  public struct Style: Sendable, Hashable {
    public var colour: Bool
    /// The local time of day for someone who watches; else date and time in UTC (RFC 3339), for a file.
    public var localTime: Bool

    public init(colour: Bool, localTime: Bool) {
      self.colour = colour
      self.localTime = localTime
    }

    /// Whether the environment lets a terminal be coloured: NO_COLOR (no-color.org) is not set, and TERM is not `dumb`.
    public static func allowsColour(_ environment: [String: String]) -> Bool {
      environment["NO_COLOR", default: ""].isEmpty && environment["TERM"] != "dumb"
    }
  }

  private let descriptor: Int32
  private let style: Style

  public init(descriptor: Int32 = STDERR_FILENO, style: Style) {
    self.descriptor = descriptor
    self.style = style
  }

  /// Colour and local time on a terminal only.
  public init(descriptor: Int32 = STDERR_FILENO, environment: [String: String]) {
    let isTerminal = isatty(descriptor) == 1
    self.init(
      descriptor: descriptor,
      style: Style(colour: isTerminal && Style.allowsColour(environment), localTime: isTerminal))
  }

  public func write(_ record: LogRecord) {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    writeAll(Self.line(record, at: now, style: style))
  }

  static func line(_ record: LogRecord, at time: timespec, style: Style) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(160)
    bytes.append(contentsOf: timeText(time, local: style.localTime).utf8)
    bytes.append(UInt8(ascii: " "))
    let colour = style.colour ? colour(of: record.level) : nil
    if let colour { bytes.append(contentsOf: colour.utf8) }
    bytes.append(contentsOf: record.level.rawValue.utf8)
    if colour != nil { bytes.append(contentsOf: "\u{1B}[0m".utf8) }
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 8 - record.level.rawValue.utf8.count))
    bytes.append(contentsOf: record.event.rawValue.utf8)
    bytes.append(contentsOf: ": ".utf8)
    LogText.append(record.message, to: &bytes)
    // The account is the same in every line of a terminal.
    for (name, value) in [
      ("peer", record.peer), ("room", record.room), ("command", record.command), ("id", record.stanzaID),
      ("duration", record.duration.map(durationText)),
    ] {
      guard let value else { continue }
      bytes.append(contentsOf: " \(name)=".utf8)
      LogText.append(value, to: &bytes)
    }
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }

  private static func colour(of level: LogLevel) -> String? {
    switch level {
    case .error: "\u{1B}[31m"
    case .warning: "\u{1B}[33m"
    case .info: nil
    case .debug, .trace: "\u{1B}[2m"
    }
  }

  /// `12:34:56.789`, or `2026-01-31T12:34:56.789Z`.
  private static func timeText(_ time: timespec, local: Bool) -> String {
    var parts = tm()
    var seconds = time.tv_sec
    if local { localtime_r(&seconds, &parts) } else { gmtime_r(&seconds, &parts) }
    func digits(_ number: Int32, _ width: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, width - text.count)) + text
    }
    let clock =
      digits(parts.tm_hour, 2) + ":" + digits(parts.tm_min, 2) + ":" + digits(parts.tm_sec, 2) + "."
      + digits(Int32(time.tv_nsec / 1_000_000), 3)
    if local { return clock }
    return digits(parts.tm_year + 1900, 4) + "-" + digits(parts.tm_mon + 1, 2) + "-" + digits(parts.tm_mday, 2)
      + "T\(clock)Z"
  }

  /// `850µs`, `12ms`, `3.2s`.
  private static func durationText(_ duration: Duration) -> String {
    let total = microseconds(duration)
    if total < 1000 { return "\(total)µs" }
    if total < 1_000_000 { return "\(total / 1000)ms" }
    return "\(total / 1_000_000).\(total % 1_000_000 / 100_000)s"
  }

  private func writeAll(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while let base = UnsafeRawBufferPointer(rebasing: rest).baseAddress, !rest.isEmpty {
        let count = Glibc.write(descriptor, base, rest.count)
        if count < 0 {
          if errno == EINTR { continue }
          return  // There is nowhere left to report a failure to.
        }
        rest = rest.dropFirst(count)
      }
    }
  }
}
