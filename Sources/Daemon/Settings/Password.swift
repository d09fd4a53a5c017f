import Configuration
import Glibc
import Systemd

/// The account's password, as UTF-8. Never shown by descriptions.
public struct Password: Sendable, Hashable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public let bytes: [UInt8]
  /// The file that it was read from.
  public let source: String

  init(bytes: [UInt8], source: String) {
    self.bytes = bytes
    self.source = source
  }

  public var description: String { "(password)" }
  public var debugDescription: String { "(password)" }
  public var customMirror: Mirror { Mirror(self, children: [:]) }

  /// Reads the password from `password-file` if that is set, else from the systemd credential `password`, else from the
  /// file that the unit takes that credential from. One line end at the end is not part of it.
  /// - Parameter forPassing: where it is the unit's file, systemd is what reads it for the daemon, whatever its mode.
  /// - Parameter remedyWhenDenied: what whoever may not read it does, if not what can be done about any file.
  public static func load(
    for settings: Settings, environment: [String: String], forPassing: Bool = false, remedyWhenDenied: String? = nil
  ) throws(ConfigurationProblems) -> Password {
    func read(_ file: String, mustBePrivate: Bool) throws(ConfigurationProblems) -> Password? {
      try SecretFile(
        secret: "password", path: file, mustBePrivate: mustBePrivate, remedyWhenDenied: remedyWhenDenied
      ).read().map { Password(bytes: $0, source: file) }
    }
    if let file = settings.account.passwordFile {
      guard let password = try read(file, mustBePrivate: true) else {
        throw problem(file, "is empty", "write the password into it")
      }
      return password
    }
    // The unit passes an empty one when the operator has made none.
    if let file = Credentials.path(of: "password", environment: environment),
      let password = try read(file, mustBePrivate: false)
    {
      return password
    }
    // Started by hand, as xmppbotctl is: the file that the unit would have passed on.
    let source = credentialSource(of: settings.file)
    if let source, access(source, F_OK) == 0, let password = try read(source, mustBePrivate: !forPassing) {
      return password
    }
    let keyed = "name a file that holds it with `password-file`"
    throw problem(
      settings.file, "there is no password",
      source.map { "put it into \($0) (mode 600), which the unit passes on, or \(keyed)" } ?? keyed)
  }

  /// The file that the unit for this configuration passes on as the credential: /etc/xmppbotd/password, and NAME.password
  /// for NAME.conf. Nil for a configuration that is no unit's.
  private static func credentialSource(of file: String) -> String? {
    guard file.hasPrefix("/etc/xmppbotd/"), file.hasSuffix(".conf") else { return nil }
    return file == Settings.defaultFile ? "/etc/xmppbotd/password" : file.dropLast("conf".count) + "password"
  }

  private static func problem(_ file: String, _ problem: String, _ remedy: String) -> ConfigurationProblems {
    ConfigurationProblems([Diagnostic(Location(file: file), problem, remedy: remedy)])
  }
}
