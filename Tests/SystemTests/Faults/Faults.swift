import Glibc
import Testing

extension SystemTests {
  /// What goes wrong on a real machine, one row of the table in docs/faults.md after the other, each with numbered
  /// messages in both directions.
  @Suite("Faults", .serialized)
  enum Faults {
    /// XMPPBOTD_FAULTS=long: as many messages and kills as a release needs. Else as many as a change needs.
    static let isLong = getenv("XMPPBOTD_FAULTS").map { String(cString: $0) == "long" } ?? false

    /// XMPPBOTD_FAULT_XML=yes: the bots log their stanzas.
    static let logsXML = getenv("XMPPBOTD_FAULT_XML").map { String(cString: $0) == "yes" } ?? false

    /// After so long without anything new, nothing more is awaited.
    static let patience = Duration.seconds(isLong ? 20 : 6)

    /// Messages a second, where the load is not the fault: ejabberd takes so many here, with its archive in SQLite.
    static func rate(_ kind: Server.Kind) -> Int { isLong && kind == .prosody ? 200 : 100 }

    static func size(_ short: Int, _ long: Int) -> Int { isLong ? long : short }

    /// XMPPBOTD_FAULT_SERVER=prosody or ejabberd: that one alone.
    static let servers: [Server.Kind] = {
      guard let name = getenv("XMPPBOTD_FAULT_SERVER") else { return Server.Kind.allCases }
      return Server.Kind.allCases.filter { $0.rawValue == String(cString: name) }
    }()

    /// Where the server matters little, one of them will do in the short run.
    static var oneServer: [Server.Kind] { isLong ? servers : servers.filter { $0 == .prosody } }
  }
}

typealias Faults = SystemTests.Faults

/// Random numbers that are the same in each run with the same seed (splitmix64).
struct SeededGenerator: RandomNumberGenerator {
  /// XMPPBOTD_FAULT_SEED, or always the same.
  static let seed = getenv("XMPPBOTD_FAULT_SEED").flatMap { UInt64(String(cString: $0)) } ?? 2_026_113

  private var state: UInt64

  init(seed: UInt64 = Self.seed) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
