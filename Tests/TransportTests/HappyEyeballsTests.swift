import EventLoop
import Glibc
import Testing

@testable import Transport

@Suite("Happy Eyeballs")
struct HappyEyeballsTests {
  let six: [IPAddress]
  let four: [IPAddress]
  let refused = Errno(code: ECONNREFUSED)

  init() throws {
    six = try (1...3).map { try #require(IPAddress("2001:db8::\($0)")) }
    four = try (1...3).map { try #require(IPAddress("192.0.2.\($0)")) }
  }

  private let wait = HappyEyeballs.Action.setTimer(HappyEyeballs.attemptDelay)

  @Test("IPv6 is dialled as soon as it is known")
  func sixFirst() {
    var machine = HappyEyeballs()
    #expect(machine.handle(.resolved(.v6, six)) == [.dial(0, six[0]), wait])
    #expect(machine.handle(.resolved(.v4, four)) == [])
  }

  @Test("IPv4 waits 50 ms for the answer about IPv6")
  func resolutionDelay() {
    var machine = HappyEyeballs()
    #expect(machine.handle(.resolved(.v4, four)) == [.setTimer(HappyEyeballs.resolutionDelay)])
    #expect(machine.handle(.timer) == [.dial(0, four[0]), wait])
    // The late answer joins in with the next turn.
    #expect(machine.handle(.resolved(.v6, six)) == [])
    #expect(machine.handle(.timer) == [.dial(1, six[0]), wait])
  }

  @Test("IPv6 that arrives within the 50 ms goes first; that there is none ends the wait")
  func resolutionDelayEnds() {
    var machine = HappyEyeballs()
    _ = machine.handle(.resolved(.v4, four))
    #expect(machine.handle(.resolved(.v6, six)) == [.dial(0, six[0]), wait])
    machine = HappyEyeballs()
    _ = machine.handle(.resolved(.v4, four))
    #expect(machine.handle(.resolved(.v6, [])) == [.dial(0, four[0]), wait])
  }

  @Test("families take turns, every 250 ms, and what is dialled goes on")
  func interleaving() {
    var machine = HappyEyeballs()
    _ = machine.handle(.resolved(.v6, six))
    _ = machine.handle(.resolved(.v4, [four[0]]))
    #expect(machine.handle(.timer) == [.dial(1, four[0]), wait])
    #expect(machine.handle(.timer) == [.dial(2, six[1]), wait])
    #expect(machine.handle(.timer) == [.dial(3, six[2]), wait])
    #expect(machine.handle(.timer) == [])
    #expect(machine.handle(.connected(1)) == [.cancelTimer, .won(1), .cancel(0), .cancel(2), .cancel(3)])
    #expect(machine.handle(.connected(0)) == [])
  }

  @Test("a failure has the next address dialled at once")
  func failure() {
    var machine = HappyEyeballs()
    _ = machine.handle(.resolved(.v6, six))
    _ = machine.handle(.resolved(.v4, four))
    #expect(machine.handle(.failed(0, refused)) == [.dial(1, four[0]), wait])
    #expect(machine.handle(.failed(0, refused)) == [])
  }

  @Test("when all have failed, all failures are told")
  func allFail() {
    var machine = HappyEyeballs()
    _ = machine.handle(.resolved(.v6, [six[0]]))
    _ = machine.handle(.resolved(.v4, [four[0]]))
    _ = machine.handle(.failed(0, refused))
    let unreachable = Errno(code: ENETUNREACH)
    #expect(
      machine.handle(.failed(1, unreachable)) == [
        .cancelTimer,
        .gaveUp([
          AttemptFailure(address: six[0], error: refused), AttemptFailure(address: four[0], error: unreachable),
        ]),
      ])
  }

  @Test("an answer about the other family is waited for before giving up, and used at once")
  func lateAnswer() {
    var machine = HappyEyeballs()
    _ = machine.handle(.resolved(.v6, [six[0]]))
    #expect(machine.handle(.failed(0, refused)) == [])
    #expect(machine.handle(.resolved(.v4, [four[0]])) == [.dial(1, four[0]), wait])
    machine = HappyEyeballs()
    #expect(machine.handle(.resolved(.v6, [])) == [])
    #expect(machine.handle(.resolved(.v4, [])) == [.cancelTimer, .gaveUp([])])
  }

  @Test("stopping cancels what runs and tells what had failed")
  func stop() {
    var machine = HappyEyeballs()
    _ = machine.handle(.resolved(.v6, six))
    _ = machine.handle(.failed(0, refused))
    #expect(
      machine.stop() == [
        .cancelTimer, .cancel(1), .gaveUp([AttemptFailure(address: six[0], error: refused)]),
      ])
    #expect(machine.stop() == [])
  }

  @Test("whatever happens, it ends once, dials no address twice, at most 8 of a family, and cancels what it dialled")
  func random() throws {
    var random = SeededRandom()
    for _ in 0..<2_000 {
      var machine = HappyEyeballs()
      var pending: [HappyEyeballs.Event] = []
      for family in [IPAddress.Family.v6, .v4] {
        let prefix = family == .v6 ? "2001:db8::" : "192.0.2."
        let addresses = try (0..<Int.random(in: 0...12, using: &random)).map {
          try #require(IPAddress("\(prefix)\($0)"))
        }
        pending.append(.resolved(family, addresses))
      }
      var running: Set<Int> = []
      var dialled: [IPAddress] = []
      var timerRuns = false
      var ends = 0
      while true {
        var possible = pending
        if timerRuns { possible.append(.timer) }
        for attempt in running.sorted() {
          possible += [.failed(attempt, refused), .failed(attempt, refused), .connected(attempt)]
        }
        guard let event = possible.randomElement(using: &random) else { break }
        if case .resolved = event { pending.removeAll { $0 == event } }
        if event == .timer { timerRuns = false }
        if case .failed(let attempt, _) = event { running.remove(attempt) }
        for action in machine.handle(event) {
          switch action {
          case .dial(let attempt, let address):
            #expect(ends == 0)
            #expect(attempt == dialled.count)
            #expect(!dialled.contains(address))
            dialled.append(address)
            running.insert(attempt)
          case .setTimer: timerRuns = true
          case .cancelTimer: timerRuns = false
          case .won(let attempt):
            ends += 1
            running.remove(attempt)
          case .cancel(let attempt): #expect(running.remove(attempt) != nil)
          case .gaveUp(let failures):
            ends += 1
            #expect(failures.count == dialled.count)
            #expect(pending.isEmpty)
          }
        }
        if ends > 0 { break }
      }
      #expect(ends == 1)
      #expect(running.isEmpty)
      #expect(!timerRuns)
      #expect(dialled.filter { $0.family == .v6 }.count <= HappyEyeballs.addressLimit)
      #expect(dialled.filter { $0.family == .v4 }.count <= HappyEyeballs.addressLimit)
    }
  }
}
