import EventLoop

/// What came of reading the configuration again.
public struct ReloadOutcome: Sendable, Hashable {
  /// What is wrong with the new one; with any of these the old one stays in force.
  public var faults: [String]
  /// Commands that are not offered, and why; they keep nothing else from being in force.
  public var refused: [String]
  /// Keys whose new values wait for a restart: `account.jid`.
  public var atRestart: [String]

  public init(faults: [String] = [], refused: [String] = [], atRestart: [String] = []) {
    self.faults = faults
    self.refused = refused
    self.atRestart = atRestart
  }
}

/// `reload`: reads the configuration again, for administrators.
struct Reload: WaitingCommand {
  static let description = CommandDescription(name: "reload", description: "Read my configuration again")

  let service: @Sendable @LoopActor (@escaping @LoopActor (ReloadOutcome) -> Void) -> Void

  func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
    service { outcome in
      guard outcome.faults.isEmpty else {
        let faults = outcome.faults.joined(separator: "\n")
        return events.finish(.done, "The old configuration stays in force, since the new one has faults:\n" + faults)
      }
      let refused = outcome.refused.isEmpty ? [] : ["Not offered:"] + outcome.refused
      let later = outcome.atRestart.isEmpty ? [] : ["At my next restart: " + outcome.atRestart.joined(separator: ", ")]
      events.finish(.done, (["The new configuration is in force."] + later + refused).joined(separator: "\n"))
    }
    return Abandonable(events)
  }
}
