import CSystemd
import Glibc

/// What the service manager is doing with our unit (org.freedesktop.systemd1(5)).
public enum ServiceJob {
  /// True while the manager restarts our unit: another process follows at once. Asks it over the system bus, which takes
  /// a millisecond, a second at most; false without a manager.
  public static func isRestart() -> Bool {
    guard getenv("INVOCATION_ID") != nil else { return false }
    guard let bus = SystemBus.open() else { return false }
    defer { sd_bus_flush_close_unref(bus) }
    guard let job = job(of: ownUnit, bus) else { return false }
    defer { free(job) }
    var type: UnsafeMutablePointer<CChar>?
    guard
      sd_bus_get_property_string(bus, manager, job, manager + ".Job", "JobType", nil, &type) >= 0, let type
    else { return false }
    defer { free(type) }
    // So it is called while the old process stops, whichever verb began it.
    return strcmp(type, "restart") == 0
  }

  private static let manager = SystemBus.manager
  /// The unit of whoever asks. Its name could be read from /proc, too, but not where the sandbox hides other processes.
  private static let ownUnit = "/org/freedesktop/systemd1/unit/self"

  /// The bus path of the unit's job, to be freed; nil when it has none.
  private static func job(of unit: UnsafePointer<CChar>, _ bus: OpaquePointer) -> UnsafeMutablePointer<CChar>? {
    var reply: OpaquePointer?
    guard sd_bus_get_property(bus, manager, unit, manager + ".Unit", "Job", nil, &reply, "(uo)") >= 0, let reply
    else { return nil }
    defer { sd_bus_message_unref(reply) }
    var id: UInt32 = 0
    var path: UnsafePointer<CChar>?
    guard sd_bus_message_enter_container(reply, CChar(UInt8(ascii: "r")), "uo") >= 0,
      sd_bus_message_read_basic(reply, CChar(UInt8(ascii: "u")), &id) >= 0,
      sd_bus_message_read_basic(reply, CChar(UInt8(ascii: "o")), &path) >= 0, id != 0, let path
    else { return nil }
    return strdup(path)
  }
}
