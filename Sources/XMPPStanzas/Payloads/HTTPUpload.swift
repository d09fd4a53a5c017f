import JID
import XML

/// A service that takes files (XEP-0363 version 1.2.0).
public struct UploadService: Sendable, Hashable {
  public var jid: JID
  /// Bytes; nil when it does not say (section 4).
  public var maxFileSize: Int?

  public init(jid: JID, maxFileSize: Int? = nil) {
    self.jid = jid
    self.maxFileSize = maxFileSize
  }

  /// What `jid` says of itself (XEP-0030, with a form of XEP-0128); nil when it is no such service.
  public init?(_ jid: JID, info: Element) {
    guard DiscoInfo(info)?.features.contains(Namespace.upload) == true else { return nil }
    self.jid = jid
    for form in info.elements where form.isNamed("x", Namespace.dataForms) {
      let fields = form.elements.filter { $0.isNamed("field", Namespace.dataForms) }
      let value = { (name: String) in
        fields.first { $0["var"] == name }?.child("value", Namespace.dataForms)?.text
      }
      guard value("FORM_TYPE") == Namespace.upload, let size = value("max-file-size").flatMap({ Int($0) }), size > 0
      else { continue }
      maxFileSize = size
    }
  }

  /// The addresses in an answer to a question for items (XEP-0030 section 4), none of them twice.
  public static func candidates(_ items: Element) -> [JID] {
    var found: [JID] = []
    for item in items.elements where item.isNamed("item", Namespace.discoItems) && item["node"] == nil {
      guard let jid = item["jid"].flatMap({ try? JID($0) }), !found.contains(jid) else { continue }
      found.append(jid)
    }
    return found
  }
}

/// What is to be uploaded (section 5).
public struct UploadRequest: Sendable, Hashable {
  public var name: String
  /// Bytes.
  public var size: Int
  public var contentType: String

  public init(name: String, size: Int, contentType: String) {
    self.name = name
    self.size = size
    self.contentType = contentType
  }

  public var element: Element {
    Element(
      "request", Namespace.upload, [("filename", name), ("size", String(size)), ("content-type", contentType)])
  }
}

/// Where a file goes, and where it will be found (section 5).
public struct UploadSlot: Sendable, Hashable {
  public struct Header: Sendable, Hashable {
    public var name: String
    public var value: String
  }

  /// https, as all of the two.
  public var put: String
  public var get: String
  /// In the service's order; only those that the XEP allows.
  public var headers: [Header] = []

  /// Why a slot can't be used.
  public struct Fault: Error, Sendable, Hashable, CustomStringConvertible {
    public let description: String
    /// There was none.
    public static let empty = Fault(description: "the service gave no slot")
  }

  private static let allowed: Set = ["authorization", "cookie", "expires"]
  private static let longest = 8_192

  public init(_ element: Element) throws(Fault) {
    guard element.isNamed("slot", Namespace.upload), let put = element.child("put", Namespace.upload),
      let get = element.child("get", Namespace.upload)
    else { throw Fault.empty }
    self.put = try Self.address(put["url"], "put")
    self.get = try Self.address(get["url"], "get")
    for header in put.elements where header.isNamed("header", Namespace.upload) {
      // Any other is ignored; line breaks would make two of one (section 5).
      let value = header.text.filter { $0 != "\n" && $0 != "\r" && $0 != "\r\n" }
      guard let name = header["name"], Self.allowed.contains(name.lowercased()) else { continue }
      guard value.utf8.count <= Self.longest, value.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f })
      else { throw Fault(description: "the slot's header \(name) can't be sent") }
      headers.append(Header(name: name, value: value))
    }
    guard headers.count <= 16 else { throw Fault(description: "the slot has too many headers") }
  }

  /// An address of https, in characters that need no escaping (RFC 3986 section 2), with a host and without a user.
  private static func address(_ text: String?, _ kind: String) throws(Fault) -> String {
    guard let text, !text.isEmpty else { throw Fault(description: "the slot has no address for \(kind)") }
    guard text.utf8.count <= longest else { throw Fault(description: "the slot's address for \(kind) is too long") }
    let scheme = "https://"
    guard text.prefix(scheme.count).lowercased() == scheme else {
      throw Fault(description: "the slot's address for \(kind) is not https: \(text.prefix(100))")
    }
    let authority = text.dropFirst(scheme.count).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    let isPlain = text.utf8.allSatisfy { (0x21...0x7e).contains($0) && !#""<>\^`{|}"#.utf8.contains($0) }
    guard isPlain, !authority.isEmpty, !authority.hasPrefix(":"), !authority.contains("@") else {
      throw Fault(description: "the slot's address for \(kind) is no good: \(text.prefix(100))")
    }
    return text
  }
}
