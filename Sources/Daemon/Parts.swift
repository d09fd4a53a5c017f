import Archive
import BotKit
import Configuration
import Crypto
import EventLoop
import Glibc
import HTTP
import JID
import Systemd
import Transport
import Webhooks
import XMPPClient
import XMPPStanzas
import XMPPStream

extension Daemon {
  /// All that must stand before the loop runs; each failure is one the operator can mend.
  struct Parts: Sendable {
    let file: String
    let environment: [String: String]
    let settings: Settings
    let password: SecretBytes
    let trust: TLSContext
    let avatar: Avatar?
    let archive: Archive
    let log: Logger
    let handlers: [any CommandHandler]
    let control: ControlSocket
    let webhooks: [Webhook]
    let rooms: [RoomEntry]
    let httpSockets: HTTPSockets
    /// Nil: there is no HTTP.
    let http: HTTPListener?
    let delivery: Delivery

    init(
      file: String, environment: [String: String], sink: any LogSink, handlers: [any CommandHandler]
    ) throws(StartFailure) {
      let configuration = try Configuration(file: file, environment: environment)
      settings = configuration.settings
      password = configuration.password
      trust = configuration.trust
      avatar = configuration.avatar
      webhooks = configuration.webhooks
      rooms = configuration.rooms
      delivery = Delivery()
      self.file = file
      self.environment = environment
      self.handlers = handlers
      log = Logger(level: settings.log.level, tracesStanzas: settings.log.xml, sink: sink)
        .forAccount(settings.account.jid.description)
      do throws(ArchiveError) {
        archive = try Archive.open(
          path: settings.archive.path,
          options: ArchiveOptions(synchronous: settings.archive.sync == .full ? .full : .normal, damaged: .setAside),
          noticed: { [log] notice in log.log(notice.event, notice.description) }
        ) { [delivery] completions in
          EventLoop.main.post { delivery.run(completions) }
        }
      } catch {
        throw StartFailure(error.exitCode, [error.description])
      }
      if let setAside = archive.setAside { log.log(.archiveSetAside, setAside.description) }
      do throws(ControlSocketError) {
        let passed = SocketActivation.listenSockets()
        httpSockets = HTTPSockets(passed: passed.first { $0.name == HTTPSockets.name }?.descriptor)
        if let socket = passed.first(where: { $0.name != HTTPSockets.name }) {
          control = ControlSocket(descriptor: socket.descriptor)
        } else {
          control = try ControlSocket(listeningAt: settings.control.socket)
        }
      } catch {
        archive.close()
        throw StartFailure(error.isInUse ? .failed : .configuration, [error.description])
      }
      do throws(StartFailure) {
        http = try httpSockets.listener(for: settings.http.listen)
      } catch {
        archive.close()
        control.close()
        throw error
      }
    }
  }

  /// Runs the archive's completions; what they send leaves in one write.
  @LoopActor
  final class Delivery {
    weak var session: Session?

    nonisolated init() {}

    func run(_ completions: @Sendable () -> Void) {
      if let session { session.turn { completions() } } else { completions() }
    }
  }

  /// The configuration and the files that it names, read and checked.
  struct Configuration: Sendable {
    let settings: Settings
    let password: SecretBytes
    let trust: TLSContext
    let avatar: Avatar?
    let webhooks: [Webhook]
    let rooms: [RoomEntry]

    init(file: String, environment: [String: String]) throws(StartFailure) {
      do throws(ConfigurationProblems) {
        settings = try Settings.load(path: file, environment: environment)
        password = SecretBytes(try Password.load(for: settings, environment: environment).bytes)
        webhooks = try Webhook.all(settings, environment: environment)
        rooms = try RoomEntry.all(settings)
      } catch {
        throw StartFailure(.configuration, error.diagnostics.map(\.description))
      }
      do throws(TLSError) {
        trust = try TLSContext(
          caFile: settings.account.caFile, pins: settings.account.publicKeyPins)
      } catch {
        throw StartFailure(.configuration, [error.description])
      }
      avatar = try settings.account.avatar.map { path throws(StartFailure) in try Self.avatar(at: path) }
    }

    private static func avatar(at path: String) throws(StartFailure) -> Avatar {
      do {
        return try Avatar(readRegularFile(path))
      } catch {
        throw StartFailure(.configuration, ["[account] avatar: \(path) \(error)"])
      }
    }
  }
}

/// Why the daemon can't start, a line for each reason.
struct StartFailure: Error {
  var code: ExitCode
  var lines: [String]

  init(_ code: ExitCode, _ lines: [String]) {
    self.code = code
    self.lines = lines
  }
}
