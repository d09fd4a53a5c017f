import Configuration

/// A secret in a file of its own: one line of UTF-8.
struct SecretFile {
  /// What it holds, in words: "password".
  let secret: String
  let path: String
  /// Whether its mode must keep others out. systemd keeps credentials from others by access lists, which the mode does not
  /// show.
  let mustBePrivate: Bool
  /// What whoever may not read it does; nil: what can be done about any file.
  var remedyWhenDenied: String?

  /// The secret; nil when the file is empty. One line end at the end is not part of it.
  func read() throws(ConfigurationProblems) -> [UInt8]? {
    var contents: [UInt8]
    do throws(FileError) {
      contents = try readRegularFile(path, limit: 4096) { status throws(FileError) in
        guard mustBePrivate, status.st_mode & 0o077 != 0 else { return }
        let mode = String(status.st_mode & 0o7777, radix: 8)
        throw FileError("can be read or written by others (mode \(mode))", remedy: "chmod 600 \(path)")
      }
    } catch {
      if error.isMissing { throw problem(error.reason, "create it with the \(secret) in it, mode 600") }
      throw problem(error.reason, error.isDenied ? remedyWhenDenied ?? error.remedy : error.remedy)
    }
    if contents.last == UInt8(ascii: "\n") { contents.removeLast() }
    if contents.last == UInt8(ascii: "\r") { contents.removeLast() }
    if contents.isEmpty { return nil }
    if String(validating: contents, as: UTF8.self) == nil { throw problem("is not UTF-8", "save it as UTF-8") }
    if contents.contains(where: { $0 < 0x20 || $0 == 0x7F }) {
      throw problem(
        "holds a line break or another control character", "keep the \(secret) alone in it, in one line")
    }
    return contents
  }

  func problem(_ problem: String, _ remedy: String) -> ConfigurationProblems {
    ConfigurationProblems([Diagnostic(Location(file: path), problem, remedy: remedy)])
  }
}
