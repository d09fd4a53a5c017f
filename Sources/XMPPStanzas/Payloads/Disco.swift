import Crypto
import XML

/// XEP-0030 (2.5): what an entity is and can do.
public struct DiscoInfo: Sendable, Hashable {
  public struct Identity: Sendable, Hashable {
    public var category: String
    public var type: String
    public var name: String?
    public init(category: String, type: String, name: String? = nil) {
      self.category = category
      self.type = type
      self.name = name
    }
  }

  public var node: String?
  public var identities: [Identity]
  public var features: Set<String>

  public init(node: String? = nil, identities: [Identity], features: Set<String>) {
    self.node = node
    self.identities = identities
    self.features = features
  }

  public init?(_ element: Element) {
    guard element.isNamed("query", Namespace.discoInfo) else { return nil }
    node = element["node"]
    identities = []
    features = []
    for case .element(let child) in element.children where child.namespace == Namespace.discoInfo {
      switch child.name {
      case "identity":
        identities.append(
          Identity(category: child["category"] ?? "", type: child["type"] ?? "", name: child["name"]))
      case "feature": if let feature = child["var"] { features.insert(feature) }
      default: break
      }
    }
  }

  public func has(identity category: String, _ type: String) -> Bool {
    identities.contains { $0.category == category && $0.type == type }
  }

  public static func request(node: String? = nil) -> Element {
    Element("query", Namespace.discoInfo, [("node", node)])
  }

  public var element: Element {
    var query = Element("query", Namespace.discoInfo, [("node", node)])
    for identity in identities {
      query.append(
        Element(
          "identity", Namespace.discoInfo,
          [("category", identity.category), ("type", identity.type), ("name", identity.name)]))
    }
    for feature in features.sorted() { query.append(Element("feature", Namespace.discoInfo, [("var", feature)])) }
    return query
  }
}

/// XEP-0115 (1.6.0): a hash over `DiscoInfo`, so that contacts need not ask each time.
public struct Caps: Sendable, Hashable {
  /// The software's address.
  public var node: String
  public var verification: String

  /// Section 5.1: identities and features in byte order, each followed by `<`, then SHA-1 and base64.
  public init(node: String, info: DiscoInfo) {
    self.node = node
    let identities = info.identities.map { "\($0.category)/\($0.type)//\($0.name ?? "")<" }
    let features = info.features.map { $0 + "<" }
    let text = (inByteOrder(identities) + inByteOrder(features)).joined()
    verification = Base64.encode(Hash.digest(.sha1, Array(text.utf8)))
  }

  /// The disco node under which the hashed information is found.
  public var discoNode: String { node + "#" + verification }

  var element: Element {
    Element("c", Namespace.caps, [("hash", "sha-1"), ("node", node), ("ver", verification)])
  }
}

private func inByteOrder(_ texts: [String]) -> [String] {
  texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
}
