/// XEP-0085 (2.1): what the other side is doing with the conversation.
public enum ChatState: String, Sendable {
  case active, composing, paused, inactive, gone
}
