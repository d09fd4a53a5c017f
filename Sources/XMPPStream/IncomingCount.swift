/// The stanzas that came in on one managed session (XEP-0198 1.6, section 4): which have been received, which of them
/// have been taken care of, and how many of those are stored. Pure; all counters are modulo 2^32.
///
/// Only what is stored is ever told to the server, so that it keeps, and sends again, whatever a crash could lose.
struct IncomingCount: Sendable {
  /// What to do about the server's question.
  enum Answer: Sendable, Hashable {
    /// Say so many at once.
    case tell(UInt32)
    /// Store this count; `stored` gives the answer.
    case store(UInt32)
    /// What is under way, or not taken yet, will give it.
    case wait
  }

  /// The number of the last one received on this stream.
  private var received: UInt32
  /// The number of the last one ever received: up to it, what a resumed stream brings was here before.
  private var known: UInt32
  /// Received and not yet taken, in order.
  private var open: [UInt32] = []
  private(set) var stored: UInt32
  /// What `stored` will be when all writes under way are done.
  private(set) var storing: UInt32
  /// The server asked when not all was stored, and is told of the next progress.
  private var isOwed = false

  init(stored: UInt32 = 0) {
    received = stored
    known = stored
    self.stored = stored
    storing = stored
  }

  /// A stanza came: its number; nil when it was here before.
  mutating func receive() -> UInt32? {
    received &+= 1
    guard Self.isAfter(received, known) else { return nil }
    known = received
    open.append(received)
    return received
  }

  /// The stanza of that number is taken care of, or its row is handed in.
  mutating func take(_ number: UInt32) {
    guard open.first != number else { return _ = open.removeFirst() }
    if let index = open.firstIndex(of: number) { open.remove(at: index) }
  }

  /// How many are taken without a gap.
  var taken: UInt32 { open.first.map { $0 &- 1 } ?? known }

  /// The count to store with the write that is handed in now.
  mutating func store() -> UInt32 {
    storing = taken
    return storing
  }

  /// The server asks how many we have.
  mutating func asked() -> Answer {
    // A server that hears of no progress asks again at once: it is answered when there is some.
    isOwed = stored != known
    guard isOwed else { return .tell(stored) }
    guard storing != taken else { return .wait }
    return .store(store())
  }

  /// That many are stored now; what to tell the server, if it waits for it.
  mutating func stored(_ count: UInt32) -> UInt32? {
    guard Self.isAfter(count, stored) else { return nil }
    stored = count
    defer { isOwed = false }
    return isOwed ? count : nil
  }

  /// The stream was resumed after we had told `count`: the server begins behind it.
  mutating func resume(from count: UInt32) {
    received = count
    isOwed = false
  }

  /// The number of the last one, when it is the last one ever; nil on the way there, on a resumed stream.
  var place: UInt32? { received == known ? known : nil }

  /// Every stanza that came before was taken; the next one, which can't be read, counts as taken, too.
  mutating func skipNext() -> UInt32 {
    known &+= 1
    return store()
  }

  /// Section 4: numbers go round.
  private static func isAfter(_ one: UInt32, _ other: UInt32) -> Bool {
    Int32(bitPattern: one &- other) > 0
  }
}
