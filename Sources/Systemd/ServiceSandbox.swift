/// What a service's unit keeps from its files, so far as it decides whether one can be read or written at all
/// (systemd.exec(5), "Sandboxing"): asked of the service manager, so with all drop-ins.
public struct ServiceSandbox: Hashable, Sendable {
  /// Such as `xmppbotd.service`.
  public var unit: String
  /// `yes`, `read-only`, `tmpfs` or `no`.
  public var protectHome: String
  public var privateTmp: Bool
  /// `strict` makes all read-only but `named` and `made`; `full`, `yes`, `no`.
  public var protectSystem: String
  /// Folders of ReadWritePaths=.
  public var named: [String]
  /// The folders that the unit has made for itself.
  public var made: [String]

  public init(
    unit: String, protectHome: String = "no", privateTmp: Bool = false, protectSystem: String = "no",
    named: [String] = [], made: [String] = []
  ) {
    self.unit = unit
    self.protectHome = protectHome
    self.privateTmp = privateTmp
    self.protectSystem = protectSystem
    self.named = named
    self.made = made
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
      (named + made).contains { folder.lies(in: $0) } || (privateTmp && Self.temporary.contains { folder.lies(in: $0) })
    if protectSystem == "strict", !isOpen { return "ProtectSystem=strict" }
    return protectHome == "read-only" && !isOpen && Self.homes.contains { folder.lies(in: $0) }
      ? "ProtectHome=read-only" : nil
  }

  private static let homes = ["/home", "/root", "/run/user"]
  private static let temporary = ["/tmp", "/var/tmp"]
}

extension ServiceSandbox {
  /// Asks the service manager. Nil without one, or without such a unit.
  public init?(of unit: String) {
    guard let properties = UnitProperties(unit), let home = properties.text("ProtectHome", of: .service),
      let system = properties.text("ProtectSystem", of: .service),
      let temporary = properties.flag("PrivateTmp", of: .service),
      let written = properties.texts("ReadWritePaths", of: .service)
    else { return nil }
    let state = (properties.texts("StateDirectory", of: .service) ?? [])
      .flatMap { ["/var/lib/" + $0, "/var/lib/private/" + $0] }
    // A minus says that the folder may be missing, a plus that it is below RootDirectory=.
    let paths = written.map { String($0.drop { "-+".contains($0) }) }
    self.init(unit: unit, protectHome: home, privateTmp: temporary, protectSystem: system, named: paths, made: state)
  }
}

extension String {
  fileprivate func lies(in folder: String) -> Bool { self == folder || hasPrefix(folder + "/") }
}
