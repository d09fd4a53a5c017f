import EventLoop
import Glibc

/// A folder (`commands.d`) in which every executable file is a command of the file's name.
public enum CommandsDirectory {
  /// The commands found, in name order, and what the operator must be told about the rest. Hidden files and editors'
  /// backups are passed over; a folder that does not exist has no commands.
  public static func scan(
    path: String, launcher: any ProgramLauncher, limits: ProgramCommand.Limits = .init()
  ) -> (commands: [Command], diagnostics: [CommandDiagnostic]) {
    var commands: [Command] = []
    var diagnostics: [CommandDiagnostic] = []
    do {
      let names = try entries(path)
      for name in names where !name.hasSuffix(".conf") {
        do throws(CommandDiagnostic) {
          commands.append(
            try command(name, in: path, hasConfiguration: names.contains(name + ".conf"), launcher, limits))
        } catch {
          diagnostics.append(error)
        }
      }
      for name in names where name.hasSuffix(".conf") && !names.contains(String(name.dropLast(5))) {
        diagnostics.append(
          CommandDiagnostic(
            source: path + "/" + name, problem: "there is no program \(name.dropLast(5)) beside it", remedy: "remove it"
          ))
      }
    } catch {
      diagnostics.append(error)
    }
    return (commands, diagnostics)
  }

  private static func entries(_ path: String) throws(CommandDiagnostic) -> [String] {
    guard let directory = opendir(path) else {
      if errno == ENOENT { return [] }
      throw CommandDiagnostic(source: path, problem: "\(Errno(code: errno))", remedy: "let the daemon's user read it")
    }
    defer { closedir(directory) }
    try FileTrust.checkDirectory(path, source: path, .reader)
    var names: [String] = []
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if !name.hasPrefix("."), !name.hasSuffix("~") { names.append(name) }
    }
    return names.sorted()
  }

  private static func command(
    _ name: String, in directory: String, hasConfiguration: Bool, _ launcher: any ProgramLauncher,
    _ limits: ProgramCommand.Limits
  ) throws(CommandDiagnostic) -> Command {
    let path = directory + "/" + name
    if let fault = CommandDescription.fault(inName: name) {
      throw CommandDiagnostic(source: path, problem: fault, remedy: "rename or remove the file")
    }
    let program = try FileTrust.check(path, runBy: launcher.user)
    let header: CommandHeader
    let source = hasConfiguration ? path + ".conf" : path
    // What was checked is what is read, wherever a link leads a moment later.
    let checked = hasConfiguration ? try FileTrust.resolved(source, .reader).real : program
    do throws(CommandHeader.Fault) {
      if hasConfiguration {
        header = try CommandHeader(configuration: String(decoding: try head(checked, 65536), as: UTF8.self))
      } else {
        let start = try head(checked, 4096)
        try Interpreter.check(start, of: path)
        header = try CommandHeader(script: start)
      }
    } catch {
      throw CommandDiagnostic(source: source, problem: error.problem, remedy: error.remedy)
    }
    var limits = limits
    limits.resources = header.resources.completed(by: limits.resources)
    return Command(
      CommandDescription(
        name: name, description: header.description, usage: header.usage,
        allow: header.allow.isEmpty ? AccessRule.admins : header.allow, places: header.places,
        reruns: header.reruns, fields: header.fields),
      ProgramCommand(
        words: [path], launcher: launcher, style: header.style, isLive: header.isLive, limits: limits),
      origin: path, allowOrigin: header.allow.isEmpty ? "the default" : source, timeout: header.timeout)
  }

  /// The whole lines among the first `count` bytes of a file.
  private static func head(_ path: String, _ count: Int) throws(CommandHeader.Fault) -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw CommandHeader.Fault(problem: "\(Errno(code: errno))", remedy: "let the daemon's user read it")
    }
    defer { close(descriptor) }
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      filled = max(0, read(descriptor, buffer.baseAddress, count))
    }
    guard bytes.count == count else { return bytes }
    // Half a line may mean something else: half an address is another one.
    return Array(bytes[...(bytes.lastIndex(of: UInt8(ascii: "\n")) ?? bytes.startIndex)])
  }
}
