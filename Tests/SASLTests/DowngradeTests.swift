import Crypto
import Testing

@testable import SASL

@Suite("XEP-0474: a shortened list of mechanisms or bindings is noticed")
struct DowngradeTests {
  private let binding = ChannelBinding.bound(.tlsExporter, data: Array("THIS IS FAKE CB DATA".utf8))
  private let mechanisms = ["SCRAM-SHA-1-PLUS", "SCRAM-SHA-1"]
  private let bindings = ["tls-server-end-point", "tls-exporter"]
  private let challenge =
    "r=12C4CD5C-E38E-4A98-8F6D-15C38F51CCC6a09117a6-ac50-4f2f-93f1-93799c2bddf6,s=QSXCR+Q6sek8bf92,i=4096"
  private let hash = ",h=G6k/rBLDqgOhRRaCuuatSDFkJ08="

  private func client(
    offered: [String], bindings: [String]?, requiresProof: Bool = false, weakerThan: MechanismFloor? = nil
  ) throws -> SCRAMClient {
    var client = try SCRAMClient(
      choice: MechanismChoice(
        mechanism: .scramSHA1Plus, binding: binding, requiresDowngradeProof: requiresProof, weakerThan: weakerThan,
        offered: offered, offeredBindings: bindings),
      username: "user", password: SecretBytes("pencil".utf8), nonce: "12C4CD5C-E38E-4A98-8F6D-15C38F51CCC6")
    _ = client.clientFirst()
    return client
  }

  @Test("the hash of the example in XEP-0474 section 5.3, whatever the order of the lists")
  func example() throws {
    #expect(
      DowngradeHash.compute(mechanisms: mechanisms, bindings: bindings, using: .sha1) == "G6k/rBLDqgOhRRaCuuatSDFkJ08=")
    var client = try client(offered: mechanisms, bindings: bindings, requiresProof: true)
    let final = try client.clientFinal(challenge: Array((challenge + hash).utf8))
    // The XEP's client adds an extension, so its proof differs; this one is from Python.
    #expect(
      String(decoding: final, as: UTF8.self)
        == "c=cD10bHMtZXhwb3J0ZXIsLFRISVMgSVMgRkFLRSBDQiBEQVRB,"
        + "r=12C4CD5C-E38E-4A98-8F6D-15C38F51CCC6a09117a6-ac50-4f2f-93f1-93799c2bddf6,p=NWgTsQJvWgbXKxbqd3P4BNurjkU=")
    try client.finish(serverFinal: Array("v=EMsYR2n9LecK8qm5xR19xuvM1jw=".utf8))
  }

  @Test(
    "any difference ends the login",
    arguments: [
      (["SCRAM-SHA-1-PLUS"], ["tls-server-end-point", "tls-exporter"]),
      (["SCRAM-SHA-1-PLUS", "SCRAM-SHA-1", "PLAIN"], ["tls-server-end-point", "tls-exporter"]),
      (["SCRAM-SHA-1-PLUS", "SCRAM-SHA-1"], ["tls-exporter"]),
      (["SCRAM-SHA-1-PLUS", "SCRAM-SHA-1"], ["tls-exporter", "tls-server-end-point", "tls-unique"]),
      (["SCRAM-SHA-1-PLUS", "SCRAM-SHA-1"], nil),
    ] as [([String], [String]?)])
  func difference(offered: [String], bindings: [String]?) throws {
    var client = try client(offered: offered, bindings: bindings)
    #expect(throws: SASLFailure.downgraded) { try client.clientFinal(challenge: Array((challenge + hash).utf8)) }
  }

  @Test("names cannot be glued together to give the same hash")
  func delimiters() {
    let honest = DowngradeHash.compute(mechanisms: ["A", "B"], bindings: ["C"], using: .sha256)
    #expect(honest != DowngradeHash.compute(mechanisms: ["A,B"], bindings: ["C"], using: .sha256))
    #expect(honest != DowngradeHash.compute(mechanisms: ["A", "B", "C"], bindings: nil, using: .sha256))
    #expect(honest != DowngradeHash.compute(mechanisms: ["A", "B", "C"], bindings: [], using: .sha256))
  }

  @Test("without the hash the login goes on, unless it was to prove something")
  func noHash() throws {
    var trusting = try client(offered: mechanisms, bindings: bindings)
    #expect(throws: Never.self) { try trusting.clientFinal(challenge: Array(challenge.utf8)) }

    let floor = MechanismFloor(mechanism: .scramSHA512Plus, binding: .tlsExporter)
    var demanding = try client(offered: mechanisms, bindings: bindings, weakerThan: floor)
    #expect(throws: SASLFailure.weakerThanBefore(floor, offered: mechanisms)) {
      try demanding.clientFinal(challenge: Array(challenge.utf8))
    }
  }
}
