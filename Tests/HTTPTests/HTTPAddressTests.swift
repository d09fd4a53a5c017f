import Glibc
import TestSupport
import Testing

@testable import HTTP

@Suite("Where HTTP may listen")
struct HTTPAddressTests {
  @Test(
    "the loopback, a Unix socket, or systemd's",
    arguments: [
      ("127.0.0.1:9797", HTTPAddress.loopback("127.0.0.1", port: 9797)),
      ("127.5.5.5:1", .loopback("127.5.5.5", port: 1)), ("[::1]:65535", .loopback("[::1]", port: 65535)),
      ("unix:/run/x/http.sock", .unix(path: "/run/x/http.sock")), ("systemd", .systemd),
    ])
  func allowed(_ text: String, _ address: HTTPAddress) throws {
    #expect(try HTTPAddress(text) == address)
    #expect(address.description == text)
  }

  @Test(
    "a network's address is refused, with what to do instead",
    arguments: [
      "0.0.0.0:80", "192.168.1.1:9797", "10.0.0.1:1", "[::]:9797", "[2001:db8::1]:80", "[::ffff:127.0.0.1]:80",
    ])
  func network(_ text: String) {
    do throws(HTTPAddress.Problem) {
      _ = try HTTPAddress(text)
      Issue.record("\(text) was taken")
    } catch {
      #expect(error.reason.contains("network") && error.remedy.contains("reverse proxy"))
    }
  }

  @Test(
    "what is no place is refused",
    arguments: [
      "", "9797", ":9797", "localhost:9797", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "127.0.0.1:x",
      "::1:80", "[::1]", "unix:", "unix:relative", "unix:/" + String(repeating: "x", count: 107), "Systemd",
    ])
  func nonsense(_ text: String) {
    #expect(throws: HTTPAddress.Problem.self) { try HTTPAddress(text) }
  }
}

@Suite("A socket that listens")
struct HTTPListenerTests {
  private let folder = TemporaryFolder()
  private var path: String { folder.file("http.sock") }

  @Test("a Unix socket is for owner and group, and its file goes when it is not needed any more")
  func file() throws {
    let listener = try HTTPListener(.unix(path: path))
    defer { close(listener.descriptor) }
    var status = stat()
    #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o660)
    listener.removeFile()
    #expect(access(path, F_OK) != 0)
  }

  /// Why nothing listens there; nil when something could.
  private func failure(_ address: HTTPAddress, passed: Int32? = nil) -> HTTPListener.Failure? {
    do throws(HTTPListener.Failure) {
      close(try HTTPListener(address, passed: passed).descriptor)
      return nil
    } catch {
      return error
    }
  }

  @Test("a socket that somebody listens on is not taken away; one that nobody listens on is replaced")
  func taken() throws {
    let first = try HTTPListener(.unix(path: path))
    #expect(failure(.unix(path: path))?.isInUse == true)
    close(first.descriptor)
    #expect(failure(.unix(path: path)) == nil)
  }

  @Test("a file that is no socket is left alone")
  func foreign() {
    writeFile(path, [1])
    #expect(failure(.unix(path: path))?.reason.contains("is no socket") == true)
    #expect(readFile(path) == [1])
  }

  @Test("a folder that is not there is named as the reason")
  func missing() {
    #expect(failure(.unix(path: folder.file("none/http.sock")))?.reason.contains("its folder does not exist") == true)
  }

  @Test("a port that is taken is said to be")
  func port() throws {
    // Whichever port is free.
    var found: HTTPListener?
    for port in UInt16(20_000)..<30_000 where found == nil {
      found = try? HTTPListener(.loopback("127.0.0.1", port: port))
    }
    let listener = try #require(found)
    defer { close(listener.descriptor) }
    let failure = failure(listener.address)
    #expect(failure?.isInUse == true)
    #expect(failure?.description.hasPrefix("[http] listen: \(listener.address): ") == true)
  }

  @Test("without a socket from systemd there is none, and the reason says what its unit needs")
  func systemd() throws {
    #expect(failure(.systemd)?.reason.contains("FileDescriptorName=http") == true)
    let passed = try HTTPListener(.unix(path: path))
    defer { close(passed.descriptor) }
    let listener = try HTTPListener(.systemd, passed: passed.descriptor)
    defer { close(listener.descriptor) }
    #expect(listener.descriptor != passed.descriptor)
  }
}
