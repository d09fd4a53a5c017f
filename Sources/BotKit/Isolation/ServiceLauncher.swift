import CLinux
import EventLoop
import Glibc

/// Has programs started by the commands' service (`CommandsService`), which listens at a Unix socket.
public struct ServiceLauncher: ProgramLauncher {
  private let socket: String
  public let user: uid_t?
  private let patience: Duration

  /// - Parameters:
  ///   - socket: the path of the service's socket.
  ///   - user: as whom it runs, as far as that is known (`askUser`).
  ///   - patience: how long it may take to answer a question.
  public init(socket: String, user: uid_t? = nil, patience: Duration = .seconds(10)) {
    self.socket = socket
    self.user = user
    self.patience = patience
  }

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
    ask([folder, path]) { answer in
      done(
        answer.flatMap { packet in
          guard let file = packet.descriptors.first else {
            return .failure(LaunchFailure(log: "the commands' service gave no file"))
          }
          packet.descriptors.dropFirst().forEach { close($0) }
          return .success(file)
        })
    }
  }

  /// Asks the service as whom it runs, which its unit says; nil when it does not answer.
  @LoopActor public func askUser(done: @escaping @LoopActor (uid_t?) -> Void) {
    ask(["user"]) { answer in
      guard case .success(let packet) = answer else { return done(nil) }
      packet.descriptors.forEach { close($0) }
      done(packet.strings.count == 2 && packet.strings[0] == "user" ? uid_t(packet.strings[1]) : nil)
    }
  }

  /// Asks something that is no launch.
  @LoopActor private func ask(
    _ question: [String], done: @escaping @LoopActor (Result<PacketSocket.Packet, LaunchFailure>) -> Void
  ) {
    do {
      let connection = try connect()
      do {
        try PacketSocket.send([LaunchMessage.version] + question, on: connection)
      } catch {
        close(connection)
        throw error
      }
      ServiceQuestion.begin(connection, patience, done)
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

/// Something that the service was asked. It lives until the answer is there, or was waited for long enough.
@LoopActor
private final class ServiceQuestion {
  typealias Done = @LoopActor (Result<PacketSocket.Packet, LaunchFailure>) -> Void

  private let connection: Int32
  private var done: Done?
  private var source: DescriptorSource?
  private var timer: TimerSource?

  static func begin(_ connection: Int32, _ patience: Duration, _ done: @escaping Done) {
    let question = ServiceQuestion(connection, done)
    question.source = DescriptorSource(connection, .readable) { _ in question.hear() }
    question.timer = TimerSource(after: patience) {
      // Who closes the connection ends what it asked for: the supervisor, and with it its wait for the disk, if that can end.
      question.finish(
        .failure(LaunchFailure(log: "the commands' service has not answered in \(Units.text(patience))")))
    }
  }

  private init(_ connection: Int32, _ done: @escaping Done) {
    self.connection = connection
    self.done = done
  }

  private func hear() {
    guard let packet = try? PacketSocket.receive(from: connection) else {
      return finish(.failure(LaunchFailure(log: "the commands' service gave no answer")))
    }
    if case .notStarted(let failure)? = ProgramExit(message: packet.strings) {
      packet.descriptors.forEach { close($0) }
      return finish(.failure(failure))
    }
    finish(.success(packet))
  }

  private func finish(_ answer: Result<PacketSocket.Packet, LaunchFailure>) {
    guard let done else { return }
    self.done = nil
    source?.cancel()
    timer?.cancel()
    // Ends the circles that kept this alive, after this turn.
    EventLoop.main.post { [self] in (source, timer) = (nil, nil) }
    close(connection)
    done(answer)
  }
}
