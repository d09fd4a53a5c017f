import JID
import Testing
import XMPPStanzas
import XMPPStream

@Suite("Catching up with an archive")
struct CatchUpTests {
  // MARK: - The first time

  @Test("the first time nothing is fetched: where the archive ends is where the next one begins")
  func firstTime() throws {
    var talk = try CatchUpDialogue(cursor: nil)
    #expect(talk.start() == ["query q-1: 1 before ''"])
    #expect(talk.live("hello", id: "z") == [])
    #expect(try talk.page("y") == ["release hello", "cursor 'y'", "complete: up to date, 0 messages fetched"])
    #expect(talk.machine.isOver)
    #expect(talk.live("more", id: "z2") == ["release more"])
  }

  @Test("the first time with an empty archive: the next one begins at its beginning")
  func firstTimeEmpty() throws {
    var talk = try CatchUpDialogue(cursor: nil)
    _ = talk.start()
    #expect(try talk.page(complete: true) == ["cursor ''", "complete: up to date, 0 messages fetched"])
    var next = try CatchUpDialogue(cursor: "")
    #expect(next.start() == ["query q-1: 2 from the beginning"])
    #expect(try next.page("a", "b") == ["archive a", "archive b", "query q-2: 2 after b"])
    #expect(try next.page(complete: true) == ["complete: up to date, 2 messages fetched"])
  }

  // MARK: - Pages

  @Test("page after page is fetched from the last one known, until the archive says that this is all")
  func pages() throws {
    var talk = try CatchUpDialogue(cursor: "a")
    #expect(talk.start() == ["query q-1: 2 after a"])
    #expect(try talk.page("b", "c") == ["archive b", "archive c", "query q-2: 2 after c"])
    #expect(try talk.page("d", complete: true) == ["archive d", "complete: up to date, 3 messages fetched"])
  }

  @Test("read again from an earlier place on another stream, the pages of the stream before are no circle")
  func rewound() throws {
    var talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start()
    _ = try talk.page("b", "c")
    _ = try talk.page("d", "e")
    talk.machine.lost()
    talk.machine.rewind(to: "a")
    #expect(talk.start() == ["query q-4: 2 after a"])
    #expect(try talk.page("b", "c") == ["archive b", "archive c", "query q-5: 2 after c"])
    #expect(try talk.page("d", "e") == ["archive d", "archive e", "query q-6: 2 after e"])
    #expect(try talk.page(complete: true).last == "complete: up to date, 8 messages fetched")
  }

  @Test("the answer to an earlier query, which comes late, moves nothing: its page was passed over")
  func lateAnswer() throws {
    var talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start()
    talk.machine.lost()
    #expect(talk.start() == ["query q-2: 2 after a"])
    #expect(try talk.result("b", queryID: "q-1") == [])
    var late = ArchiveFin(isComplete: false, isStable: true, page: ResultSet())
    late.page.last = "c"
    #expect(talk.machine.finished(.success(late), of: "q-1").isEmpty)
    #expect(talk.machine.awaits("q-2"))
    #expect(try talk.page("b", "c") == ["archive b", "archive c", "query q-3: 2 after c"])
  }

  @Test("an empty page is the end, even if the archive doesn't say so; some name its end again")
  func emptyPage() throws {
    var talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start()
    #expect(try talk.page() == ["complete: up to date, 0 messages fetched"])
    talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start()
    #expect(try talk.page(last: "a", complete: true) == ["complete: up to date, 0 messages fetched"])
  }

  @Test("a page that doesn't name its end ends with the last result")
  func noLast() throws {
    var talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start()
    #expect(try talk.page("b", "c", last: "none") == ["archive b", "archive c", "query q-2: 2 after c"])
  }

  @Test("results that don't pass the gate are passed over, a whole page of them, too")
  func passedOver() throws {
    var talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start()
    #expect(try talk.page("b", "(c)") == ["archive b", "cursor 'c'", "query q-2: 2 after c"])
    #expect(try talk.page("(d)", "(e)") == ["cursor 'e'", "query q-3: 2 after e"])
    #expect(try talk.page("(f)", "g", complete: true) == ["archive g", "complete: up to date, 2 messages fetched"])
  }

  @Test("only results of the open query and of this archive count")
  func strangeResults() throws {
    var talk = try CatchUpDialogue(cursor: "a")
    #expect(try talk.result("x") == [])
    _ = talk.start()
    #expect(try talk.result("x", queryID: "q-0") == [])
    #expect(try talk.result("x", archive: "room@chat.example") == [])
    #expect(try talk.page("b", complete: true).first == "archive b")
    #expect(try talk.result("x") == [])
    #expect(try talk.page("x") == [])
  }

  @Test("a room's archive is caught up with in the same way")
  func room() throws {
    var talk = try CatchUpDialogue(cursor: "a", archive: "room@chat.example")
    _ = talk.start()
    #expect(try talk.page("b", complete: true) == ["archive b", "complete: up to date, 1 messages fetched"])
  }

  // MARK: - The stream ends

  @Test("after a lost stream it goes on behind what has come; what was held stays held")
  func lost() throws {
    var talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start()
    _ = talk.live("one", id: "d")
    #expect(try talk.result("b") == ["archive b"])
    talk.machine.lost()
    #expect(try talk.page("c") == [])
    #expect(talk.fail(.wait, .recipientUnavailable) == [])
    #expect(talk.start() == ["query q-2: 2 after b"])
    #expect(
      try talk.page("c", "d", complete: true)
        == ["archive c", "archive d", "release one", "complete: up to date, 3 messages fetched"])
    talk.machine.lost()
    #expect(talk.start() == [])
  }

  @Test("an answer that ends the stream each time is not asked for for ever")
  func poison() throws {
    var talk = try CatchUpDialogue(cursor: "a")
    _ = talk.live("one")
    for attempt in 1...5 {
      #expect(talk.start() == ["query q-\(attempt): 2 after a"])
      talk.machine.lost()
    }
    #expect(
      talk.start() == ["release one", "complete: incomplete: the stream ends each time that it answers"])
  }

  @Test("a lost stream ends the pause before a new attempt, too")
  func lostInPause() throws {
    var talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start()
    _ = talk.fail(.wait, .resourceConstraint)
    talk.machine.lost()
    #expect(talk.retry() == [])
    #expect(talk.start() == ["query q-2: 2 after a"])
  }

  // MARK: - Errors

  @Test(
    "a passing error is tried again, later each time, and not for ever; then the cursor stays for another day",
    arguments: [
      (StanzaError.Kind.wait, StanzaError.Condition.remoteServerTimeout), (.wait, .resourceConstraint),
      (.cancel, .internalServerError),
    ])
  func passingErrors(_ kind: StanzaError.Kind, _ condition: StanzaError.Condition) throws {
    var talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start()
    _ = talk.live("one")
    #expect(talk.fail(kind, condition) == ["retry after 1.0 seconds"])
    #expect(talk.retry() == ["query q-2: 2 after a"])
    #expect(talk.fail(kind, condition) == ["retry after 2.0 seconds"])
    #expect(talk.retry() == ["query q-3: 2 after a"])
    #expect(try talk.page("b", "c").last == "query q-4: 2 after c")
    for delay in [1, 2, 4, 8, 16] {
      #expect(talk.fail(kind, condition) == ["retry after \(delay).0 seconds"])
      _ = talk.retry()
    }
    #expect(talk.fail(kind, condition) == ["release one", "complete: incomplete: \(condition.rawValue)"])
  }

  @Test(
    "an archive that is none, or not for us, is not asked again",
    arguments: [
      StanzaError.Condition.featureNotImplemented, .serviceUnavailable, .forbidden, .notAllowed, .undefinedCondition,
    ])
  func permanentErrors(_ condition: StanzaError.Condition) throws {
    for cursor in [nil, "", "a"] {
      var talk = try CatchUpDialogue(cursor: cursor)
      _ = talk.start()
      _ = talk.live("one")
      #expect(talk.fail(.cancel, condition) == ["release one", "complete: no archive: \(condition.rawValue)"])
    }
  }

  @Test("an archive that closes between two pages has more than it told")
  func closes() throws {
    var talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start()
    _ = try talk.page("b", "c")
    #expect(talk.fail(.auth, .forbidden) == ["complete: incomplete: forbidden"])
  }

  @Test("an archive that goes round in circles, or backwards, is given up")
  func circles() throws {
    var talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start()
    _ = try talk.page("b", "c")
    #expect(
      try talk.page("b", "c")
        == ["archive b", "archive c", "complete: incomplete: it says the same again and again"])
    talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start()
    #expect(try talk.page(last: "a") == ["complete: incomplete: it says the same again and again"])
    talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start()
    #expect(
      try talk.page("c", "b", last: "c")
        == ["archive c", "archive b", "complete: incomplete: its pages come in reverse order"])
  }

  @Test("an archive without an end is left after ten thousand pages")
  func endless() throws {
    var talk = try CatchUpDialogue(cursor: "a")
    var lines = talk.start()
    var pages = 0
    while lines.last?.hasPrefix("query") == true, pages < 20_000 {
      pages += 1
      lines = try talk.page("\(pages)")
    }
    #expect(pages == 10_000)
    #expect(lines == ["archive 10000", "complete: incomplete: it goes on for too long"])
  }

  @Test("an archive that is not sure of what it tells is believed, but that is said once")
  func unstable() throws {
    var talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start()
    #expect(
      try talk.page("b", stable: false) == ["archive b", "gap: \(CatchUpGap.unstable)", "query q-2: 2 after b"])
    #expect(
      try talk.page("c", complete: true, stable: false) == ["archive c", "complete: up to date, 2 messages fetched"])
  }

  // MARK: - What the archive forgot

  @Test("when the archive forgot the cursor, it is asked for all from ten minutes before the newest message on")
  func forgotten() throws {
    var talk = try CatchUpDialogue(cursor: "a", newest: "2026-11-30T10:00:00Z")
    _ = talk.start()
    let lines = talk.fail(.modify, .itemNotFound)
    #expect(lines.count == 2 && lines[0].hasPrefix("gap: the archive no longer knows the last message"))
    #expect(lines[1] == "query q-2: 2 from the beginning since 2026-11-30T09:50:00Z")
    #expect(
      try talk.page("b", "c") == ["archive b", "archive c", "query q-3: 2 after c since 2026-11-30T09:50:00Z"])
    #expect(try talk.page("d", complete: true) == ["archive d", "complete: up to date, 3 messages fetched"])
  }

  @Test("when it forgot the cursor and nothing came since, the cursor is where it ends")
  func forgottenAndIdle() throws {
    var talk = try CatchUpDialogue(cursor: "a", newest: "2026-11-30T10:00:00Z")
    _ = talk.start()
    _ = talk.fail(.cancel, .itemNotFound)
    #expect(try talk.page(complete: true) == ["query q-3: 1 before ''"])
    #expect(try talk.page("0") == ["cursor '0'", "complete: up to date, 0 messages fetched"])
  }

  @Test("while it is asked for nothing but where it ends, no live message is let go")
  func heldWhileBridging() throws {
    var talk = try CatchUpDialogue(cursor: "a", newest: "2026-11-30T10:00:00Z", heldCount: 0)
    _ = talk.start()
    _ = talk.fail(.cancel, .itemNotFound)
    #expect(try talk.page(complete: true) == ["query q-3: 1 before ''"])
    #expect(talk.live("one", id: "z") == [])
    #expect(try talk.page("z") == ["release one", "cursor 'z'", "complete: up to date, 0 messages fetched"])
  }

  @Test("a message that was let go before the archive forgot is fetched nevertheless")
  func owedWhileBridging() throws {
    var talk = try CatchUpDialogue(cursor: "a", newest: "2026-11-30T10:00:00Z", heldCount: 0)
    _ = talk.start()
    _ = try talk.page("b", "c")
    _ = talk.fail(.cancel, .itemNotFound)
    #expect(talk.live("one", id: "d") == ["let go one"])
    #expect(try talk.page(complete: true) == ["retry after 1.0 seconds"])
    #expect(talk.retry() == ["query q-4: 2 from the beginning since 2026-11-30T09:50:00Z"])
    #expect(try talk.page("d", complete: true) == ["archive d", "complete: up to date, 3 messages fetched"])
  }

  @Test("when it forgot the cursor and nothing is known here, it is asked for all that it has")
  func forgottenBoth() throws {
    var talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start()
    #expect(talk.fail(.cancel, .itemNotFound).last == "query q-2: 2 from the beginning")
    #expect(try talk.page(complete: true) == ["cursor ''", "complete: up to date, 0 messages fetched"])
  }

  @Test("an archive that forgets while it tells is asked from what it told last; not for ever")
  func forgetful() throws {
    var talk = try CatchUpDialogue(cursor: "a", newest: "2026-11-30T08:00:00Z")
    _ = talk.start()
    _ = try talk.page("b", stamp: Timestamp.parse("2026-11-30T10:00:00Z"))
    #expect(
      talk.fail(.cancel, .itemNotFound).last == "query q-3: 2 from the beginning since 2026-11-30T09:50:00Z")
    for id in ["c", "d"] {
      _ = try talk.page(id)
      #expect(talk.fail(.cancel, .itemNotFound).count == 2)
    }
    _ = try talk.page("e")
    #expect(talk.fail(.cancel, .itemNotFound) == ["complete: incomplete: it forgets faster than it tells"])
  }

  @Test("an archive that has nothing of the kind when it is not asked for anything is none")
  func notFoundAtAll() throws {
    var talk = try CatchUpDialogue(cursor: nil)
    _ = talk.start()
    #expect(talk.fail(.cancel, .itemNotFound) == ["complete: no archive: item-not-found"])
  }

  // MARK: - Archives without an end

  @Test("where a bound is set, an archive that never ends is read so far and no further")
  func bounded() throws {
    var talk = try CatchUpDialogue(cursor: "a", archive: "room@chat.example", most: 4)
    _ = talk.start()
    #expect(talk.live("hello", id: "z") == [])
    #expect(try talk.page("b", "c") == ["archive b", "archive c", "query q-2: 2 after c"])
    #expect(
      try talk.page("d", "e")
        == ["archive d", "archive e", "release hello", "complete: incomplete: it has more than 4 messages"])
    #expect(try talk.result("f") == [])
    // From there it is read on another time.
    var next = try CatchUpDialogue(cursor: "e", archive: "room@chat.example", most: 4)
    #expect(next.start() == ["query q-1: 2 after e"])
    #expect(try next.page("f", complete: true) == ["archive f", "complete: up to date, 1 messages fetched"])
  }

  @Test("a page that has no end is one of an archive that never ends")
  func endlessPage() throws {
    var talk = try CatchUpDialogue(cursor: "a", most: 3)
    _ = talk.start()
    #expect(try talk.result("b") + talk.result("c") == ["archive b", "archive c"])
    #expect(try talk.result("d") == ["archive d", "complete: incomplete: it has more than 3 messages"])
    #expect(try talk.result("e") == [])
  }

  @Test("a page that brings nothing counts as a full one")
  func fruitless() throws {
    var talk = try CatchUpDialogue(cursor: "a", most: 4)
    _ = talk.start()
    #expect(try talk.page("(b)") == ["cursor 'b'", "query q-2: 2 after b"])
    #expect(try talk.page("(c)") == ["cursor 'c'", "complete: incomplete: it has more than 4 messages"])
  }

  @Test("the bound holds over the streams on which it is read")
  func boundedOverStreams() throws {
    var talk = try CatchUpDialogue(cursor: "a", most: 3)
    _ = talk.start()
    _ = try talk.page("b", "c")
    talk.machine.lost()
    _ = talk.start()
    #expect(try talk.page("d").last == "complete: incomplete: it has more than 3 messages")
  }

  @Test("messages that the archive took after the beginning come live: they are not fetched where the clock is heeded")
  func later() throws {
    let now = try #require(Timestamp.parse("2026-11-30T10:00:00Z"))
    let (soon, late) = (now + 600_000_000, now + 600_000_001)
    var talk = try CatchUpDialogue(cursor: "a")
    _ = talk.start(now: now)
    #expect(talk.live("hello", id: "z") == [])
    #expect(try talk.result("b", stamp: soon) == ["archive b"])
    #expect(
      try talk.result("c", stamp: late)
        == ["release hello", "complete: incomplete: it has messages from after the reading began"])
    #expect(try talk.result("d", stamp: now) == [])
    // Of one's own server all is taken, whatever its clock says.
    var own = try CatchUpDialogue(cursor: "a")
    _ = own.start()
    #expect(try own.result("c", stamp: late) == ["archive c"])
  }
}
