import SQLite
import TestSupport
import Testing

@testable import Archive

@Suite("Search")
struct SearchTests {
  let folder = TemporaryFolder()

  /// An archive that holds `bodies`, with ids from 1.
  func archive(_ bodies: [String]) throws -> Archive {
    let archive = try openArchive(folder)
    try archive.writeAndWait { transaction throws(DatabaseError) in
      for body in bodies { try transaction.insert(message(body)) }
    }
    return archive
  }

  func finds(_ query: String, in body: String) throws -> Bool {
    let archive = try archive([body, "something else, 別 внешний άλλο"])
    defer { archive.close() }
    return try archive.search(query) == [body]
  }

  @Test(
    "any two adjacent characters of a script without spaces are found, and any one",
    arguments: [
      "日本語で検索する", "中文全文搜索", "한국어검색", "カタカナとひらがな", "ﾊﾝｶｸｶﾀｶﾅ", "ＦＵＬＬ２０２４年", "人々ー〇", "ㄅㄆㄇ",
      "𠀀𠀁𪜀𫝀𬺰", "สวัสดีครับ", "ភាសាខ្មែរ", "メール📧と文字", "iPhoneを買う", "ꀀꀁꀂ",
    ])
  func pairs(text: String) throws {
    let archive = try archive([text, "other"])
    defer { archive.close() }
    let scalars = Array(text.unicodeScalars)
    for (first, second) in zip(scalars, scalars.dropFirst())
    where Segmenter.isUnspaced(first) && Segmenter.isUnspaced(second) {
      var pair = ""
      pair.unicodeScalars.append(contentsOf: [first, second])
      #expect(try archive.search(pair) == [text], "\(pair)")
    }
    for scalar in scalars where Segmenter.isUnspaced(scalar) {
      #expect(try archive.search(String(scalar)) == [text], "\(scalar)")
    }
    for start in text.indices where Segmenter.isUnspaced(text.unicodeScalars[start]) {
      #expect(try archive.search(String(text[start...])) == [text], "\(text[start...])")
    }
  }

  @Test("what is not adjacent is not found as a pair", arguments: [("日語", false), ("日 語", true), ("別日", false)])
  func notAdjacent(query: String, isFound: Bool) throws {
    #expect(try finds(query, in: "日本語、別、日") == isFound)
  }

  @Test(
    "case and accents fold",
    arguments: [
      ("résumé", "RESUME"), ("RESUME", "Résumé"), ("e\u{301}te\u{301}", "Été"), ("Tiếng Việt", "tieng viet"),
      ("ΆΛΦΑ", "αλφα"), ("άλφα", "ΑΛΦΑ"), ("α\u{301}λφα", "Άλφα"), ("ὁδός", "ΟΔΟΣ"), ("ᾠδή", "ωδη"), ("ΰ", "υ"),
      ("Ещё", "ЕЩЕ"), ("еще", "ещё"), ("й", "и\u{306}"), ("Київ", "КИІВ"), ("ПРИВЕТ", "привет"),
      ("İSTANBUL", "istanbul"), ("ISPARTA", "ısparta"), ("ısparta", "Isparta"), ("straße", "STRASSE"),
      ("Łódź", "lodz"), ("Ærø", "AERO"), ("Đà Nẵng", "da nang"), ("כָּתַב", "כתב"), ("كَتَبَ", "كتب"),
      ("co\u{AD}operate", "cooperate"), ("ＡＢＣ", "abc"), ("abc", "ＡＢＣ"), ("2024年", "２０２４年"),
      ("२०२४ हिन्दी", "हिन्दी"), ("Ա", "ա"), ("Ⴀ", "ⴀ"),
    ])
  func folding(text: String, query: String) throws {
    #expect(try finds(query, in: text))
  }

  @Test("all words must be there, in any order; a phrase must be there as it is")
  func words() throws {
    let archive = try archive(["the quick brown fox", "the brown quick fox", "brown bread"])
    defer { archive.close() }
    #expect(try archive.search("quick brown") == ["the brown quick fox", "the quick brown fox"])
    #expect(try archive.search("\"quick brown\"") == ["the quick brown fox"])
    #expect(try archive.search("fox \"brown quick\"") == ["the brown quick fox"])
    #expect(try archive.search("\"quick brown") == ["the quick brown fox"])
    #expect(try archive.search("brow").isEmpty)
    #expect(try archive.search("brown", limit: 2) == ["brown bread", "the brown quick fox"])
    #expect(try archive.search("brown", limit: 0).isEmpty)
  }

  @Test("the subject is searched as well")
  func subject() throws {
    let archive = try openArchive(folder)
    var topic = message("body")
    topic.subject = "Wartung heute"
    try archive.insertAndWait(topic)
    #expect(try archive.search("wartung body") == ["body"])
    archive.close()
  }

  @Test(
    "a query is words and nothing else, whatever it looks like",
    arguments: [
      "brown\" OR \"bread", "brown OR bread", "brown NOT fox", "NEAR(brown bread)", "body:brown", "{body}:brown",
      "^brown",
      "bro*", "brown) OR (bread", "brown AND", "\"", "\"\"\"", "-brown", "brown'; DROP TABLE message; --", "a\0b",
      "\0", "+", "*", "()", "\u{FFFF}", "brown \\\" *", "\u{301}", "😀", "rowid:1", "message_text",
    ])
  func hostile(query: String) throws {
    let archive = try archive(["the quick brown fox", "rye bread"])
    defer { archive.close() }
    let bodies: [String]
    do {
      bodies = try archive.search(query)
    } catch is SearchQueryError {
      return
    }
    // Only the words count: none of these texts holds two words that one message has, except those of one word.
    let isOneWord = ["^brown", "-brown"].contains(query) || query.hasPrefix("brown \\")
    #expect(bodies == (isOneWord ? ["the quick brown fox"] : []))
    #expect(try archive.readAndWait { queries throws(DatabaseError) in try queries.newestID() } == 2)
  }

  @Test("random queries and texts never break the engine, and a text finds itself")
  func random() throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    var generator = SeededGenerator(state: seed)
    let alphabet = Array("ab \"*()^:-é日本ёα\0\u{301}👍ＡＢ'".unicodeScalars)
    let archive = try openArchive(folder)
    defer { archive.close() }
    for _ in 0..<300 {
      var text = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 1...12, using: &generator) {
        text.append(alphabet.randomElement(using: &generator) ?? " ")
      }
      let body = String(text)
      try archive.insertAndWait(message(body))
      guard let query = try? SearchQuery(body) else { continue }
      let found = try archive.readAndWait(PageRead(SearchCursor(query, limit: 1), size: 1)).rows.first
      #expect(found?.body.map { Array($0.utf8) } == Array(body.utf8), "seed \(seed): \(body.debugDescription)")
    }
  }

  @Test("an empty or far too long query is an error that says so")
  func refused() {
    #expect(throws: SearchQueryError.empty) { try SearchQuery(" ... !? \"\" ") }
    #expect(throws: SearchQueryError.tooLong) { try SearchQuery(String(repeating: "a", count: 1_001)) }
    #expect(throws: SearchQueryError.tooLong) { try SearchQuery(String(repeating: "a ", count: 40)) }
  }

  @Test("filters narrow a search, over any number of slices")
  func filters() throws {
    let archive = try openArchive(folder)
    try archive.writeAndWait { transaction throws(DatabaseError) in
      for number in 0..<1_800 {
        var message = message("ping \(number)", peer: number % 900 == 0 ? "a@example.org" : "b@example.org")
        message.time = start + Int64(number)
        message.room = number % 2 == 0 ? "room@example.org" : nil
        try transaction.insert(message)
      }
    }
    #expect(try archive.search("ping", MessageFilter(peer: "a@example.org")) == ["ping 900", "ping 0"])
    #expect(try archive.search("ping", MessageFilter(peer: "a@example.org"), limit: 1) == ["ping 900"])
    #expect(
      try archive.search("ping", MessageFilter(room: "room@example.org"), limit: 2) == ["ping 1798", "ping 1796"])
    #expect(try archive.search("ping", MessageFilter(since: start + 10, until: start + 12)) == ["ping 11", "ping 10"])
    archive.close()
  }

  @Test("a search sees every message committed before it, indexed or not; so does a reader from outside")
  func freshness() throws {
    let archive = try openArchive(folder)
    for number in 1...50 {
      try archive.insertAndWait(message("fresh \(number)"))
      #expect(try ArchiveReader.open(path: archive.path).search("fresh", limit: 1) == ["fresh \(number)"])
      if number % 10 == 0 { #expect(try archive.search("fresh \(number)") == ["fresh \(number)"]) }
    }
    let newestFirst = (1...50).reversed().map { "fresh \($0)" }
    #expect(try ArchiveReader.open(path: archive.path).search("fresh") == newestFirst)
    #expect(try archive.search("fresh") == newestFirst)
    archive.close()
    #expect(try ArchiveReader.open(path: archive.path).search("fresh") == newestFirst)
  }
}

/// SplitMix64: the same numbers for the same seed.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
    return mixed ^ mixed >> 31
  }
}

@Suite("What somebody may find")
struct ViewTests {
  let folder = TemporaryFolder()

  @Test(
    "of what is said in rooms one sees what was said to all in those that are one's own, and no private message of others"
  )
  func view() throws {
    let archive = try openArchive(folder)
    defer { archive.close() }
    func row(_ body: String, _ kind: NewMessage.Kind, peer: String, room: String? = nil) -> NewMessage {
      var row = message(body, peer: peer)
      row.kind = kind
      row.room = room
      return row
    }
    let rows = [
      row("key mine", .chat, peer: "a@example.org"), row("key theirs", .chat, peer: "b@example.org"),
      row("key to all", .groupchat, peer: "r@rooms.example.org", room: "r@rooms.example.org"),
      row("key whispered", .chat, peer: "r@rooms.example.org", room: "r@rooms.example.org"),
      row("key elsewhere", .groupchat, peer: "s@rooms.example.org", room: "s@rooms.example.org"),
    ]
    try archive.writeAndWait { transaction throws(DatabaseError) in for row in rows { try transaction.insert(row) } }
    func seen(_ peer: String?, _ rooms: [String]) throws -> [String] {
      try archive.search("key", MessageFilter(view: .init(peer: peer, rooms: rooms)))
    }
    #expect(try seen("a@example.org", []) == ["key mine"])
    #expect(try seen("a@example.org", ["r@rooms.example.org"]) == ["key to all", "key mine"])
    #expect(try seen(nil, ["r@rooms.example.org"]) == ["key to all"])
    #expect(try seen("r@rooms.example.org", []) == [], "a room is nobody's contact")
  }
}
