import Glibc
import JID

/// The environment of a program: what XMPPBOT_API version 1 promises, and nothing else.
enum ProgramEnvironment {
  /// What programs inherit, where the daemon has it.
  static let inherited = ["PATH", "LANG", "HOME", "TZ"]

  /// Those of them that this process has.
  static func inheritedVariables() -> [String] {
    inherited.compactMap { name in getenv(name).map { "\(name)=\(String(cString: $0))" } }
  }

  /// What the launcher does not know.
  static func variables(for request: CommandRequest) -> [String] {
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
    ]
    return own.map { "\($0)=\($1)" }
  }
}
