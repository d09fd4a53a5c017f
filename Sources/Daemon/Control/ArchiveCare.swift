import Archive
import EventLoop
import JSON
import SQLite
import Systemd
import XMPPStanzas

/// The archive's care, as xmppbotctl asks for it while the daemon runs.
extension Daemon {
  /// On a thread and a connection of its own: it takes minutes in a large archive, and messages must not wait for it.
  func serveCheck(_ client: ControlClient) {
    let path = gate.archive.path
    do throws(ThreadError) {
      _ = try DatabaseThread { [log] in
        var last = 0
        let result = Result { () throws(ArchiveError) in
          try ArchiveReader.open(path: path).check { percent in
            guard percent != last else { return }
            last = percent
            EventLoop.main.post { LoopActor.assumeIsolated { client.send(percent: percent) } }
          }
        }
        EventLoop.main.post { LoopActor.assumeIsolated { Self.answer(result, path: path, client, log) } }
      }
    } catch {
      client.fail(.failed, error.description)
    }
  }

  private static func answer(
    _ result: Result<ArchiveCheck, ArchiveError>, path: String, _ client: ControlClient, _ log: Logger
  ) {
    switch result {
    case .success(let check):
      if !check.isSound {
        log.log(.archiveError, "a check found \(path) damaged: \((check.damage + check.indexDamage)[0])")
      }
      client.finish(check.json)
    case .failure(let error): client.fail(error.exitCode, error.description)
    }
  }

  /// Goes on until all is done, or the one who asked is gone.
  func servePrune(_ request: JSON, _ client: ControlClient) {
    guard let before = request["before"]?.intValue.map(Int64.init), before <= surroundings.wallClock() else {
      return client.fail(.usage, "a moment in the past is needed")
    }
    if let fault = gate.fault { return client.fail(.failed, "nothing was deleted: \(fault)") }
    log.log(.archivePruned, "\(client.peer) has messages deleted that are older than \(Timestamp.format(before))")
    let archive = gate.archive
    archive.prune(Prune(before: before)) { prune in
      LoopActor.assumeIsolated {
        client.send(percent: prune.percent)
        return client.isOpen
      }
    } completion: { result in
      switch result {
      case .success(let prune):
        archive.readFreeSpace { free in
          LoopActor.assumeIsolated { client.finish(prune.json(free: (try? free.get()) ?? 0)) }
        }
      case .failure(let error):
        LoopActor.assumeIsolated { client.fail(error.exitCode, "not all was deleted: \(error)") }
      }
    }
  }
}

extension ArchiveCheck {
  public var json: JSON {
    [
      "sound": .bool(isSound), "messages": .int(Int(messages)), "unindexed": .int(Int(unindexed)),
      "damage": .array(damage.map(JSON.string)), "index_damage": .array(indexDamage.map(JSON.string)),
    ]
  }
}

extension Prune {
  /// `free`: bytes in the file that are free now.
  public func json(free: Int64) -> JSON {
    ["deleted": .int(deleted), "kept": .int(kept), "free_bytes": .int(Int(free))]
  }
}

extension ArchiveNotice {
  /// What kind of event it is.
  var event: LogEvent {
    switch self {
    case .logHeld: .archiveLogHeld
    case .logFreed: .archiveRecovered
    case .wasEmpty, .indexRebuilt: .archiveError
    }
  }
}
