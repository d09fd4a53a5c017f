import EventLoop
import XMPPStream

/// A server may take a session up, send on it, and hear nothing that is said on it: Prosody 0.12 has done so after many connections
/// that broke one after the other. Taken up once more the session would be the same, so another is begun; what it has missed
/// is in the server's archive.
extension Session {
  /// The server has answered nothing since it took the session up, though it was asked, and though things came from it after that.
  var seemsDeaf: Bool { isUnproven && questionAsked != nil && isHeardUnanswered }

  /// Ends the stream, and the session with it, if the server seems to be deaf on it. Whether that was so.
  public func leaveIfDeaf() -> Bool {
    guard isOnline, seemsDeaf else { return false }
    link?.abort(.silent)
    return true
  }

  /// Something came from the server.
  func heardElement() {
    if questionAsked != nil { isHeardUnanswered = true }
  }

  /// The stream has ended: if that was for its silence, the session is not asked for again.
  func forgetDeafSession(_ failure: StreamFailure) {
    guard case .silent = failure, case .online = state, seemsDeaf else { return }
    resumptionFailed(nil)
    storeStream()
  }
}
