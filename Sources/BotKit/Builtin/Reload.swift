import EventLoop

/// `reload`: reads the configuration again, for administrators.
struct Reload: WaitingCommand {
  static let description = CommandDescription(name: "reload", description: "Read my configuration again")

  let service: @Sendable @LoopActor (@escaping @LoopActor ([String]) -> Void) -> Void

  func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
    service { faults in
      if faults.isEmpty { return events.finish(.done, "The new configuration is in force.") }
      events.finish(
        .done, "The old configuration stays in force, since the new one has faults:\n" + faults.joined(separator: "\n"))
    }
    return Abandonable(events)
  }
}
