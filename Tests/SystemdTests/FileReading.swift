import Glibc
import Testing

/// The whole text of a file.
func text(of path: String) throws -> String {
  let stream = try #require(fopen(path, "r"), "\(path) cannot be opened")
  defer { fclose(stream) }
  var bytes: [UInt8] = []
  var buffer = [UInt8](repeating: 0, count: 4096)
  while case let count = fread(&buffer, 1, buffer.count, stream), count > 0 { bytes += buffer[..<count] }
  return String(decoding: bytes, as: UTF8.self)
}
