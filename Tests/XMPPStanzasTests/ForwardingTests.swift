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

  @Test("a carbon of Prosody's tells direction and message; the bare element enables them")
  func prosodyCarbon() throws {
    let carbon = try Carbon(
      wrapped(
        """
        <message to='bot@example.org/r' type='chat' from='bot@example.org'><sent xmlns='urn:xmpp:carbons:2'>\
        <forwarded xmlns='urn:xmpp:forward:0'><message xmlns='jabber:client' to='alice@example.org' type='chat' id='s1' \
        from='bot@example.org/phone' xml:lang='en'><body>by hand</body></message></forwarded></sent></message>
        """))
    #expect(carbon.direction == .sent)
    #expect(try carbon.forwarded.message.from == JID("bot@example.org/phone"))
    #expect(carbon.forwarded.message.body == "by hand" && carbon.forwarded.message.id == "s1")
    #expect(carbon.forwarded.element["id"] == "s1" && carbon.forwarded.delay == nil)
    #expect(Carbon.enable.xml == "<enable xmlns='urn:xmpp:carbons:2'/>")
  }

  @Test("a carbon of ejabberd's tells the archive's id of the message inside")
  func ejabberdCarbon() throws {
    let carbon = try Carbon(
      wrapped(
        """
        <message to='bot@example.org/r' from='bot@example.org' type='chat'><received xmlns='urn:xmpp:carbons:2'>\
        <forwarded xmlns='urn:xmpp:forward:0'><message xml:lang='en' to='bot@example.org/phone' \
        from='alice@example.org/x' type='chat' id='r1' xmlns='jabber:client'><archived by='bot@example.org' \
        id='1675209600123456' xmlns='urn:xmpp:mam:tmp'/><stanza-id by='bot@example.org' id='1675209600123456' \
        xmlns='urn:xmpp:sid:0'/><body>hi</body></message></forwarded></received></message>
        """))
    #expect(carbon.direction == .received)
    #expect(carbon.forwarded.message.stanzaIDs == [StanzaID(id: "1675209600123456", by: "bot@example.org")])
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
        <message to='bot@example.org/r' from='bot@example.org'><result queryid='q1' id='v8TqYkZ2' xmlns='urn:xmpp:mam:2'>\
        <forwarded xmlns='urn:xmpp:forward:0'><delay stamp='2026-11-30T10:00:00Z' xmlns='urn:xmpp:delay'/>\
        <message xmlns='jabber:client' to='bot@example.org' type='chat' id='a1' from='alice@example.org/x'>\
        <body>ping</body><delay xmlns='urn:xmpp:delay' stamp='2026-11-30T09:00:00Z'/></message></forwarded></result></message>
        """))
    #expect(result.id == "v8TqYkZ2" && result.queryID == "q1")
    #expect(result.forwarded.delay?.stamp == Timestamp.parse("2026-11-30T10:00:00Z"))
    #expect(result.forwarded.message.body == "ping")
    #expect(result.forwarded.message.delay?.stamp == Timestamp.parse("2026-11-30T09:00:00Z"))
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

  @Test("the end of a page is read as Prosody, ejabberd and the XEP's own examples write it")
  func fin() throws {
    let page = try #require(
      ArchiveFin(
        Element(
          parsing: """
            <fin xmlns='urn:xmpp:mam:2'><set xmlns='http://jabber.org/protocol/rsm'><count>20</count>\
            <first index='3'>a</first><last>b</last></set></fin>
            """)))
    #expect(!page.isComplete && page.isStable)
    #expect(page.page.first == "a" && page.page.last == "b" && page.page.count == 20 && page.page.index == 3)
    let last = try #require(
      ArchiveFin(
        Element(
          parsing: """
            <fin complete='true' stable='false' xmlns='urn:xmpp:mam:2'><set xmlns='http://jabber.org/protocol/rsm'>\
            <count>0</count><first/><last></last></set></fin>
            """)))
    #expect(last.isComplete && !last.isStable && last.page.last == nil && last.page.first == nil)
    #expect(ArchiveFin(try Element(parsing: "<fin xmlns='urn:xmpp:mam:2' complete='1'/>"))?.isComplete == true)
    #expect(ArchiveFin(try Element(parsing: "<fin xmlns='urn:xmpp:mam:2' complete='yes'/>"))?.isComplete == false)
    #expect(ArchiveFin(Element("fin", "other")) == nil)
  }

  @Test("an answer without an end of a page is an error, and an error is itself")
  func answer() throws {
    let good = try iq("<iq type='result' id='1'><fin xmlns='urn:xmpp:mam:2' complete='true'/></iq>")
    #expect(try ArchiveFin(answer: .success(good)).isComplete)
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
