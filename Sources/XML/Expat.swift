import CExpat

/// One expat parser, set up for XMPP, that feeds a ``TreeBuilder``.
final class Expat {
  enum Outcome {
    /// All that was given is used up, but for an unfinished token.
    case drained
    /// The builder has events; ``resume()`` goes on.
    case suspended
    case failed(XMLStreamError)
  }

  /// Nil when there was no memory for it; expat's functions accept that, and parsing fails.
  private let parser: XML_Parser?
  private(set) var builder: TreeBuilder
  private var failure: XMLStreamError?

  /// - Parameter header: a stream header that was parsed before; it is parsed again in silence, so that what follows
  ///   finds the stream open.
  init(_ builder: TreeBuilder, header: [UInt8] = []) {
    self.builder = builder
    // The encoding is not up to the peer (RFC 6120, section 11.6).
    parser = XML_ParserCreateNS("UTF-8", XML_Char(NameCache.separator))
    // Else a short stanza would wait for the next one. StreamParser sees to it that this costs nothing.
    XML_SetReparseDeferralEnabled(parser, XML_Bool(XML_FALSE))
    // There are no entities to expand; should that ever fail, expat's own limits hold. It salts its hash tables itself.
    XML_SetParamEntityParsing(parser, XML_PARAM_ENTITY_PARSING_NEVER)
    XML_SetBillionLaughsAttackProtectionMaximumAmplification(parser, 2)
    XML_SetBillionLaughsAttackProtectionActivationThreshold(parser, 1 << 16)
    if !header.isEmpty { _ = header.withUnsafeBufferPointer(parse) }
    install()
  }

  deinit { XML_ParserFree(parser) }

  func parse(_ bytes: UnsafeBufferPointer<UInt8>) -> Outcome {
    let start = UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
    return outcome(XML_Parse(parser, start, CInt(bytes.count), CInt(XML_FALSE)))
  }

  func resume() -> Outcome { outcome(XML_ResumeParser(parser)) }

  func nextEvent() -> StreamEvent? { builder.nextEvent() }

  /// Where expat stands, in bytes that it was given: behind all of them, or at the start of an unfinished token.
  var position: Int { max(0, Int(XML_GetCurrentByteIndex(parser))) }

  private func outcome(_ status: XML_Status) -> Outcome {
    switch status {
    case XML_STATUS_OK: .drained
    case XML_STATUS_SUSPENDED: .suspended
    default: .failed(failure ?? XMLStreamError(XML_GetErrorCode(parser), at: position))
    }
  }

  private var token: TreeBuilder.Token {
    let start = position
    return TreeBuilder.Token(start: start, end: start + Int(XML_GetCurrentByteCount(parser)))
  }

  /// Expat may call a few handlers more after it was told to stop; those are not listened to once it failed.
  private func handle(_ report: (inout TreeBuilder, TreeBuilder.Token) -> TreeBuilder.Verdict) {
    if failure != nil { return }
    switch report(&builder, token) {
    case .goOn: break
    case .deliver: XML_StopParser(parser, XML_Bool(XML_TRUE))
    case .refuse(let error):
      failure = error
      XML_StopParser(parser, XML_Bool(XML_FALSE))
    }
  }

  private func refuse(_ error: XMLStreamError) { handle { _, _ in .refuse(error) } }

  private func install() {
    // The handlers run only inside parse and resume, which self outlives.
    XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
    XML_SetElementHandler(
      parser,
      { user, name, attributes in
        guard let name, let attributes else { return }
        Expat.from(user)?.handle { $0.start(name, attributes, $1) }
      },
      { user, _ in Expat.from(user)?.handle { $0.end($1) } })
    XML_SetCharacterDataHandler(parser) { user, text, count in
      let start = UnsafeRawPointer(text)?.assumingMemoryBound(to: UInt8.self)
      Expat.from(user)?.handle { $0.characters(UnsafeBufferPointer(start: start, count: Int(count)), $1) }
    }
    XML_SetStartNamespaceDeclHandler(parser) { user, prefix, namespace in
      Expat.from(user)?.handle { builder, _ in builder.declare(prefix: prefix, namespace: namespace) }
    }
    installRefusals()
  }

  /// What RFC 6120, section 11 does not let on a stream.
  private func installRefusals() {
    XML_SetCommentHandler(parser) { user, _ in Expat.from(user)?.refuse(.restrictedXML("a comment")) }
    XML_SetProcessingInstructionHandler(parser) { user, _, _ in
      Expat.from(user)?.refuse(.restrictedXML("a processing instruction"))
    }
    XML_SetStartDoctypeDeclHandler(parser) { user, _, _, _, _ in
      Expat.from(user)?.refuse(.restrictedXML("a document type declaration"))
    }
    XML_SetSkippedEntityHandler(parser) { user, _, _ in Expat.from(user)?.refuse(.restrictedXML("an entity")) }
    XML_SetXmlDeclHandler(parser) { user, version, encoding, _ in
      if let encoding, String(cString: encoding).lowercased() != "utf-8" {
        Expat.from(user)?.refuse(.unsupportedEncoding("the XML declaration names an encoding other than UTF-8"))
      } else if let version, String(cString: version) != "1.0" {
        Expat.from(user)?.refuse(.notWellFormed("the XML declaration names a version other than 1.0"))
      }
    }
  }

  private static func from(_ user: UnsafeMutableRawPointer?) -> Expat? {
    user.map { Unmanaged<Expat>.fromOpaque($0).takeUnretainedValue() }
  }
}
