import Configuration
import Daemon
import Glibc
import Systemd

/// The user as whom the daemon runs, in the sandbox of its unit, and whether they can read what root can: root is stopped by
/// nothing, so root's check would pass what the daemon then fails at. Modes, owners and groups are looked at; access lists are
/// not.
struct Reader {
  let name: String
  let user: uid_t
  /// All of them, with the user's own.
  let groups: Set<gid_t>
  /// Nil where no unit runs the daemon, or no service manager says how.
  var sandbox: ServiceSandbox?

  /// The keys that name a file which the daemon itself reads.
  private static let fileKeys = ["ca-file", "avatar"]
  /// Likewise; these files must be their owner's alone.
  private static let secretKeys = ["password-file", "token-file"]

  /// One line for each file of the configuration that the daemon will not be able to read, and one for its archive if it can't
  /// write there. Nothing where it is not known who will run it, and for everybody but root, who finds out by trying.
  static func lines(_ settings: Settings, unit: String?) -> [CheckLine] {
    guard geteuid() == 0, var reader = Reader(running: settings.file) else { return [] }
    reader.sandbox = unit.flatMap { ServiceSandbox(of: $0 + ".service") }
    let archive = reader.obstacle(toWriting: settings.archive.path)
    return reader.lines(ConfigurationParser.read(path: settings.file).document)
      + [archive.map { CheckLine("writable", settings.archive.path, warning: $0) }].compactMap { $0 }
  }

  func lines(_ document: ConfigurationDocument) -> [CheckLine] {
    func values(_ keys: [String]) -> [String] {
      document.sections.flatMap { section in keys.compactMap { section.entries(of: $0).last?.value } }
    }
    let secrets = values(Self.secretKeys)
    let files = [document.file] + document.sections.flatMap { $0.headers.map(\.file) } + values(Self.fileKeys) + secrets
    var seen: Set<String> = []
    return files.filter { seen.insert($0).inserted }.compactMap { path in
      obstacle(to: path, isSecret: secrets.contains(path)).map { CheckLine("readable", path, warning: $0) }
    }
  }

  /// Why this user can't read `path`, and what to do; nil when they can, or when there is no such file.
  func obstacle(to path: String, isSecret: Bool = false) -> String? {
    guard let way = PathWalk(path), way.exists else { return nil }
    let copy = "name a copy of the file (install -m 644 \(path) /etc/xmppbotd/)"
    if let hidden = hidden(way.folders + [way.end]) {
      return hidden + (isSecret ? "move the file to /etc/xmppbotd" : copy)
    }
    if let folder = closed(way.folders) {
      return "user \(name), as whom the daemon runs, may not enter \(folder): "
        + (isSecret ? "chmod o+x \(folder), or move the file" : "\(copy), or chmod o+x \(folder)")
    }
    if may(0o4, way.end) { return nil }
    return "user \(name), as whom the daemon runs, may not read it: "
      + (isSecret ? "chown \(name) \(way.end)" : "chgrp \(name) \(way.end) and chmod g+r \(way.end)")
  }

  /// Why this user can't have the archive at `path`, and what to do; nil when they can. The daemon makes the folder if only
  /// that is missing.
  func obstacle(toWriting path: String) -> String? {
    guard let way = PathWalk(path), let folder = way.folders.last else { return nil }
    if let hidden = hidden(way.folders) { return hidden + "set [archive] path to a place that it sees" }
    let isThere = access(folder, F_OK) == 0
    let creation = "install -d -o \(name) \(folder)"
    if let sandbox, let setting = sandbox.locks(folder) {
      return
        "the service sees \(folder) read-only (\(setting) of \(sandbox.unit)): \(isThere ? "" : "\(creation), then ")"
        + "systemctl edit \(sandbox.unit), and there, below [Service], ReadWritePaths=\(folder)"
    }
    // The service manager makes the unit's own folders, but none of these.
    if let sandbox, !isThere, sandbox.named.contains(folder) {
      return "\(sandbox.unit) names \(folder) in ReadWritePaths=, and there is none: \(creation)"
    }
    if let closed = closed(way.folders) {
      return
        "user \(name), as whom the daemon runs, may not enter \(closed): chmod o+x \(closed), or set [archive] path"
    }
    let parent = way.folders.dropLast().last ?? "/"
    if !isThere, sandbox?.made.contains(folder) == true || access(parent, F_OK) != 0 { return nil }
    for file in [way.end, way.end + "-wal", way.end + "-shm"] where access(file, F_OK) == 0 && !may(0o6, file) {
      return
        "user \(name), as whom the daemon runs, may not read and write \(file): chown \(name): \(file), and chmod 600"
    }
    let made = isThere ? folder : parent
    return may(0o3, made)
      ? nil : "user \(name), as whom the daemon runs, may not write in \(made): \(creation)"
  }

  private func hidden(_ paths: [String]) -> String? {
    guard let sandbox else { return nil }
    return paths.lazy.compactMap { sandbox.hides($0) }.first.map { setting in
      "the service does not see it (\(setting) of \(sandbox.unit)): "
    }
  }

  private func closed(_ folders: [String]) -> String? { folders.first { !may(0o1, $0) } }

  /// `bits`: of the last digit of a mode.
  private func may(_ bits: mode_t, _ path: String) -> Bool {
    var status = stat()
    guard user != 0, stat(path, &status) == 0 else { return true }
    // The first that fits decides, as in the kernel (path_resolution(7)).
    let shift: mode_t = status.st_uid == user ? 6 : groups.contains(status.st_gid) ? 3 : 0
    return status.st_mode >> shift & bits == bits
  }
}

extension Reader {
  /// The service's user for a configuration of its units; else whoever owns the configuration, unless that is root.
  init?(running configuration: String) {
    if configuration.hasPrefix("/etc/xmppbotd/"), let entry = Self.entry({ getpwnam_r("xmppbotd", $0, $1, $2, $3) }) {
      self = entry
      return
    }
    var status = stat()
    guard stat(configuration, &status) == 0, status.st_uid != 0 else { return nil }
    let owner = status.st_uid
    guard let entry = Self.entry({ getpwuid_r(owner, $0, $1, $2, $3) }) else { return nil }
    self = entry
  }

  private typealias Lookup = (
    UnsafeMutablePointer<passwd>, UnsafeMutablePointer<CChar>, Int,
    UnsafeMutablePointer<UnsafeMutablePointer<passwd>?>
  ) -> Int32

  private static func entry(_ lookup: Lookup) -> Reader? {
    var buffer = [CChar](repeating: 0, count: 16_384)
    var entry = passwd()
    var found: UnsafeMutablePointer<passwd>?
    let result = buffer.withUnsafeMutableBufferPointer { buffer in
      buffer.baseAddress.map { lookup(&entry, $0, buffer.count, &found) } ?? EINVAL
    }
    guard result == 0, found != nil, let name = entry.pw_name else { return nil }
    var groups = [gid_t](repeating: 0, count: 1024)
    var count = Int32(groups.count)
    let known = getgrouplist(name, entry.pw_gid, &groups, &count)
    return Reader(
      name: String(cString: name), user: entry.pw_uid,
      groups: known < 0 ? [entry.pw_gid] : Set(groups.prefix(Int(count))))
  }
}
