import Glibc

/// A folder for one test; removed, with everything made through it, when the last reference goes.
final class ScratchFolder {
  let path: String
  private var names: [String] = []

  init() throws {
    var template = Array("/tmp/configuration-tests-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw ScratchError(code: errno) }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit {
    for name in names.reversed() { remove("\(path)/\(name)") }
    rmdir(path)
  }

  @discardableResult
  func write(_ contents: String, to name: String, mode: mode_t = 0o644) throws -> String {
    try write(Array(contents.utf8), to: name, mode: mode)
  }

  @discardableResult
  func write(_ contents: [UInt8], to name: String, mode: mode_t = 0o644) throws -> String {
    let file = "\(path)/\(name)"
    names.append(name)
    guard let stream = fopen(file, "w") else { throw ScratchError(code: errno) }
    fwrite(contents, 1, contents.count, stream)
    fclose(stream)
    guard chmod(file, mode) == 0 else { throw ScratchError(code: errno) }
    return file
  }

  /// Makes `name` with a call of the system, and forgets it at the end as the rest.
  func make(_ name: String, _ call: (String) -> Int32) throws -> String {
    names.append(name)
    guard call("\(path)/\(name)") == 0 else { throw ScratchError(code: errno) }
    return "\(path)/\(name)"
  }

  @discardableResult
  func makeFolder(_ name: String) throws -> String {
    try make(name) { mkdir($0, 0o755) }
  }
}

struct ScratchError: Error {
  let code: Int32
}
