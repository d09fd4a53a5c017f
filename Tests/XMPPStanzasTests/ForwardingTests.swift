import JID
import Testing
import XML
import XMPPStanzas

/// What Prosody 0.12 and ejabberd 23.01 send, with other names.
@Suite("Carbons and archives")
struct ForwardingTests {
  private func wrapped(_ xml: String) throws -> Element {
    switch try message(xml).wrapper {
    case .carbon(let element), .archiveResult(let element): element
    case .publishEvent, nil: throw NotWrapped()
    }
  }

  private struct NotWrapped: Error {}

  // MARK: - Carbons

  @Test("a carbon of Prosody's tells direction and message, and the archive's id of it")
  func prosodyCarbon() throws {
    let carbon = try Carbon(
      wrapped(
        """
        <message to='bot@example.org/r' from='bot@example.org' type='chat'><sent xmlns='urn:xmpp:carbons:2'>\
        <forwarded xmlns='urn:xmpp:forward:0'><message from='bot@example.org/phone' xmlns='jabber:client' \
        to='alice@example.org' id='p1' type='chat' xml:lang='en'><body>by hand</body><origin-id xmlns='urn:xmpp:sid:0' \
        id='p1'/><stanza-id id='fAarCya9n8IAMcZiLr67BspZ' by='bot@example.org' xmlns='urn:xmpp:sid:0'/></message>\
        </forwarded></sent></message>
        """))
    #expect(carbon.direction == .sent)
    let message = carbon.forwarded.message
    #expect(try message.from == JID("bot@example.org/phone"))
    #expect(message.body == "by hand" && message.id == "p1" && message.originID == "p1" && message.lang == "en")
    #expect(message.stanzaIDs == [StanzaID(id: "fAarCya9n8IAMcZiLr67BspZ", by: "bot@example.org")])
    #expect(carbon.forwarded.element["id"] == "p1" && carbon.forwarded.delay == nil)
  }

  @Test("a carbon of ejabberd's is read in the same way")
  func ejabberdCarbon() throws {
    let carbon = try Carbon(
      wrapped(
        """
        <message to='bot@example.org/r' from='bot@example.org' type='chat'><received xmlns='urn:xmpp:carbons:2'>\
        <forwarded xmlns='urn:xmpp:forward:0'><message xml:lang='en' to='bot@example.org/phone' \
        from='alice@example.org/a' type='chat' id='a2' xmlns='jabber:client'><archived by='bot@example.org' \
        id='1796037868243918' xmlns='urn:xmpp:mam:tmp'/><stanza-id by='bot@example.org' id='1796037868243918' \
        xmlns='urn:xmpp:sid:0'/><body>two</body></message></forwarded></received></message>
        """))
    #expect(carbon.direction == .received && carbon.forwarded.message.body == "two")
    #expect(carbon.forwarded.message.stanzaIDs == [StanzaID(id: "1796037868243918", by: "bot@example.org")])
  }

  @Test("carbons are asked for with one element")
  func enable() {
    #expect(Carbon.enable.xml == "<enable xmlns='urn:xmpp:carbons:2'/>")
  }

  @Test(
    "a carbon in which no message can be read is none, and ends nothing",
    arguments: [
      "", "<forwarded xmlns='urn:xmpp:forward:0'/>", "<forwarded xmlns='other'><message/></forwarded>",
      "<forwarded xmlns='urn:xmpp:forward:0'><message xmlns='other'/></forwarded>",
      "<forwarded xmlns='urn:xmpp:forward:0'><presence xmlns='jabber:client'/></forwarded>",
      "<forwarded xmlns='urn:xmpp:forward:0'><message xmlns='jabber:client' from='@'/></forwarded>",
      "<message xmlns='jabber:client'><body>x</body></message>",
    ])
  func emptyCarbon(_ xml: String) throws {
    let element = try wrapped("<message><sent xmlns='urn:xmpp:carbons:2'>\(xml)</sent></message>")
    #expect(throws: StanzaFault.self) { try Carbon(element) }
  }

  @Test("of a message in a message in a message only the outer one is read, however deep it goes")
  func nesting() throws {
    let open =
      "<received xmlns='urn:xmpp:carbons:2'><forwarded xmlns='urn:xmpp:forward:0'><message xmlns='jabber:client'>"
    let close = "</message></forwarded></received>"
    let carbon = try Carbon(
      wrapped(
        "<message>" + String(repeating: open, count: 19) + "<body>deep</body>" + String(repeating: close, count: 19)
          + "</message>"))
    #expect(carbon.forwarded.message.body == nil)
    guard case .carbon? = carbon.forwarded.message.wrapper else { throw NotWrapped() }
  }

  // MARK: - Archives

  @Test("a result of Prosody's tells id, query, time and message")
  func prosodyResult() throws {
    let result = try ArchiveResult(
      wrapped(
        """
        <message to='bot@example.org/r'><result id='b4VzrAQtCqIxYKKZlg4qDNm0' queryid='q2' xmlns='urn:xmpp:mam:2'>\
        <forwarded xmlns='urn:xmpp:forward:0'><delay stamp='2026-11-30T11:24:24Z' xmlns='urn:xmpp:delay'/>\
        <message from='alice@example.org/a' xmlns='jabber:client' to='bot@example.org/phone' id='a2' type='chat' \
        xml:lang='en'><body>two</body></message></forwarded></result></message>
        """))
    #expect(result.id == "b4VzrAQtCqIxYKKZlg4qDNm0" && result.queryID == "q2")
    #expect(result.forwarded.delay?.stamp == Timestamp.parse("2026-11-30T11:24:24Z"))
    #expect(result.forwarded.message.body == "two" && result.forwarded.message.delay == nil)
  }

  @Test("a result of ejabberd's tells the time behind the message")
  func ejabberdResult() throws {
    let result = try ArchiveResult(
      wrapped(
        """
        <message to='bot@example.org/r' from='bot@example.org'><result id='1796037868223383' queryid='q1' \
        xmlns='urn:xmpp:mam:2'><forwarded xmlns='urn:xmpp:forward:0'><message xml:lang='en' to='alice@example.org' \
        from='bot@example.org/r' type='chat' id='r1' xmlns='jabber:client'><archived by='bot@example.org' \
        id='1796037868223383' xmlns='urn:xmpp:mam:tmp'/><stanza-id by='bot@example.org' id='1796037868223383' \
        xmlns='urn:xmpp:sid:0'/><origin-id xmlns='urn:xmpp:sid:0' id='r1'/><body>answer</body></message>\
        <delay from='example.org' stamp='2026-11-30T11:24:28.223383Z' xmlns='urn:xmpp:delay'/></forwarded></result></message>
        """))
    #expect(result.id == "1796037868223383" && result.queryID == "q1")
    #expect(result.forwarded.delay?.stamp == Timestamp.parse("2026-11-30T11:24:28.223383Z"))
    #expect(result.forwarded.message.originID == "r1" && result.forwarded.message.body == "answer")
  }

  @Test("a result without an id, or whose message was removed, is none (XEP-0313 section 3.2)")
  func emptyResult() throws {
    let forwarded = "<forwarded xmlns='urn:xmpp:forward:0'><message xmlns='jabber:client'/></forwarded>"
    for xml in [
      "<result xmlns='urn:xmpp:mam:2'>\(forwarded)</result>",
      "<result xmlns='urn:xmpp:mam:2' id=''>\(forwarded)</result>",
      "<result xmlns='urn:xmpp:mam:2' id='a'><forwarded xmlns='urn:xmpp:forward:0'><delay xmlns='urn:xmpp:delay'/></forwarded></result>",
    ] {
      let element = try wrapped("<message>\(xml)</message>")
      #expect(throws: StanzaFault.self) { try ArchiveResult(element) }
    }
  }

  @Test("a query without a filter has no form; with one, its form is of the archive's type (XEP-0313 section 4.1)")
  func query() throws {
    #expect(
      ArchiveQuery(queryID: "q", page: ResultSet(max: 100, after: "<id>")).element.xml
        == "<query xmlns='urn:xmpp:mam:2' queryid='q'><set xmlns='http://jabber.org/protocol/rsm'><max>100</max><after>&lt;id&gt;</after></set></query>"
    )
    #expect(
      ArchiveQuery(queryID: "q", page: ResultSet(max: 1, before: "")).element.xml
        == "<query xmlns='urn:xmpp:mam:2' queryid='q'><set xmlns='http://jabber.org/protocol/rsm'><max>1</max><before/></set></query>"
    )
    let filtered = ArchiveQuery(
      queryID: "q", with: try JID("alice@example.org"), start: 1_281_139_200_900_000, page: ResultSet())
    #expect(
      filtered.element.xml
        == "<query xmlns='urn:xmpp:mam:2' queryid='q'><x xmlns='jabber:x:data' type='submit'>"
        + "<field var='FORM_TYPE' type='hidden'><value>urn:xmpp:mam:2</value></field>"
        + "<field var='with'><value>alice@example.org</value></field>"
        + "<field var='start'><value>2010-08-07T00:00:00Z</value></field></x>"
        + "<set xmlns='http://jabber.org/protocol/rsm'/></query>")
  }

  @Test(
    "the end of a page is read as Prosody, ejabberd and the XEP's own examples write it",
    arguments: [
      ("<fin xmlns='urn:xmpp:mam:2'><set xmlns='R'><last>b</last><first>a</first></set></fin>", "a...b"),
      ("<fin complete='true' xmlns='urn:xmpp:mam:2'><set xmlns='R'/></fin>", "none complete"),
      (
        "<fin complete='false' xmlns='urn:xmpp:mam:2'><set xmlns='R'><count>5</count><first>1</first><last>2</last></set></fin>",
        "1...2 of 5"
      ),
      ("<fin complete='true' xmlns='urn:xmpp:mam:2'><set xmlns='R'><count>5</count></set></fin>", "none of 5 complete"),
      (
        "<fin xmlns='urn:xmpp:mam:2' complete='true'><set xmlns='R'><first index='3'>a</first><last>b</last><count>16</count></set></fin>",
        "a...b of 16 from 3 complete"
      ),
      ("<fin xmlns='urn:xmpp:mam:2' complete='1' stable='false'/>", "none complete unstable"),
      ("<fin xmlns='urn:xmpp:mam:2' complete='yes' stable='1'><set xmlns='R'><first/><last/></set></fin>", "none"),
    ])
  func fin(_ xml: String, _ expected: String) throws {
    let parts = xml.split(separator: "'R'", maxSplits: 1)
    let fin = try #require(
      ArchiveFin(Element(parsing: parts.joined(separator: "'\(Namespace.resultSet)'"))))
    let page = fin.page
    var words = page.first.map { "\($0)...\(page.last ?? "")" } ?? page.last ?? "none"
    if let count = page.count { words += " of \(count)" }
    if let index = page.index { words += " from \(index)" }
    if fin.isComplete { words += " complete" }
    if !fin.isStable { words += " unstable" }
    #expect(words == expected)
  }

  @Test("an answer without an end of a page is an error, and an error is itself")
  func answer() throws {
    let good = try iq("<iq type='result' id='1'><fin xmlns='urn:xmpp:mam:2' complete='true'/></iq>")
    #expect(try ArchiveFin(answer: .success(good)).isComplete)
    #expect(ArchiveFin(Element("fin", "other")) == nil)
    let empty = try iq("<iq type='result' id='1'/>")
    let odd = #expect(throws: StanzaError.self) { try ArchiveFin(answer: .success(empty)) }
    #expect(odd?.condition == .undefinedCondition)
    let refused = StanzaError(.auth, .forbidden)
    #expect(throws: refused) { try ArchiveFin(answer: .failure(refused)) }
  }

  @Test("a part of a list: what is asked is written, what is answered is read")
  func resultSet() throws {
    #expect(ResultSet(Element("set", "other")) == nil)
    #expect(
      ResultSet(max: 10, before: "x").element.xml
        == "<set xmlns='http://jabber.org/protocol/rsm'><max>10</max><before>x</before></set>")
    let read = try #require(ResultSet(ResultSet(max: 10, before: "", after: "y").element))
    #expect(read == ResultSet(max: 10, before: "", after: "y"))
    let nonsense = try #require(
      ResultSet(
        Element(
          parsing: """
            <set xmlns='http://jabber.org/protocol/rsm'><max>many</max><count>-</count><last xmlns='other'>z</last></set>
            """)))
    #expect(nonsense == ResultSet())
  }
}
