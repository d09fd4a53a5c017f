/// What goes between the daemon and the commands' service, a connection for each program, in packets of strings that
/// each end with a NUL:
///
///     daemon  → service   the version; with it the three streams and a file that holds the launch (`ProgramLaunch`)
///     service → daemon    exited CODE | signalled NUMBER | failed REPLY LOG
///     daemon  → service   a signal's number, for the program's group; any time
///
/// Or, in place of that, for a file in a command's folder, which is the service's own:
///
///     daemon  → service   the version FOLDER PATH
///     service → daemon    file, and with it the descriptor | failed REPLY LOG
///
/// Or, to know as whom programs run:
///
///     daemon  → service   the version user
///     service → daemon    user NUMBER
///
/// Whatever the program has left ends when the daemon closes the connection, or ends itself.
enum LaunchMessage {
  /// Changes with every change of what is said here.
  static let version = "xmppbotd-launch-2"

  static func bytes(_ strings: [String]) -> [UInt8] {
    strings.flatMap { Array($0.utf8) + [0] }
  }

  /// Nil when the last string has no end.
  static func strings(_ bytes: some BidirectionalCollection<UInt8>) -> [String]? {
    guard bytes.last == 0 else { return bytes.isEmpty ? [] : nil }
    return bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false).map {
      String(decoding: $0, as: UTF8.self)
    }
  }
}

extension ProgramExit {
  var message: [String] {
    switch self {
    case .exited(let code): ["exited", "\(code)"]
    case .signalled(let number): ["signalled", "\(number)"]
    case .notStarted(let failure): ["failed", failure.reply, failure.log]
    case .unknown: ["unknown"]
    }
  }

  init?(message: [String]) {
    let number = message.count == 2 ? Int32(message[1]) : nil
    switch (message.first, number) {
    case ("exited", let code?): self = .exited(code)
    case ("signalled", let signal?): self = .signalled(signal)
    case ("failed", _) where message.count == 3:
      self = .notStarted(LaunchFailure(reply: message[1], log: message[2]))
    case ("unknown", _) where message.count == 1: self = .unknown
    default: return nil
    }
  }
}

extension ProgramLaunch {
  /// Everything but the streams, which go as descriptors.
  var message: [String] {
    let numbers = [resources.memory, resources.processes, resources.seconds].map { $0.map(String.init) ?? "" }
    return [folder] + numbers + ["\(arguments.count)"] + arguments + environment
  }

  /// Nil when it is none.
  init?(message: [String], streams: Streams) {
    guard message.count > 5, let count = Int(message[4]), count > 0, count <= message.count - 5,
      StateDirectory.isName(message[0])
    else { return nil }
    let resources = ResourceLimits(
      memory: Int(message[1]), processes: Int(message[2]), seconds: Int(message[3]))
    let launch = try? ProgramLaunch(
      arguments: Array(message[5..<5 + count]), environment: Array(message[(5 + count)...]), folder: message[0],
      resources: resources, streams: streams)
    guard let launch else { return nil }
    self = launch
  }
}
