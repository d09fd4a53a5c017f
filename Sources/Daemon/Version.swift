import XMPPClient

/// What this program calls itself.
public enum Product {
  public static let name = "xmppbotd"
  public static let version = "0.1.0"
  /// The address that stands for the software in XEP-0115.
  static let node = "https://xmppbotd.org/"

  static let software = Software(name: name, version: version, node: node)
}
