/// What a command does for its contact while it runs.
public enum CommandAction: Sendable, Hashable {
  /// One more message.
  case reply(String)
  /// The last message that it sent says this instead (XEP-0308); where there is none yet, this is it.
  case edit(String)
  /// These emoji stand at the message that asked (XEP-0444), in place of those before; none: none any more.
  case react([String])
  /// The next message of the sender may choose one of these, by its number or its text: then the command is used again with
  /// that (`CommandRequest.choice`). `asked`: what the command calls the question.
  case offer([String], asked: String)
  /// All that it has printed so far: shown in place of what was shown of it before, and by its end at last. May be left out.
  case progress(String)
  /// A file, as a link; what comes after it waits until it is there.
  case upload(CommandUpload)
  /// A question; its answer comes to `RunningCommand.answered`. Meanwhile the command's time stands still.
  case ask(Question)
}
