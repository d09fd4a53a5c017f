import BotKit
import EventLoop
import Glibc
import Upload
import XMPPClient
import XMPPStanzas

/// Files on their way to the server: a place is asked for (XEP-0363), then a process of its own puts the file there. While the
/// bot is offline they wait, but not for ever.
@LoopActor
final class Uploads {
  typealias Done = @LoopActor (Result<String, UploadFailure>) -> Void

  /// What comes from the configuration.
  struct Options: Sendable, Hashable {
    /// Certificates of private authorities, besides the system's.
    var caFile: String?
  }

  /// So many at once; so many wait.
  private static let concurrent = 2
  private static let most = 64
  /// How long one waits for the bot to be online.
  private static let patience = Duration.seconds(120)

  private final class Job {
    let file: UploadFile
    let done: Done
    var patience: (any ScheduledWork)?
    var process: UploadProcess?
    /// It waits until the bot is online.
    var waits = false

    init(_ file: UploadFile, _ done: @escaping Done) {
      self.file = file
      self.done = done
    }
  }

  var options = Options()
  /// What opens the files that commands name.
  var launcher: any ProgramLauncher = DirectLauncher(stateBase: "")
  /// What is done with the last of them.
  var onIdle: @LoopActor () -> Void = {}
  /// Starts the process; tests bring another.
  var launch:
    @LoopActor (UploadOrder, Int32, @escaping @LoopActor (Result<Void, UploadProcess.Failure>) -> Void)
      throws(UploadProcess.Failure) -> UploadProcess? = { order, file, done throws(UploadProcess.Failure) in
        try UploadProcess(order, file: file, done: done)
      }
  private unowned let session: Session
  private let scheduler: any Scheduler
  private var jobs: [Job] = []
  private var queue: [Job] = []
  /// Who waits for files that are being opened, by the number of the opening.
  private var opening: [Int: Done] = [:]
  private var openings = 0
  private var isStopped = false

  init(session: Session, scheduler: any Scheduler) {
    self.session = session
    self.scheduler = scheduler
  }

  /// Nothing is under way.
  var isIdle: Bool { jobs.isEmpty && queue.isEmpty && opening.isEmpty }

  /// Brings a command's file to the server; `done` gets the link to it. Possibly before this returns.
  func start(_ upload: CommandUpload, of command: String, done: @escaping Done) {
    if isStopped { return done(.failure(.interrupted)) }
    switch upload.content {
    case .bytes(let bytes):
      start(done: done) { () throws(UploadFailure) in
        try UploadFile(bytes, name: upload.name, fallback: command)
      }
    case .file(let path):
      openings += 1
      let number = openings
      opening[number] = done
      launcher.open(path, of: command) { [weak self] opened in
        // Nobody may wait for it any more.
        guard let self, let done = opening.removeValue(forKey: number) else { return _ = try? close(opened.get()) }
        start(done: done) { () throws(UploadFailure) in
          switch opened {
          case .success(let file): try UploadFile(opened: file, path: path, name: upload.name, fallback: command)
          case .failure(let failure): throw .unreadable(failure.log)
          }
        }
      }
    }
  }

  private func start(done: @escaping Done, _ file: () throws(UploadFailure) -> UploadFile) {
    do throws(UploadFailure) {
      start(try file(), done: done)
    } catch {
      done(.failure(error))
      if isIdle { onIdle() }
    }
  }

  /// The same of any file.
  func start(_ file: UploadFile, done: @escaping Done) {
    if isStopped { return done(.failure(.interrupted)) }
    if queue.count >= Self.most { return done(.failure(.busy)) }
    let job = Job(file, done)
    queue.append(job)
    takeNext()
  }

  /// The bot is online: what waits for that goes on.
  func online() {
    for job in jobs where job.waits { ask(job) }
  }

  /// No file is sent any more.
  func stop() {
    isStopped = true
    let unopened = opening.sorted { $0.key < $1.key }
    opening = [:]
    for (_, done) in unopened { done(.failure(.interrupted)) }
    for job in jobs + queue { end(job, .failure(.interrupted)) }
    if !unopened.isEmpty, isIdle { onIdle() }
  }

  private func takeNext() {
    while jobs.count < Self.concurrent, !queue.isEmpty {
      let job = queue.removeFirst()
      jobs.append(job)
      ask(job)
    }
  }

  private func ask(_ job: Job) {
    guard session.isOnline else { return wait(job) }
    job.waits = false
    let request = UploadRequest(name: job.file.name, size: job.file.size, contentType: job.file.contentType)
    session.requestSlot(request) { [weak self] result in
      guard let self, jobs.contains(where: { $0 === job }) else { return }
      switch result {
      case .success(let slot): put(job, slot)
      // The stream ended meanwhile.
      case .failure(.refused(let error)) where error.condition == .recipientUnavailable && !session.isOnline:
        wait(job)
      case .failure(let refusal): end(job, .failure(UploadFailure(refusal)))
      }
    }
  }

  private func wait(_ job: Job) {
    job.waits = true
    if job.patience != nil { return }
    job.patience = scheduler.schedule(after: Self.patience) { [weak self] in
      if job.waits { self?.end(job, .failure(.offline)) }
    }
  }

  private func put(_ job: Job, _ slot: UploadSlot) {
    let order = UploadOrder(
      url: slot.put, headers: slot.headers.map { "\($0.name): \($0.value)" }, contentType: job.file.contentType,
      size: job.file.size, caFile: options.caFile, seconds: Self.seconds(for: job.file.size))
    do throws(UploadProcess.Failure) {
      job.process = try launch(order, job.file.descriptor) { [weak self] result in
        self?.end(job, result.map { slot.get }.mapError { .failed($0.description) })
      }
    } catch {
      end(job, .failure(.failed(error.description)))
    }
  }

  /// A minute, and what the file takes at 32 K a second; an hour at most.
  private static func seconds(for size: Int) -> Int { min(60 + size / 32_768, 3_600) }

  private func end(_ job: Job, _ result: Result<String, UploadFailure>) {
    let before = jobs.count + queue.count
    jobs.removeAll { $0 === job }
    queue.removeAll { $0 === job }
    guard jobs.count + queue.count < before else { return }
    job.patience?.cancel()
    // After the handlers of it that are still on the stack.
    if let process = job.process {
      EventLoop.main.post { process.stop("it is not waited for any longer") }
    }
    job.done(result)
    takeNext()
    if isIdle { onIdle() }
  }
}
