import CLinux
import EventLoop
import Glibc

@testable import BotKit

/// The two ways in which a program is started.
enum Launching: String, Sendable, CaseIterable {
  case direct
  case service

  /// `service`: a commands' service for this folder alone.
  func launcher(in folder: Folder, _ service: Service?) -> any ProgramLauncher {
    switch self {
    case .direct: DirectLauncher(stateBase: folder.path + "/state")
    case .service: ServiceLauncher(socket: service?.socket ?? "/nonexistent")
    }
  }
}

/// A commands' service, as systemd would start it, that ends with the object. As root it runs as the user nobody.
final class Service {
  static let nobody: uid_t = 65534
  let socket: String
  let process: pid_t
  private let descriptor: Int32

  /// The program as it was built beside the tests.
  static let program: String = {
    guard let path = realpath("/proc/self/exe", nil) else { return "xmppbotd" }
    defer { free(path) }
    return String(cString: path).split(separator: "/").dropLast().reduce("") { $0 + "/" + $1 } + "/xmppbotd"
  }()

  init(in folder: Folder) throws {
    socket = folder.path + "/commands.sock"
    let state = folder.path + "/service"
    mkdir(state, 0o700)
    if geteuid() == 0 {
      // It has to come as far as the scripts, and to its own folder.
      chmod(folder.path, 0o711)
      chown(state, Self.nobody, Self.nobody)
    }
    let listener = try PacketSocket.make()
    defer { close(listener) }
    let bound = try PacketSocket.withAddress(socket) { bind(listener, $0, $1) }
    guard bound == 0, listen(listener, 64) == 0 else { throw Errno(code: errno) }
    chmod(socket, 0o666)
    let user = geteuid() == 0 ? "/usr/bin/setpriv --reuid=nobody --regid=nogroup --clear-groups" : ""
    process = try Self.spawn(
      "LISTEN_PID=$$ LISTEN_FDS=1 STATE_DIRECTORY=\(state) exec \(user) \(Self.program) --serve-commands", listener)
    descriptor = linux_pidfd_open(process)
  }

  private static func spawn(_ line: String, _ listener: Int32) throws -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, listener, 3)
    linux_spawn_close_from(&actions, 4)
    var words: [UnsafeMutablePointer<CChar>?] = [strdup("/bin/sh"), strdup("-c"), strdup(line), nil]
    defer { words.forEach { free($0) } }
    var process: pid_t = 0
    let result = posix_spawn(&process, "/bin/sh", &actions, nil, &words, environ)
    guard result == 0 else { throw Errno(code: result) }
    return process
  }

  /// Ends it as systemd would, and returns its wait status.
  func stop() -> Int32 {
    kill(process, SIGTERM)
    var status: Int32 = 0
    waitpid(process, &status, 0)
    return status
  }

  deinit {
    // Does nothing when it has been stopped: the descriptor is its own, whoever has the number now.
    var ended = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    if poll(&ended, 1, 0) == 0 { _ = stop() }
    close(descriptor)
  }
}
