import BotKit
import Configuration
import HTTP
import JID
import Webhooks

extension SettingsSchema {
  enum HTTP {
    static let listen = Key(
      "listen", .httpAddress, otherwise: "there is no HTTP",
      "Where HTTP is spoken; nothing but this machine gets there.")
    static let metrics = Key("metrics", .boolean, default: "yes", "Whether /metrics is there.")

    static let section = Schema.Section(
      "http", "Metrics and webhooks over HTTP.", keys: [listen.description, metrics.description])
  }

  enum Webhook {
    static let tokenFile = Key(
      "token-file", .path, otherwise: "the systemd credential `webhook-NAME`",
      "A file that holds the token and that only its owner can read.")
    static let to = ListKey(
      "to", .list(of: .recipient), required: true, "To whom it may send; to the first, if a call names none.")
    static let template = Key<HookTemplate>("template", .choice, default: "text", "What it is sent.")
    static let rate = Key("rate", .rate, default: "20/1m", "How often it may be called in a time.")

    static let section = Schema.Section(
      "webhook", argument: "NAME", argumentKind: .webhookName, "A way in for other programs, at /hook/NAME.",
      keys: [tokenFile.description, to.description, template.description, rate.description])
  }
}

extension Settings {
  /// `[http]`
  public struct HTTPSettings: Sendable, Hashable {
    /// Nil: nowhere.
    public var listen: HTTPAddress?
    public var metrics = true
  }

  /// `[webhook NAME]`
  public struct WebhookSettings: Sendable, Hashable {
    public var name: String
    /// Nil: the systemd credential `webhook-NAME`.
    public var tokenFile: String?
    /// Bare.
    public var to: [JID]
    public var template: HookTemplate
    public var rate: Limits.Rate
  }
}

extension SettingsReader {
  func http() -> Settings.HTTPSettings {
    let section = document.sectionOrDefaults("http")
    return Settings.HTTPSettings(
      listen: section.value(of: SettingsSchema.HTTP.listen),
      metrics: section.value(of: SettingsSchema.HTTP.metrics) ?? true)
  }

  mutating func webhook(_ section: ConfigurationDocument.Section) -> Settings.WebhookSettings? {
    typealias Keys = SettingsSchema.Webhook
    let hasAddress = document.section("http").map { !$0.entries(of: "listen").isEmpty } ?? false
    if !hasAddress {
      report(
        section, "", "\(section.title) can't be called, for there is no HTTP",
        "add [http] with `listen = 127.0.0.1:9797`")
    }
    guard let name = section.name, let template = section.value(of: Keys.template),
      let rate = section.value(of: Keys.rate)
    else { return nil }
    return Settings.WebhookSettings(
      name: name, tokenFile: section.value(of: Keys.tokenFile), to: section.values(of: Keys.to), template: template,
      rate: rate)
  }
}

extension ValueKind where Value == HTTPAddress {
  static var httpAddress: ValueKind {
    ValueKind(syntax: "127.0.0.1:PORT | [::1]:PORT | unix:PATH | systemd") { text throws(ValueProblem) in
      do throws(HTTPAddress.Problem) {
        return try HTTPAddress(text)
      } catch {
        throw ValueProblem(error.reason, remedy: error.remedy)
      }
    }
  }
}

extension ValueKind where Value == JID {
  /// Whom a message may be sent to.
  static var recipient: ValueKind {
    ValueKind(syntax: "JID") { text throws(ValueProblem) in
      // A server's own JID has no `@`, but a word without one is a slip far more often.
      guard text.contains("@") else { throw ValueProblem("is no JID", remedy: "write it as name@example.org") }
      let rule = try AccessRule(text, forms: [])
      guard case .address(let jid) = rule else {
        throw ValueProblem("is more than one address", remedy: "name each address by itself")
      }
      return jid
    }
  }
}

extension ValueKind where Value == String {
  /// A word that an address holds as it is.
  static var webhookName: ValueKind {
    ValueKind(syntax: "NAME") { text throws(ValueProblem) in
      let isPlain = text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "_"): true
        default: false
        }
      }
      guard isPlain else {
        throw ValueProblem("is no name for an address", remedy: "use letters, digits, `-` and `_`, as in alerts")
      }
      return text
    }
  }
}
