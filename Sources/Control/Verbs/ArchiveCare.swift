import Archive
import Daemon
import Glibc
import JSON
import SQLite

/// The verbs that look after the archive.
extension Verb {
  static let archiveCheck = Verb(
    path: ["archive", "check"], arguments: "[FILE]",
    summary: "Whether the archive is whole: every page, row and index entry",
    details: """
      Takes up to some minutes; messages go on meanwhile. FILE: another archive than the bot's, such as a backup.
      Exit code 1 when something is wrong, with what to do about it.
      """
  ) { call throws(ControlFailure) in
    if call.words.count > 1 { throw ControlFailure(.usage, "name one file at most: xmppbotctl archive check [FILE]") }
    let file = call.words.first?.absolutePath
    let result: JSON
    let progress = ProgressLine("checking", json: call.json)
    if let file {
      result = try check(file, progress)
    } else if let daemon = try call.daemonIfRunning() {
      result = try daemon.ask(["verb": "archive-check"]) { row throws(ControlFailure) in progress.show(row) }
    } else {
      result = try check(call.readableArchive(), progress)
    }
    progress.end()
    if call.json { print(result.text()) } else { report(result) }
    try judge(result, path: file ?? (try? call.settings().archive.path) ?? "archive.db", isOurs: file == nil)
  }

  private static func check(_ path: String, _ progress: ProgressLine) throws(ControlFailure) -> JSON {
    do throws(ArchiveError) {
      return try ArchiveReader.withReader(path: path) { reader throws(ArchiveError) in
        try reader.check { progress.show($0) }
      }.json
    } catch .damaged(let error) {
      return ["sound": false, "damage": [.string(error.message)]]
    } catch {
      throw ControlFailure(error.exitCode, error.description)
    }
  }

  private static func report(_ result: JSON) {
    for key in ["damage", "index_damage"] {
      for line in result[key]?.arrayValue ?? [] { print(Terminal.safe(line.stringValue ?? "")) }
    }
    guard result["sound"]?.boolValue == true else { return }
    let waiting = result["unindexed"]?.intValue ?? 0
    print(
      "sound: \(result["messages"]?.intValue ?? 0) messages"
        + (waiting == 0 ? ", all in the full-text index" : ", \(waiting) of them not yet in the full-text index"))
  }

  private static func judge(_ result: JSON, path: String, isOurs: Bool) throws(ControlFailure) {
    if result["sound"]?.boolValue == true { return }
    let isWhole = result["damage"]?.arrayValue?.isEmpty == true
    if isWhole {
      throw ControlFailure(
        .failed,
        """
        the messages are whole, but the full-text index is not, so that searches miss some; with the bot stopped, have it made anew:
          sqlite3 \(path) "INSERT INTO message_text (message_text) VALUES ('delete-all'); DELETE FROM meta WHERE key = 'indexed_up_to'"
        """)
    }
    let end =
      isOurs
      ? """

      or restore a backup in its place. Stop the bot first and start it afterwards; a new archive is begun if you only
      move this one away. Then check the disk (journalctl -k).
      """ : ""
    throw ControlFailure(
      .failed,
      """
      \(path) is damaged. What can be read of it is written to a new file by:
        xmppbotctl archive recover \(path) NEW-FILE\(end)
      """)
  }

  static let archiveBackup = Verb(
    path: ["archive", "backup"], arguments: "FILE",
    options: [Option("--force", nil, "replace FILE if it is there")],
    summary: "A copy of the archive, made while messages come in",
    details: """
      The copy is complete and was checked when this ends with exit code 0; only its owner can read it. It is of the moment
      at which the verb began. xmppbotctl reads the archive itself for it, so use sudo or become the bot's user. To restore
      it, stop the bot, remove the archive with its -wal and -shm, and put the copy in its place, owned by the bot's user. It
      does not know what came after it was made: commands of that time run again unless the bot stays stopped for as long as
      max-age in [limits] says (5m). xmppbotd-archive(5), RESTORING, has more.
      """
  ) { call throws(ControlFailure) in
    guard call.words.count == 1, let file = call.words.first?.absolutePath else {
      throw ControlFailure(.usage, "name the file to write: xmppbotctl archive backup FILE")
    }
    let archive = try call.readableArchive()
    let check: ArchiveCheck
    let progress = ProgressLine("copying", json: call.json)
    do throws(ArchiveError) {
      check = try ArchiveBackup(to: file, replaces: call.options["--force"] != nil).make(of: archive) {
        progress.show($0)
      }
    } catch {
      progress.end()
      throw ControlFailure(.failed, "no backup was made: \(error)")
    }
    progress.end()
    let size = fileSize(file)
    if call.json {
      print((["file": .string(file), "messages": .int(Int(check.messages)), "bytes": .int(size)] as JSON).text())
    } else {
      print("\(Terminal.safe(file)): \(check.messages) messages, \(size) bytes, checked")
    }
  }

  static let archiveRecover = Verb(
    path: ["archive", "recover"], arguments: "DAMAGED NEW",
    summary: "What can still be read of a damaged archive, in a new file",
    details: "DAMAGED is not changed. To use the new one, stop the bot and put it in the archive's place."
  ) { call throws(ControlFailure) in
    guard call.words.count == 2, let damaged = call.words.first?.absolutePath, let new = call.words.last?.absolutePath
    else { throw ControlFailure(.usage, "name two files: xmppbotctl archive recover DAMAGED NEW") }
    let found: Recovery
    do throws(ArchiveError) {
      found = try Recovery.run(from: damaged, to: new)
    } catch {
      throw ControlFailure(.failed, "nothing was recovered: \(error)")
    }
    if call.json {
      let result: JSON = [
        "file": .string(new), "messages": .int(Int(found.messages)), "unreadable": .int(Int(found.unreadable)),
        "lost": .array(found.lost.map(JSON.string)),
      ]
      return print(result.text())
    }
    print("\(Terminal.safe(new)): \(found.messages) messages; \(found.unreadable) could not be read")
    if !found.lost.isEmpty { print("lost: " + found.lost.joined(separator: ", ")) }
  }

  static let archivePrune = Verb(
    path: ["archive", "prune"],
    options: [Option("--before", "DATE", "2026-01-31, 2026-01-31T17:05 (UTC), or an age: 90d", isRequired: true)],
    summary: "Delete old messages",
    details: """
      Messages that still wait to be sent or answered stay. The file does not shrink: its free space is used again. With
      `keep` in [archive] the bot does this by itself, once a day.
      """
  ) { call throws(ControlFailure) in
    guard let text = call.options["--before"] else {
      throw ControlFailure(.usage, "say which: xmppbotctl archive prune --before DATE, such as 2026-01-31 or 90d")
    }
    let now = TimeArgument.now()
    guard let before = TimeArgument.parse(text, now: now) else {
      throw ControlFailure(.usage, "--before \(text): write 2026-01-31, 2026-01-31T17:05, or an age: 90d")
    }
    if before > now {
      throw ControlFailure(.usage, "--before \(text): lies in the future; all messages would be deleted")
    }
    let progress = ProgressLine("deleting", json: call.json)
    let result =
      if let daemon = try call.daemonIfRunning() {
        try daemon.ask(["verb": "archive-prune", "before": .int(Int(before))]) { row throws(ControlFailure) in
          progress.show(row)
        }
      } else {
        try prune(call.readableArchive(), before: before)
      }
    progress.end()
    if call.json { return print(result.text()) }
    let kept = result["kept"]?.intValue ?? 0
    print(
      "\(result["deleted"]?.intValue ?? 0) messages deleted"
        + (kept == 0 ? "" : ", \(kept) kept that still wait to be sent or answered")
        + "; \(result["free_bytes"]?.intValue ?? 0) bytes are free in the file for new ones")
  }

  /// Without a daemon this process is the one that writes.
  private static func prune(_ path: String, before: Int64) throws(ControlFailure) -> JSON {
    let end = Monitor<Result<JSON, ArchiveError>?>(nil)
    do throws(ArchiveError) {
      // Only one that is there, and that needs no new schema.
      _ = try ArchiveReader.open(path: path)
      let archive = try Archive.open(path: path) { $0() }
      defer { archive.close() }
      archive.prune(Prune(before: before)) { result in
        switch result {
        case .failure(let error): end.set(.failure(error))
        case .success(let prune):
          archive.readFreeSpace { free in end.set(free.map { prune.json(free: $0) }) }
        }
      }
      return try end.wait(until: nil, for: { $0 != nil }, { $0 ?? .failure(.closed) }).get()
    } catch {
      throw ControlFailure(error.exitCode, error.description)
    }
  }
}

extension Monitor {
  fileprivate func set<Value>(_ value: Value) where State == Value? {
    signal {
      $0 = value
      return true
    }
  }
}

/// Bytes; 0 when there is no such file.
private func fileSize(_ path: String) -> Int {
  var status = stat()
  return stat(path, &status) == 0 ? Int(status.st_size) : 0
}
