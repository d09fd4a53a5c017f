import EventLoop
import Glibc

/// Starts programs: as children of this process (`DirectLauncher`), or through the commands' service, which has a user
/// and a sandbox of its own (`ServiceLauncher`). Who runs a program need not know which.
public protocol ProgramLauncher: Sendable {
  /// The user as whom programs run, who may own them besides root (`FileTrust`); nil: not known yet.
  var user: uid_t? { get }

  /// Starts a program, if others could not have changed it, in a process group of its own, with a folder of its own as the current
  /// one, and only the three descriptors. They stay the caller's to close, at once. `onExit` is called once, when the program itself has ended or
  /// turned out not to start; never from within this call.
  @LoopActor func start(
    _ launch: ProgramLaunch, onExit: @escaping @LoopActor () -> Void
  ) throws(LaunchFailure) -> any LaunchedProgram

  /// Opens a file in a program's folder (`ProgramLaunch.folder`) for reading, and nothing outside of it. `done` gets the
  /// descriptor, which is its own to close; possibly before this returns.
  @LoopActor func open(
    _ path: String, of folder: String, done: @escaping @LoopActor (Result<Int32, LaunchFailure>) -> Void)
}

/// A program that was started. It ends with the object's life, if not before.
@LoopActor
public protocol LaunchedProgram: AnyObject {
  /// Sends a signal to every process of the program's group.
  func send(_ signal: Int32)

  /// Kills what is left of the program, and tells how it ended; once.
  func reap() -> ProgramExit
}

/// How a program ended.
public enum ProgramExit: Sendable, Hashable {
  case exited(Int32)
  case signalled(Int32)
  /// It never ran, or the service that ran it is gone.
  case notStarted(LaunchFailure)
  /// It can't be told yet: it hangs in the kernel, or was given up.
  case unknown
}

/// What is started. No string holds a NUL.
public struct ProgramLaunch: Sendable, Hashable {
  /// The program's absolute path and its arguments; no shell, no search along PATH.
  public let arguments: [String]
  /// `NAME=VALUE`. The launcher adds XMPPBOT_STATE_DIR and what programs inherit (`ProgramEnvironment.inherited`).
  public let environment: [String]
  /// The name of the folder that the program has for itself, and in which it starts: the command's.
  public let folder: String
  public let resources: ResourceLimits

  public init(
    arguments: [String], environment: [String], folder: String, resources: ResourceLimits, streams: Streams
  ) throws(LaunchFailure) {
    guard (arguments + environment).allSatisfy({ !$0.utf8.contains(0) }) else {
      throw LaunchFailure(reply: "the arguments contain a NUL character: remove it", log: "NUL in the arguments")
    }
    self.arguments = arguments
    self.environment = environment
    self.folder = folder
    self.resources = resources
    self.streams = streams
  }

  /// The descriptors that become 0, 1 and 2.
  public struct Streams: Sendable, Hashable {
    public let input: Int32
    public let output: Int32
    public let error: Int32

    public init(input: Int32, output: Int32, error: Int32) {
      self.input = input
      self.output = output
      self.error = error
    }
  }

  public let streams: Streams
}

/// Why a program did not start.
public struct LaunchFailure: Error, Sendable, Hashable {
  /// For the contact: nothing about the machine.
  public let reply: String
  /// For the operator.
  public let log: String

  public init(reply: String = "it cannot be started, the log says why", log: String) {
    self.reply = reply
    self.log = log
  }
}
