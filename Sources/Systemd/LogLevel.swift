/// How much an event matters to the operator.
public enum LogLevel: String, Sendable, Hashable, CaseIterable {
  case error, warning, info, debug, trace

  /// The journal's PRIORITY (syslog(3)). The journal knows nothing below debug.
  public var priority: Int {
    switch self {
    case .error: 3
    case .warning: 4
    case .info: 6
    case .debug, .trace: 7
    }
  }

  /// 0 for `error`, rising as events matter less.
  var rank: UInt8 {
    switch self {
    case .error: 0
    case .warning: 1
    case .info: 2
    case .debug: 3
    case .trace: 4
    }
  }
}

extension LogLevel: Comparable {
  /// `error` is the greatest: `level >= .warning` are the events to worry about.
  public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank > right.rank }
}
