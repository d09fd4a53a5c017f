import EventLoop
import Glibc
import Testing

@testable import BotKit

/// Tests/Servers/upload.py, for one test.
@LoopActor
final class UploadServer {
  nonisolated let folder: Folder
  let port: Int
  private let group: ProcessGroup
  private let input: Int32

  nonisolated var caFile: String { folder.path + "/ca.pem" }

  private init(_ folder: Folder, port: Int, group: ProcessGroup, input: Int32) {
    self.folder = folder
    self.port = port
    self.group = group
    self.input = input
  }

  static func start() throws -> UploadServer {
    let folder = Folder()
    let script =
      String(#filePath.prefix(#filePath.count - "BotKitTests/UploadServer.swift".count)) + "Servers/upload.py"
    let input = try Pipe(ours: .writing)
    let output = try Pipe(ours: .reading)
    defer {
      close(input.reading)
      close(output.reading)
      close(output.writing)
    }
    let group = try ProcessGroup(
      PreparedLaunch(own: ["/usr/bin/env", "PATH=/usr/bin:/bin", script, folder.path]),
      .init(input: input.reading, output: output.writing, error: STDERR_FILENO)
    ) {}
    // The port comes when it listens.
    var entry = pollfd(fd: output.reading, events: Int16(POLLIN), revents: 0)
    guard poll(&entry, 1, 20_000) == 1 else { throw NoServer() }
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = read(output.reading, &bytes, bytes.count)
    let text = String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    guard let port = Int(text.split(separator: "\n").first ?? "") else { throw NoServer() }
    return UploadServer(folder, port: port, group: group, input: input.writing)
  }

  struct NoServer: Error {}

  func stop() {
    close(input)
    _ = group.reap()
  }

  /// What lies in its folder under that name.
  nonisolated func contents(_ name: String) -> String {
    let file = open(folder.path + "/" + name, O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    return String(
      decoding: [UInt8](unsafeUninitializedCapacity: 65_536) { $1 = max(0, read(file, $0.baseAddress, 65_536)) },
      as: UTF8.self)
  }
}
