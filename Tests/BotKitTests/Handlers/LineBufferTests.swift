import Testing

@testable import BotKit

@Suite("Lines out of a stream of bytes")
struct LineBufferTests {
  private func lines(_ chunks: [String], longest: Int = 10) -> [String] {
    var buffer = LineBuffer(longest: longest)
    var found: [String] = []
    func take(_ line: LineBuffer.Line) {
      switch line {
      case .line(let bytes): found.append(String(decoding: bytes, as: UTF8.self))
      case .tooLong(let count): found.append("(\(count))")
      }
    }
    for chunk in chunks {
      buffer.add(chunk.utf8)
      while let line = buffer.next() { take(line) }
    }
    if let rest = buffer.end() { take(rest) }
    return found
  }

  @Test("however they are cut, they come out whole")
  func cut() {
    #expect(lines(["one\ntwo\n"]) == ["one", "two"])
    #expect(lines(["o", "ne", "\n", "two\nthr", "ee"]) == ["one", "two", "three"])
    #expect(lines(["\n\n", "a\n"]) == ["", "", "a"])
    #expect(lines([]).isEmpty)
  }

  @Test("one that is too long is passed over, and the next is whole again")
  func tooLong() {
    #expect(lines(["0123456789\n0123456789a\nnext\n"]) == ["0123456789", "(11)", "next"])
    #expect(lines(["0123456789abcdef", "ghi", "j\nnext\n"]) == ["(20)", "next"])
    #expect(lines(["0123456789abcdef", "ghi"]) == ["(19)"])
    #expect(lines(["0123456789abcdef", "\n", "x"]) == ["(16)", "x"])
  }

  @Test("pauses before a restart double up to the longest, and begin anew after a long run")
  func restarts() {
    var policy = RestartPolicy(first: .seconds(1), longest: .seconds(60))
    let pauses = (0..<8).map { _ in policy.pause(afterRunningFor: .seconds(2)) }
    #expect(pauses == [1, 2, 4, 8, 16, 32, 60, 60].map { .seconds($0) })
    #expect(policy.pause(afterRunningFor: .seconds(60)) == .seconds(1))
    #expect(policy.pause(afterRunningFor: .zero) == .seconds(2))
  }
}
