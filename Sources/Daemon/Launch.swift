import Archive
import BotKit
import CLinux
import Configuration
import Crypto
import EventLoop
import Glibc
import Systemd
import Transport

/// The program xmppbotd: reads its arguments and configuration, opens what it needs, and runs until it is told to stop.
public enum XMPPBot {
  /// A test compares these with the manual page and the completions.
  static let options = ["--config", "--serve-commands", "--version", "--help"]

  static let usage = """
    usage: xmppbotd [--config FILE] [--version] [--help]

    Keeps an XMPP account online, archives its messages and answers commands.
      --config FILE   read FILE and FILE.d/*.conf (default: \(Settings.defaultFile))
      --serve-commands   be the service in which commands run; started by xmppbotd-commands.socket
      --version       print the version
      --help          print this
    It stays in the foreground. SIGTERM ends it, SIGHUP reads the configuration again; see xmppbotd(8).
    """

  /// Runs the daemon with the process's arguments; returns its exit code. `handlers`: commands written in Swift.
  ///
  ///     import BotKit
  ///     import Daemon
  ///     exit(XMPPBot.run(handlers: [Dice()]))
  public static func run(handlers: [any CommandHandler] = []) -> Int32 {
    let arguments = CommandLine.arguments.dropFirst()
    do {
      switch try Arguments(Array(arguments)) {
      case .help:
        print(usage)
        return ExitCode.done.rawValue
      case .version:
        print("\(Product.name) \(Product.version)")
        return ExitCode.done.rawValue
      case .serveCommands: return serveCommands()
      case .run(let file): return run(configuration: file, handlers: handlers)
      }
    } catch {
      complain(error.description)
      return ExitCode.usage.rawValue
    }
  }

  private static func run(configuration file: String, handlers: [any CommandHandler]) -> Int32 {
    StandardDescriptors.ensure()
    // Before the first thread, so that none of them takes what is meant for the loop.
    SignalSource.block([SIGTERM, SIGINT, SIGHUP])
    signal(SIGPIPE, SIG_IGN)
    // What is in memory is a password and other people's words: never into a core file.
    _ = linux_forbid_core_dumps()
    let environment = ProcessEnvironment.current()
    let sink = LogDestination.sink(environment: environment)
    let parts: Daemon.Parts
    do {
      parts = try Daemon.Parts(file: file, environment: environment, sink: sink, handlers: handlers)
    } catch {
      // On a terminal the bare lines, as compilers print them; in the journal one entry each.
      let isJournal = sink is JournalWriter
      let log = Logger(sink: sink)
      for line in error.lines {
        if isJournal { log.log(.configurationInvalid, line) } else { complain(line) }
      }
      return error.code.rawValue
    }
    EventLoop.main.post { Daemon.start(parts) }
    return EventLoop.main.run()
  }

  static func complain(_ line: String) {
    let bytes = Array("xmppbotd: \(line)\n".utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
  }

  private enum Arguments {
    case help, version, serveCommands
    case run(String)

    struct Mistake: Error, CustomStringConvertible { var description: String }

    init(_ arguments: [String]) throws(Mistake) {
      var file = Settings.defaultFile
      var rest = arguments[...]
      while let argument = rest.popFirst() {
        switch argument {
        case "--help", "-h":
          self = .help
          return
        case "--version":
          self = .version
          return
        case "--serve-commands":
          self = .serveCommands
          return
        case "--config":
          guard let value = rest.popFirst() else { throw Mistake(description: "--config needs a file: --config FILE") }
          file = value
        case _ where argument.hasPrefix("--config="): file = String(argument.dropFirst("--config=".count))
        default:
          let hint = nearest(to: argument, in: options).map { "did you mean \($0)?" } ?? "try --help"
          throw Mistake(description: "unknown argument \(argument): \(hint)")
        }
      }
      if !file.hasPrefix("/"), let folder = getcwd(nil, 0) {
        // The configuration's folder is also where commands.d is.
        file = String(cString: folder) + "/" + file
        free(folder)
      }
      self = .run(file)
    }
  }
}
