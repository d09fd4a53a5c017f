import Glibc
import Configuration
import Testing

@testable import Daemon

@Suite("The password")
struct SettingsTestsPassword {
  private let folder: SettingsTestsFolder

  init() throws {
    folder = try SettingsTestsFolder()
  }

  private func password(file: String? = nil, credentials: String? = nil) throws -> Result<String, ConfigurationProblems>
  {
    let line = file.map { "password-file = \($0)" } ?? ""
    let settings = try Settings.parse(
      "[account]\njid = bot@example.org\n\(line)\n", file: "bot.conf", environment: serviceEnvironment)
    var environment = serviceEnvironment
    environment["CREDENTIALS_DIRECTORY"] = credentials
    do throws(ConfigurationProblems) {
      return .success(String(decoding: try Password.load(for: settings, environment: environment).bytes, as: UTF8.self))
    } catch {
      return .failure(error)
    }
  }

  private func problem(file: String? = nil, credentials: String? = nil) throws -> String? {
    guard case .failure(let problems) = try password(file: file, credentials: credentials) else { return nil }
    return problems.description
  }

  @Test(
    "whoever may not read it is told so, and what to do in the words of the caller",
    .enabled(if: geteuid() != 0, "root may read everything"))
  func denied() throws {
    let file = try folder.write("secret", to: "secret", mode: 0)
    let settings = try Settings.parse(
      "[account]\njid = bot@example.org\npassword-file = \(file)\n", file: "bot.conf", environment: serviceEnvironment)
    let problems = #expect(throws: ConfigurationProblems.self) {
      try Password.load(for: settings, environment: serviceEnvironment, remedyWhenDenied: "use sudo")
    }
    #expect(problems?.description == "\(file): cannot be read: permission denied: use sudo")
  }

  @Test("one line end at the end is not part of it; spaces are", arguments: ["", "\n", "\r\n"])
  func lineEnd(end: String) throws {
    let file = try folder.write(" päss wörd " + end, to: "secret", mode: 0o600)
    #expect(try password(file: file) == .success(" päss wörd "))
  }

  @Test("a file that others can read or write is refused", arguments: [0o640, 0o604, 0o620, 0o644, 0o777])
  func readable(mode: Int) throws {
    let file = try folder.write("secret\n", to: "secret", mode: mode_t(mode))
    #expect(
      try problem(file: file)
        == "\(file): can be read or written by others (mode \(String(mode, radix: 8))): chmod 600 \(file)")
  }

  @Test("a file that is missing, empty or no single line is refused")
  func useless() throws {
    #expect(
      try problem(file: "/nowhere/secret")
        == "/nowhere/secret: does not exist: create it with the password in it, mode 600")
    let empty = try folder.write("\n", to: "empty", mode: 0o600)
    #expect(try problem(file: empty) == "\(empty): is empty: write the password into it")
    let long = try folder.write("one\ntwo\n", to: "long", mode: 0o600)
    #expect(
      try problem(file: long)
        == "\(long): holds a line break or another control character: keep the password alone in it, in one line")
  }

  @Test("without a file the credential is taken, whatever its mode; with one the file is")
  func credential() throws {
    try folder.write("from systemd\n", to: "password", mode: 0o440)
    #expect(try password(credentials: folder.path) == .success("from systemd"))
    let file = try folder.write("from the file\n", to: "secret", mode: 0o600)
    #expect(try password(file: file, credentials: folder.path) == .success("from the file"))
  }

  @Test("without either, or with the unit's empty stand-in, the diagnostic says where to put it")
  func none() throws {
    let diagnostic = "bot.conf: there is no password: name a file that holds it with `password-file`"
    #expect(try problem() == diagnostic)
    try folder.write("\n", to: "password", mode: 0o440)
    #expect(try problem(credentials: folder.path) == diagnostic)
  }

  @Test(
    "the diagnostic names the file that the unit of this configuration passes on",
    arguments: [("xmppbotd.conf", "password"), ("work.conf", "work.password")])
  func unitFile(configuration: String, password: String) throws {
    let settings = try Settings.parse(
      "[account]\njid = bot@example.org\n", file: "/etc/xmppbotd/" + configuration, environment: serviceEnvironment)
    do throws(ConfigurationProblems) {
      _ = try Password.load(for: settings, environment: serviceEnvironment)
      Issue.record("there is a password")
    } catch {
      #expect(error.description.contains(": put it into /etc/xmppbotd/\(password) (mode 600), which"))
    }
  }

  @Test("no description shows it")
  func hidden() {
    let password = Password(bytes: Array("hunter2".utf8), source: "f")
    var dumped = ""
    dump(password, to: &dumped)
    for text in ["\(password)", String(reflecting: password), String(describing: [password]), dumped] {
      #expect(!text.contains("hunter2") && !text.contains("104"))
    }
  }
}
