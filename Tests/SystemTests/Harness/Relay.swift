/// A connection to `server` that can fail at will (Tests/Servers/relay.py).
final class Relay {
  let host: String
  let port: String
  private let program: Program
  private let scratch: Scratch

  /// Listens on `host`, an address of this machine, and on a free port unless one is given.
  init(to server: Server, on host: String = "127.0.0.1", port: String = "0") throws {
    self.host = host
    scratch = try Scratch()
    program = try Program(
      [Server.scripts + "/relay.py", server.host, server.port, host, port], output: scratch.file("output"))
    self.port = try program.line { Int($0) != nil }
  }

  /// Ends all connections with RST.
  func reset() { program.write("reset") }
  /// Ends all connections cleanly.
  func close() { program.write("close") }
  /// Passes nothing on until `release`.
  func hold() { program.write("hold") }
  func release() { program.write("release") }
  /// Ends new connections at once until `accept`.
  func refuse() { program.write("refuse") }
  func accept() { program.write("accept") }
  /// Passes everything on so much later.
  func delay(_ milliseconds: Int) { program.write("delay \(milliseconds)") }
  /// Passes everything on in writes of so few bytes; 0: as it comes.
  func pieces(_ bytes: Int) { program.write("pieces \(bytes)") }
}
