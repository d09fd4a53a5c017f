import Archive
import BotKit
import Configuration
import Crypto
import EventLoop
import Glibc
import JID
import Systemd
import Transport
import XMPPStanzas

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
    /// The sockets that systemd opened.
    let sockets: [SocketActivation.Socket]

    init(
      file: String, environment: [String: String], sink: any LogSink, handlers: [any CommandHandler]
    ) throws(StartFailure) {
      let configuration = try Configuration(file: file, environment: environment)
      settings = configuration.settings
      password = configuration.password
      trust = configuration.trust
      avatar = configuration.avatar
      do throws(ArchiveError) {
        archive = try Archive.open(
          path: settings.archive.path,
          options: ArchiveOptions(synchronous: settings.archive.sync == .full ? .full : .normal)
        ) { completions in
          EventLoop.main.post { Daemon.current?.deliver(completions) ?? completions() }
        }
      } catch {
        throw StartFailure(.configuration, [error.description])
      }
      self.file = file
      self.environment = environment
      self.handlers = handlers
      sockets = SocketActivation.listenSockets()
      log = Logger(level: settings.log.level, tracesStanzas: settings.log.xml, sink: sink)
        .forAccount(settings.account.jid.description)
    }
  }

  /// The configuration and the files that it names, read and checked.
  struct Configuration: Sendable {
    let settings: Settings
    let password: SecretBytes
    let trust: TLSContext
    let avatar: Avatar?

    init(file: String, environment: [String: String]) throws(StartFailure) {
      do throws(ConfigurationProblems) {
        settings = try Settings.load(path: file, environment: environment)
        password = SecretBytes(try Password.load(for: settings, environment: environment).bytes)
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
