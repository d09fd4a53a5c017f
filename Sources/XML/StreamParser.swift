import Glibc

/// Cuts the bytes of an XML stream into its header, its stanzas and its end (RFC 6120, sections 4 and 11).
///
/// Bytes come in as the network delivers them. What is not allowed on a stream, and what exceeds the limits, is refused
/// with an ``XMLStreamError``; a parser that has failed fails again. A stream that restarts (after TLS, after SASL) needs
/// a new parser: call ``stop()`` in the handler and throw this one away.
///
/// Work is linear in the bytes, memory is bounded by the limits, however a peer cuts its bytes into pieces.
public final class StreamParser {
  /// Expat interns each new name for as long as it lives, so it is replaced after so many bytes, between two stanzas.
  static let renewalBytes = 1 << 19
  private static let chunkBytes = 1 << 16

  private let limits: ParserLimits
  private var expat: Expat
  /// What the parser was given until the header was complete; then the header itself, for expat's successors.
  private var header: [UInt8] = []
  /// Bytes that don't end a tag yet. Nothing can happen before one ends, so expat gets them then.
  private var held: [UInt8] = []
  /// Bytes taken in, bytes passed on to expat or skipped, and what to add to expat's positions; all since the start.
  private var taken = 0
  private var fed = 0
  private var base = 0
  private var renewedAt = 0
  /// An unfinished token that expat has seen: where it starts, and how many bytes of it were looked at more than once.
  private var unfinishedAt = 0
  private(set) var rescanned = 0
  private(set) var renewals = 0
  private var isStopped = false
  private var failure: XMLStreamError?

  /// All bytes that ``parse(_:_:)-(UnsafeRawBufferPointer,_)`` was given.
  public private(set) var receivedBytes = 0
  /// The bytes up to the end of the latest event.
  public private(set) var consumedBytes = 0
  /// The bytes behind the latest event. When they are not 0 after ``stop()``, the peer sent something before it could
  /// know that the stream restarts; before TLS that is an injection (CVE-2011-0411).
  public var unconsumedBytes: Int { receivedBytes - consumedBytes }

  public init(limits: ParserLimits = .init()) {
    self.limits = limits
    expat = Expat(TreeBuilder(limits: limits))
  }

  /// No more events, in this call of parse or later; what still comes is counted and dropped. Meant for the handler.
  public func stop() { isStopped = true }

  /// Parses `bytes` and hands each event to `handle` as soon as it is complete.
  public func parse(_ bytes: [UInt8], _ handle: (StreamEvent) -> Void) throws(XMLStreamError) {
    // withUnsafeBytes can't pass a typed error on.
    let result: Result<Void, XMLStreamError> = bytes.withUnsafeBytes { buffer in
      Result { () throws(XMLStreamError) in try parse(buffer, handle) }
    }
    try result.get()
  }

  /// Parses `bytes` and hands each event to `handle` as soon as it is complete. The handler must not call parse.
  public func parse(
    _ bytes: UnsafeRawBufferPointer, _ handle: (StreamEvent) -> Void
  ) throws(XMLStreamError) {
    receivedBytes += bytes.count
    if let failure { throw failure }
    var rest = bytes[...]
    while !rest.isEmpty && !isStopped {
      let chunk = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.chunkBytes))
      rest = rest.dropFirst(chunk.count)
      do {
        try chunk.withMemoryRebound(to: UInt8.self) { bytes throws(XMLStreamError) in try take(bytes, handle) }
      } catch {
        failure = error
        throw error
      }
    }
  }

  private func take(
    _ chunk: UnsafeBufferPointer<UInt8>, _ handle: (StreamEvent) -> Void
  ) throws(XMLStreamError) {
    let isFirst = taken == 0
    taken += chunk.count
    if !expat.builder.isOpened {
      header.append(contentsOf: chunk)
      try checkEncoding()
    }
    // The first bytes go on at once, so that a peer that does not speak XML is noticed at once.
    if let end = chunk.lastIndex(of: UInt8(ascii: ">")) ?? (isFirst ? chunk.count - 1 : nil) {
      try feed(UnsafeBufferPointer(rebasing: chunk[...end]), handle)
      try hold(UnsafeBufferPointer(rebasing: chunk[(end + 1)...]))
    } else {
      try hold(chunk)
    }
  }

  /// Keeps the start of a tag, or of text, until the tag's end comes.
  private func hold(_ bytes: UnsafeBufferPointer<UInt8>) throws(XMLStreamError) {
    if isStopped { return }
    var bytes = bytes[...]
    if expat.builder.isClosed {
      guard bytes.allSatisfy(TreeBuilder.isWhiteSpace) else {
        throw .notWellFormed("data after the end of the stream")
      }
      return
    }
    if held.isEmpty && expat.builder.isBetweenStanzas && unfinished == 0 {
      // Keepalives: white space between stanzas costs a glance.
      let blank = bytes.prefix(while: TreeBuilder.isWhiteSpace).count
      bytes = bytes.dropFirst(blank)
      fed += blank
      base += blank
    }
    held.append(contentsOf: bytes)
    try checkUnfinished()
  }

  private func feed(
    _ chunk: UnsafeBufferPointer<UInt8>, _ handle: (StreamEvent) -> Void
  ) throws(XMLStreamError) {
    if held.isEmpty { return try pass(chunk, handle) }
    var joined = held
    held = []
    joined.append(contentsOf: chunk)
    try joined.withUnsafeBufferPointer { bytes throws(XMLStreamError) in try pass(bytes, handle) }
    if joined.count <= Self.chunkBytes {
      joined.removeAll(keepingCapacity: true)
      held = joined
    }
  }

  /// Passes bytes to expat and events to the handler.
  private func pass(
    _ bytes: UnsafeBufferPointer<UInt8>, _ handle: (StreamEvent) -> Void
  ) throws(XMLStreamError) {
    fed += bytes.count
    var outcome = expat.parse(bytes)
    while true {
      while let event = expat.nextEvent() {
        if consumedBytes == 0 { header = Array(header.prefix(expat.builder.eventEnd)) }
        consumedBytes = base + expat.builder.eventEnd
        handle(event)
        if isStopped { return }
      }
      switch outcome {
      case .failed(let error): throw error
      case .drained: return try checkRescanning()
      case .suspended:
        if consumedBytes - renewedAt >= Self.renewalBytes && expat.builder.isBetweenStanzas {
          outcome = renew(UnsafeBufferPointer(rebasing: bytes.suffix(fed - consumedBytes)))
        } else {
          outcome = expat.resume()
        }
      }
    }
  }

  /// Replaces expat by a new one that stands where the old one stood, and parses `rest` with it.
  private func renew(_ rest: UnsafeBufferPointer<UInt8>) -> Expat.Outcome {
    renewals += 1
    renewedAt = consumedBytes
    expat = Expat(expat.builder, header: header)
    base = consumedBytes - header.count
    return expat.parse(rest)
  }

  /// Expat goes over to UTF-16 when the first bytes look like it, whatever encoding it was told. No UTF-8 that holds XML
  /// begins with these.
  private func checkEncoding() throws(XMLStreamError) {
    guard let first = header.first else { return }
    if first >= 0xFE || header.prefix(2).contains(0) { throw .unsupportedEncoding("the stream is not UTF-8") }
  }

  /// Bytes of an unfinished token that expat has seen.
  private var unfinished: Int { fed - (base + expat.position) }

  /// A tag may hold ">" in its attributes, and expat then starts anew each time one comes. Honest peers come nowhere near
  /// this; a hostile one that sends them byte by byte ends here, so the work stays linear.
  private func checkRescanning() throws(XMLStreamError) {
    let start = base + expat.position
    rescanned = unfinished == 0 ? 0 : (start == unfinishedAt ? rescanned : 0) + unfinished
    unfinishedAt = start
    if rescanned > 8 * limits.tokenBytes { throw .policyViolation("a tag comes in too many pieces") }
  }

  /// The limits hold for what is unfinished, too.
  private func checkUnfinished() throws(XMLStreamError) {
    if !expat.builder.isOpened {
      if taken > limits.tokenBytes {
        throw .policyViolation("the stream header is longer than \(limits.tokenBytes) bytes")
      }
      return
    }
    let start = expat.builder.stanzaStart.map { base + $0 } ?? (fed - unfinished)
    if taken - start > limits.skippedBytes {
      throw .policyViolation("a stanza is longer than \(limits.skippedBytes) bytes")
    }
  }
}
