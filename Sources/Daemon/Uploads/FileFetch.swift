import BotKit
import CLinux
import EventLoop
import Glibc
import XMPPClient

/// Gets a file out of a command's folder where the daemon may not look: head(1), started as the command is and with its rights,
/// copies it into memory.
@LoopActor
final class FileFetch {
  typealias Done = @LoopActor (Result<UploadFile, UploadFailure>) -> Void

  /// Bytes; more are not held in memory.
  private nonisolated static let limit = 64 << 20
  private static let patience = Duration.seconds(30)

  private let path: String
  private let command: String
  private let name: String?
  private let memory: Int32
  private var program: (any LaunchedProgram)?
  private var timer: (any ScheduledWork)?
  private var done: Done?
  /// Itself, while its program was told to end and has not yet.
  private var lingering: FileFetch?

  /// `done` is called once, unless this throws.
  init(
    _ path: String, of command: String, name: String?, launcher: any ProgramLauncher, scheduler: any Scheduler,
    done: @escaping Done
  ) throws(UploadFailure) {
    self.path = path
    self.command = command
    self.name = name
    memory = linux_memory_file()
    let nothing = open("/dev/null", O_RDWR | O_CLOEXEC)
    defer { if nothing >= 0 { close(nothing) } }
    guard memory >= 0, nothing >= 0 else { throw .unreadable("no memory for it") }
    do throws(LaunchFailure) {
      program = try launcher.start(
        ProgramLaunch(
          arguments: ["/usr/bin/head", "-c", String(Self.limit + 1), "--", path], environment: [], folder: command,
          checksTrust: false, resources: ResourceLimits(),
          streams: .init(input: nothing, output: memory, error: nothing))
      ) { [unowned self] in exited() }
    } catch {
      throw .unreadable("\(path): \(error.log)")
    }
    self.done = done
    timer = scheduler.schedule(after: Self.patience) { [weak self] in
      self?.stop(.unreadable("\(self?.path ?? "it") could not be read in time"))
    }
  }

  /// Ends it.
  func stop(_ failure: UploadFailure) {
    if let program {
      program.send(SIGKILL)
      lingering = self
    }
    finish(.failure(failure))
  }

  private func exited() {
    guard let program else { return }
    self.program = nil
    defer { lingering = nil }
    guard program.reap() == .exited(0) else {
      return finish(.failure(.unreadable("\(path): the command \(command) has no such file, or may not read it")))
    }
    finish(Result { () throws(UploadFailure) in try file() })
  }

  private func file() throws(UploadFailure) -> UploadFile {
    let copy = fcntl(memory, F_DUPFD_CLOEXEC, 3)
    guard copy >= 0 else { throw .unreadable("no memory for it") }
    let last = path.split(separator: "/").last.map(String.init)
    let file = try UploadFile(owning: copy, name: name ?? last, fallback: command)
    if file.size > Self.limit { throw .tooLarge(limit: Self.limit) }
    return file
  }

  private func finish(_ result: Result<UploadFile, UploadFailure>) {
    guard let done else { return }
    self.done = nil
    timer?.cancel()
    done(result)
  }

  isolated deinit { if memory >= 0 { close(memory) } }
}
