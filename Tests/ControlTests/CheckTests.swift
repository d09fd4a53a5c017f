import JID
import SASL
import Testing
import XML
import XMPPStanzas

@testable import Control
@testable import XMPPStream

@Suite("What check says of a server")
struct CheckTests {
  private func features(_ children: [Element]) -> StreamFeatures {
    StreamFeatures(Element("features", Namespace.stream, [], children))
  }

  private func mechanisms(_ names: [String]) -> StreamFeatures {
    features([
      Element("mechanisms", Namespace.sasl, [], names.map { Element("mechanism", Namespace.sasl, text: $0) })
    ])
  }

  @Test("a server that has all of it earns no warning")
  func complete() throws {
    let abilities = ServerAbilities(
      loginFeatures: mechanisms(["PLAIN", "SCRAM-SHA-256-PLUS"]),
      features: features([Element("sm", Namespace.streamManagement)]),
      login: MechanismFloor(mechanism: .scramSHA256Plus, binding: .tlsExporter),
      discovered: [Namespace.archive, Namespace.carbons], hasPEP: true,
      upload: UploadService(jid: try JID("upload.example.org"), maxFileSize: 10_000))
    #expect(abilities.lines.filter { $0.warning != nil } == [])
    #expect(
      abilities.lines.map(\.text) == [
        "ok  mechanism         by SCRAM-SHA-256-PLUS tls-exporter; the server offers PLAIN, SCRAM-SHA-256-PLUS",
        "ok  resumption        XEP-0198", "ok  archive on server XEP-0313", "ok  carbons           XEP-0280",
        "ok  profile           XEP-0163", "ok  files             XEP-0363 by upload.example.org, 10000 bytes at most",
      ])
  }

  @Test("what is missing is named with what is lost by it and with the remedy")
  func bare() {
    let abilities = ServerAbilities(
      loginFeatures: mechanisms(["PLAIN"]), features: features([]),
      login: MechanismFloor(mechanism: .plain, binding: nil))
    #expect(abilities.lines.allSatisfy { $0.text.hasPrefix("!!  ") })
    for (line, remedy) in zip(
      abilities.lines, ["SCRAM", "mod_smacks", "mod_mam", "mod_carbons", "mod_pep", "mod_http_file_share"])
    {
      #expect(line.warning?.contains(remedy) == true, "\(line.text)")
    }
  }

  @Test("a login that is not bound to the connection is a warning")
  func unbound() {
    let abilities = ServerAbilities(
      loginFeatures: nil, features: features([]), login: MechanismFloor(mechanism: .scramSHA256, binding: nil))
    #expect(abilities.lines.first?.warning?.contains("-PLUS") == true)
  }

  @Test("it is none where the server's key is pinned: nobody else's certificate passes")
  func unboundButPinned() {
    let abilities = ServerAbilities(
      loginFeatures: nil, features: features([]), login: MechanismFloor(mechanism: .scramSHA256, binding: nil),
      isPinned: true)
    #expect(abilities.lines.first?.warning == nil)
  }

  @Test("a certificate that ends within two weeks is a warning", arguments: [(13, true), (14, false), (90, false)])
  func certificate(days: Int64, warns: Bool) {
    let line = CertificateAge.line(subject: "CN=example.org", key: "sha256:x", end: days * 86_400 + 1, now: 0)
    #expect((line.warning != nil) == warns)
    #expect(line.found.contains("(\(days) days)"))
  }

  @Test("what a server calls itself can't move the cursor")
  func safe() {
    #expect(!CheckLine("server", "evil\u{1b}[2J").text.contains("\u{1b}"))
  }
}
