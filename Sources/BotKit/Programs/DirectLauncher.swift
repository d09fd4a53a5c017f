import EventLoop
import Glibc

/// Starts programs as children of this process, with its user and whatever its sandbox lets it do.
public struct DirectLauncher: ProgramLauncher {
  private let stateBase: String

  /// - Parameter stateBase: the folder in which each command has its own.
  public init(stateBase: String) { self.stateBase = stateBase }

  public var user: uid_t? { geteuid() }

  public func start(
    _ launch: ProgramLaunch, onExit: @escaping @LoopActor () -> Void
  ) throws(LaunchFailure) -> any LaunchedProgram {
    var prepared = try PreparedLaunch(launch, stateBase: stateBase)
    // Linux counts all of the user's, who may be somebody with much else to do.
    prepared.resources.processes = nil
    do {
      return try ProcessGroup(prepared, launch.streams, onExit: onExit)
    } catch {
      throw LaunchFailure(starting: launch.arguments.first ?? "", error)
    }
  }

  public func open(
    _ path: String, of folder: String, done: @escaping @LoopActor (Result<Int32, LaunchFailure>) -> Void
  ) {
    do throws(LaunchFailure) {
      done(.success(try CommandFile.open(path, in: stateBase + "/" + folder)))
    } catch {
      done(.failure(error))
    }
  }
}

/// A launch whose program is trusted and whose folder is there.
struct PreparedLaunch {
  /// The very file that was checked, whatever links the first argument may go through.
  let program: String
  let arguments: [String]
  let environment: [String]
  let directory: String
  var resources: ResourceLimits

  /// Checks and prepares what `launch` needs of the file system.
  init(_ launch: ProgramLaunch, stateBase: String) throws(LaunchFailure) {
    do throws(CommandDiagnostic) {
      program = try FileTrust.check(launch.arguments.first ?? "", runBy: geteuid())
    } catch {
      throw LaunchFailure(log: error.description)
    }
    do {
      directory = try StateDirectory.prepare(base: stateBase, command: launch.folder)
    } catch {
      throw LaunchFailure(log: "\(stateBase)/\(launch.folder): no folder for the command's state: \(error)")
    }
    arguments = launch.arguments
    environment =
      ProgramEnvironment.inheritedVariables() + launch.environment + ["XMPPBOT_STATE_DIR=\(directory)"]
    resources = launch.resources
  }
}

extension LaunchFailure {
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
