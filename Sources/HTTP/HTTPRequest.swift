/// A request before its body is there. Looking at it costs nothing that its sender could waste.
public struct HTTPHead: Sendable, Hashable {
  /// In capitals, as it came: `GET`.
  public var method: String
  /// Without the query, with escapes undone.
  public var path: String
  public var headers: [Header: String] = [:]
  /// The arguments of the query that are asked for anywhere here.
  public var arguments: [Argument: String] = [:]

  public init(_ method: String, _ path: String) {
    self.method = method
    self.path = path
  }

  /// The header fields that matter here; others are not looked at. Of a field that comes twice the first counts.
  public enum Header: String, Sendable, Hashable, CaseIterable {
    case authorization = "Authorization"
    case contentType = "Content-Type"
    case contentLength = "Content-Length"
    case gitlabToken = "X-Gitlab-Token"
    case gitlabEvent = "X-Gitlab-Event"
    case githubEvent = "X-GitHub-Event"
    case hubSignature = "X-Hub-Signature-256"
  }

  public enum Argument: String, Sendable, Hashable, CaseIterable {
    case to
  }

  /// The media type without its parameters, in small letters (RFC 9110 section 8.3.1); nil: none is given.
  public var mediaType: String? {
    headers[.contentType].map { String($0.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }).lowercased() }
  }
}

/// A whole request.
public struct HTTPRequest: Sendable, Hashable {
  public var head: HTTPHead
  public var body: [UInt8]

  public init(_ head: HTTPHead, body: [UInt8] = []) {
    self.head = head
    self.body = body
  }
}
