import Glibc
import JSON
import Testing

extension SystemTests {
  @Suite("Messages")
  struct MessageTests {
    private static let unlimited = "[limits]\nrate = unlimited"

    /// ejabberd's archive in Mnesia grows slower with each message.
    static let counts: [(kind: Server.Kind, count: Int)] = [(.prosody, 1000), (.ejabberd, 300)]

    @Test("a thousand messages get a thousand answers in order, and two thousand rows", arguments: counts)
    func many(_ load: (kind: Server.Kind, count: Int)) throws {
      let server = try Server.shared(load.kind)
      let bot = try Bot(on: server, sections: Self.unlimited).startOnline()
      let alice = try bot.peer(on: server)
      for number in 1...load.count { alice.send("ping \(number)") }
      for number in 1...load.count {
        let answer = try alice.message(within: .seconds(60))
        try #require(answer == "pong \(number)")
      }
      let rows = try bot.rows("SELECT count(*) AS all_rows, count(DISTINCT body) AS bodies FROM message")
      #expect(rows == [["all_rows": .int(2 * load.count), "bodies": .int(2 * load.count)]])
      let wrong = try bot.rows(
        """
        SELECT body FROM (SELECT body, row_number() OVER (ORDER BY id) AS n FROM message WHERE direction = 'in')
        WHERE body <> 'ping ' || n
        """)
      #expect(wrong.isEmpty)
      #expect(try bot.rows("PRAGMA integrity_check") == [["integrity_check": "ok"]])
    }

    static let texts: [(name: String, text: String)] = [
      ("emoji", "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 \u{1F1E9}\u{1F1EA}"),
      ("right to left", "שלום \u{202E}עולם\u{202C} مرحبا"),
      (
        "combining", "e\u{301}\u{302}\u{303} a\u{30A} Z\u{351}\u{36B}a\u{343}l\u{334}g\u{321}o \u{1112}\u{1161}\u{11AB}"
      ),
      ("markup", "<b>&amp; \"quoted\" ]]> <!-- --> &#0;"),
      ("lines", "one\n\n\ttwo\n  three"),
      ("beyond the BMP", "\u{10FFFD}\u{20000}\u{1F9FF}"),
      ("60 KB", String(repeating: "0123456789 日本語 ", count: 3000)),
    ]

    @Test("any text is archived and answered as it came", arguments: Server.Kind.allCases)
    func anyText(_ kind: Server.Kind) throws {
      let server = try Server.shared(kind)
      let bot = try Bot(on: server, sections: Self.unlimited).startOnline()
      let alice = try bot.peer(on: server)
      for (number, (name, text)) in Self.texts.enumerated() {
        let sent = "ping x" + text + "x"
        alice.send(sent, id: "text-\(number)")
        var answer = try alice.message()
        // A long one comes in pieces.
        while answer.utf8.count < sent.utf8.count { answer += try alice.message() }
        #expect(Array(answer.utf8) == Array(("pong x" + text + "x").utf8), "\(name)")
        let row = try bot.rows("SELECT body FROM message WHERE message_id = 'text-\(number)'").first
        #expect(row?["body"]?.stringValue.map { Array($0.utf8) } == Array(sent.utf8), "\(name)")
      }
    }
  }
}
