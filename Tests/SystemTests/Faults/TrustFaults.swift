import Glibc
import Testing

extension Faults {
  @Suite("Certificates")
  struct TrustFaults {
    static let kinds: [(shown: Server.Certificate, words: String)] = [
      (.expired, "expired"), (.otherName, "elsewhere.example"), (.stranger, "authority"),
    ]

    @Test(
      "expired, of another name, of an unknown authority: refused, said, retried slowly; taken up again when mended",
      arguments: Faults.oneServer)
    func refused(_ kind: Server.Kind) throws {
      try FaultRun.carryOut("certificate refused", on: kind) { run in
        run.serverMayLose = true
        try run.start()
        run.send(100)
        try run.awaitSent(30)
        try run.outage {
          // The contact, too, comes back only with the good one.
          defer { try? show(.good, run.server) }
          for (index, (certificate, words)) in Self.kinds.enumerated() {
            try show(certificate, run.server)
            // It would wait a minute: a reload that dials another address tries at once.
            if index > 0 { try Faults.redial(run, index) }
            let line = try run.bot.logged("tls-refused: ", within: .seconds(60))
            run.require(line.contains(words), "\(certificate): the log says \(line)")
            run.require(Faults.waits(line) >= 30, "\(certificate): it hammers: \(line)")
          }
          try show(.good, run.server)
          try Faults.redial(run, Self.kinds.count)
        }
        try run.finish()
      }
    }

    private func show(_ certificate: Server.Certificate, _ server: Server) throws {
      // Some servers take ten seconds to stop in order.
      try server.kill()
      try server.show(certificate)
      try server.start()
    }
  }

  /// Has the bot dial again at once, by a configuration with another way to write the same address.
  static func redial(_ run: FaultRun, _ number: Int) throws {
    run.bot.set("host", number % 2 == 0 ? run.server.host : "localhost")
    try run.bot.writeConfiguration()
    run.bot.signal(SIGHUP)
  }

  /// Seconds until the next attempt, as a line of the log has it.
  static func waits(_ line: String) -> Double {
    let words = line.split(separator: " next attempt in ").last?.split(separator: " ") ?? []
    guard words.count > 1, let number = Double(words[0]) else { return 0 }
    return words[1].hasPrefix("min") ? 60 * number : words[1].hasPrefix("h") ? 3_600 * number : number
  }
}
