import EventLoop
import JID
import XML
import XMPPStanzas

/// Why there is no place for a file on the server.
public enum UploadRefusal: Error, Sendable, Hashable {
  /// The server has no service for files.
  case noService
  /// The service takes files of so many bytes at most.
  case tooLarge(limit: Int?)
  case refused(StanzaError)
  /// What the service gave can't be used.
  case unusable(UploadSlot.Fault)
}

/// XEP-0363: places for files. The service is looked for when the first file comes.
extension Session {
  /// More items of a server than this are not asked what they are.
  private static let mostItems = 20

  /// Asks for a place for a file.
  public func requestSlot(
    _ request: UploadRequest, completion: @escaping @LoopActor (Result<UploadSlot, UploadRefusal>) -> Void
  ) {
    if let uploadService { return requestSlot(request, of: uploadService, completion) }
    findUploadService { [weak self] result in
      guard let self else { return }
      switch result {
      case .success(let service):
        uploadService = service
        requestSlot(request, of: service, completion)
      case .failure(let refusal): completion(.failure(refusal))
      }
    }
  }

  private func requestSlot(
    _ request: UploadRequest, of service: UploadService,
    _ completion: @escaping @LoopActor (Result<UploadSlot, UploadRefusal>) -> Void
  ) {
    if let limit = service.maxFileSize, request.size > limit { return completion(.failure(.tooLarge(limit: limit))) }
    self.request(.get, to: service.jid, request.element) { result in
      switch result {
      case .success(let iq):
        do throws(UploadSlot.Fault) {
          guard let payload = iq.payload else { throw UploadSlot.Fault.empty }
          completion(.success(try UploadSlot(payload)))
        } catch {
          completion(.failure(.unusable(error)))
        }
      case .failure(let error) where error.condition == .notAcceptable:
        completion(.failure(.tooLarge(limit: nil)))
      case .failure(let error): completion(.failure(.refused(error)))
      }
    }
  }

  /// The server itself, or one of its items; the first of them that takes files.
  private func findUploadService(
    _ completion: @escaping @LoopActor (Result<UploadService, UploadRefusal>) -> Void
  ) {
    let server = options.account.server
    request(.get, to: server, Element("query", Namespace.discoItems)) { [weak self] result in
      guard let self else { return }
      switch result {
      case .failure(let error) where error.condition == .recipientUnavailable:
        return completion(.failure(.refused(error)))
      case .failure: ask([server], completion)
      case .success(let iq):
        let items = iq.payload.map(UploadService.candidates) ?? []
        ask([server] + items.filter { $0 != server }.prefix(Self.mostItems), completion)
      }
    }
  }

  private func ask(
    _ candidates: [JID], _ completion: @escaping @LoopActor (Result<UploadService, UploadRefusal>) -> Void
  ) {
    var found = [UploadService?](repeating: nil, count: candidates.count)
    var awaited = candidates.count
    for (index, candidate) in candidates.enumerated() {
      request(.get, to: candidate, DiscoInfo.request()) { result in
        if case .success(let iq) = result { found[index] = iq.payload.flatMap { UploadService(candidate, info: $0) } }
        awaited -= 1
        guard awaited == 0 else { return }
        let service = found.compactMap { $0 }.first
        completion(service.map { .success($0) } ?? .failure(.noService))
      }
    }
  }
}
