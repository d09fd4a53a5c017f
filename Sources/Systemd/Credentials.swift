import Glibc

/// Secrets that the service manager hands to the service (systemd.exec(5), LoadCredential=).
public enum Credentials {
  /// The folder that holds them, one file each; nil when there are none.
  public static func directory(environment: [String: String]) -> String? {
    guard let path = environment["CREDENTIALS_DIRECTORY"], path.hasPrefix("/") else { return nil }
    return path
  }

  /// The path of the credential `name`; nil when it was not passed.
  public static func path(of name: String, environment: [String: String]) -> String? {
    guard let path = directory(environment: environment).map({ "\($0)/\(name)" }) else { return nil }
    return access(path, F_OK) == 0 ? path : nil
  }
}
