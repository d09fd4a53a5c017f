import BotKit
import Archive

/// What a running command has sent to its contact, and what waits behind a file that is under way.
struct RunningOutput {
  /// The last message, which `edit` corrects.
  var last = ShownText()
  /// What it prints, as far as it is shown.
  var progress: ShownText?
  /// A file is under way: what comes after it waits.
  var isUploading = false
  var waiting: [CommandAction] = []
  var ending: CommandOutcome?
}
