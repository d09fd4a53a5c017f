import COpenSSL
import Glibc

/// A server on a loopback port that takes one connection and talks to it from a thread of its own, by blocking calls.
final class LoopbackServer: Sendable {
  let port: UInt16

  /// A peer of the code under test that is stuck for this long fails.
  static let limit = timeval(tv_sec: 120, tv_usec: 0)

  enum Failure: Error { case socket }

  private final class Work: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Runs `body` on a new thread.
  static func thread(_ body: @escaping @Sendable () -> Void) {
    // TLS of OpenSSL's own writes to closed sockets.
    signal(SIGPIPE, SIG_IGN)
    var thread = pthread_t()
    pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, Unmanaged.passRetained(Work(body)).toOpaque())
    pthread_detach(thread)
  }

  /// `script` gets the accepted descriptor, which is closed behind it.
  init(_ script: @escaping @Sendable (Peer) -> Void) throws {
    let (listener, port) = try Self.bound(SOCK_STREAM)
    guard listen(listener, 8) == 0 else { throw Failure.socket }
    self.port = port
    Self.thread {
      let descriptor = accept(listener, nil, nil)
      close(listener)
      guard descriptor >= 0 else { return }
      let peer = Peer(descriptor)
      script(peer)
      peer.end()
    }
  }

  /// A socket bound to a free port of 127.0.0.1.
  static func bound(_ type: __socket_type) throws -> (Int32, UInt16) {
    let descriptor = socket(AF_INET, Int32(type.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw Failure.socket }
    setLimit(descriptor)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let done = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
      }
    }
    guard done else { throw Failure.socket }
    return (descriptor, UInt16(bigEndian: address.sin_port))
  }

  static func setLimit(_ descriptor: Int32) {
    var limit = limit
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
  }
}

/// Holds a server's thread up until the test lets it go on.
final class Gate: Sendable {
  private let reading: Int32
  private let writing: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw LoopbackServer.Failure.socket }
    (reading, writing) = (ends[0], ends[1])
  }

  deinit {
    close(reading)
    close(writing)
  }

  func open() { Glibc.write(writing, [1], 1) }

  func wait() {
    var byte: UInt8 = 0
    Glibc.read(reading, &byte, 1)
  }
}

/// The server's side of a connection, with TLS once `startTLS` was called. One thread's.
final class Peer {
  let descriptor: Int32
  private var ssl: OpaquePointer?
  private var context: OpaquePointer?

  init(_ descriptor: Int32) {
    self.descriptor = descriptor
    LoopbackServer.setLimit(descriptor)
  }

  /// Serves a TLS handshake; false when it fails.
  @discardableResult
  func startTLS(_ certificate: TestCertificate, alpn: [UInt8] = [], newest: Int32 = TLS1_3_VERSION) -> Bool {
    guard let context = SSL_CTX_new(TLS_server_method()), let ssl = SSL_new(context) else { return false }
    self.context = context
    self.ssl = ssl
    SSL_ctrl(ssl, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(TLS1_VERSION), nil)
    SSL_ctrl(ssl, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(newest), nil)
    SSL_set_security_level(ssl, 0)
    SSL_use_certificate(ssl, certificate.certificate)
    SSL_use_PrivateKey(ssl, certificate.key)
    // The chain without its root.
    var next = certificate.issuer
    while let issuer = next, issuer.issuer != nil {
      SSL_ctrl(ssl, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(issuer.certificate))
      next = issuer.issuer
    }
    if !alpn.isEmpty {
      SSL_CTX_set_alpn_select_cb(
        context,
        { _, out, outSize, offered, size, _ in
          // Takes the first that the client offers.
          guard let offered, let out, let outSize, size > 1 else { return SSL_TLSEXT_ERR_NOACK }
          out.pointee = offered + 1
          outSize.pointee = offered.pointee
          return SSL_TLSEXT_ERR_OK
        }, nil)
    }
    SSL_set_fd(ssl, descriptor)
    return SSL_accept(ssl) == 1
  }

  /// SNI as received.
  var serverName: String? {
    ssl.flatMap { SSL_get_servername($0, TLSEXT_NAMETYPE_host_name) }.map { String(cString: $0) }
  }

  /// The channel binding of RFC 9266, as this side sees it.
  var exporter: [UInt8] {
    let label = "EXPORTER-Channel-Binding"
    var bytes = [UInt8](repeating: 0, count: 32)
    SSL_export_keying_material(ssl, &bytes, 32, label, label.utf8.count, [0], 0, 1)
    return bytes
  }

  /// What arrives next, or nothing at the end.
  func read() -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count =
      ssl.map { Int(SSL_read($0, &buffer, Int32(buffer.count))) } ?? recv(descriptor, &buffer, buffer.count, 0)
    return count > 0 ? [UInt8](buffer.prefix(count)) : []
  }

  /// Reads until `count` bytes are there or the end comes.
  func read(count: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      let more = read()
      if more.isEmpty { break }
      bytes += more
    }
    return bytes
  }

  func write(_ bytes: [UInt8]) {
    if let ssl {
      SSL_write(ssl, bytes, Int32(bytes.count))
    } else {
      var sent = 0
      while sent < bytes.count {
        let count = bytes.withUnsafeBytes {
          send(descriptor, $0.baseAddress?.advanced(by: sent), bytes.count - sent, Int32(MSG_NOSIGNAL))
        }
        if count <= 0 { return }
        sent += count
      }
    }
  }

  func write(_ text: String) { write([UInt8](text.utf8)) }

  /// Sends bytes past TLS.
  func writeRaw(_ bytes: [UInt8]) {
    send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
  }

  var receivedCloseNotify: Bool {
    ssl.map { SSL_get_shutdown($0) & SSL_RECEIVED_SHUTDOWN != 0 } ?? false
  }

  /// Sends close_notify.
  func closeNotify() {
    if let ssl { SSL_shutdown(ssl) }
  }

  /// Ends with a TCP reset.
  func reset() {
    var now = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &now, socklen_t(MemoryLayout<linger>.size))
  }

  fileprivate func end() {
    SSL_free(ssl)
    SSL_CTX_free(context)
    close(descriptor)
  }
}
