/// What a program and its children may use, by setrlimit(2). Nil: as much as the daemon itself, or the service.
public struct ResourceLimits: Sendable, Hashable {
  /// Bytes of memory of each process: what it may write to and shares with nobody (RLIMIT_DATA, so that what run times only
  /// reserve is not counted).
  public var memory: Int?
  /// Processes and threads. Linux counts all of a user's, so this is only for programs with a user of their own.
  public var processes: Int?
  /// Seconds of processor time of each process (RLIMIT_CPU).
  public var seconds: Int?

  public init(memory: Int? = nil, processes: Int? = nil, seconds: Int? = nil) {
    self.memory = memory
    self.processes = processes
    self.seconds = seconds
  }
}
