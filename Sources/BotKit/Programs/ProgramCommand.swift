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

  public struct Limits: Sendable, Hashable {
    /// Bytes of output; at more the program is stopped and its reply cut.
    public var output: Int
    /// Between TERM and KILL.
    public var killGrace: Duration
    /// How long the output may stay open, held by a child, after the program itself has ended.
    public var closeGrace: Duration

    public init(
      output: Int = 65536, killGrace: Duration = .seconds(2), closeGrace: Duration = .seconds(1)
    ) {
      self.output = output
      self.killGrace = killGrace
      self.closeGrace = closeGrace
    }
  }

  let words: [String]
  let stateBase: String
  let style: Style
  let isLive: Bool
  let limits: Limits
  let trust: Bool

  /// - Parameters:
  ///   - words: the program's absolute path and its first arguments; the contact's follow them.
  ///   - stateBase: the folder in which each command has its own.
  ///   - isLive: show what it prints while it runs.
  ///   - checkTrust: look before each start whether others could have changed the program (`FileTrust`).
  public init(
    words: [String], stateBase: String, style: Style = .text, isLive: Bool = false, limits: Limits = Limits(),
    checkTrust: Bool = false
  ) {
    self.words = words
    self.stateBase = stateBase
    self.style = style
    self.isLive = isLive
    self.limits = limits
    trust = checkTrust
  }

  /// Why `words` cannot be run, for a check of the configuration; nil when they can.
  public static func fault(in words: [String]) -> String? {
    guard let path = words.first else { return "no program is named: write its path" }
    guard path.utf8.first == UInt8(ascii: "/") else { return "\(path) is no absolute path: write it from / on" }
    guard access(path, X_OK) == 0 else { return "\(path): \(Errno(code: errno))" }
    return nil
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

/// Why a program did not start.
struct StartFailure: Error {
  /// For the contact: nothing about the machine.
  let reply: String
  /// For the operator.
  let log: String

  init(reply: String = "it cannot be started, the log says why", log: String) {
    self.reply = reply
    self.log = log
  }

  init(starting path: String, _ code: Errno) {
    switch code.code {
    case E2BIG:
      self.init(reply: "that is too long: send less text", log: "\(path): the arguments are too long for a program")
    case ENOEXEC:
      self.init(log: "\(path): \(code): begin it with a line such as #!/bin/sh")
    case ENOENT:
      self.init(log: "\(path): cannot be started: \(code): check it and the interpreter in its first line")
    default:
      self.init(log: "\(path): cannot be started: \(code)")
    }
  }
}
