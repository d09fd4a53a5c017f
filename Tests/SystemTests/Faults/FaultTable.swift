import Glibc
import Testing

/// The table of results: a file that grows by a line with each run, and is printed when the tests end.
enum FaultTable {
  struct Row {
    var fault: String
    var server: String
    var sent = 0
    var archived = 0
    var answered = 0
    var duplicates = 0
    /// The longest time until the bot was online again.
    var seconds: Double?
    var verdict: String

    var text: String {
      let time = seconds.map { seconds in
        let tenths = Int((seconds * 10).rounded())
        return "\(tenths / 10).\(tenths % 10)"
      }
      return [
        fault, server, String(sent), String(archived), String(answered), String(duplicates), time ?? "-", verdict,
      ].joined(separator: " | ")
    }
  }

  static let head = "fault | server | sent | archived | answered | duplicates | seconds until online again | verdict"

  /// XMPPBOTD_FAULT_TABLE, or `.build/faults.txt` in the folder where the tests were started.
  static let path: String = {
    let path = getenv("XMPPBOTD_FAULT_TABLE").map { String(cString: $0) } ?? ".build/faults.txt"
    append("\(head)\n# seed \(SeededGenerator.seed), \(Faults.isLong ? "long" : "short")\n", to: path, mode: "w")
    atexit { print("\n" + contents(of: FaultTable.path)) }
    return path
  }()

  static func add(_ row: Row) { append(row.text + "\n", to: path, mode: "a") }

  /// What this machine can't do is said, and never counts as passed.
  static func notRun(_ fault: String, _ server: String = "-", because reason: String) {
    add(Row(fault: fault, server: server, verdict: "not run: \(reason)"))
  }

  /// The bot's log of a row that failed, beside the table.
  static func keep(_ log: String, of row: Row) {
    let name = "\(row.fault) \(row.server)".map { $0.isLetter || $0.isNumber ? $0 : "-" }
    append(log, to: "\(path).\(String(name)).log", mode: "w")
  }

  private static func append(_ text: String, to path: String, mode: String) {
    guard let stream = fopen(path, mode) else { return print("\(path): \(systemError())\n\(text)") }
    defer { fclose(stream) }
    fputs(text, stream)
  }
}
