import Daemon
import Glibc
import JSON

extension Verb {
  static let send = Verb(
    path: ["send"], arguments: "JID [TEXT | -]",
    options: [
      Option("--file", "PATH", "upload the file and send the link; TEXT goes before it"),
      Option("--lines", nil, "each line of the input is a message of its own"),
      Option("--queue", nil, "do not wait: it is enough that the bot has it in its outbox"),
      Option("--timeout", "SECONDS", "how long to wait for the server (default 30)"),
    ],
    summary: "Send one message",
    details: """
      Without TEXT, or with -, it is read from standard input. Exit code 0 means that the server has the message (with
      --queue: that the bot has it), 4 that the bot is offline and 6 that the server has not confirmed it in time: in both
      cases the message is in the outbox, survives restarts, and goes as soon as it can. 1 means that nothing was sent, or that
      it came back before the server confirmed it; what comes back later is in the journal, and its row says "failed".
      JID may be a room. One that has no section in the configuration is entered first, and left when nothing was said there
      for ten minutes.
      A file goes to the account's own server (XEP-0363), which says how large it may be; whoever knows the link can read it.
      """
  ) { call throws(ControlFailure) in
    guard let to = call.words.first else { throw ControlFailure(.usage, "name a recipient: xmppbotctl send JID TEXT") }
    let text = call.words.dropFirst().joined(separator: " ")
    let fromInput = text.isEmpty || text == "-"
    let byLines = call.options["--lines"] != nil
    if byLines, !fromInput { throw ControlFailure(.usage, "--lines reads the input; leave the text out") }
    if let path = call.options["--file"] {
      if byLines { throw ControlFailure(.usage, "--file sends one file; leave --lines out") }
      return try sendFile(path, caption: text == "-" ? input() : text, to: to, try Wish(call), call)
    }
    let daemon = try call.daemon()
    let wish = try Wish(call)
    if byLines { return try sendLines(to: to, wish, daemon) }
    let whole = fromInput ? input() : text
    if whole.isEmpty { throw ControlFailure(.usage, "there is no text: the input is empty") }
    try send(whole, to: to, wish, daemon)
  }

  /// What the caller waits for.
  private struct Wish {
    var waits: Bool
    var timeout = 30
    var isQuiet = false

    init(_ call: borrowing Call) throws(ControlFailure) {
      waits = call.options["--queue"] == nil
      guard let text = call.options["--timeout"] else { return }
      guard let seconds = Int(text), (1...86_400).contains(seconds) else {
        throw ControlFailure(.usage, "--timeout takes a number of seconds up to a day, such as 30, not '\(text)'")
      }
      if !waits { throw ControlFailure(.usage, "--queue waits for nothing; leave --timeout out") }
      timeout = seconds
    }
  }

  private static func sendLines(to: String, _ wish: Wish, _ daemon: DaemonConnection) throws(ControlFailure) {
    var wish = wish
    var first: ControlFailure?
    var number = 0
    var queued = 0
    while let line = readLine() {
      number += 1
      if line.isEmpty { continue }
      do throws(ControlFailure) {
        try send(line, to: to, wish, daemon)
        if first != nil { queued += 1 }
      } catch {
        let failure = ControlFailure(error.code, "line \(number): \(error.reason)")
        // This one is in the outbox. So will be the others, which need not wait for the same in vain.
        guard error.code == .offline || error.code == .timedOut, first == nil else { throw failure }
        first = failure
        wish.waits = false
        wish.isQuiet = true
      }
    }
    guard let first else { return }
    throw ControlFailure(
      first.code, first.reason + (queued == 0 ? "" : "; so are the \(queued) line\(queued == 1 ? "" : "s") after it"))
  }

  private static func send(
    _ text: String, to: String, _ wish: Wish, _ daemon: DaemonConnection
  ) throws(ControlFailure) {
    _ = try daemon.ask([
      "verb": "send", "to": .string(to), "text": .string(text), "wait": .bool(wish.waits),
      "timeout": .int(wish.timeout),
    ])
    if !wish.waits, !wish.isQuiet { print("queued") }
  }

  private static func sendFile(
    _ path: String, caption: String, to: String, _ wish: Wish, _ call: borrowing Call
  ) throws(ControlFailure) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { throw ControlFailure(.failed, "\(path): \(String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
      throw ControlFailure(.usage, "\(path) is no regular file; pack a folder into an archive first")
    }
    if status.st_size == 0 { throw ControlFailure(.usage, "\(path) is empty") }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    _ = try call.daemon().ask(
      [
        "verb": "send", "to": .string(to), "text": .string(caption), "file": .string(name),
        "wait": .bool(wish.waits), "timeout": .int(wish.timeout),
      ], file: descriptor)
    if !wish.waits { print("queued") }
  }

  private static func input() -> String {
    var lines: [String] = []
    while let line = readLine() { lines.append(line) }
    return lines.joined(separator: "\n")
  }
}
