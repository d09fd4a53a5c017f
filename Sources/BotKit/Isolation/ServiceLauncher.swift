import CLinux
import EventLoop
import Glibc

/// Has programs started by the commands' service (`CommandsService`), which listens at a Unix socket.
public struct ServiceLauncher: ProgramLauncher {
  private let socket: String

  /// - Parameter socket: the path of the service's socket.
  public init(socket: String) { self.socket = socket }

  public func start(
    _ launch: ProgramLaunch, onExit: @escaping @LoopActor () -> Void
  ) throws(LaunchFailure) -> any LaunchedProgram {
    signal(SIGPIPE, SIG_IGN)
    do {
      let file = try Self.file(LaunchMessage.bytes(launch.message))
      defer { close(file) }
      let connection = try connect()
      do {
        let streams = launch.streams
        try PacketSocket.send(
          [LaunchMessage.version], descriptors: [streams.input, streams.output, streams.error, file], on: connection)
      } catch {
        close(connection)
        throw error
      }
      return ServiceProgram(connection, socket, onExit: onExit)
    } catch {
      throw LaunchFailure(
        log: "the commands' service at \(socket): \(error); see systemctl status xmppbotd-commands.socket")
    }
  }

  public func open(
    _ path: String, of folder: String, done: @escaping @LoopActor (Result<Int32, LaunchFailure>) -> Void
  ) {
    do {
      let connection = try connect()
      do {
        try PacketSocket.send([LaunchMessage.version, folder, path], on: connection)
      } catch {
        close(connection)
        throw error
      }
      FileRequest.begin(connection, done)
    } catch {
      done(.failure(LaunchFailure(log: "the commands' service at \(socket): \(error)")))
    }
  }

  /// A launch may be longer than a packet, so it goes as a file that is in memory only.
  private static func file(_ bytes: [UInt8]) throws(Errno) -> Int32 {
    let file = linux_memory_file()
    guard file >= 0 else { throw Errno(code: errno) }
    guard pwrite(file, bytes, bytes.count, 0) == bytes.count else {
      let code = errno
      close(file)
      throw Errno(code: code)
    }
    return file
  }

  private func connect() throws(Errno) -> Int32 {
    let connection = try PacketSocket.make(nonBlocking: true)
    let result: Int32
    do {
      result = try PacketSocket.withAddress(socket) { Glibc.connect(connection, $0, $1) == 0 ? 0 : errno }
    } catch {
      close(connection)
      throw error
    }
    guard result == 0 else {
      close(connection)
      throw Errno(code: result)
    }
    return connection
  }
}

/// A program in the commands' service, as its connection tells of it.
@LoopActor
private final class ServiceProgram: LaunchedProgram {
  private let connection: Int32
  private let socket: String
  private var source: DescriptorSource?
  private var exit: ProgramExit?
  private var isOpen = true

  init(_ connection: Int32, _ socket: String, onExit: @escaping @LoopActor () -> Void) {
    self.connection = connection
    self.socket = socket
    source = DescriptorSource(connection, .readable) { [unowned self] _ in
      guard hear() else { return }
      source?.cancel()
      onExit()
    }
  }

  /// False when nothing was said yet.
  private func hear() -> Bool {
    let packet: PacketSocket.Packet?
    do { packet = try PacketSocket.receive(from: connection) } catch {
      if error.code == EAGAIN || error.code == EINTR { return false }
      packet = nil
    }
    packet?.descriptors.forEach { close($0) }
    exit =
      packet.flatMap { ProgramExit(message: $0.strings) }
      ?? .notStarted(
        LaunchFailure(
          reply: "it was interrupted",
          log: "the commands' service at \(socket) ended in its midst; its journal says why: "
            + "journalctl -u 'xmppbotd-commands*'"))
    return true
  }

  func send(_ signal: Int32) {
    // The service reads at once; if it can't, there is nobody to signal.
    if isOpen { try? PacketSocket.send(["\(signal)"], on: connection) }
  }

  func reap() -> ProgramExit {
    guard isOpen else { return .unknown }
    if exit == nil { _ = hear() }
    isOpen = false
    source?.cancel()
    source = nil
    close(connection)
    return exit ?? .unknown
  }

  isolated deinit { _ = reap() }
}

/// A file that was asked for. It lives until the answer is there.
@LoopActor
private final class FileRequest {
  private let connection: Int32
  private let done: @LoopActor (Result<Int32, LaunchFailure>) -> Void
  private var source: DescriptorSource?

  static func begin(_ connection: Int32, _ done: @escaping @LoopActor (Result<Int32, LaunchFailure>) -> Void) {
    let request = FileRequest(connection, done)
    request.source = DescriptorSource(connection, .readable) { _ in request.hear() }
  }

  private init(_ connection: Int32, _ done: @escaping @LoopActor (Result<Int32, LaunchFailure>) -> Void) {
    self.connection = connection
    self.done = done
  }

  private func hear() {
    let packet = try? PacketSocket.receive(from: connection)
    source?.cancel()
    // Ends the circle that kept this alive, after this turn.
    EventLoop.main.post { [self] in source = nil }
    close(connection)
    if let file = packet?.descriptors.first {
      packet?.descriptors.dropFirst().forEach { close($0) }
      return done(.success(file))
    }
    let failure = packet.flatMap { ProgramExit(message: $0.strings) }
    if case .notStarted(let failure)? = failure { return done(.failure(failure)) }
    done(.failure(LaunchFailure(log: "the commands' service gave no file")))
  }
}
