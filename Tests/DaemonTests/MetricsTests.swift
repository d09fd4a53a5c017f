import Testing

@testable import BotKit
@testable import Daemon

@Suite("Counting")
struct MetricsTests {
  private func lines(_ metrics: Metrics) -> [String] {
    metrics.commands.map { "\($0.command) \($0.result.word) \($0.count)" }
  }

  @Test("a command is counted by its name and how it ended")
  func commands() {
    var metrics = Metrics()
    metrics.offer(["deploy", "uptime"])
    metrics.count("deploy", CommandResult.done)
    metrics.count("deploy", CommandResult.exited(3))
    metrics.count("deploy", CommandResult.failed("no"))
    metrics.count("uptime", CommandResult.timedOut(.seconds(5)))
    #expect(lines(metrics) == ["deploy done 1", "deploy failed 2", "uptime timed-out 1"])
  }

  @Test("what is not on offer never becomes a label")
  func unknown() {
    var metrics = Metrics()
    metrics.offer(["deploy"])
    for number in 0..<1_000 { metrics.count("x\(number)", CommandResult.done) }
    metrics.count(Answer(kind: .unknown, command: nil, text: ""))
    #expect(lines(metrics) == ["(other) done 1000"])
    #expect(metrics.unknown == 1)
  }

  @Test("handlers that register without end don't make labels without end")
  func bounded() {
    var metrics = Metrics()
    for number in 0..<10_000 {
      metrics.add("c\(number)")
      metrics.count("c\(number)", CommandResult.done)
    }
    #expect(metrics.commands.count == Metrics.mostCommands + 1)
    #expect(metrics.commands.map(\.count).reduce(0, +) == 10_000)
  }

  @Test("another offer keeps the counts of what stays, and forgets the rest")
  func offers() {
    var metrics = Metrics()
    metrics.offer(["a", "b"])
    metrics.count("a", CommandResult.done)
    metrics.count("b", CommandResult.usage)
    metrics.count("c", CommandResult.done)
    metrics.offer(["b", "c", "d"])
    #expect(lines(metrics) == ["(other) done 1", "b usage 1"])
    metrics.offer(["a", "b"])
    metrics.count("a", CommandResult.done)
    #expect(lines(metrics) == ["(other) done 1", "a done 1", "b usage 1"])
  }

  @Test("answers that needed no program count under their command")
  func answers() {
    var metrics = Metrics()
    metrics.offer(["help", "deploy"])
    for (kind, command): (Answer.Kind, String?) in [
      (.builtin, "help"), (.denied, "deploy"), (.misplaced, "deploy"), (.badArguments, "deploy"), (.stale, "deploy"),
      (.corrected, "deploy"), (.tooMany, nil), (.reflex, nil), (.encrypted, nil),
    ] {
      metrics.count(Answer(kind: kind, command: command, text: ""))
    }
    metrics.count(Decision.Reason.tooMany)
    metrics.count(Decision.Reason.echo)
    #expect(
      lines(metrics) == [
        "help done 1", "deploy usage 1", "deploy denied 1", "deploy misplaced 1", "deploy stale 1",
        "deploy corrected 1",
      ])
    #expect(metrics.limited == 3)
  }

  @Test("a latency is from the message's arrival to the answer's place in the archive, once for each command")
  func latency() {
    var metrics = Metrics()
    let start = ContinuousClock.now
    metrics.answered(after: .milliseconds(3))
    metrics.began(7, at: start)
    metrics.ended(7, at: start + .seconds(2))
    metrics.ended(7, at: start + .seconds(9))
    metrics.ended(8, at: start + .seconds(9))
    #expect(metrics.immediate.sum == 3_000 && metrics.immediate.count == 1)
    #expect(metrics.waiting.sum == 2_000_000 && metrics.waiting.count == 1)
  }

  @Test("each result has a word that a query can hold, and no two the same")
  func words() {
    let words = Metrics.Result.allCases.map(\.word)
    #expect(Set(words).count == words.count)
    #expect(words.allSatisfy { $0.allSatisfy { $0 == "-" || ("a"..."z").contains($0) } })
  }
}
