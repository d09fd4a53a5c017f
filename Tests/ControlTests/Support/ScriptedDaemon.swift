import EventLoop
import Glibc
import JSON
import XMPPTesting

@testable import Daemon

/// Answers on a control socket as a test says, in the daemon's place.
final class ScriptedDaemon: Sendable {
  typealias Answer = @Sendable @LoopActor (JSON, ControlClient) -> Void

  private let server: ControlServer

  private init(_ server: ControlServer) { self.server = server }

  static func at(_ path: String, _ answer: @escaping Answer) async throws -> ScriptedDaemon {
    LoopThread.start()
    let socket = try ControlSocket(listeningAt: path)
    return await { @LoopActor in
      ScriptedDaemon(ControlServer(socket) { request, client in answer(request, client) })
    }()
  }

  func stop() async { await server.close() }
}
