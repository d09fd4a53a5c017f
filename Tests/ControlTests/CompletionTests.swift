import Systemd
import TestSupport
import Testing

@testable import Control
@testable import Daemon

/// etc/completions, compared with the program. Bash is asked itself; for zsh and fish, which need not be there, what is
/// written is read.
@Suite("Completions of xmppbotctl")
struct CompletionTests {
  private static let folder =
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
    + "/etc/completions/"

  private static let common = Set(Option.common.map(\.name))
  private static let firstWords = Set(Verb.all.map { $0.path[0] })

  private static func text(_ file: String) -> String { String(decoding: readFile(folder + file), as: UTF8.self) }

  // MARK: - bash

  /// What bash offers for the last of these words. `xmppbotctl` is a function that answers as the daemon does.
  private func bash(_ words: String...) throws -> Set<String> {
    let outcome = try Tool.shell(
      """
      exec bash -c '
        xmppbotctl() { echo "$*" >&2; echo "{\\"name\\":\\"deploy\\"}"; echo "{\\"name\\":\\"disk\\"}"; }
        source \(Self.folder)bash/xmppbotctl
        COMP_WORDS=(xmppbotctl "$@"); COMP_CWORD=$#
        _xmppbotctl; printf "%s\\n" "${COMPREPLY[@]}"
      ' bash \(words.map { "'\($0)'" }.joined(separator: " "))
      """)
    return Set(outcome.lines)
  }

  @Test("bash: a verb's options and the common ones, and no others", arguments: Verb.all.map(\.name))
  func bashOptions(verb: String) throws {
    let known = try #require(Verb.all.first { $0.name == verb })
    let words = known.path + ["-"]
    let offered = words.count == 2 ? try bash(words[0], words[1]) : try bash(words[0], words[1], words[2])
    #expect(offered == Self.common.union(known.options.map(\.name)))
  }

  @Test("bash: the verbs, and what begins like them")
  func bashVerbs() throws {
    #expect(try bash("") == Self.firstWords)
    #expect(try bash("archive", "") == Set(Verb.all.filter { $0.path[0] == "archive" }.map { $0.path[1] }))
    #expect(try bash("--config=/etc/x.conf", "sta") == ["status"])
    #expect(try bash("-") == Self.common)
  }

  @Test("bash: words of options and arguments, and none in place of a value that anybody chooses")
  func bashWords() throws {
    #expect(try bash("log-level", "") == Set(LogLevel.allCases.map(\.rawValue)))
    #expect(try bash("log-level", "info", "") == [])
    #expect(try bash("archive", "export", "--format", "") == Set(MessageWriter.Format.allCases.map(\.rawValue)))
    #expect(try bash("archive", "export", "--format", "=", "c") == ["csv"])
    #expect(try bash("run", "--from", "") == [])
    #expect(try bash("run", "--", "x", "-") == [])
  }

  @Test("bash: each option with a value is known as one, so that the verb behind it is found", arguments: values)
  func bashValues(option: String) throws {
    #expect(try bash(option, "x", "log-level", "i") == ["info"])
  }

  private static let values = Set((Option.common + Verb.all.flatMap(\.options)).filter { $0.value != nil }.map(\.name))
    .sorted()

  @Test("bash: the bot's commands, of the daemon that the line names")
  func bashCommands() throws {
    #expect(try bash("run", "") == ["deploy", "disk"])
    #expect(try bash("run", "de") == ["deploy"])
    #expect(try bash("run", "deploy", "d") == [])
    // Split as bash does it.
    #expect(try bash("--config", "=", "/etc/x.conf", "run", "di") == ["disk"])
  }

  // MARK: - zsh

  /// What stands in the function that completes `verb`.
  private func zsh(_ verb: String) -> Set<String> {
    let name = "_xmppbotctl-" + verb.replacing(" ", with: "-") + "()"
    var found: Set<String> = []
    var isInside = false
    for line in Self.text("zsh/_xmppbotctl").split(separator: "\n") {
      if line.hasPrefix(name) { isInside = true }
      if isInside { found.formUnion(Self.options(line)) }
      if line.hasSuffix("}") { isInside = false }
    }
    return found
  }

  /// `'--name…` in a line.
  private static func options(_ line: Substring) -> Set<String> {
    Set(
      line.split(separator: " ").filter { $0.hasPrefix("'--") }.map { word in
        "--" + word.dropFirst(3).prefix { $0.isLetter || $0 == "-" }
      })
  }

  @Test("zsh: a verb's options, and no others", arguments: Verb.all.map(\.name))
  func zshOptions(verb: String) throws {
    let known = try #require(Verb.all.first { $0.name == verb })
    #expect(zsh(verb) == Set(known.options.map(\.name)))
    for option in known.options {
      #expect(Self.text("zsh/_xmppbotctl").contains("'\(option.name)\(option.value == nil ? "[" : "=[")"))
    }
  }

  @Test("zsh: the verbs, the words of options, the common options")
  func zshVerbs() {
    let text = Self.text("zsh/_xmppbotctl")
    let words = text.split(separator: "\n").filter { $0.hasPrefix("    '") && !$0.hasPrefix("    '-") }
      .map { $0.dropFirst(5).prefix { $0 != ":" } }.filter { !$0.isEmpty && !$0.contains("'") }
    let all = Self.firstWords.union(Verb.all.filter { $0.path[0] == "archive" }.map { $0.path[1] })
    #expect(Set(words.map(String.init)).subtracting(["1", "*"]) == all)
    for option in Self.common { #expect(text.contains("    '\(option)") || text.contains(",\(option)}")) }
    #expect(text.contains("(\(LogLevel.allCases.map(\.rawValue).joined(separator: " ")))"))
    #expect(text.contains("(\(MessageWriter.Format.allCases.map(\.rawValue).joined(separator: " ")))"))
  }

  // MARK: - fish

  /// The lines that hold under a condition, as words; nil: those that always do.
  private func fish(at verb: String?) -> [[Substring]] {
    let lines = Self.text("fish/xmppbotctl.fish").split(separator: "\n").filter { $0.hasPrefix("complete ") }
    guard let verb else { return lines.filter { !$0.contains("__xmppbotctl_at") }.map { $0.split(separator: " ") } }
    let condition = verb.isEmpty || verb.contains(" ") ? "\"\(verb)\"" : verb
    return lines.filter { $0.contains(" -n '__xmppbotctl_at \(condition)' ") }.map { $0.split(separator: " ") }
  }

  /// The words behind `flag`: `-l` for long options, `-a` for words.
  private static func words(_ lines: [[Substring]], _ flag: String) -> Set<String> {
    Set(
      lines.compactMap { line in
        line.firstIndex { $0 == flag }.flatMap { line.dropFirst($0 + 1).first.map(String.init) }
      })
  }

  @Test("fish: a verb's options, and no others", arguments: Verb.all.map(\.name))
  func fishOptions(verb: String) throws {
    let known = try #require(Verb.all.first { $0.name == verb })
    let lines = fish(at: verb).filter { $0.contains("-l") }
    #expect(Self.words(lines, "-l") == Set(known.options.map { String($0.name.dropFirst(2)) }))
    let withValue = lines.filter { $0.contains("-x") || $0.contains("-r") }
    #expect(
      Self.words(withValue, "-l")
        == Set(known.options.filter { $0.value != nil }.map { String($0.name.dropFirst(2)) }))
  }

  @Test("fish: the verbs, the words of options, the common options")
  func fishVerbs() throws {
    let text = Self.text("fish/xmppbotctl.fish")
    #expect(Self.words(fish(at: ""), "-a") == Self.firstWords)
    #expect(
      Self.words(fish(at: "archive"), "-a") == Set(Verb.all.filter { $0.path[0] == "archive" }.map { $0.path[1] }))
    #expect(Self.words(fish(at: nil), "-l") == Set(Self.common.map { String($0.dropFirst(2)) }))
    #expect(text.contains("'\(LogLevel.allCases.map(\.rawValue).joined(separator: " "))'"))
    #expect(text.contains("'\(MessageWriter.Format.allCases.map(\.rawValue).joined(separator: " "))'"))
    // So that the verb behind them is found.
    let skipped = try #require(text.split(separator: "\n").first { $0.contains("case --config --socket --file") })
    #expect(Set(skipped.split(separator: " ").dropFirst().map(String.init)) == Set(Self.values))
  }

  // MARK: - xmppbotd

  @Test("xmppbotd's options in all three")
  func daemon() throws {
    let options = Set(XMPPBot.options)
    let bash = try Tool.shell(
      """
      exec bash -c '
        source \(Self.folder)bash/xmppbotd
        COMP_WORDS=(xmppbotd -); COMP_CWORD=1
        _xmppbotd; printf "%s\\n" "${COMPREPLY[@]}"
      '
      """)
    #expect(Set(bash.lines) == options)
    let zsh = Self.text("zsh/_xmppbotd").split(separator: "\n").filter { $0.hasPrefix("  '") }
    #expect(Set(zsh.compactMap { line in options.first { line.contains($0) } }) == options)
    #expect(zsh.count == options.count)
    let fish = Self.text("fish/xmppbotd.fish").split(separator: "\n").map { $0.split(separator: " ") }
    #expect(Self.words(fish, "-l") == Set(options.map { String($0.dropFirst(2)) }))
  }
}
