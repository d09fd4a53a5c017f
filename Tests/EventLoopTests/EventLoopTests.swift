import Glibc
import Testing
import XMPPTesting

@testable import EventLoop

@Suite("Event loop")
struct EventLoopTests {
  init() { LoopThread.start() }

  @Test("posted work runs on the loop in the order it was posted")
  func order() async {
    let numbers = await withCheckedContinuation { continuation in
      EventLoop.main.post {
        let seen = Box<[Int]>([])
        for number in 0..<100 { EventLoop.main.post { seen.value.append(number) } }
        EventLoop.main.post { continuation.resume(returning: seen.value) }
      }
    }
    #expect(numbers == Array(0..<100))
  }

  @Test("a LoopActor function runs on the loop's thread")
  func isolation() async {
    #expect(await onLoop())
    #expect(!EventLoop.main.isCurrent)
  }

  @LoopActor private func onLoop() -> Bool { EventLoop.main.isCurrent }

  @Test("a timer fires once its time has come, and a cancelled one never")
  func timers() async {
    let fired = await withCheckedContinuation { continuation in
      EventLoop.main.post {
        let fired = Box<[String]>([])
        let timers = Box<[TimerSource]>([])
        let cancelled = TimerSource(after: .zero) { fired.value.append("cancelled") }
        let began = ContinuousClock.now
        timers.value = [
          TimerSource(after: .milliseconds(5)) {
            if began.duration(to: .now) >= .milliseconds(5) { fired.value.append("on time") }
            // The cancelled one was due long ago.
            timers.value = []
            continuation.resume(returning: fired.value)
          },
          cancelled,
        ]
        cancelled.cancel()
      }
    }
    #expect(fired == ["on time"])
  }
}
