import EventLoop
import Testing
import XMPPTesting

@testable import Transport

/// Datagrams recorded from a Linux 6 kernel (x86-64) while an interface was set up; the links' attributes are cut off.
@Suite("Network changes")
struct NetworkChangesTests {
  static let linkUp = "2000000010000000000000000000000000000100030000004310010000000000"
  static let linkWithoutCarrier = "2000000010000000000000000000000000000100030000000310010001000000"
  static let linkDown = "2000000010000000000000000000000000000100030000000210000001000000"
  static let address4 =
    "4c00000014000000482d0d6b0b650000021880000300000008000100c000020708000200c00002070700030064300000080008008000000014000600ffffffffffffffff2453030024530300"
  static let tentative6 =
    "480000001400000000000000000000000a40c000030000001400010020010db800000000000000000000000714000600ffffffffffffffff625303006253030008000800c0000000"
  static let address6 =
    "480000001400000000000000000000000a408000030000001400010020010db800000000000000000000000714000600ffffffffffffffff62530300625303000800080080000000"
  static let address6Gone =
    "480000001500000000000000000000000a408000030000001400010020010db800000000000000000000000714000600ffffffffffffffff62530300625303000800080080000000"
  static let linkLocal =
    "500000001400000000000000000000000a4080fd0300000014000100fe80000000000000d4cca4fffe06211e14000600ffffffffffffffff0653030006530300080008008000000005000b0003000000"
  static let defaultRoute =
    "3400000018000006482d0d6b2665000002000000fe0300010000000008000f00fe00000008000500c00002010800040003000000"
  static let localRoute =
    "3c00000018000006000000000000000002200000ff02fe020000000008000f00ff00000008000100c000020708000700c00002070800040003000000"
  static let routeGone =
    "740000001900000000000000000000000a400000fe0200010000000008000f00fe0000001400010020010db80000000000000000000000000800060000010000080004000300000024000c0000000000000000000000000000000000000000000000000000000000000000000500140000000000"

  private func bytes(_ hex: String) -> [UInt8] {
    let digits = hex.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
  }

  private func read(_ changes: inout NetworkChanges, _ datagrams: String...) -> [Bool] {
    datagrams.map { bytes($0).withUnsafeBytes { changes.read($0) } }
  }

  @Test("a default route, and an address that is new, are a way out")
  func news() {
    var changes = NetworkChanges()
    #expect(read(&changes, Self.defaultRoute, Self.address4, Self.address6) == [true, true, true])
  }

  @Test("what is local, tentative or gone is not")
  func noNews() {
    var changes = NetworkChanges()
    let result = read(
      &changes, Self.localRoute, Self.linkLocal, Self.tentative6, Self.routeGone, Self.address6Gone, Self.linkDown)
    #expect(!result.contains(true))
  }

  @Test("an address told again is no news, unless it had gone")
  func repetition() {
    var changes = NetworkChanges()
    let result = read(
      &changes, Self.tentative6, Self.address6, Self.address6, Self.address6, Self.address6Gone, Self.address6)
    #expect(result == [false, true, false, false, false, true])
  }

  @Test("a link is news when its carrier is back")
  func link() {
    var changes = NetworkChanges()
    let result = read(
      &changes, Self.linkUp, Self.linkUp, Self.linkWithoutCarrier, Self.linkUp, Self.linkUp, Self.linkDown, Self.linkUp)
    #expect(result == [false, false, false, true, false, false, true])
  }

  @Test("several messages in one datagram are all read")
  func several() {
    var changes = NetworkChanges()
    #expect(read(&changes, Self.localRoute + Self.linkDown + Self.defaultRoute) == [true])
    #expect(read(&changes, Self.localRoute + Self.linkUp) == [true])
  }

  @Test("no datagram, however cut or changed, reads beyond its end")
  func fuzz() {
    var random = SeededRandom()
    var changes = NetworkChanges()
    let whole = bytes(Self.address6 + Self.linkUp + Self.defaultRoute + Self.address4)
    for count in 0...whole.count {
      _ = Array(whole.prefix(count)).withUnsafeBytes { changes.read($0) }
    }
    for _ in 0..<20_000 {
      var damaged = Array(whole.prefix(Int.random(in: 0...whole.count, using: &random)))
      for _ in 0..<Int.random(in: 1...8, using: &random) where !damaged.isEmpty {
        damaged[Int.random(in: 0..<damaged.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
      }
      _ = damaged.withUnsafeBytes { changes.read($0) }
    }
    // A length of 0, and one that is shorter than a header, end the reading.
    #expect(
      read(&changes, String(repeating: "00", count: 64), "0f" + String(repeating: "00", count: 63)) == [false, false])
  }

  @Test("the monitor opens without rights, and ends") @LoopActor
  func monitor() throws {
    let monitor = try NetworkMonitor {}
    monitor.cancel()
    monitor.cancel()
  }

  init() { LoopThread.start() }
}
