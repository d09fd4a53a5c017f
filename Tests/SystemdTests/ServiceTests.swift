import Glibc
import Testing

@testable import Systemd

/// Keeps notifications. Tests use it from one thread.
private final class Notifications: @unchecked Sendable {  // Only the test's own thread touches it.
  var sent: [String] = []
}

@Suite("The service manager")
struct ServiceTests {
  private let notifications = Notifications()

  private var notifier: ServiceNotifier {
    ServiceNotifier { [notifications] in notifications.sent.append($0) }
  }

  @Test("notifications are as sd_notify(3) has them")
  func protocolText() {
    notifier.ready(status: "offline")
    notifier.reloading(status: "reloading", monotonicMicroseconds: 42)
    notifier.stopping(status: "bye")
    notifier.status("online")
    notifier.watchdog()
    #expect(
      notifications.sent == [
        "READY=1\nSTATUS=offline", "RELOADING=1\nMONOTONIC_USEC=42\nSTATUS=reloading", "STOPPING=1\nSTATUS=bye",
        "STATUS=online", "WATCHDOG=1",
      ])
  }

  @Test("a status with line ends cannot notify anything else")
  func injection() {
    notifier.status("server says\nSTOPPING=1")
    #expect(notifications.sent == ["STATUS=server says\\nSTOPPING=1"])
  }

  @Test("a reload carries the time of the monotonic clock")
  func reloadTime() throws {
    func now() -> Int64 {
      var time = timespec()
      clock_gettime(CLOCK_MONOTONIC, &time)
      return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
    let before = now()
    notifier.reloading(status: "")
    let line = try #require(notifications.sent.first?.split(separator: "\n").dropFirst().first)
    let stamp = try #require(Int64(line.dropFirst("MONOTONIC_USEC=".count)))
    #expect(before <= stamp && stamp <= now())
  }

  // What reads the environment of the process is tried in processes of its own: changing it here would pull it away
  // from under other tests.

  @Test("a notification reaches the socket that $NOTIFY_SOCKET names; without one nothing happens")
  func socket() async {
    await #expect(processExitsWith: .success) {
      unsetenv("NOTIFY_SOCKET")
      ServiceNotifier().watchdog()

      let receiver = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      // An address of family and nothing else is bound to an abstract name of the kernel's choice (unix(7)).
      let family = socklen_t(MemoryLayout<sa_family_t>.size)
      var length = socklen_t(MemoryLayout<sockaddr_un>.size)
      let name = withUnsafeMutablePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          #expect(bind(receiver, $0, family) == 0)
          #expect(getsockname(receiver, $0, &length) == 0)
        }
        return withUnsafeBytes(of: &pointer.pointee.sun_path) { path in
          String(decoding: path[1..<(Int(length) - Int(family))], as: UTF8.self)
        }
      }
      setenv("NOTIFY_SOCKET", "@" + name, 1)
      ServiceNotifier().ready(status: "offline")
      var buffer = [UInt8](repeating: 0, count: 100)
      let count = recv(receiver, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      #expect(String(decoding: buffer.prefix(max(0, count)), as: UTF8.self) == "READY=1\nSTATUS=offline")
    }
  }

  @Test("the watchdog's interval is the manager's, and only for this process")
  func watchdog() async {
    await #expect(processExitsWith: .success) {
      unsetenv("WATCHDOG_USEC")
      #expect(ServiceNotifier.watchdogInterval == nil)
      setenv("WATCHDOG_USEC", "30000000", 1)
      setenv("WATCHDOG_PID", "\(getpid())", 1)
      #expect(ServiceNotifier.watchdogInterval == .seconds(30))
      setenv("WATCHDOG_PID", "1", 1)
      #expect(ServiceNotifier.watchdogInterval == nil)
    }
  }

  @Test("sockets are taken once, with their names, and only when meant for this process")
  func sockets() async {
    await #expect(processExitsWith: .success) {
      let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      #expect(dup2(socket, 3) == 3)
      setenv("LISTEN_FDS", "1", 1)
      setenv("LISTEN_FDNAMES", "control", 1)
      setenv("LISTEN_PID", "1", 1)
      #expect(SocketActivation.listenSockets().isEmpty)

      setenv("LISTEN_FDS", "1", 1)
      setenv("LISTEN_FDNAMES", "control", 1)
      setenv("LISTEN_PID", "\(getpid())", 1)
      #expect(SocketActivation.listenSockets() == [.init(descriptor: 3, name: "control")])
      #expect(fcntl(3, F_GETFD) == FD_CLOEXEC)
      #expect(SocketActivation.listenSockets().isEmpty)
    }
  }

  @Test("a credential is found by name in its folder")
  func credentials() {
    #expect(Credentials.directory(environment: ["CREDENTIALS_DIRECTORY": "/run/credentials/x"]) == "/run/credentials/x")
    #expect(Credentials.directory(environment: [:]) == nil)
    #expect(Credentials.path(of: "null", environment: ["CREDENTIALS_DIRECTORY": "/dev"]) == "/dev/null")
    #expect(Credentials.path(of: "password", environment: ["CREDENTIALS_DIRECTORY": "/dev"]) == nil)
  }

  @Test("the environment is copied, values with = whole")
  func environment() async {
    await #expect(processExitsWith: .success) {
      setenv("XMPPBOT_TEST", "a=b=c", 1)
      #expect(ProcessEnvironment.current()["XMPPBOT_TEST"] == "a=b=c")
    }
  }

  @Test("the application's id stays the same")
  func identity() {
    let id = MachineIdentity.applicationID()
    #expect(id == MachineIdentity.applicationID())
    #expect(id.map(\.count) == 32 || id == nil)
  }
}
