import Transport

extension ConnectionRequest {
  /// The request for what `see-other-host` names: `host`, `host:port`, `[v6]` or `[v6]:port` (RFC 6120 section
  /// 4.9.3.19). Nil when it names nothing.
  func redirected(to text: String) -> ConnectionRequest? {
    var port: UInt16?
    var host = text.drop { $0.isWhitespace }
    while host.last?.isWhitespace == true { host.removeLast() }
    if host.hasPrefix("[") {
      guard let end = host.firstIndex(of: "]") else { return nil }
      let rest = host[host.index(after: end)...]
      host = host[host.index(after: host.startIndex)..<end]
      if rest.hasPrefix(":") {
        guard let number = UInt16(rest.dropFirst()) else { return nil }
        port = number
      } else if !rest.isEmpty {
        return nil
      }
    } else if let colon = host.lastIndex(of: ":"), host.firstIndex(of: ":") == colon {
      guard let number = UInt16(host[host.index(after: colon)...]) else { return nil }
      port = number
      host = host[..<colon]
    }
    guard !host.isEmpty, host.utf8.count <= 255, port != 0 else { return nil }
    return ConnectionRequest(domain: domain, host: String(host), port: port, mode: mode)
  }
}
