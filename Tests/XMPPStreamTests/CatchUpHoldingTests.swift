import Testing
import XMPPStream

@Suite("Live messages while an archive is read")
struct CatchUpHoldingTests {
  @Test("live messages wait, in order, until all is there; those on a page already are the database's to know")
  func held() throws {
    var talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start()
    #expect(talk.live("one", id: "c") == [])
    #expect(talk.live("typing") == [])
    #expect(talk.live("two", id: "d") == [])
    #expect(
      try talk.page("b", "c", complete: true)
        == ["archive b", "archive c", "release one typing two", "complete: up to date, 2 messages fetched"])
  }

  @Test("beyond the limit, live messages that the archive has are fetched from it instead")
  func overflow() throws {
    var talk = try CatchUpDialogue(cursor: "a", heldCount: 2)
    _ = talk.start()
    #expect(try talk.page("b", "c") == ["archive b", "archive c", "query q-2: 2 after c"])
    for (text, id) in [("one", "d"), ("two", "e"), ("three", "f"), ("four", "g")] {
      #expect(talk.live(text, id: id) == (id < "f" ? [] : ["let go \(text)"]))
    }
    // The query was on its way when they came: the page can't be expected to have them.
    #expect(try talk.page(complete: true) == ["retry after 1.0 seconds"])
    #expect(talk.retry() == ["query q-3: 2 after c"])
    #expect(try talk.page("d", "e", complete: true) == ["archive d", "archive e", "query q-4: 2 after e"])
    #expect(
      try talk.page("f", "g", complete: true)
        == ["archive f", "archive g", "release one two", "complete: up to date, 6 messages fetched"])
  }

  @Test("the limit holds for bytes as well, and a message that is held does not overtake one that had to go")
  func overflowOrder() throws {
    var talk = try CatchUpDialogue(cursor: "a", heldBytes: 10)
    _ = talk.start()
    _ = try talk.page("b", "c")
    #expect(talk.live("big", id: "d", size: 11) == ["let go big"])
    #expect(talk.live("small", id: "e", size: 1) == [])
    #expect(
      try talk.page("d", complete: true)
        == ["archive d", "release small", "complete: up to date, 3 messages fetched"])
  }

  @Test("what the archive doesn't have is held whatever the limit")
  func neverDropped() throws {
    var talk = try CatchUpDialogue(cursor: "a", heldCount: 0)
    _ = talk.start()
    _ = talk.live("one")
    _ = try talk.page("b", "c")
    _ = talk.live("two")
    #expect(
      try talk.page(complete: true) == ["release one two", "complete: up to date, 2 messages fetched"])
  }

  @Test(
    "before the archive has answered all is held; with its first word what is beyond the limit is let go, and comes from it"
  )
  func shed() throws {
    var talk = try CatchUpDialogue(cursor: "a", heldCount: 2)
    _ = talk.start()
    for (text, id) in [("one", "b"), ("two", "c"), ("three", "d"), ("typing", nil), ("four", "e")] {
      #expect(talk.live(text, id: id) == [])
    }
    #expect(try talk.result("b") == ["let go three", "let go four", "archive b"])
    #expect(try talk.page("c", complete: true) == ["archive c", "query q-2: 2 after c"])
    #expect(
      try talk.page("d", "e", complete: true)
        == ["archive d", "archive e", "release one two typing", "complete: up to date, 4 messages fetched"])
  }

  @Test("also with a first word that brings nothing: what is let go is waited for")
  func shedOfNothing() throws {
    var talk = try CatchUpDialogue(cursor: "a", heldCount: 0)
    _ = talk.start()
    _ = talk.live("one", id: "b")
    #expect(try talk.page(complete: true) == ["let go one", "retry after 1.0 seconds"])
    #expect(talk.retry() == ["query q-2: 2 after a"])
    #expect(try talk.page("b", complete: true) == ["archive b", "complete: up to date, 1 messages fetched"])
  }

  @Test("the first time nothing is let go: what the archive has from before us is not fetched")
  func nothingShedFirst() throws {
    var talk = try CatchUpDialogue(cursor: nil, heldCount: 0)
    _ = talk.start()
    _ = talk.live("one", id: "b")
    #expect(
      try talk.page("a", complete: true) == ["release one", "cursor 'a'", "complete: up to date, 0 messages fetched"])
  }

  @Test("what was held goes on in parts, each when the last is stored; what comes meanwhile goes last")
  func parts() throws {
    var talk = try CatchUpDialogue(cursor: "a", heldCount: 0, partSize: 2)
    _ = talk.start()
    for text in ["one", "two", "three"] { _ = talk.live(text) }
    #expect(try talk.page("b", complete: true) == ["archive b", "release one two"])
    #expect(talk.live("four", id: "c") == [])
    #expect(talk.giveUp("late") == [])
    #expect(talk.stored() == ["release three four", "complete: up to date, 1 messages fetched"])
    #expect(talk.machine.isOver)
  }

  @Test("where the archive ends is stored after what was held: a process that is killed before has not passed over it")
  func cursorLast() throws {
    var talk = try CatchUpDialogue(cursor: nil, partSize: 1)
    _ = talk.start()
    for text in ["one", "two"] { _ = talk.live(text, id: text) }
    #expect(try talk.page("two", complete: true) == ["release one"])
    #expect(talk.stored() == ["release two", "cursor 'two'", "complete: up to date, 0 messages fetched"])
  }

  @Test("a stream that ends between two parts: the next reads on, and what is held stays")
  func lostBetweenParts() throws {
    var talk = try CatchUpDialogue(cursor: "a", partSize: 1)
    _ = talk.start()
    for text in ["one", "two"] { _ = talk.live(text) }
    #expect(try talk.page("b", complete: true) == ["archive b", "release one"])
    talk.machine.lost()
    #expect(talk.stored() == [])
    #expect(talk.start() == ["query q-2: 2 after b"])
    #expect(
      try talk.page("c", complete: true) == ["archive c", "release two", "complete: up to date, 2 messages fetched"])
  }

  @Test("memory is bounded whatever comes: beyond 32 MiB it passes before its turn")
  func utmost() throws {
    var talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start()
    #expect(talk.live("one", size: 30 << 20) == [])
    #expect(talk.live("two", size: 3 << 20) == ["release two"])
    #expect(
      try talk.page("b", complete: true) == ["archive b", "release one", "complete: up to date, 1 messages fetched"])
  }

  @Test("an archive that never brings what was let go is given up, and the cursor stays")
  func owedForEver() throws {
    var talk = try CatchUpDialogue(cursor: "a", heldCount: 0)
    _ = talk.start()
    _ = try talk.page("b", "c")
    _ = talk.live("one", id: "never")
    for delay in [1, 2, 4, 8, 16] {
      #expect(try talk.page(complete: true) == ["retry after \(delay).0 seconds"])
      _ = talk.retry()
    }
    #expect(try talk.page(complete: true) == ["complete: incomplete: messages that came live are not in it"])
    #expect(!CatchUpOutcome.incomplete("").movesCursor && CatchUpOutcome.upToDate(archived: 0).movesCursor)
    #expect(!CatchUpOutcome.unavailable("").movesCursor)
  }
}
