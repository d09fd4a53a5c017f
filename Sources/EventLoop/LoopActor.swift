/// Isolation to the thread of `EventLoop.main`: what carries `@LoopActor` runs there, one thing at a time.
@globalActor
public actor LoopActor {
  public static let shared = LoopActor()

  public nonisolated var unownedExecutor: UnownedSerialExecutor {
    EventLoop.main.asUnownedSerialExecutor()
  }

  /// Calls `body` at once; traps when this is not the loop's thread. For C callbacks that the loop itself makes.
  public nonisolated static func assumeIsolated<T>(_ body: @LoopActor () throws -> T) rethrows -> T {
    EventLoop.main.checkIsolated()
    // Same representation with and without the isolation, which was checked above: as MainActor.assumeIsolated does.
    return try withoutActuallyEscaping(body) { escaping in
      try unsafeBitCast(escaping, to: (() throws -> T).self)()
    }
  }
}
