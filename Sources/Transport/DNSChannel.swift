import CCares
import CLinux
import EventLoop
import Glibc

/// Where DNS is asked. One value serves all attempts; each attempt reads /etc/resolv.conf and /etc/hosts anew.
public struct Resolver: Sendable, Hashable {
  /// Servers to ask in place of resolv.conf's: `address:port,…`.
  let servers: String?
  /// For one server; c-ares asks each server twice, the second time for twice as long.
  let timeout: Duration

  /// Both values are for tests.
  public init(servers: String? = nil, timeout: Duration = .milliseconds(2500)) {
    self.servers = servers
    self.timeout = timeout
  }
}

/// DNS lookups of one attempt to connect: c-ares driven by the loop. Answers are never told from within a call.
///
/// `cancel()` has to be called before it is let go.
@LoopActor
final class DNSChannel {
  /// More records or addresses than this are not looked at.
  static let recordLimit = 1000

  private var channel: ares_channel?
  private var sources: [Int32: DescriptorSource] = [:]
  private var timer: TimerSource?

  /// `search`: whether short host names are completed by resolv.conf's search list.
  init(_ resolver: Resolver, search: Bool) throws(DNSError) {
    var options = ares_options()
    options.timeout = Int32(clamping: resolver.timeout.microseconds / 1000)
    options.tries = 2
    options.sock_state_cb_data = Unmanaged.passUnretained(self).toOpaque()
    options.sock_state_cb = { data, descriptor, readable, writable in
      guard let data else { return }
      let channel = Unmanaged<DNSChannel>.fromOpaque(data).takeUnretainedValue()
      LoopActor.assumeIsolated { channel.watch(descriptor, readable: readable != 0, writable: writable != 0) }
    }
    // No domains given and the option set: an empty search list.
    let mask = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB | (search ? 0 : ARES_OPT_DOMAINS)
    var status = ares_init_options(&channel, &options, mask)
    if status == ARES_SUCCESS, let servers = resolver.servers {
      status = ares_set_servers_ports_csv(channel, servers)
    }
    guard status == ARES_SUCCESS else {
      cancel()
      throw DNSError(name: "any name", kind: .serverFailure(String(cString: ares_strerror(status))))
    }
  }

  // MARK: - Asking

  /// The SRV records of one kind of service.
  func services(
    _ security: Security, of domain: String, completion: @escaping @LoopActor (ServiceLookup) -> Void
  ) {
    let query = ServiceQuery(channel: self, name: security.serviceName(domain), security: security, completion)
    ares_query(
      channel, query.name, 1, 33,  // class IN, type SRV
      { context, status, _, answer, count in
        guard let context else { return }
        let query = Unmanaged<ServiceQuery>.fromOpaque(context).takeRetainedValue()
        // Copied within the loop's own call; the pointer does not leave it.
        nonisolated(unsafe) let answer = answer
        LoopActor.assumeIsolated { query.answered(status, answer, count) }
      }, Unmanaged.passRetained(query).toOpaque())
    updateTimer()
  }

  /// The addresses of `host` in one family, best first (RFC 6724).
  func addresses(
    of host: String, _ family: IPAddress.Family,
    completion: @escaping @LoopActor (Result<[IPAddress], DNSError>) -> Void
  ) {
    let query = AddressQuery(channel: self, name: host, completion)
    var hints = ares_addrinfo_hints()
    hints.ai_family = family == .v4 ? AF_INET : AF_INET6
    hints.ai_socktype = LINUX_SOCK_STREAM
    ares_getaddrinfo(
      channel, host, nil, &hints,
      { context, status, _, answer in
        guard let context else { return }
        let query = Unmanaged<AddressQuery>.fromOpaque(context).takeRetainedValue()
        // As above.
        nonisolated(unsafe) let answer = answer
        LoopActor.assumeIsolated { query.answered(status, answer) }
      }, Unmanaged.passRetained(query).toOpaque())
    updateTimer()
  }

  /// Whether /etc/hosts has an address of `host`.
  func isInHostsFile(_ host: String) -> Bool {
    [AF_INET, AF_INET6].contains { family in
      var entry: UnsafeMutablePointer<hostent>?
      defer { ares_free_hostent(entry) }
      return ares_gethostbyname_file(channel, host, family, &entry) == ARES_SUCCESS
    }
  }

  /// Ends all lookups; none is answered any more. Harmless when repeated.
  func cancel() {
    guard let ended = channel else { return }
    channel = nil
    ares_destroy(ended)
    timer?.cancel()
    timer = nil
    for source in sources.values { source.cancel() }
    sources = [:]
  }

  /// Tells an answer in a turn of its own: the receiver may cancel, which c-ares does not allow in its callbacks.
  fileprivate func post(_ tell: @escaping @Sendable @LoopActor () -> Void) {
    EventLoop.main.post { [weak self] in
      if self?.channel != nil { tell() }
    }
  }

  // MARK: - The loop

  private func watch(_ descriptor: Int32, readable: Bool, writable: Bool) {
    guard readable || writable else {
      sources.removeValue(forKey: descriptor)?.cancel()
      return
    }
    var events: DescriptorSource.Events = []
    if readable { events.insert(.readable) }
    if writable { events.insert(.writable) }
    if let source = sources[descriptor] {
      source.watch(events)
    } else {
      sources[descriptor] = DescriptorSource(descriptor, events) { [weak self] in self?.ready(descriptor, $0) }
    }
  }

  private func ready(_ descriptor: Int32, _ events: DescriptorSource.Events) {
    let writable = events.contains(.writable)
    let readable = !events.isDisjoint(with: [.readable, .hangup, .error])
    process(read: readable ? descriptor : ARES_SOCKET_BAD, write: writable ? descriptor : ARES_SOCKET_BAD)
  }

  private func process(read: Int32, write: Int32) {
    guard let channel else { return }
    ares_process_fd(channel, read, write)
    updateTimer()
  }

  private func updateTimer() {
    timer?.cancel()
    timer = nil
    var wait = timeval()
    guard let channel, ares_timeout(channel, nil, &wait) != nil else { return }
    timer = TimerSource(after: .seconds(wait.tv_sec) + .microseconds(wait.tv_usec)) { [weak self] in
      self?.process(read: ARES_SOCKET_BAD, write: ARES_SOCKET_BAD)
    }
  }
}

/// A lookup of SRV records on its way through c-ares.
@LoopActor
private final class ServiceQuery {
  let name: String
  private let channel: DNSChannel
  private let security: Security
  private let completion: @LoopActor (ServiceLookup) -> Void

  init(
    channel: DNSChannel, name: String, security: Security, _ completion: @escaping @LoopActor (ServiceLookup) -> Void
  ) {
    self.channel = channel
    self.name = name
    self.security = security
    self.completion = completion
  }

  func answered(_ status: Int32, _ answer: UnsafePointer<UInt8>?, _ count: Int32) {
    let result = lookup(status, answer, count)
    let completion = completion
    channel.post { completion(result) }
  }

  private func lookup(_ status: Int32, _ answer: UnsafePointer<UInt8>?, _ count: Int32) -> ServiceLookup {
    guard status == ARES_SUCCESS, let answer else { return failure(status) }
    var list: UnsafeMutablePointer<ares_srv_reply>?
    let parsed = ares_parse_srv_reply(answer, count, &list)
    defer { ares_free_data(list) }
    guard parsed == ARES_SUCCESS else { return failure(parsed) }
    var records: [ServiceRecord] = []
    var next = list
    while let record = next?.pointee, records.count < DNSChannel.recordLimit {
      records.append(
        ServiceRecord(
          priority: record.priority, weight: record.weight, port: record.port,
          target: record.host.map { String(cString: $0) } ?? "", security: security))
      next = record.next
    }
    return records.isEmpty ? .none : .records(records)
  }

  private func failure(_ status: Int32) -> ServiceLookup {
    let error = DNSError(name: name, status: status)
    return error.kind == .notFound ? .none : .failed(error)
  }
}

/// A lookup of addresses on its way through c-ares.
@LoopActor
private final class AddressQuery {
  private let channel: DNSChannel
  private let name: String
  private let completion: @LoopActor (Result<[IPAddress], DNSError>) -> Void

  init(
    channel: DNSChannel, name: String, _ completion: @escaping @LoopActor (Result<[IPAddress], DNSError>) -> Void
  ) {
    self.channel = channel
    self.name = name
    self.completion = completion
  }

  func answered(_ status: Int32, _ answer: UnsafeMutablePointer<ares_addrinfo>?) {
    defer { ares_freeaddrinfo(answer) }
    var addresses: [IPAddress] = []
    var next = answer?.pointee.nodes
    while let node = next?.pointee, addresses.count < DNSChannel.recordLimit {
      if let address = node.ai_addr.flatMap({ IPAddress($0) }) { addresses.append(address) }
      next = node.ai_next
    }
    let result: Result<[IPAddress], DNSError> =
      status == ARES_SUCCESS && !addresses.isEmpty
      ? .success(addresses)
      : .failure(DNSError(name: name, status: status == ARES_SUCCESS ? ARES_ENODATA : status))
    let completion = completion
    channel.post { completion(result) }
  }
}

extension DNSError {
  /// The meaning of one of c-ares' codes.
  fileprivate init(name: String, status: Int32) {
    let kind: Kind =
      switch status {
      case ARES_ENOTFOUND, ARES_ENODATA, ARES_ENONAME: .notFound
      case ARES_ETIMEOUT: .timedOut
      case ARES_ECONNREFUSED: .noServer
      case ARES_EBADRESP, ARES_EFORMERR, ARES_EBADNAME, ARES_EBADSTR: .badAnswer
      default: .serverFailure(String(cString: ares_strerror(status)))
      }
    self.init(name: name, kind: kind)
  }
}
