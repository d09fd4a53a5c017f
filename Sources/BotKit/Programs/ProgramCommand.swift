import EventLoop
import Glibc

/// A command that is a program, run once for each use: its arguments are argv, its standard input what was typed after the
/// command's name, its standard output the reply, its standard error the log's. No shell is involved.
public struct ProgramCommand: WaitingCommand {
  /// How the output is shown.
  public enum Style: String, Sendable, Hashable, CaseIterable {
    case text
    /// As a preformatted block (XEP-0393 version 1.1.1).
    case code
    /// As a file, of the very bytes; the contact gets a link.
    case file
  }

  /// What its time-out may be said to be.
  public static let timeouts: ClosedRange<Duration> = .milliseconds(100) ... .seconds(86_400)

  public struct Limits: Sendable, Hashable {
    /// Bytes of output; at more the program is stopped and its reply cut.
    public var output: Int
    /// Between TERM and KILL.
    public var killGrace: Duration
    /// How long the output may stay open, held by a child, after the program itself has ended.
    public var closeGrace: Duration
    public var resources = ResourceLimits()

    public init(
      output: Int = 65536, killGrace: Duration = .seconds(2), closeGrace: Duration = .seconds(1)
    ) {
      self.output = output
      self.killGrace = killGrace
      self.closeGrace = closeGrace
    }
  }

  let words: [String]
  let launcher: any ProgramLauncher
  let style: Style
  let isLive: Bool
  let limits: Limits

  /// - Parameters:
  ///   - words: the program's absolute path and its first arguments; the contact's follow them.
  ///   - launcher: what starts it.
  ///   - isLive: show what it prints while it runs.
  public init(
    words: [String], launcher: any ProgramLauncher, style: Style = .text, isLive: Bool = false,
    limits: Limits = Limits()
  ) {
    self.words = words
    self.launcher = launcher
    self.style = style
    self.isLive = isLive
    self.limits = limits
  }

  public func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
    do {
      return try ProgramRun(self, request, events)
    } catch {
      events.log(error.log)
      events.finish(.failed(error.reply))
      return Abandonable(events)
    }
  }
}
