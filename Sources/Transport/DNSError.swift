/// Why DNS gave no usable answer.
public struct DNSError: Error, Sendable, Hashable, CustomStringConvertible {
  public enum Kind: Sendable, Hashable {
    /// The name, or the kind of record asked for, does not exist.
    case notFound
    /// No DNS server answered in time.
    case timedOut
    /// No DNS server could be asked.
    case noServer
    /// The DNS servers failed or refused; their own word.
    case serverFailure(String)
    /// The answer is broken.
    case badAnswer
    /// The records name no host and port that could be dialled.
    case uselessRecords
  }

  /// The name that was asked for.
  public let name: String
  public let kind: Kind

  public init(name: String, kind: Kind) {
    self.name = name
    self.kind = kind
  }

  /// Nobody answered, not even that something is wrong.
  var isSilence: Bool { kind == .timedOut || kind == .noServer }

  public var description: String {
    switch kind {
    case .notFound: "DNS has no address or service at \(name): check the spelling of jid = or host ="
    case .timedOut: "DNS did not answer for \(name) in time: check the network and /etc/resolv.conf"
    case .noServer:
      "no DNS server could be asked for \(name): check the network and /etc/resolv.conf, or set host = to the server's IP address"
    case .serverFailure(let word):
      "DNS failed for \(name) (\(word)): it may pass, or set host = and port = to do without"
    case .badAnswer: "DNS sent a broken answer for \(name): set host = and port = to do without"
    case .uselessRecords:
      "DNS has records for \(name), but none with a host and a port: the domain's administrator has to mend them"
    }
  }
}
