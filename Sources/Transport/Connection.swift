import EventLoop
import Glibc

/// A TCP connection, plain at first, TLS after `startTLS`. All calls and callbacks are on the loop.
///
/// Nothing here blocks. What is written is collected until `flush()`, so that a turn's answers leave as one record.
/// Reading is bounded: after `turnLimit` bytes the loop's timers and other descriptors get their turn.
/// Writing to a dead TLS peer raises SIGPIPE: the process has to ignore that signal.
@LoopActor
public final class Connection {
  /// Received bytes (decrypted, once TLS is on). The buffer is reused: it is valid during the call only.
  /// Nothing is read before this is set, so that nothing is lost.
  public var onReceive: @LoopActor (UnsafeRawBufferPointer) -> Void = { _ in } {
    didSet {
      hasReceiver = true
      updateWatch()
    }
  }
  /// The connection is over, told once; never told after `abort()`, nor when `startTLS` fails, whose completion says so.
  public var onClose: @LoopActor (CloseReason) -> Void = { _ in }
  /// All that a `flush()` had to leave behind was sent now.
  public var onDrain: @LoopActor () -> Void = {}

  /// Bytes read in one go before the loop gets its turn.
  static let turnLimit = 256 * 1024
  /// How long `close()` waits for the peer's end.
  static let closeLimit = Duration.seconds(2)

  private enum State {
    case open
    case handshaking(@LoopActor (Result<TLSInfo, TLSError>) -> Void)
    case closing
    case closed
  }

  private let descriptor: Int32
  private var state = State.open
  private var source: DescriptorSource?
  private var tls: TLSSession?
  private var hasReceiver = false
  private var paused = false
  private var turnIsPosted = false
  private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 16 * 1024, alignment: 16)
  private var output = OutputBuffer()
  /// The socket is full, or TLS waits for it: the loop says when to go on.
  private var writeIsBlocked = false
  private var handshakeWantsWrite = false
  private var closeTimer: TimerSource?
  private var outputIsFinished = false
  /// Bytes that the socket, or TLS, has taken.
  private var takenBytes = 0

  /// Takes over a connected, non-blocking descriptor.
  public init(descriptor: Int32) {
    self.descriptor = descriptor
    updateWatch()
  }

  isolated deinit {
    tearDown()
    buffer.deallocate()
  }

  // MARK: - TLS

  /// Starts TLS and verifies the server as `domain`, the domain of the JID.
  ///
  /// No byte received in plain text is delivered after this call: what the socket still holds goes to TLS, which
  /// refuses it. What arrived in the same buffer as `<proceed/>`, behind it, has been delivered with it: the caller's
  /// parser has to be empty before this call, else somebody injected text (as in CVE-2011-0411).
  /// `completion` is called once, never from within this call, unless `abort()` comes first. After a failure the
  /// connection is closed. There is no time limit here: the caller's timer calls `abort()`.
  public func startTLS(
    _ context: TLSContext, domain: String, alpn: [String] = [],
    completion: @escaping @LoopActor (Result<TLSInfo, TLSError>) -> Void
  ) {
    guard case .open = state, tls == nil else {
      return EventLoop.main.post { completion(.failure(.misuse("not an open connection in plain text"))) }
    }
    let isUnsent = !output.isEmpty
    state = .handshaking(completion)
    paused = false
    updateWatch()
    EventLoop.main.post { [weak self] in
      guard let self else { return }
      guard !isUnsent else { return fail(completion, .misuse("the server answered before it had our request")) }
      do throws(TLSError) {
        tls = try TLSSession(context, descriptor: descriptor, domain: domain, alpn: alpn)
        handshake()
      } catch {
        fail(completion, error)
      }
    }
  }

  private func handshake() {
    guard case .handshaking(let completion) = state, let tls else { return }
    handshakeWantsWrite = false
    switch tls.handshake() {
    case .wantRead: updateWatch()
    case .wantWrite:
      handshakeWantsWrite = true
      updateWatch()
    case .ended(.tls(let error)): fail(completion, error)
    case .ended(let reason): fail(completion, .connection(reason))
    case .done:
      do {
        let info = try tls.info()
        state = .open
        updateWatch()
        // Records that came with the handshake's last one are in OpenSSL already.
        postTurn()
        completion(.success(info))
        flush()
      } catch {
        fail(completion, error)
      }
    }
  }

  private func fail(_ completion: @LoopActor (Result<TLSInfo, TLSError>) -> Void, _ error: TLSError) {
    guard case .handshaking = state else { return }
    tearDown()
    completion(.failure(error))
  }

  // MARK: - Writing

  /// Bytes written that neither the socket nor TLS has taken yet.
  public var unsentBytes: Int { output.count }

  /// Bytes written since the connection began.
  public var writtenBytes: Int { takenBytes + output.count }

  /// Of these, what the peer's system has confirmed (tcp(7), SIOCOUTQ). With TLS a little less, for what TLS adds counts as
  /// not confirmed while anything is not.
  public var deliveredBytes: Int {
    if case .closed = state { return takenBytes }
    var queued: Int32 = 0
    return ioctl(descriptor, UInt(TIOCOUTQ), &queued) == 0 ? takenBytes - Int(queued) : takenBytes
  }

  /// Appends to what the next `flush()` sends. Ignored on a closed connection.
  public func write(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { write($0) }
  }

  public func write(_ bytes: UnsafeRawBufferPointer) {
    switch state {
    case .open, .handshaking: output.append(bytes)
    case .closing, .closed: break
    }
  }

  /// Sends what was written, as far as the socket takes it; the rest follows by itself. During a handshake it waits.
  public func flush() {
    switch state {
    case .handshaking, .closed: return
    case .open, .closing: break
    }
    guard !writeIsBlocked else { return }
    while !output.isEmpty {
      switch output.withUnsent(send) {
      case .done(let count):
        output.consume(count)
        takenBytes += count
      case .wantRead, .wantWrite:
        writeIsBlocked = true
        return updateWatch()
      case .ended(let reason): return postEnd(reason)
      }
    }
    if case .closing = state { finishOutput() }
  }

  private func send(_ bytes: UnsafeRawBufferPointer) -> TLSSession.Progress {
    if let tls { return tls.write(bytes) }
    let count = Glibc.send(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
    if count >= 0 { return .done(count) }
    return errno == EAGAIN || errno == EINTR ? .wantWrite : .ended(CloseReason(errno: errno))
  }

  private func continueWriting() {
    guard writeIsBlocked else { return }
    writeIsBlocked = false
    flush()
    if !writeIsBlocked {
      updateWatch()
      if case .open = state { onDrain() }
    }
  }

  // MARK: - Reading

  /// Leaves further bytes in the kernel, so that TCP slows the peer down.
  public func pauseReading() {
    guard case .open = state, !paused else { return }
    paused = true
    updateWatch()
  }

  public func resumeReading() {
    guard paused else { return }
    paused = false
    updateWatch()
    postTurn()
  }

  private var readsNow: Bool {
    if case .open = state { !paused && hasReceiver } else { false }
  }

  private func readTurn() {
    var budget = Self.turnLimit
    while readsNow, budget > 0 {
      switch receive() {
      case .done(let count):
        budget -= count
        onReceive(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        if let tls { if !tls.hasPending { return } } else if count < buffer.count { return }
      case .wantRead: return
      case .wantWrite:
        // A key update that has to be answered before more can be read.
        writeIsBlocked = true
        return updateWatch()
      case .ended(let reason): return finish(reason)
      }
    }
    if readsNow { postTurn() }
  }

  private func receive() -> TLSSession.Progress {
    if let tls { return tls.read(into: buffer) }
    let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
    if count > 0 { return .done(count) }
    if count == 0 { return .ended(.peerClosed) }
    return errno == EAGAIN || errno == EINTR ? .wantRead : .ended(CloseReason(errno: errno))
  }

  /// Reads on in the loop's next turn: for bytes that the descriptor does not tell of.
  private func postTurn() {
    guard !turnIsPosted else { return }
    turnIsPosted = true
    EventLoop.main.post { [weak self] in
      self?.turnIsPosted = false
      self?.readTurn()
    }
  }

  // MARK: - The end

  /// Ends in good order: sends what was written, close_notify and FIN, then waits for the peer's end, two seconds at
  /// most, discarding what still arrives. `onClose(.local)` follows.
  public func close() {
    switch state {
    case .closing, .closed: return
    case .handshaking:
      let tell = onClose
      tearDown()
      EventLoop.main.post { tell(.local) }
      return
    case .open: break
    }
    state = .closing
    // It holds the connection until it is closed, although nobody else may.
    closeTimer = TimerSource(after: Self.closeLimit) { [self] in finish(.local) }
    flush()
  }

  /// Ends at once. No callback is called any more.
  public func abort() {
    if case .closed = state { return }
    tearDown()
  }

  private func finishOutput() {
    guard !outputIsFinished else { return }
    outputIsFinished = true
    tls?.sendCloseNotify()
    shutdown(descriptor, Int32(SHUT_WR))
    updateWatch()
  }

  /// Discards what arrives while closing; the peer's end completes it.
  private func drainInput() {
    var budget = Self.turnLimit
    while budget > 0 {
      let count = recv(descriptor, buffer.baseAddress, buffer.count, 0)
      if count < 0, errno == EAGAIN || errno == EINTR { return }
      if count <= 0 { return finish(.local) }
      budget -= count
    }
  }

  /// The writing side failed: what the peer said before is read first, and the caller is not called from its own call.
  private func postEnd(_ reason: CloseReason) {
    writeIsBlocked = true
    EventLoop.main.post { [weak self] in
      guard let self else { return }
      readTurn()
      finish(reason)
    }
  }

  private func finish(_ reason: CloseReason) {
    let tell = onClose
    switch state {
    case .closed: return
    case .closing:
      tearDown()
      tell(.local)
    case .handshaking(let completion): fail(completion, .connection(reason))
    case .open:
      tearDown()
      tell(reason)
    }
  }

  /// Frees all but the buffer. The callbacks go too: they may hold their owner, who holds this.
  private func tearDown() {
    if case .closed = state { return }
    state = .closed
    closeTimer?.cancel()
    closeTimer = nil
    source?.cancel()
    source = nil
    tls = nil
    Glibc.close(descriptor)
    output = OutputBuffer()
    onReceive = { _ in }
    onClose = { _ in }
    onDrain = {}
  }

  // MARK: - The loop

  private func updateWatch() {
    var events: DescriptorSource.Events = []
    switch state {
    case .closed: return
    case .open: if readsNow { events.insert(.readable) }
    case .handshaking: if tls != nil { events.insert(handshakeWantsWrite ? .writable : .readable) }
    case .closing: events.insert(.readable)
    }
    if writeIsBlocked { events.insert(.writable) }
    if let source {
      source.watch(events)
    } else {
      source = DescriptorSource(descriptor, events) { [weak self] in self?.ready($0) }
    }
  }

  private func ready(_ events: DescriptorSource.Events) {
    if case .handshaking = state {
      // Without `tls` only a hang-up is told, which the handshake about to start will find.
      return handshake()
    }
    if !events.isDisjoint(with: [.writable, .error]) { continueWriting() }
    if case .closing = state { return drainInput() }
    guard readsNow else {
      // A hang-up is told again and again, wanted or not; reading on watches anew and then sees it.
      if !events.isDisjoint(with: [.hangup, .error]) {
        source?.cancel()
        source = nil
      }
      return
    }
    readTurn()
  }
}
