import BotKit
import EventLoop
import Glibc
import Systemd

extension XMPPBot {
  /// `xmppbotd --serve-commands`, as xmppbotd-commands.service runs it: with the socket that systemd passes.
  static func serveCommands() -> Int32 {
    StandardDescriptors.ensure()
    guard let socket = SocketActivation.listenSockets().first else {
      complain("--serve-commands is for xmppbotd-commands.socket, which passes a socket (sd_listen_fds(3))")
      return ExitCode.usage.rawValue
    }
    guard let base = ProcessEnvironment.current()["STATE_DIRECTORY"]?.split(separator: ":").first else {
      complain("$STATE_DIRECTORY names no folder for the commands' own folders; set StateDirectory= in the unit")
      return ExitCode.configuration.rawValue
    }
    do {
      var service = try CommandsService(listener: socket.descriptor, stateBase: String(base), complain: complain)
      service.run()
      return ExitCode.done.rawValue
    } catch {
      complain("the socket that was passed: \(error)")
      return ExitCode.failed.rawValue
    }
  }
}
