import CLinux
import EventLoop
import Glibc
import Upload

/// The program xmppbotd-upload at work on one file.
@LoopActor
public final class UploadProcess {
  /// Why the file is not there, in words for the operator.
  public struct Failure: Error, Sendable, Hashable, CustomStringConvertible {
    public let description: String
    public init(description: String) { self.description = description }
  }

  /// It says so much at most.
  private static let longestReport = 4_096

  private var group: ProcessGroup?
  private var channel: PipeReader?
  private var timer: TimerSource?
  private var report: [UInt8] = []
  private var done: (@LoopActor (Result<Void, Failure>) -> Void)?
  /// Itself, while its process was told to end and has not yet.
  private var lingering: UploadProcess?

  /// Starts it. `file` is read from its beginning and not closed; `done` is called once, unless this throws.
  public init(
    _ order: UploadOrder, file: Int32, program: String? = UploadProcess.program,
    done: @escaping @LoopActor (Result<Void, Failure>) -> Void
  ) throws(Failure) {
    guard let program else {
      throw Failure(description: "the program xmppbotd-upload is missing: install it beside xmppbotd")
    }
    guard let text = order.text else { throw Failure(description: "the upload's address can't be passed on") }
    do {
      try start(program, Array(text.utf8), file)
    } catch {
      throw Failure(description: "\(program) can't be started: \(error)")
    }
    self.done = done
    timer = TimerSource(after: .seconds(order.seconds + 5)) { [unowned self] in
      finish(Failure(description: "the upload took too long"))
    }
  }

  private func start(_ program: String, _ order: [UInt8], _ file: Int32) throws(Errno) {
    var ends: [Int32] = [-1, -1]
    guard socketpair(AF_UNIX, LINUX_SOCK_STREAM | LINUX_SOCK_CLOEXEC, 0, &ends) == 0 else {
      throw Errno(code: errno)
    }
    let (ours, theirs) = (ends[0], ends[1])
    defer { close(theirs) }
    _ = fcntl(ours, F_SETFL, O_NONBLOCK)
    // The kernel holds more than an order has, so that nothing waits here.
    guard send(ours, order, order.count, Int32(MSG_NOSIGNAL)) == order.count else {
      close(ours)
      throw Errno(code: E2BIG)
    }
    do {
      group = try ProcessGroup(
        PreparedLaunch(own: [program]), .init(input: file, output: theirs, error: theirs)
      ) { [unowned self] in exited() }
    } catch {
      close(ours)
      throw error
    }
    channel = PipeReader(ours) { [unowned self] bytes in
      report.append(contentsOf: bytes.prefix(Self.longestReport - report.count))
    } onEnd: {
    }
  }

  /// Ends it; `done` is told.
  public func stop(_ reason: String) { finish(Failure(description: reason)) }

  private func exited() {
    channel?.drain()
    let exit = group?.reap()
    group = nil
    defer { lingering = nil }
    if exit == .exited(0) { return finish(nil) }
    let lines = OutputText.clean(OutputText.whole(report[...])).split(separator: "\n")
    let reason = lines.last.map { String($0.prefix(500)) }
    finish(Failure(description: reason ?? "xmppbotd-upload ended without a word"))
  }

  private func finish(_ failure: Failure?) {
    guard let done else { return }
    self.done = nil
    timer?.cancel()
    channel?.close()
    if let group {
      group.send(SIGKILL)
      lingering = self
    }
    done(failure.map { .failure($0) } ?? .success(()))
  }

  /// Where it is: beside the running program, or where scripts/install puts it; nil when it is nowhere.
  public nonisolated static let program: String? = {
    guard let path = realpath("/proc/self/exe", nil) else { return nil }
    defer { free(path) }
    let own = String(cString: path)
    let folder = own.lastIndex(of: "/").map { String(own[..<$0]) } ?? "."
    let name = "xmppbotd-upload"
    let places = [folder, folder + "/../libexec", "/usr/local/libexec", "/usr/libexec"]
    return places.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
  }()
}

extension PreparedLaunch {
  /// A program of ours: it gets nothing but its arguments.
  init(own arguments: [String]) {
    program = arguments.first ?? ""
    self.arguments = arguments
    environment = []
    directory = "/"
    resources = ResourceLimits()
  }
}
