import EventLoop

/// A command written in Swift.
///
///     struct Dice: CommandHandler {
///       let description = CommandDescription(name: "dice", description: "Throw a die", allow: [.everyone])
///       func run(_ request: CommandRequest, reply: Reply) async throws -> String? {
///         String(Int.random(in: 1...6))
///       }
///     }
///
/// `run` is called off the event loop, several at once. It should end soon after its task is cancelled; when it does not, its
/// sender is told of the time-out all the same and what it returns later is dropped.
public protocol CommandHandler: Sendable {
  var description: CommandDescription { get }

  /// Does it. Returns the last text for the contact, nil for none. Throws `CommandError`; of any other error the
  /// contact hears only that the command failed, and the log the rest.
  func run(_ request: CommandRequest, reply: Reply) async throws -> String?
}

/// Sends a message to the contact while a command still runs: `reply("half-way there")`.
public struct Reply: Sendable {
  private let send: @Sendable (String) -> Void
  private let put: @Sendable (Question) async -> QuestionAnswer

  /// For tests of handlers: what is replied goes to `send`, what is asked to `ask`.
  public init(
    ask: @escaping @Sendable (Question) async -> QuestionAnswer = { _ in .unavailable },
    _ send: @escaping @Sendable (String) -> Void
  ) {
    self.send = send
    put = ask
  }

  public func callAsFunction(_ text: String) { send(text) }

  /// Asks the contact, one question at a time. `unavailable` at once where the command did not come from a menu, and
  /// when the command is being stopped.
  public func ask(_ question: Question) async -> QuestionAnswer { await put(question) }
}

/// How a Swift handler fails.
public enum CommandError: Error, Sendable, Hashable {
  /// The arguments are wrong: show the usage.
  case usage
  case tryLater
  case notAllowed
  /// In words that the contact may read.
  case failed(String)
}

/// Runs a `CommandHandler` on Swift's own threads, which start when the first such command runs.
struct SwiftCommand: WaitingCommand {
  let handler: any CommandHandler

  func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
    let handler = handler
    let questions = PendingQuestion(events)
    let reply = Reply(ask: questions.ask) { text in EventLoop.main.post { events.reply(text) } }
    let task = Task.detached {
      let ending: Result<String?, any Error>
      do { ending = .success(try await handler.run(request, reply: reply)) } catch { ending = .failure(error) }
      EventLoop.main.post {
        // Whatever it has left behind asks in vain.
        questions.close()
        switch ending {
        case .success(let text): events.finish(.done, text)
        case .failure(CommandError.usage): events.finish(.usage)
        case .failure(CommandError.tryLater): events.finish(.tryLater)
        case .failure(CommandError.notAllowed): events.finish(.notAllowed)
        case .failure(CommandError.failed(let reason)): events.finish(.failed(reason))
        case .failure(let error):
          events.log("\(error)")
          events.finish(.failed("the log says why"))
        }
      }
    }
    return Running(task: task, events: events, questions: questions)
  }

  private final class Running: RunningCommand {
    private let task: Task<Void, Never>
    private let events: CommandEvents
    private let questions: PendingQuestion

    init(task: Task<Void, Never>, events: CommandEvents, questions: PendingQuestion) {
      self.task = task
      self.events = events
      self.questions = questions
    }

    func stop(_ reason: CommandResult) {
      task.cancel()
      questions.close()
      events.finish(reason)
    }

    func answered(_ answer: QuestionAnswer) { questions.answered(answer) }
  }
}
