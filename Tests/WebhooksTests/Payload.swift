import Glibc
import HTTP
import Testing

@testable import Webhooks

/// A body as the product sends it, from the folder Payloads.
func payload(_ name: String) throws -> [UInt8] {
  let folder = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
  let stream = try #require(fopen("\(folder)/Payloads/\(name).json", "r"), "\(name)")
  defer { fclose(stream) }
  var bytes: [UInt8] = []
  while case let byte = fgetc(stream), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
  return bytes
}

/// What a template makes of such a body; nil: nothing to tell.
func message(_ template: HookTemplate, _ name: String, _ headers: [HTTPHead.Header: String] = [:]) throws -> String? {
  var head = HTTPHead("POST", "/hook/x")
  head.headers = headers
  return try template.render(HTTPRequest(head, body: try payload(name))).text
}
