import EventLoop

/// Where a running command tells what happens. Nothing is heard after `finish`.
@LoopActor
public final class CommandEvents {
  private var heard: Handlers?

  struct Handlers {
    let perform: @LoopActor (CommandAction) -> Void
    let log: @LoopActor (String) -> Void
    let finish: @LoopActor (CommandResult, String?) -> Void
  }

  init(_ handlers: Handlers) { heard = handlers }

  /// A message for the contact before the end.
  public func reply(_ text: String) { perform(.reply(text)) }

  /// What it does for the contact before the end.
  public func perform(_ action: CommandAction) { heard?.perform(action) }

  /// A line for the operator's log.
  public func log(_ line: String) { heard?.log(line) }

  /// The end, with the last text for the contact; a sentence about `result` is added to it where one is needed.
  public func finish(_ result: CommandResult, _ text: String? = nil) {
    let heard = heard
    self.heard = nil
    heard?.finish(result, text)
  }
}

/// A running command that cannot be stopped, only not waited for any longer.
final class Abandonable: RunningCommand {
  private let events: CommandEvents
  init(_ events: CommandEvents) { self.events = events }
  func stop(_ reason: CommandResult) { events.finish(reason) }
}
