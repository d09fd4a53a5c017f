/// A connection to `server` that can fail at will (Tests/Servers/relay.py).
final class Relay {
  let port: String
  private let program: Program
  private let scratch: Scratch

  init(to server: Server) throws {
    scratch = try Scratch()
    program = try Program([Server.scripts + "/relay.py", server.host, server.port], output: scratch.file("output"))
    port = try program.line { Int($0) != nil }
  }

  /// Ends all connections with RST.
  func reset() { program.write("reset") }
  /// Ends all connections cleanly.
  func close() { program.write("close") }
  /// Passes nothing on until `release`.
  func hold() { program.write("hold") }
  func release() { program.write("release") }
}
