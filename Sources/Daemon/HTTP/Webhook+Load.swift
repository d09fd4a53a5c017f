import Configuration
import Crypto
import Systemd
import Webhooks

extension Settings {
  /// Sees that each webhook has a token. Of one whose token is a credential this can be told only where systemd passes it.
  public func checkWebhookTokens(environment: [String: String]) throws(ConfigurationProblems) {
    var known = self
    let passesCredentials = Credentials.directory(environment: environment) != nil
    known.webhooks = webhooks.filter { $0.tokenFile != nil || passesCredentials }
    _ = try Webhook.all(known, environment: environment)
  }
}

extension Webhook {
  /// The hook of a section, with its token from `token-file` or the systemd credential `webhook-NAME`.
  init(_ settings: Settings.WebhookSettings, of file: String, environment: [String: String])
    throws(ConfigurationProblems)
  {
    let title = "[webhook \(settings.name)]"
    let credential = "webhook-\(settings.name)"
    let source: SecretFile
    if let path = settings.tokenFile {
      source = SecretFile(secret: "token", path: path, mustBePrivate: true)
    } else if let path = Credentials.path(of: credential, environment: environment) {
      source = SecretFile(secret: "token", path: path, mustBePrivate: false)
    } else {
      throw ConfigurationProblems([
        Diagnostic(
          Location(file: file), "\(title) has no token",
          remedy:
            "name a file that holds it with `token-file`, or pass the credential `\(credential)` (docs/watching.md)")
      ])
    }
    let make = "put a long random text into it, such as `openssl rand -hex 32` prints"
    guard let token = try source.read() else { throw source.problem("is empty", make) }
    guard token.count >= Webhook.shortestToken else {
      throw source.problem("holds a token of less than \(Webhook.shortestToken) bytes, which could be guessed", make)
    }
    self.init(
      name: settings.name, token: SecretBytes(token), recipients: settings.to, template: settings.template)
  }

  /// All of them, with all that is wrong with any.
  static func all(_ settings: Settings, environment: [String: String]) throws(ConfigurationProblems) -> [Webhook] {
    var hooks: [Webhook] = []
    var problems: [Diagnostic] = []
    for hook in settings.webhooks {
      do throws(ConfigurationProblems) {
        hooks.append(try Webhook(hook, of: settings.file, environment: environment))
      } catch {
        problems += error.diagnostics
      }
    }
    if !problems.isEmpty { throw ConfigurationProblems(problems) }
    return hooks
  }
}
