import Glibc
import TestSupport

/// A folder for one test, removed with all that is in it when nobody holds it any more.
final class Scratch: Sendable {
  struct Failure: Error { let code: Int32 }

  let path: String

  init() throws {
    var template = Array("/tmp/control-tests-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw Failure(code: errno) }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
  }

  deinit { removeTree(path) }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  @discardableResult
  func write(_ text: String, to name: String, mode: mode_t = 0o644) throws -> String {
    guard let stream = fopen(file(name), "w") else { throw Failure(code: errno) }
    fputs(text, stream)
    fclose(stream)
    guard chmod(file(name), mode) == 0 else { throw Failure(code: errno) }
    return file(name)
  }

  /// A configuration that is right, with archive and socket in this folder.
  @discardableResult
  func configure(_ more: String = "") throws -> String {
    try write("secret\n", to: "password", mode: 0o600)
    return try write(
      """
      [account]
      jid = bot@example.org
      password-file = \(file("password"))
      host = 127.0.0.1
      port = 1
      [archive]
      path = \(file("archive.db"))
      [control]
      socket = \(file("control.sock"))
      \(more)

      """, to: "bot.conf")
  }
}
