import Archive
import JSON
import SQLite
import Systemd

/// A server that has really become weaker: an operator who was told so by the server's has the remembered mechanism
/// forgotten (MechanismFloor), so that the next login may be weaker.
extension Daemon {
  func serveForgetMechanism(_ client: ControlClient) {
    if let fault = gate.fault { return client.fail(.failed, "nothing was forgotten: \(fault)") }
    credentials.forgetMechanism()
    gate.write { transaction throws(DatabaseError) in
      try transaction.forgetMechanism()
    } done: { [weak self] mechanism in
      if let self, let mechanism {
        log.log(.mechanismForgotten, "\(client.peer) has it forgotten that \(mechanism) has worked")
        session.retry()
      }
      client.finish(ArchiveTransaction.forgotten(mechanism))
    } dropped: {
      client.fail(.failed, "it was not forgotten: the archive can't be written")
    }
  }
}

extension ArchiveTransaction {
  /// Forgets the strongest login that has worked; what it was, nil for none.
  public func forgetMechanism() throws(DatabaseError) -> String? {
    let mechanism = try queries.meta(.saslFloor)
    try setMeta(.saslFloor, to: nil)
    return mechanism
  }

  /// The answer to who asked for it.
  public static func forgotten(_ mechanism: String?) -> JSON { ["mechanism": mechanism.map(JSON.string) ?? .null] }
}
