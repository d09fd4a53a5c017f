/// What the daemon tells the program xmppbotd-upload: where the bytes go that it finds on its standard input. Written as lines
/// `key value`, and an empty line; never as arguments, which everybody on the machine can read.
public struct UploadOrder: Sendable, Hashable {
  /// https.
  public var url: String
  /// `Name: value`, as they go into the request.
  public var headers: [String]
  public var contentType: String
  /// Bytes.
  public var size: Int
  /// Certificates of private authorities, besides the system's.
  public var caFile: String?
  /// How long all of it may take, in seconds.
  public var seconds: Int

  public init(
    url: String, headers: [String] = [], contentType: String, size: Int, caFile: String? = nil, seconds: Int
  ) {
    self.url = url
    self.headers = headers
    self.contentType = contentType
    self.size = size
    self.caFile = caFile
    self.seconds = seconds
  }

  /// Nil when a value has a line break or a NUL in it.
  public var text: String? {
    var lines = ["url \(url)", "type \(contentType)", "size \(size)", "seconds \(seconds)"]
    lines += headers.map { "header \($0)" }
    if let caFile { lines.append("ca-file \(caFile)") }
    guard lines.allSatisfy({ !$0.utf8.contains(where: { $0 == 0x0a || $0 == 0x0d || $0 == 0 }) }) else { return nil }
    return lines.joined(separator: "\n") + "\n\n"
  }

  /// Reads `text` up to its empty line; nil when something is missing, wrong or unknown.
  public init?(_ text: String) {
    self.init(url: "", contentType: "application/octet-stream", size: -1, seconds: 0)
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.isEmpty { break }
      guard let space = line.firstIndex(of: " ") else { return nil }
      let value = String(line[line.index(after: space)...])
      switch line[..<space] {
      case "url": url = value
      case "type": contentType = value
      case "size": size = Int(value) ?? -1
      case "seconds": seconds = Int(value) ?? 0
      case "header": headers.append(value)
      case "ca-file": caFile = value
      default: return nil
      }
    }
    guard !url.isEmpty, size >= 0, seconds > 0 else { return nil }
  }
}
