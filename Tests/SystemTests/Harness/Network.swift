import Glibc

/// A network of its own for the bot, with one cable to this machine that loses, narrows and ends as told.
final class Network {
  /// Why there can be none here; nil when there can.
  static let obstacle: String? = {
    do {
      try Network().lose(percent: 1)
      return nil
    } catch {
      return "no network namespace with nftables: \(String(describing: error).split(separator: "\n").last ?? "")"
    }
  }()

  /// This machine's end of the cable.
  let host: String
  private let name: String
  private let mark: Mark

  init() throws {
    let number = Counter.next()
    name = "xbot\(getpid())-\(number)"
    // Another run of the tests may have its networks on this machine.
    let net = "10.213.\((Int(getpid()) + number / 64) % 256).\(number % 64 * 4)"
    let prefix = net.split(separator: ".").dropLast().joined(separator: ".")
    let base = number % 64 * 4
    host = "\(prefix).\(base + 1)"
    mark = try Mark("networks", name)
    try Self.ip("netns", "add", name)
    // The names of the ends are unique on the machine and at most 15 characters.
    let end = "xb\(getpid() % 100_000)h\(number)"
    try Self.ip("link", "add", end, "type", "veth", "peer", "name", "cable", "netns", name)
    try Self.ip("addr", "add", "\(host)/30", "dev", end)
    try Self.ip("link", "set", end, "up")
    try inside("/usr/sbin/ip", "addr", "add", "\(prefix).\(base + 2)/30", "dev", "cable")
    try inside("/usr/sbin/ip", "link", "set", "cable", "up")
    try inside("/usr/sbin/ip", "link", "set", "lo", "up")
  }

  deinit {
    _ = try? Self.ip("netns", "del", name)
    mark.remove()
  }

  /// What a program is started with to run in it.
  var launcher: [String] { ["/usr/sbin/ip", "netns", "exec", name] }

  /// Loses so many of a hundred packets, in both directions; 0: none, 100: all.
  func lose(percent: Int) throws {
    let rule = percent >= 100 ? "drop" : percent > 0 ? "numgen random mod 100 < \(percent) drop" : "accept"
    let chains = ["input", "output"].map { hook in
      "chain \(hook) {\n type filter hook \(hook) priority 0\n meta oif lo accept\n \(rule)\n}\n"
    }
    try Program.run(
      launcher + ["/usr/sbin/nft", "-f", "-"], input: "flush ruleset\ntable inet loss {\n\(chains.joined())}\n")
  }

  /// Lets so few bits a second through, from the bot to the server.
  func narrow(kilobits: Int) throws {
    try inside(
      "/usr/sbin/tc", "qdisc", "replace", "dev", "cable", "root", "tbf", "rate", "\(kilobits)kbit", "burst", "4kb",
      "latency", "5s")
  }

  func pull() throws { try inside("/usr/sbin/ip", "link", "set", "cable", "down") }
  func plug() throws { try inside("/usr/sbin/ip", "link", "set", "cable", "up") }

  private func inside(_ words: String...) throws { try Program.run(launcher + words) }

  @discardableResult
  private static func ip(_ words: String...) throws -> String { try Program.run(["/usr/sbin/ip"] + words) }
}
