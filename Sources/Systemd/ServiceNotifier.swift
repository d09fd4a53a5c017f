import CSystemd
import Glibc

/// Tells the service manager how the daemon is doing (sd_notify(3)). Without a manager nothing happens.
public struct ServiceNotifier: Sendable {
  private let transmit: @Sendable (String) -> Void

  /// Notifies the manager that `$NOTIFY_SOCKET` names.
  public init() {
    self.init { _ = sd_notify(0, $0) }
  }

  /// - Parameter transmit: takes each notification, as the protocol has it, in place of the manager.
  public init(transmit: @escaping @Sendable (String) -> Void) {
    self.transmit = transmit
  }

  /// Start-up, or a reload, is done.
  public func ready(status: String) { transmit("READY=1\n" + Self.status(status)) }

  /// A reload begins; `ready` ends it. The time stamp is what Type=notify-reload asks for and others ignore.
  public func reloading(status: String) {
    var now = timespec()
    clock_gettime(CLOCK_MONOTONIC, &now)
    reloading(status: status, monotonicMicroseconds: Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1000)
  }

  func reloading(status: String, monotonicMicroseconds: Int64) {
    transmit("RELOADING=1\nMONOTONIC_USEC=\(monotonicMicroseconds)\n" + Self.status(status))
  }

  public func stopping(status: String) { transmit("STOPPING=1\n" + Self.status(status)) }

  /// One line for `systemctl status`.
  public func status(_ text: String) { transmit(Self.status(text)) }

  /// The daemon is alive. To be called at least every `watchdogInterval`; half of it leaves room.
  public func watchdog() { transmit("WATCHDOG=1") }

  /// The time without `watchdog()` after which the manager takes the daemon for hung; nil when it does not watch.
  public static var watchdogInterval: Duration? {
    var interval: UInt64 = 0
    return sd_watchdog_enabled(0, &interval) > 0 ? .microseconds(Int64(clamping: interval)) : nil
  }

  private static func status(_ text: String) -> String {
    var bytes: [UInt8] = []
    LogText.append(text, to: &bytes)
    return "STATUS=" + String(decoding: bytes, as: UTF8.self)
  }
}
