/// Somebody who sends numbered messages with xmppbotctl (Tests/Servers/sender.py).
final class Operator {
  private let program: Program
  private let scratch: Scratch
  /// xmppbotctl said that the server has these.
  private(set) var accepted: Set<Int> = []
  /// xmppbotctl said why not, or that it does not know.
  private(set) var refused: [Int: String] = [:]
  private var finishedRuns = 0

  init(of bot: Bot, writingTo contact: Account) throws {
    scratch = try Scratch()
    program = try Program(
      [Server.scripts + "/sender.py", Bot.programs + "/xmppbotctl", bot.configuration, contact.jid],
      output: scratch.file("output"))
  }

  /// Readable when there may be news.
  var changes: Int32 { program.output.changes }

  /// Sends "say N" for each number.
  func run(_ numbers: ClosedRange<Int>, rate: Int) {
    program.write("run \(numbers.lowerBound) \(numbers.upperBound) \(rate)")
  }

  func hasFinished(runs: Int) -> Bool { finishedRuns >= runs }

  /// Takes in what has happened.
  func takeIn() {
    for line in program.output.takeAll() {
      let words = line.split(separator: " ", maxSplits: 2).map(String.init)
      switch (words.first, words.dropFirst().first.flatMap { Int($0) }) {
      case ("accepted", let number?): accepted.insert(number)
      case ("refused", let number?): refused[number] = words.last
      case ("ran", _): finishedRuns += 1
      default: break
      }
    }
  }
}
