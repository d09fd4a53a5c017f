import Glibc

/// A folder that is gone, with all that is in it, when nobody holds it any more.
public final class TemporaryFolder: Sendable {
  public let path: String

  public init() {
    var template = Array("/tmp/xmppbotd-test-XXXXXX".utf8CString)
    path = template.withUnsafeMutableBufferPointer { buffer in
      guard let start = buffer.baseAddress, mkdtemp(start) != nil else { return "" }
      return String(cString: start)
    }
    precondition(!path.isEmpty, "no temporary folder")
  }

  deinit { removeTree(path) }

  public func file(_ name: String) -> String { path + "/" + name }

  /// Names, sorted.
  public var files: [String] { names(in: path) }

  /// What the files hold, by name.
  public var contents: [String: [UInt8]] {
    Dictionary(uniqueKeysWithValues: files.map { ($0, readFile(file($0))) })
  }
}

/// The file, or the folder with all that is in it; links are removed, not followed.
public func removeTree(_ path: String) {
  if remove(path) == 0 { return }
  for name in names(in: path) { removeTree(path + "/" + name) }
  remove(path)
}

/// What is in a folder, sorted; nothing when there is no such folder.
private func names(in path: String) -> [String] {
  guard let folder = opendir(path) else { return [] }
  defer { closedir(folder) }
  var names: [String] = []
  while let entry = readdir(folder) {
    let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
      pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
    }
    if name != ".", name != ".." { names.append(name) }
  }
  return names.sorted()
}

/// All bytes of a file; none when it can't be read.
public func readFile(_ path: String) -> [UInt8] {
  guard let file = fopen(path, "r") else { return [] }
  defer { fclose(file) }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 65_536)
  while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
  return bytes
}

/// Makes or replaces a file.
public func writeFile(_ path: String, _ bytes: [UInt8]) {
  guard let file = fopen(path, "w") else { preconditionFailure("can't write \(path)") }
  fwrite(bytes, 1, bytes.count, file)
  fclose(file)
}
