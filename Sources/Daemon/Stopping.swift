import EventLoop
import SQLite
import Systemd
import XMPPClient

/// The end: running commands are answered, the contacts and the server hear goodbye, the archive is closed; ten seconds
/// at most, whatever hangs.
extension Daemon {
  /// How far the daemon has come on its way out.
  @LoopActor
  final class Ending {
    var code = ExitCode.done
    var commandsAreDone = false
    /// The next process is to take up the stream.
    var isRestart = false
    /// What the server has not confirmed is not waited for any longer.
    fileprivate var leavesUnconfirmed = false
    var saidGoodbye = false
    var isClosing = false
    var isOver = false
    fileprivate var timers: [any ScheduledWork] = []
  }

  /// Commands have so long; those that still run then are interrupted, and one that ignores TERM takes two seconds to kill.
  private static let commandTime = Duration.seconds(4)
  /// The server has so long to confirm what was sent, before a restart.
  private static let confirmationTime = Duration.seconds(1)
  /// From then on nothing is waited for any more but the server's own goodbye.
  private static let goodbyeTime = Duration.seconds(7)
  private static let endTime = Duration.milliseconds(9_500)

  /// Lets running commands finish, says goodbye, and ends the process. Asked again, it waits for nothing.
  func stop() {
    if let ending { return hurry(ending) }
    let ending = Ending()
    self.ending = ending
    ending.isRestart = surroundings.isRestarting()
    log.log(.stopping, ending.isRestart ? "stopping for a restart; the stream is left to the next process" : "stopping")
    notifier.stopping(status: "finishing running commands")
    flow.stopReading()
    session.connectNoMore()
    ending.timers = [
      surroundings.scheduler.schedule(after: Self.commandTime) { [weak self] in self?.flow.uploads.stop() },
      surroundings.scheduler.schedule(after: Self.goodbyeTime) { [weak self] in self?.sayGoodbye() },
      surroundings.scheduler.schedule(after: Self.endTime) { [weak self] in self?.leave() },
    ]
    var left = 2
    let done: @LoopActor () -> Void = { [weak self] in
      left -= 1
      guard left == 0 else { return }
      ending.commandsAreDone = true
      self?.continueStopping()
      self?.limitConfirmation()
    }
    // First this: a place that becomes free is not taken any more.
    dispatcher.drain(deadline: Self.commandTime, completion: done)
    longRunning.stop(within: Self.commandTime, completion: done)
  }

  private func hurry(_ ending: Ending) {
    log.log(.stopping, "told again: ending at once")
    flow.uploads.stop()
    ending.timers.append(surroundings.scheduler.schedule(after: .seconds(1)) { [weak self] in self?.leave() })
    sayGoodbye()
  }

  /// To be called when one of the things happened that an ending waits for.
  func continueStopping() {
    // The last answers are on their way to the disk and then to the server.
    guard let ending, ending.commandsAreDone, flow.uploads.isIdle, gate.isIdle, session.unsentBytes == 0 else { return }
    // Who resumes need not ask what the server has.
    guard !ending.isRestart || ending.leavesUnconfirmed || session.unconfirmed == 0 else { return }
    sayGoodbye()
  }

  private func limitConfirmation() {
    guard let ending, ending.isRestart else { return }
    ending.timers.append(
      surroundings.scheduler.schedule(after: Self.confirmationTime) { [weak self] in
        ending.leavesUnconfirmed = true
        self?.continueStopping()
      })
  }

  private func sayGoodbye() {
    guard let ending, !ending.saidGoodbye else { return }
    ending.saidGoodbye = true
    if ending.isRestart { return session.suspend() }
    flow.rooms.farewell()
    session.stop()
  }

  /// The stream is closed.
  func sessionStopped() {
    guard let ending, !ending.isClosing else { return }
    ending.isClosing = true
    control?.close()
    control = nil
    web.close()
    flow.outbox.flush()
    // The disk may hang, so the loop does not wait for it; `endTime` holds all the same.
    do {
      _ = try DatabaseThread { [archive = gate.archive] in
        archive.close()
        EventLoop.main.post { [weak self] in self?.leave() }
      }
    } catch {
      leave()
    }
  }

  private func leave() {
    guard let ending, !ending.isOver else { return }
    ending.isOver = true
    // Whatever the archive could take, it has.
    if !gate.isIdle {
      ending.code = .failed
      log.log(.archiveError, "messages and changes that could not be archived: \(gate.pending)")
    }
    control?.close()
    control = nil
    web.close()
    surroundings.exit(ending.code)
  }

  /// The archive can't be trusted any more: nothing is claimed that may not be stored, and the process ends.
  func fail(_ error: any Error) {
    log.log(.archiveError, "\(error); ending, so that nothing is claimed that is not stored")
    notifier.stopping(status: "the archive failed")
    let ending = self.ending ?? Ending()
    ending.code = .failed
    self.ending = ending
    leave()
  }

  /// Tells the service manager that we live: only after a round trip through the loop and the database.
  func feedWatchdog(every interval: Duration) {
    gate.archive.read { _ throws(DatabaseError) in
      true
    } completion: { [weak self] answer in
      LoopActor.assumeIsolated {
        guard let self else { return }
        // While nothing is written, nobody else hears of it.
        if case .failure(let error) = answer, error.isFatal { return self.fail(error) }
        self.notifier.watchdog()
        self.watchdogTimer = TimerSource(after: interval) { [weak self] in self?.feedWatchdog(every: interval) }
      }
    }
  }
}
