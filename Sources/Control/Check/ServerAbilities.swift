import SASL
import XMPPStanzas
import XMPPStream

/// What a server and the account on it can do, and what the bot's users lose by what is missing: pure.
struct ServerAbilities {
  /// On the stream, before and after the login.
  var loginFeatures: StreamFeatures?
  var features: StreamFeatures
  var login: MechanismFloor?
  /// No other key than those of the configuration is believed: nobody else's certificate passes.
  var isPinned = false
  /// Of the server and of the account together (XEP-0030).
  var discovered: Set<String> = []
  var hasPEP = false
  var upload: UploadService?

  var lines: [CheckLine] {
    [
      loginLine,
      line(
        "resumption", features.streamManagement, "XEP-0198",
        "after a cut link or a restart contacts see the bot leave and return, and what was under way is fetched from the archive; enable stream management (Prosody: mod_smacks)"
      ),
      line(
        "archive on server", discovered.contains(Namespace.archive), "XEP-0313",
        "what is written while the bot is away comes from offline storage alone, which may drop it; enable message archiving (mod_mam)"
      ),
      line(
        "carbons", discovered.contains(Namespace.carbons), "XEP-0280",
        "what other clients of this account send and receive is not in the bot's archive; enable mod_carbons"),
      line(
        "profile", hasPEP, "XEP-0163",
        "the nickname and the avatar are published as a vCard only, which clients look at late; enable PEP (mod_pep, mod_pubsub)"
      ),
      uploadLine,
    ]
  }

  private func line(_ step: String, _ isThere: Bool, _ extensionName: String, _ loss: String) -> CheckLine {
    isThere ? CheckLine(step, extensionName) : CheckLine(step, "no \(extensionName)", warning: loss)
  }

  private var uploadLine: CheckLine {
    guard let upload else {
      return line(
        "files", false, "XEP-0363",
        "long output comes as many messages, and `output = file` and `send --file` do not work; enable an upload service (mod_http_file_share, mod_http_upload)"
      )
    }
    let limit = upload.maxFileSize.map { ", \($0) bytes at most" } ?? ""
    return CheckLine("files", "XEP-0363 by \(upload.jid)\(limit)")
  }

  private var loginLine: CheckLine {
    let offered = loginFeatures?.mechanisms ?? []
    let found = [
      login.map { "by \($0)" }, offered.isEmpty ? nil : "the server offers \(offered.joined(separator: ", "))",
    ].compactMap { $0 }.joined(separator: "; ")
    let loss: String? =
      switch login?.mechanism {
      case .plain?:
        "the server sees the password itself; have it offer SCRAM (store passwords hashed, not in a foreign directory)"
      case let mechanism? where !mechanism.bindsChannel && !isPinned:
        "the login is not bound to the connection, so a false server with a valid certificate could pass it on; have it offer SCRAM-…-PLUS"
      default: nil
      }
    return CheckLine("mechanism", found, warning: loss)
  }
}

/// How long a certificate is good for.
enum CertificateAge {
  /// Renewal is late below so many days: Let's Encrypt renews at 30.
  static let soon = 14

  /// - Parameters:
  ///   - end: seconds since 1970, as the certificate says.
  ///   - now: likewise.
  static func line(subject: String, key: String, end: Int64, now: Int64) -> CheckLine {
    let days = (end - now) / 86_400
    let date = Timestamp.format(end * 1_000_000, wholeSeconds: true)
    return CheckLine(
      "certificate", "\(subject), until \(date) (\(days) days), key \(key)",
      warning: days < soon
        ? "it ends soon, and then the bot goes offline; see why the server does not renew it" : nil)
  }
}
