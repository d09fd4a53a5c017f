import Glibc

/// A folder for one test, removed with all that is in it when nobody holds it any more.
final class Scratch: Sendable {
  struct Failure: Error { let code: Int32 }

  let path: String

  init() throws {
    var template = Array("/tmp/daemon-tests-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(code: errno) }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { Self.remove(path) }

  private static func remove(_ path: String) {
    if let folder = opendir(path) {
      while let entry = readdir(folder) {
        let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
        }
        if name != ".", name != ".." { remove("\(path)/\(name)") }
      }
      closedir(folder)
    }
    Glibc.remove(path)
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  @discardableResult
  func write(_ text: String, to name: String, mode: mode_t = 0o644) throws -> String {
    guard let stream = fopen(file(name), "w") else { throw Failure(code: errno) }
    fputs(text, stream)
    fclose(stream)
    guard chmod(file(name), mode) == 0 else { throw Failure(code: errno) }
    return file(name)
  }
}
