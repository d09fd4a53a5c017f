import EventLoop
import Glibc
import Testing
import Upload
import XMPPTesting

@testable import BotKit

/// The real program, as far as it gets without a server; the rest is in the system tests.
@Suite("The program that uploads", .serialized)
struct UploadProcessTests {
  let folder = Folder()

  private func put(
    _ order: UploadOrder, program: String? = UploadProcess.program
  ) async throws -> Result<Void, UploadProcess.Failure> {
    LoopThread.start()
    let file = open(folder.write("file", "0123456789"), O_RDONLY | O_CLOEXEC)
    defer { close(file) }
    return await withCheckedContinuation { continuation in
      EventLoop.main.post {
        let process = Box<UploadProcess?>(nil)
        do throws(UploadProcess.Failure) {
          process.value = try UploadProcess(order, file: file, program: program) { result in
            EventLoop.main.post {
              process.value = nil
              continuation.resume(returning: result)
            }
          }
        } catch {
          continuation.resume(returning: .failure(error))
        }
      }
    }
  }

  private func reason(_ order: UploadOrder, program: String? = UploadProcess.program) async throws -> String? {
    if case .failure(let failure) = try await put(order, program: program) { failure.description } else { nil }
  }

  @Test("nothing but https is spoken, whatever the daemon says", arguments: ["http", "file", "ftp", "gopher", "scp"])
  func schemes(_ scheme: String) async throws {
    let order = UploadOrder(url: "\(scheme)://127.0.0.1:9/x", contentType: "text/plain", size: 10, seconds: 5)
    #expect(try await reason(order) == "the upload's address is not https")
  }

  @Test("who is not there is named as the reason")
  func refused() async throws {
    let order = UploadOrder(url: "https://127.0.0.1:9/x", contentType: "text/plain", size: 10, seconds: 5)
    #expect(try await reason(order)?.hasPrefix("the upload failed: ") == true)
  }

  @Test("a line break in what is passed on is refused, so that nobody writes a header of ours")
  func lineBreaks() async throws {
    let order = UploadOrder(
      url: "https://127.0.0.1:9/x", headers: ["Cookie: a\nca-file /tmp/evil"], contentType: "text/plain", size: 10,
      seconds: 5)
    #expect(try await reason(order) == "the upload's address can't be passed on")
  }

  @Test("a program that is not there, can't run or says what ails it is a reason")
  func missing() async throws {
    let order = UploadOrder(url: "https://127.0.0.1:9/x", contentType: "text/plain", size: 10, seconds: 5)
    #expect(try await reason(order, program: nil)?.contains("install it") == true)
    #expect(try await reason(order, program: "/nonexistent")?.contains("can't be started") == true)
    let broken = folder.write("broken", "#!/bin/sh\necho 'libcurl.so.4 is missing' >&2; exit 127\n")
    #expect(try await reason(order, program: broken) == "libcurl.so.4 is missing")
  }

  @Test("a file arrives as it is, with the headers that the server wants")
  func arrives() async throws {
    LoopThread.start()
    let server = try await UploadServer.start()
    let order = UploadOrder(
      url: "https://localhost:\(server.port)/ok", headers: ["Authorization: Basic abc", "Cookie: a=b"],
      contentType: "text/plain; charset=utf-8", size: 10, caFile: server.caFile, seconds: 20)
    #expect(try await reason(order) == nil)
    #expect(server.contents("received") == "0123456789")
    let headers = server.contents("headers")
    for line in ["PUT /ok", "Authorization: Basic abc", "Cookie: a=b", "Content-Type: text/plain; charset=utf-8"] {
      #expect(headers.contains(line + "\n"), "\(headers)")
    }
    await server.stop()
  }

  @Test("of a file that grew only what was announced is sent; one that shrank is an error")
  func sizes() async throws {
    LoopThread.start()
    let server = try await UploadServer.start()
    var order = UploadOrder(
      url: "https://localhost:\(server.port)/ok", contentType: "text/plain", size: 4, caFile: server.caFile,
      seconds: 20)
    #expect(try await reason(order) == nil)
    #expect(server.contents("received") == "0123")
    order.size = 11
    #expect(try await reason(order) == "the file could not be read")
    await server.stop()
  }

  @Test("what a hostile or broken server does is a reason, and nothing is followed")
  func hostileServer() async throws {
    LoopThread.start()
    let server = try await UploadServer.start()
    let port = server.port
    let cases: [(path: String, reason: String)] = [
      ("localhost:\(port)/redirect", "the upload server redirects (HTTP 307), which is not followed"),
      ("localhost:\(port)/huge-header", "the upload server's answer is too long"),
      ("localhost:\(port)/huge-body", "the upload server's answer is too long"),
      ("localhost:\(port)/413", "the upload server finds the file too large (HTTP 413)"),
      ("localhost:\(port)/500", "the upload server answered HTTP 500"),
      ("localhost:\(port)/hang", "the upload took too long"),
      ("127.0.0.1:\(port)/ok", "certificate is not to be trusted"),
    ]
    for (path, expected) in cases {
      let order = UploadOrder(
        url: "https://" + path, contentType: "text/plain", size: 10, caFile: server.caFile,
        seconds: path.hasSuffix("hang") ? 1 : 20)
      let reason = try await reason(order)
      #expect(reason?.contains(expected) == true, "\(path): \(reason ?? "no reason")")
    }
    let stranger = UploadOrder(
      url: "https://localhost:\(port)/ok", contentType: "text/plain", size: 10, seconds: 20)
    #expect(try await reason(stranger)?.contains("certificate is not to be trusted") == true)
    #expect(server.contents("received") == "")
    await server.stop()
  }

  @Test("the program gets the order and the file, and nothing of them stands in its arguments or environment")
  func passing() async throws {
    let order = UploadOrder(
      url: "https://example.org/secret", headers: ["Authorization: Basic secret"], contentType: "text/plain", size: 10,
      caFile: "/etc/ca.pem", seconds: 5)
    let report = folder.path + "/report"
    let spy = folder.write(
      "spy",
      """
      #!/bin/bash
      { while IFS= read -r line <&3 && [ -n "$line" ]; do echo "$line"; done; echo "[$*] [$(env | grep -c secret)]"; cat; } 3<&1 >\(report)
      """)
    guard case .success = try await put(order, program: spy) else { return #expect(Bool(false), "it failed") }
    let file = open(report, O_RDONLY)
    defer { close(file) }
    let text = String(
      decoding: [UInt8](unsafeUninitializedCapacity: 4096) { $1 = max(0, read(file, $0.baseAddress, 4096)) },
      as: UTF8.self)
    #expect(text == (order.text ?? "").dropLast() + "[] [0]\n0123456789")
    #expect(UploadOrder(order.text ?? "") == order)
  }
}
