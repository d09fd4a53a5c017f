import Glibc

extension ConfigurationParser {
  /// Reads `path`, then its drop-ins `path.d/*.conf` in the byte order of their names. Everything that is wrong is in
  /// the parser's `problems`; `document` holds whatever could be read.
  public static func read(path: String) -> ConfigurationParser {
    var parser = ConfigurationParser(file: path)
    parser.add(path, whenMissing: "create it, or name another one with --config FILE")
    for dropIn in parser.dropIns(of: path) {
      parser.add(dropIn, whenMissing: "create it, or remove the link")
    }
    return parser
  }

  private mutating func add(_ path: String, whenMissing remedy: String) {
    do throws(FileError) {
      parse(try readRegularFile(path), file: path)
    } catch {
      report(Location(file: path), error.reason, error.isMissing ? remedy : error.remedy)
    }
  }

  /// As in a shell's `*.conf`, hidden files are left out.
  private mutating func dropIns(of path: String) -> [String] {
    let folder = path + ".d"
    guard let directory = opendir(folder) else {
      if errno != ENOENT {
        let error = FileError(code: errno)
        report(Location(file: folder), error.reason, error.remedy)
      }
      return []
    }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: MemoryLayout.size(ofValue: pointer.pointee)) {
          String(cString: $0)
        }
      }
      if name.hasSuffix(".conf"), !name.hasPrefix(".") { names.append(name) }
    }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { "\(folder)/\($0)" }
  }
}
