import BotKit
import EventLoop
import Glibc
import Upload

@testable import Daemon

/// A command that does what the test says.
@LoopActor
final class Puppet: WaitingCommand, RunningCommand {
  private(set) var events: CommandEvents?
  nonisolated init() {}

  func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
    self.events = events
    return self
  }

  func stop(_ reason: CommandResult) { events?.finish(reason) }

  nonisolated var command: Command {
    Command(CommandDescription(name: "draw", allow: [.everyone]), self, origin: "test")
  }
}

/// Uploads that end when and how the test says.
@LoopActor
final class FakeUploads {
  private(set) var orders: [UploadOrder] = []
  private(set) var contents: [String] = []
  private var waiting: [@LoopActor (Result<Void, UploadProcess.Failure>) -> Void] = []

  init(_ uploads: Uploads) {
    uploads.launch = { [unowned self] order, file, done in
      var bytes = [UInt8](repeating: 0, count: order.size)
      let count = pread(file, &bytes, bytes.count, 0)
      orders.append(order)
      contents.append(String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
      waiting.append(done)
      return nil
    }
  }

  /// The oldest one ends.
  func end(_ failure: String? = nil) {
    waiting.removeFirst()(failure.map { .failure(.init(description: $0)) } ?? .success(()))
  }
}
