import JID
import XML

/// XEP-0313 (1.1.3), section 4: asks an archive for a page of what it holds. A request of type `set` to the archive.
public struct ArchiveQuery: Sendable, Hashable {
  /// Each result carries it, so that nobody else can slip one in.
  public var queryID: String
  /// Only messages from or to this address.
  public var with: JID?
  /// Only messages from this time on: microseconds since 1970, UTC; asked for in whole seconds.
  public var start: Int64?
  public var page: ResultSet

  public init(queryID: String, with: JID? = nil, start: Int64? = nil, page: ResultSet) {
    self.queryID = queryID
    self.with = with
    self.start = start
    self.page = page
  }

  public var element: Element {
    var query = Element("query", Namespace.archive, [("queryid", queryID)])
    var fields: [Element] = []
    if let with { fields.append(Self.field("with", with.description)) }
    if let start { fields.append(Self.field("start", Timestamp.format(start, wholeSeconds: true))) }
    // Without a filter no form is needed (section 4.1).
    if !fields.isEmpty {
      let type = Self.field("FORM_TYPE", Namespace.archive, [("type", "hidden")])
      query.append(Element("x", Namespace.dataForms, [("type", "submit")], [type] + fields))
    }
    query.append(page.element)
    return query
  }

  private static func field(_ name: String, _ value: String, _ attributes: [(String, String?)] = []) -> Element {
    Element(
      "field", Namespace.dataForms, [("var", name)] + attributes,
      [Element("value", Namespace.dataForms, text: value)])
  }
}

/// XEP-0313, section 4.2: one message that an archive holds.
public struct ArchiveResult: Sendable {
  /// The archive's id of the message, which is also its XEP-0359 id.
  public var id: String
  public var queryID: String?
  public var forwarded: Forwarded

  /// Reads a `<result/>`.
  /// - Throws: when it has no id, or no message can be read in it (the server may have removed it, section 3.2).
  public init(_ element: Element) throws(StanzaFault) {
    guard element.isNamed("result", Namespace.archive) else { throw StanzaFault("<\(element.name)/> is no result") }
    guard let id = element["id"], !id.isEmpty else { throw StanzaFault("an archive's <result/> without an id") }
    self.id = id
    queryID = element["queryid"]
    forwarded = try Forwarded(in: element)
  }
}

/// XEP-0313, section 4: the end of a page.
public struct ArchiveFin: Sendable, Hashable {
  /// Nothing that was asked for comes after this page.
  public var isComplete: Bool
  /// False when the archive may yet change what it said.
  public var isStable: Bool
  public var page: ResultSet

  public init(isComplete: Bool, isStable: Bool = true, page: ResultSet) {
    self.isComplete = isComplete
    self.isStable = isStable
    self.page = page
  }

  public init?(_ element: Element) {
    guard element.isNamed("fin", Namespace.archive) else { return nil }
    isComplete = Self.isTrue(element["complete"]) ?? false
    isStable = Self.isTrue(element["stable"]) ?? true
    page = element.child("set", Namespace.resultSet).flatMap(ResultSet.init) ?? ResultSet()
  }

  /// The page's end in the answer to a query.
  /// - Throws: the error that was answered, or `undefined-condition` when the answer says nothing.
  public init(answer: Result<IQ, StanzaError>) throws(StanzaError) {
    guard let fin = try answer.get().payload.flatMap(ArchiveFin.init) else {
      throw StanzaError(.cancel, .undefinedCondition, "the answer has no <fin/>")
    }
    self = fin
  }

  /// An `xs:boolean`; nil when it is none.
  private static func isTrue(_ text: String?) -> Bool? {
    switch text {
    case "true", "1": true
    case "false", "0": false
    default: nil
    }
  }
}
