import BotKit
import EventLoop

/// As whom the commands' service runs programs. Its unit says so, and it alone knows; a program may be owned by that user, and by no
/// other but root. It is asked only when files were refused, for as long as all belong to root nobody need know.
extension Daemon {
  /// Asks, and looks at the commands again if it is another user than was thought.
  func learnUser(at place: String) {
    ServiceLauncher(socket: place).askUser { [weak self] user in
      guard let self, ending == nil, let user else { return }
      if let known = commandsUser, known == (place, user) { return }
      let before = commandFaults
      commandsUser = (place, user)
      useCommands()
      for fault in commandFaults where !before.contains(fault) { log.log(.commandFileRefused, fault.description) }
    }
  }
}
