import Glibc
import JID

/// The environment of a program: what XMPPBOT_API version 1 promises, and nothing else.
enum ProgramEnvironment {
  /// What programs inherit, where the daemon has it.
  static let inherited = ["PATH", "LANG", "HOME", "TZ"]

  static func variables(for request: CommandRequest, stateDirectory: String) -> [String] {
    let message = request.message
    let own: [(String, String)] = [
      ("XMPPBOT_API", "1"),
      ("XMPPBOT_COMMAND", request.command),
      ("XMPPBOT_FROM", message.sender.description),
      ("XMPPBOT_RESOURCE", message.resource ?? ""),
      ("XMPPBOT_NICK", message.nick ?? ""),
      ("XMPPBOT_ROOM", message.room?.description ?? ""),
      ("XMPPBOT_OCCUPANT_ID", message.occupantID ?? ""),
      ("XMPPBOT_MESSAGE_ID", message.messageID ?? ""),
      ("XMPPBOT_LANG", message.lang ?? ""),
      ("XMPPBOT_TEXT", message.body),
      ("XMPPBOT_STATE_DIR", stateDirectory),
    ]
    let taken = inherited.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }
    return (taken + own).map { "\($0)=\($1)" }
  }
}

extension ProgramEnvironment {
  /// The environment of a long-running handler.
  static func variables(forHandler name: String, stateDirectory: String) -> [String] {
    let taken = inherited.compactMap { name in getenv(name).map { (name, String(cString: $0)) } }
    let own = [("XMPPBOT_API", "1"), ("XMPPBOT_HANDLER", name), ("XMPPBOT_STATE_DIR", stateDirectory)]
    return (taken + own).map { "\($0)=\($1)" }
  }
}
