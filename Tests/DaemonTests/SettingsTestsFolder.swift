import Glibc

/// A folder for one test; removed, with everything made through it, when the last reference goes.
final class SettingsTestsFolder {
  struct Failure: Error {
    let code: Int32
  }

  let path: String
  private var names: [String] = []

  init() throws {
    var template = Array("/tmp/settings-tests-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(code: errno) }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit {
    for name in names.reversed() { remove("\(path)/\(name)") }
    rmdir(path)
  }

  @discardableResult
  func write(_ contents: String, to name: String, mode: mode_t = 0o644) throws -> String {
    let file = "\(path)/\(name)"
    names.append(name)
    guard let stream = fopen(file, "w") else { throw Failure(code: errno) }
    fputs(contents, stream)
    fclose(stream)
    guard chmod(file, mode) == 0 else { throw Failure(code: errno) }
    return file
  }

  func makeFolder(_ name: String) throws {
    names.append(name)
    guard mkdir("\(path)/\(name)", 0o755) == 0 else { throw Failure(code: errno) }
  }
}

/// What the service manager would set.
let serviceEnvironment = ["STATE_DIRECTORY": "/var/lib/xmppbotd", "RUNTIME_DIRECTORY": "/run/xmppbotd"]
