import Archive
import Daemon
import JSON
import SQLite

extension Verb {
  static let forgetMechanism = Verb(
    path: ["forget-mechanism"], summary: "Let the next login be weaker than those before",
    details: """
      The bot remembers the strongest login that has worked and refuses a weaker one: somebody in between may have taken
      the others out of the server's list. Only when the server's operator says that the list is right, forget it. Nothing
      else is forgotten, and what the next login uses is remembered in its place. A bot that waits tries again at once.
      """
  ) { call throws(ControlFailure) in
    let result =
      if let daemon = try call.daemonIfRunning() {
        try daemon.ask(["verb": "forget-mechanism"])
      } else {
        try forgetMechanism(in: call.readableArchive())
      }
    if call.json { return print(result.text()) }
    guard let mechanism = result["mechanism"]?.stringValue else { return print("no login is remembered") }
    print("forgotten: \(Terminal.safe(mechanism)); the next login may be weaker")
  }

  /// Without a daemon this process is the one that writes.
  private static func forgetMechanism(in path: String) throws(ControlFailure) -> JSON {
    let end = Monitor<Result<String?, ArchiveError>?>(nil)
    do throws(ArchiveError) {
      // Only one that is there, and that needs no new schema.
      _ = try ArchiveReader.open(path: path)
      let archive = try Archive.open(path: path) { $0() }
      defer { archive.close() }
      archive.write { transaction throws(DatabaseError) in
        try transaction.forgetMechanism()
      } completion: { result in
        end.signal {
          $0 = result
          return true
        }
      }
      return ArchiveTransaction.forgotten(
        try end.wait(until: nil, for: { $0 != nil }, { $0 ?? .failure(.closed) }).get())
    } catch {
      throw ControlFailure(error.exitCode, error.description)
    }
  }
}
