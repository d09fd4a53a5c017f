import CSystemd

/// The system bus, where the service manager answers (org.freedesktop.systemd1(5)).
enum SystemBus {
  static let manager = "org.freedesktop.systemd1"

  /// A connection of one's own, to be released with `sd_bus_flush_close_unref`; nil without a bus. A call takes a second at most.
  static func open() -> OpaquePointer? {
    var bus: OpaquePointer?
    guard sd_bus_open_system(&bus) >= 0, let bus else { return nil }
    sd_bus_set_method_call_timeout(bus, 1_000_000)
    return bus
  }
}
