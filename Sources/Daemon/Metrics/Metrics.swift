import BotKit
import EventLoop
import OpenMetrics

/// What is counted while messages flow. Pure, and cheap: a count is an addition, and nothing is allocated for it once its
/// command is known. Labels are the names of commands on offer and words of our own, so contacts can't add any.
struct Metrics: Sendable {
  /// How a command ended, as the label `result` has it.
  enum Result: Int, CaseIterable, Sendable {
    case done, usage, failed, timedOut, outputLimit, tryLater, notAllowed, denied, misplaced, stale, corrected
    case interrupted, busy, cancelled

    var word: String {
      switch self {
      case .timedOut: "timed-out"
      case .outputLimit: "output-limit"
      case .tryLater: "try-later"
      case .notAllowed: "not-allowed"
      default: "\(self)"
      }
    }
  }

  /// Handlers may register commands for ever; what is beyond this is counted as `other`.
  static let mostCommands = 250
  static let other = "(other)"

  /// Messages that came in and are in the archive.
  var received: UInt64 = 0
  /// Words that are no command.
  var unknown: UInt64 = 0
  /// Messages not looked at, for their sender or room had sent too many.
  var limited: UInt64 = 0
  /// From a message's arrival to its answer in the archive: what was answered at once…
  private(set) var immediate = Histogram()
  /// …and what a program or handler answered.
  private(set) var waiting = Histogram()
  /// Streams that could not be opened, or ended by themselves.
  var disconnects: UInt64 = 0

  private var places: [String: Int] = [:]
  private var names: [String] = []
  private var counts: [UInt64] = []
  /// When the messages arrived whose commands run, by the command's id.
  private var arrivals: [Int64: ContinuousClock.Instant] = [:]

  init() { offer([]) }

  /// These commands are on offer from now on. The counts of others go, and begin anew if they come back.
  mutating func offer(_ commands: some Sequence<String>) {
    let (oldPlaces, oldCounts) = (places, counts)
    (places, names, counts) = ([:], [], [])
    add(Self.other)
    for command in commands { add(command) }
    for (name, place) in places {
      guard let old = oldPlaces[name] else { continue }
      let width = Result.allCases.count
      for index in 0..<width { counts[place * width + index] = oldCounts[old * width + index] }
    }
  }

  /// One more is on offer.
  mutating func add(_ command: String) {
    guard places[command] == nil, names.count <= Self.mostCommands else { return }
    places[command] = names.count
    names.append(command)
    counts += repeatElement(0, count: Result.allCases.count)
  }

  mutating func count(_ command: String, _ result: Result) {
    counts[(places[command] ?? 0) * Result.allCases.count + result.rawValue] &+= 1
  }

  mutating func count(_ command: String, _ result: CommandResult) { count(command, Result(result)) }

  /// An answer that was known at once.
  mutating func count(_ answer: Answer) {
    switch answer.kind {
    case .unknown: unknown &+= 1
    case .tooMany, .reflex: limited &+= 1
    case .encrypted: break
    case .builtin, .denied, .misplaced, .badArguments, .stale, .corrected:
      if let command = answer.command { count(command, Result(answer.kind)) }
    }
  }

  mutating func count(_ reason: Decision.Reason) {
    if reason == .tooMany || reason == .roomTooMany || reason == .reflex { limited &+= 1 }
  }

  mutating func answered(after latency: Duration) { immediate.observe(microseconds: latency.microseconds) }

  /// A command begins whose message arrived then.
  mutating func began(_ command: Int64, at arrival: ContinuousClock.Instant) { arrivals[command] = arrival }

  /// Its answer is in the archive.
  mutating func ended(_ command: Int64, at now: ContinuousClock.Instant) {
    guard let arrival = arrivals.removeValue(forKey: command) else { return }
    waiting.observe(microseconds: arrival.duration(to: now).microseconds)
  }

  /// Those that occurred.
  var commands: [(command: String, result: Result, count: UInt64)] {
    names.enumerated().flatMap { place, name in
      Result.allCases.compactMap { result in
        let count = counts[place * Result.allCases.count + result.rawValue]
        return count == 0 ? nil : (name, result, count)
      }
    }
  }
}

extension Metrics.Result {
  init(_ result: CommandResult) {
    self =
      switch result {
      case .done: .done
      case .usage: .usage
      case .tryLater: .tryLater
      case .notAllowed: .notAllowed
      case .exited, .failed: .failed
      case .timedOut: .timedOut
      case .outputLimit: .outputLimit
      case .interrupted: .interrupted
      case .busy: .busy
      case .cancelled: .cancelled
      }
  }

  init(_ kind: Answer.Kind) {
    self =
      switch kind {
      case .denied: .denied
      case .misplaced: .misplaced
      case .badArguments: .usage
      case .stale: .stale
      case .corrected: .corrected
      case .builtin, .unknown, .tooMany, .reflex, .encrypted: .done
      }
  }
}
