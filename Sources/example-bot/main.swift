// A bot with a command of its own, written in Swift: everything else is xmppbotd.
import BotKit
import Daemon
import Glibc

/// `dice [SIDES]`: throws a die.
struct Dice: CommandHandler {
  let description = CommandDescription(
    name: "dice", description: "Throw a die", usage: "dice [SIDES]", allow: [.everyone])

  func run(_ request: CommandRequest, reply: Reply) async throws -> String? {
    guard let word = request.arguments.first else { return "You threw a \(Int.random(in: 1...6))." }
    guard let sides = Int(word), (2...1_000_000).contains(sides) else { throw CommandError.usage }
    return "You threw a \(Int.random(in: 1...sides)) of \(sides)."
  }
}

exit(XMPPBot.run(handlers: [Dice()]))
