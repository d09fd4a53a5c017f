import CLinux
import EventLoop
import Glibc
import JSON

/// Serves xmppbotctl on the control socket.
@LoopActor
final class ControlServer {
  /// Takes a request and answers through the client, in its own time.
  typealias Handler = @LoopActor (_ request: JSON, _ client: ControlClient) -> Void

  private let socket: ControlSocket
  private let handler: Handler
  private var source: DescriptorSource?
  private var retryTimer: TimerSource?
  private var isClosed = false
  private var clients: [ObjectIdentifier: ControlClient] = [:]
  /// So many connections at once. One more takes the place of the one that has been silent the longest, or waits in the
  /// kernel's queue while all are busy.
  private let limit: Int

  init(_ socket: ControlSocket, limit: Int = 32, handler: @escaping Handler) {
    self.socket = socket
    self.limit = limit
    self.handler = handler
    source = DescriptorSource(socket.descriptor, .readable) { [weak self] _ in self?.accept() }
  }

  /// Ends all conversations and removes the socket.
  func close() {
    guard !isClosed else { return }
    isClosed = true
    source?.cancel()
    source = nil
    retryTimer = nil
    for client in clients.values { client.close() }
    socket.close()
  }

  /// How many are connected.
  var count: Int { clients.count }

  private func accept() {
    while !isClosed, hasRoom() {
      let accepted = linux_accept(socket.descriptor)
      guard accepted >= 0 else { return acceptFailed() }
      let client = ControlClient(descriptor: accepted, handler: handler) { [weak self] in self?.ended($0) }
      clients[ObjectIdentifier(client)] = client
    }
    // Who waits is not told of again and again, but taken when there is room.
    source?.watch(hasRoom() ? .readable : [])
  }

  private func hasRoom() -> Bool {
    if clients.count < limit { return true }
    guard let idlest = clients.values.filter({ !$0.isBusy }).min(by: { $0.lastHeard < $1.lastHeard }) else {
      return false
    }
    // Only for somebody who is there.
    var waiting = pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0)
    if poll(&waiting, 1, 0) > 0 { idlest.close() }
    return true
  }

  private func acceptFailed() {
    guard errno != EAGAIN, errno != EINTR, errno != ECONNABORTED else { return }
    // Out of descriptors or memory: the connection stays in the queue, and would wake us for ever.
    source?.watch([])
    retryTimer = TimerSource(after: .seconds(1)) { [weak self] in self?.resume() }
  }

  private func ended(_ client: ControlClient) {
    clients[ObjectIdentifier(client)] = nil
    resume()
  }

  private func resume() {
    if !isClosed { source?.watch(.readable) }
  }
}
