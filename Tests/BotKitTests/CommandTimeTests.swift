import Testing

@testable import BotKit

@Suite("A command's time")
struct CommandTimeTests {
  @Test("stands still while it is stopped, and what is left is left")
  func pauses() {
    let start = ContinuousClock.now
    var time = CommandTime(.seconds(60), from: start)
    #expect(time.left == .seconds(60))
    time.stop(at: start + .seconds(20))
    #expect(time.left == .seconds(40))
    time.stop(at: start + .seconds(500))
    time.goOn(at: start + .seconds(620))
    #expect(time.left == .seconds(40))
    time.goOn(at: start + .seconds(625))
    time.stop(at: start + .seconds(630))
    #expect(time.left == .seconds(30))
  }

  @Test("is never less than none")
  func runsOut() {
    let start = ContinuousClock.now
    var time = CommandTime(.seconds(1), from: start)
    time.stop(at: start + .seconds(2))
    #expect(time.left == .zero)
  }
}
