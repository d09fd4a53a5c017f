import CSystemd
import Glibc

/// What a service's unit keeps from its files, so far as it decides whether one can be read or written at all
/// (systemd.exec(5), "Sandboxing"): asked of the service manager, so with all drop-ins.
public struct ServiceSandbox: Hashable, Sendable {
  /// Such as `xmppbotd.service`.
  public var unit: String
  /// `yes`, `read-only`, `tmpfs` or `no`.
  public var protectHome: String
  public var privateTmp: Bool
  /// `strict` makes all read-only but `writable`; `full`, `yes`, `no`.
  public var protectSystem: String
  /// ReadWritePaths= and the folders that the unit has made for itself.
  public var writable: [String]

  public init(
    unit: String, protectHome: String = "no", privateTmp: Bool = false, protectSystem: String = "no",
    writable: [String] = []
  ) {
    self.unit = unit
    self.protectHome = protectHome
    self.privateTmp = privateTmp
    self.protectSystem = protectSystem
    self.writable = writable
  }

  /// The setting that has the service see another folder, or none, where `path` (absolute, without links) lies; nil if it sees it.
  public func hides(_ path: String) -> String? {
    if protectHome != "no", protectHome != "read-only", Self.homes.contains(where: { path.lies(in: $0) }) {
      return "ProtectHome=\(protectHome)"
    }
    return privateTmp && Self.temporary.contains { path.lies(in: $0) } ? "PrivateTmp=yes" : nil
  }

  /// The setting that makes `folder` (absolute, without links) read-only for the service; nil if it does not.
  public func locks(_ folder: String) -> String? {
    // Of the looser values' folders, none is one for data.
    let isOpen =
      writable.contains { folder.lies(in: $0) } || (privateTmp && Self.temporary.contains { folder.lies(in: $0) })
    if protectSystem == "strict", !isOpen { return "ProtectSystem=strict" }
    return protectHome == "read-only" && !isOpen && Self.homes.contains { folder.lies(in: $0) }
      ? "ProtectHome=read-only" : nil
  }

  private static let homes = ["/home", "/root", "/run/user"]
  private static let temporary = ["/tmp", "/var/tmp"]
}

extension ServiceSandbox {
  /// Asks the service manager over the system bus, which takes some milliseconds, a second at most. Nil without a manager or
  /// such a unit.
  public init?(of unit: String) {
    var bus: OpaquePointer?
    guard sd_bus_open_system(&bus) >= 0, let bus else { return nil }
    defer { sd_bus_flush_close_unref(bus) }
    sd_bus_set_method_call_timeout(bus, 1_000_000)
    var encoded: UnsafeMutablePointer<CChar>?
    guard sd_bus_path_encode("/org/freedesktop/systemd1/unit", unit, &encoded) >= 0, let encoded else { return nil }
    defer { free(encoded) }
    let properties = Properties(bus: bus, path: encoded)
    guard let home = properties.text("ProtectHome"), let system = properties.text("ProtectSystem"),
      let temporary = properties.flag("PrivateTmp"), let written = properties.texts("ReadWritePaths")
    else { return nil }
    let state = (properties.texts("StateDirectory") ?? []).flatMap { ["/var/lib/" + $0, "/var/lib/private/" + $0] }
    // A minus says that the folder may be missing, a plus that it is below RootDirectory=.
    let paths = written.map { String($0.drop { "-+".contains($0) }) }
    self.init(
      unit: unit, protectHome: home, privateTmp: temporary, protectSystem: system, writable: state + paths)
  }

  private struct Properties {
    let bus: OpaquePointer
    let path: UnsafePointer<CChar>
    private static let manager = "org.freedesktop.systemd1"
    private static let service = manager + ".Service"

    func text(_ name: String) -> String? {
      var value: UnsafeMutablePointer<CChar>?
      guard sd_bus_get_property_string(bus, Self.manager, path, Self.service, name, nil, &value) >= 0, let value
      else { return nil }
      defer { free(value) }
      return String(cString: value)
    }

    func flag(_ name: String) -> Bool? {
      var value: Int32 = 0
      let type = CChar(UInt8(ascii: "b"))
      guard sd_bus_get_property_trivial(bus, Self.manager, path, Self.service, name, nil, type, &value) >= 0
      else { return nil }
      return value != 0
    }

    func texts(_ name: String) -> [String]? {
      var values: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
      guard sd_bus_get_property_strv(bus, Self.manager, path, Self.service, name, nil, &values) >= 0 else { return nil }
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
}

extension String {
  fileprivate func lies(in folder: String) -> Bool { self == folder || hasPrefix(folder + "/") }
}
