import Crypto
import Testing

@testable import SASL

@Suite("Salted passwords are reused only for what they stand for")
struct SaltedPasswordTests {
  private func loggedIn() throws -> SaltedPassword {
    var client = try Transcript.rfc7677.client()
    _ = client.clientFirst()
    _ = try client.clientFinal(challenge: Array(Transcript.rfc7677.serverFirst.utf8))
    return try #require(client.saltedPassword)
  }

  @Test("the next login gives the same proof from it, without deriving anew")
  func reuse() throws {
    let kept = try loggedIn()
    var client = try Transcript.rfc7677.client(saltedPassword: kept)
    _ = client.clientFirst()
    let final = try client.clientFinal(challenge: Array(Transcript.rfc7677.serverFirst.utf8))
    #expect(String(decoding: final, as: UTF8.self) == Transcript.rfc7677.clientFinal)
    #expect(client.saltedPassword?.clientKey === kept.clientKey)
  }

  @Test("another salt, count, hash or password derives anew")
  func change() throws {
    let kept = try loggedIn()
    let password = SecretBytes("pencil".utf8)
    #expect(kept.isFor(hash: .sha256, salt: kept.salt, iterations: 4096, password: password))
    #expect(!kept.isFor(hash: .sha256, salt: kept.salt + [0], iterations: 4096, password: password))
    #expect(!kept.isFor(hash: .sha256, salt: kept.salt, iterations: 4097, password: password))
    #expect(!kept.isFor(hash: .sha512, salt: kept.salt, iterations: 4096, password: password))
    #expect(!kept.isFor(hash: .sha256, salt: kept.salt, iterations: 4096, password: SecretBytes("Pencil".utf8)))

    var client = try Transcript.rfc5802.client(saltedPassword: kept)
    _ = client.clientFirst()
    let final = try client.clientFinal(challenge: Array(Transcript.rfc5802.serverFirst.utf8))
    #expect(String(decoding: final, as: UTF8.self) == Transcript.rfc5802.clientFinal)
    #expect(client.saltedPassword?.clientKey !== kept.clientKey)
  }
}
