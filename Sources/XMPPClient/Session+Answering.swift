import XML
import XMPPStanzas

/// Answers to requests, and how long a stanza may be. Whoever asks has a hand in how long an answer becomes: its id is
/// theirs, and often what it says, too. A server ends the stream over a stanza that is too long.
extension Session {
  /// Bytes of a stanza that every server takes (RFC 6120 section 13.12).
  public nonisolated static let leastStanzaLimit = 10_000

  /// Whether the server takes it, as far as is known.
  func isTaken(_ stanza: Element) -> Bool {
    stanza.byteCount(parentNamespace: Namespace.client) <= stanzaLimit ?? Self.leastStanzaLimit
  }

  /// Sends the answer to a request. One that is too long is told with an error in its place, and not at all where the error, with
  /// the request's id, would be too long as well. Whether the answer itself was sent.
  @discardableResult
  func respond(to iq: IQ, _ result: Result<Element?, StanzaError>, token: String? = nil) -> Bool {
    let answer =
      switch result {
      case .success(let payload): iq.result(payload)
      case .failure(let error): iq.refusal(error)
      }
    if isTaken(answer) { return send(answer, token: token) }
    let refusal = iq.refusal(
      StanzaError(.modify, .notAcceptable, "The answer is longer than the server takes; write to me in a chat instead.")
    )
    if isTaken(refusal) { send(refusal) }
    return false
  }
}
