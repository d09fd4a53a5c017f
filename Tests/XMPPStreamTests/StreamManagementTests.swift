import Testing
import XML
import XMPPStanzas

@testable import XMPPStream

@Suite("Counting stanzas (XEP-0198)")
struct StreamManagementTests {
  @Test("the count goes no further than the first stanza that is not taken")
  func gaps() {
    var count = IncomingCount()
    let numbers = (1...4).compactMap { _ in count.receive() }
    #expect(numbers == [1, 2, 3, 4])
    count.take(2)
    count.take(3)
    #expect(count.taken == 0)
    count.take(1)
    #expect(count.taken == 3)
    count.take(4)
    #expect(count.taken == 4)
  }

  @Test("numbers go round at 2^32, in both directions")
  func wrapsAround() throws {
    var count = IncomingCount(stored: .max - 1)
    for _ in 0..<3 { if let number = count.receive() { count.take(number) } }
    #expect(count.taken == 1)
    #expect(count.asked() == .store(1))
    #expect(count.stored(1) == 1)
    count.resume(from: .max)
    #expect(count.receive() == nil)
    #expect(count.receive() == nil)
    #expect(count.receive() == 2)

    var queue = OutgoingQueue(isNew: false)
    _ = try queue.acknowledge(.max)
    for token in ["a", "b", "c"] { queue.append(Element("message", Namespace.client), token: token, at: 0) }
    #expect(try queue.acknowledge(1) == ["a", "b"])
    #expect(throws: StreamError.self) { try queue.acknowledge(3) }
  }

  @Test("a count that is on its way to the disk is not written twice, and answers all who asked meanwhile")
  func oneWrite() {
    var count = IncomingCount()
    if let number = count.receive() { count.take(number) }
    #expect(count.asked() == .store(1))
    #expect(count.asked() == .wait)
    #expect(count.stored(1) == 1)
    #expect(count.asked() == .tell(1))
  }

  @Test("what an earlier session still had to store says nothing about this one")
  func otherSession() throws {
    let enabled = Element("enabled", Namespace.streamManagement, [("id", "x"), ("resume", "1")])
    var old = StreamManagement(enabled: enabled, epoch: 1)
    let received = old.receive()
    let number = try #require(received)
    let stored = old.store(with: number)
    let count = try #require(stored)
    var new = StreamManagement(enabled: enabled, epoch: 2)
    #expect(new.store(with: number) == nil)
    #expect(new.stored(count).isEmpty)
    #expect(new.storedCount == 0)
  }

  @Test("a session that the server did not say may be resumed is not resumed")
  func notResumable() {
    let enabled = Element("enabled", Namespace.streamManagement, [("id", "x"), ("resume", "false")])
    #expect(StreamManagement(enabled: enabled, epoch: 1).resumption == nil)
  }
}
