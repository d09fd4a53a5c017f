import CSystemd
import Glibc

/// What the service manager says of a unit (org.freedesktop.systemd1(5)), with all drop-ins. It is asked over the system bus, which
/// takes some milliseconds, a second at most.
public final class UnitProperties {
  public enum Interface: String {
    case unit = "org.freedesktop.systemd1.Unit"
    case service = "org.freedesktop.systemd1.Service"
  }

  private let bus: OpaquePointer
  private let path: UnsafeMutablePointer<CChar>

  /// `unit`: such as `xmppbotd.service`. Nil without a manager.
  public init?(_ unit: String) {
    guard let bus = SystemBus.open() else { return nil }
    var path: UnsafeMutablePointer<CChar>?
    guard sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit, &path) >= 0, let path else {
      sd_bus_flush_close_unref(bus)
      return nil
    }
    self.bus = bus
    self.path = path
  }

  deinit {
    free(path)
    sd_bus_flush_close_unref(bus)
  }

  /// Its last start failed, also where another is tried before long.
  public var hasFailed: Bool {
    text("ActiveState", of: .unit) == "failed" || text("SubState", of: .unit) == "auto-restart"
  }

  /// Nil where there is no such unit or property.
  public func text(_ name: String, of interface: Interface) -> String? {
    var value: UnsafeMutablePointer<CChar>?
    guard sd_bus_get_property_string(bus, SystemBus.manager, path, interface.rawValue, name, nil, &value) >= 0,
      let value
    else { return nil }
    defer { free(value) }
    return String(cString: value)
  }

  public func flag(_ name: String, of interface: Interface) -> Bool? {
    var value: Int32 = 0
    let type = CChar(UInt8(ascii: "b"))
    guard sd_bus_get_property_trivial(bus, SystemBus.manager, path, interface.rawValue, name, nil, type, &value) >= 0
    else { return nil }
    return value != 0
  }

  public func texts(_ name: String, of interface: Interface) -> [String]? {
    var values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    guard sd_bus_get_property_strv(bus, SystemBus.manager, path, interface.rawValue, name, nil, &values) >= 0 else {
      return nil
    }
    defer { free(values) }
    var texts: [String] = []
    var next = values
    while let value = next?.pointee {
      texts.append(String(cString: value))
      free(value)
      next = next?.successor()
    }
    return texts
  }
}
