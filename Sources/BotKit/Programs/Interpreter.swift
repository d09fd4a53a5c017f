import EventLoop
import Glibc

/// Whether the kernel can start a script: its first line names an interpreter (execve(2)). Told when the file is found,
/// for the kernel's own answer to all of these is "No such file or directory".
public enum Interpreter {
  /// Why the kernel could not start the file, and what to do about it; nil when it can, or when nobody here may read it.
  public static func problem(of path: String) -> (problem: String, remedy: String)? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    let head = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, filled in
      filled = max(0, read(descriptor, buffer.baseAddress, 4096))
    }
    do throws(CommandHeader.Fault) {
      try check(head, of: path)
      return nil
    } catch {
      return (error.problem, error.remedy)
    }
  }

  /// - Parameter head: the file's first bytes. A binary (a NUL is in them) is left to the kernel.
  static func check(_ head: [UInt8], of path: String) throws(CommandHeader.Fault) {
    guard !head.contains(0) else { return }
    if head.starts(with: "\u{FEFF}#!".utf8) {
      throw CommandHeader.Fault(
        problem: "an invisible byte order mark stands before its #!", remedy: "save it as UTF-8 without one")
    }
    guard head.starts(with: "#!".utf8) else {
      throw CommandHeader.Fault(
        problem: "its first line names no interpreter", remedy: "begin it with a line such as #!/bin/sh")
    }
    let line = head.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }
    if line.last == UInt8(ascii: "\r") {
      throw CommandHeader.Fault(problem: "its lines end as on Windows (CR LF)", remedy: "sed -i 's/\\r$//' \(path)")
    }
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let name = String(decoding: line.drop(while: isBlank).prefix { !isBlank($0) }, as: UTF8.self)
    if access(name, X_OK) != 0 {
      throw CommandHeader.Fault(
        problem: "its interpreter \(name): \(Errno(code: errno))", remedy: "correct the first line, or install it")
    }
  }
}
