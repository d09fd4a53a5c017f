import Glibc

/// A commands' service for one bot. As root it runs as the user nobody. It ends with the object.
final class CommandsService {
  let socket: String
  private let program: Program

  /// Configures `bot`, which must not have started, to run its commands there.
  init(for bot: Bot) throws {
    socket = bot.scratch.file("commands.sock")
    if geteuid() == 0 {
      // Another user has to come as far as the socket and the scripts.
      chmod(try Scratch.root.get(), 0o711)
    }
    program = try Program(
      [
        Server.scripts + "/commands-service", socket, bot.scratch.file("commands"), Bot.programs + "/xmppbotd",
        "--serve-commands",
      ], output: bot.scratch.file("commands.log"))
    _ = try program.line { $0 == "listening" }
    bot.sections += "\n[commands]\nsocket = \(socket)\n"
  }

  deinit {
    program.signal(SIGTERM)
    _ = try? program.exit()
  }
}
