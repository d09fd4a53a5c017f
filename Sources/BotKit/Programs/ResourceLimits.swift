/// What a program and its children may use, by setrlimit(2). Nil: nothing is said.
public struct ResourceLimits: Sendable, Hashable {
  /// Bytes of memory of each process: what it may write to and shares with nobody (RLIMIT_DATA, so that what run times only
  /// reserve is not counted).
  public var memory: Int?
  /// Processes and threads. Linux counts all of a user's, so this is only for programs with a user of their own.
  public var processes: Int?
  /// Seconds of processor time of each process (RLIMIT_CPU).
  public var seconds: Int?

  /// Said to be without a limit: as much as the daemon itself may use, or the service.
  public static let unlimited = Int.max

  /// How much `memory` may be said to be: with less no program could even be loaded.
  public static let memoryRange = 16 << 20...1 << 50
  public static let processesRange = 1...1_000_000
  /// What `seconds` may be said to be; what is left of a second counts as one.
  public static let cpuRange: ClosedRange<Duration> = .seconds(1) ... .seconds(365 * 86_400)

  public init(memory: Int? = nil, processes: Int? = nil, seconds: Int? = nil) {
    self.memory = memory
    self.processes = processes
    self.seconds = seconds
  }

  /// These, and where they say nothing, those of `others`.
  public func completed(by others: ResourceLimits) -> ResourceLimits {
    ResourceLimits(
      memory: memory ?? others.memory, processes: processes ?? others.processes, seconds: seconds ?? others.seconds)
  }
}

/// As the description of a command in commands.d says it.
extension ResourceLimits {
  static let keys = ["memory", "processes", "cpu"]

  /// Sets one of `keys`; false when the value is none.
  mutating func set(_ key: String, _ value: String) -> Bool {
    let number: Int? =
      if value == "unlimited" {
        Self.unlimited
      } else if key == "memory" {
        Units.bytes(value, in: Self.memoryRange)
      } else if key == "processes" {
        Int(value).flatMap { Self.processesRange.contains($0) ? $0 : nil }
      } else {
        Units.duration(value, in: Self.cpuRange).map { Int(($0.microseconds + 999_999) / 1_000_000) }
      }
    guard let number else { return false }
    switch key {
    case "memory": memory = number
    case "processes": processes = number
    default: seconds = number
    }
    return true
  }

  static func remedy(_ key: String) -> String {
    switch key {
    case "memory": "write it as 512M, at least 16M, or unlimited"
    case "processes": "write a number up to 1000000, or unlimited"
    default: "write it as 20s or 5m, at least 1s, or unlimited"
    }
  }
}
