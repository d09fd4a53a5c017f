import Testing

@testable import Daemon

@Suite("What a reload takes")
struct SettingsTestsChanges {
  private func settings(_ text: String = "") throws -> Settings {
    try Settings.parse("[account]\njid = bot@example.org\n" + text, environment: serviceEnvironment)
  }

  @Test("nothing, when nothing changed")
  func nothing() throws {
    #expect(SettingsChanges(from: try settings(), to: try settings()).isEmpty)
  }

  @Test("another stream, when another account or server is meant")
  func stream() throws {
    let changes = SettingsChanges(from: try settings(), to: try settings("host = x\nport = 1\ntls = direct\n"))
    #expect(changes.needNewStream == ["account.host", "account.port", "account.tls"])
    #expect(changes.needNewPresence.isEmpty && changes.needRestart.isEmpty && changes.immediate.isEmpty)
  }

  @Test("another presence only, when contacts are to see something else")
  func presence() throws {
    let changes = SettingsChanges(from: try settings(), to: try settings("status = x\npriority = 5\n"))
    #expect(changes.needNewPresence == ["account.priority", "account.status"])
    #expect(changes.needNewStream.isEmpty)
  }

  @Test("a restart, when archive or socket move; all else is in force at once")
  func others() throws {
    let changes = SettingsChanges(
      from: try settings(),
      to: try settings(
        "[archive]\npath = /x\nraw-xml = yes\n[control]\nsocket = /y\n[log]\nlevel = debug\n[command a]\nexec = /bin/true\n"
      ))
    #expect(changes.needRestart == ["archive.path", "control.socket"])
    #expect(changes.immediate == ["archive.raw-xml", "log", "command"])
    #expect(changes.needNewStream.isEmpty && changes.needNewPresence.isEmpty)
  }
}
