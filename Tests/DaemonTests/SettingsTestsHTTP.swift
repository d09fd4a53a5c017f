import Configuration
import Glibc
import JID
import Testing
import Webhooks

@testable import Daemon

@Suite("The settings of HTTP and webhooks")
struct SettingsTestsHTTP {
  private func settings(_ text: String) throws -> Settings {
    try Settings.parse("[account]\njid = bot@example.org\n" + text, file: "bot.conf", environment: serviceEnvironment)
  }

  private func problems(_ text: String) -> [String] {
    do throws(ConfigurationProblems) {
      _ = try Settings.parse(
        "[account]\njid = bot@example.org\n" + text, file: "bot.conf", environment: serviceEnvironment)
      return []
    } catch {
      return error.diagnostics.map(\.description)
    }
  }

  @Test("nothing listens unless it is told to")
  func off() throws {
    let settings = try settings("")
    #expect(settings.http.listen == nil && settings.webhooks.isEmpty)
  }

  @Test("every key arrives in its setting")
  func everything() throws {
    let settings = try settings(
      """
      [http]
      listen = [::1]:9797
      metrics = no
      [webhook alerts]
      token-file = /etc/token
      to = alice@example.org, Bob@example.org
      to = carol@example.org
      template = alertmanager
      rate = 5/1m
      [webhook ci_2]
      to = alice@example.org
      """)
    #expect(settings.http == .init(listen: .loopback("[::1]", port: 9797), metrics: false))
    #expect(
      settings.webhooks == [
        .init(
          name: "alerts", tokenFile: "/etc/token",
          to: [try JID("alice@example.org"), try JID("bob@example.org"), try JID("carol@example.org")],
          template: .alertmanager, rate: .commands(5, per: .seconds(60))),
        .init(
          name: "ci_2", tokenFile: nil, to: [try JID("alice@example.org")], template: .text,
          rate: .commands(20, per: .seconds(60))),
      ])
  }

  @Test(
    "what can't be is a fault with a remedy",
    arguments: [
      ("[http]\nlisten = 0.0.0.0:9797\n", "reverse proxy"), ("[http]\nlisten = 9797\n", "has no port"),
      ("[webhook a]\nto = a@example.org\n", "there is no HTTP: add [http]"),
      ("[http]\nlisten = systemd\n[webhook a]\n", "[webhook a] has no `to`"),
      ("[http]\nlisten = systemd\n[webhook a]\nto = *@example.org\n", "more than one address"),
      ("[http]\nlisten = systemd\n[webhook a]\nto = a@example.org\ntemplate = gitbub\n", "did you mean `github`?"),
      ("[http]\nlisten = systemd\n[webhook a/b]\nto = a@example.org\n", "is no name for an address"),
      ("[http]\nlisten = systemd\n[webhook a]\nto = a@example.org\ntoken = secret\n", "unknown key `token`"),
    ])
  func faults(_ text: String, _ fault: String) {
    let found = problems(text)
    #expect(found.count == 1 && found[0].contains(fault), "\(found)")
  }

  @Test("another listener or hook needs no other stream and no restart")
  func changes() throws {
    let changes = SettingsChanges(
      from: try settings(""), to: try settings("[http]\nlisten = systemd\n[webhook a]\nto = a@example.org\n"))
    #expect(changes.immediate == ["http", "webhook"])
    #expect(changes.needNewStream.isEmpty && changes.needRestart.isEmpty)
  }

  @Test("without a file the token is the credential of the hook's name")
  func credential() throws {
    let folder = try SettingsTestsFolder()
    _ = try folder.write("0123456789abcdef\n", to: "webhook-a", mode: 0o440)
    let settings = try settings("[http]\nlisten = systemd\n[webhook a]\nto = a@example.org\n")
    #expect(throws: ConfigurationProblems.self) { try Webhook.all(settings, environment: [:]) }
    // Started by hand there are no credentials, and nothing can be told.
    try settings.checkWebhookTokens(environment: [:])
    #expect(throws: ConfigurationProblems.self) {
      try settings.checkWebhookTokens(environment: ["CREDENTIALS_DIRECTORY": "/nonexistent"])
    }
    let hooks = try Webhook.all(settings, environment: ["CREDENTIALS_DIRECTORY": folder.path])
    #expect(hooks.map(\.name) == ["a"] && hooks[0].token.count == 16)
  }
}
