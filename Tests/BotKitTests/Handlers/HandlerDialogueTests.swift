import EventLoop
import JID
import JSON
import Testing

@testable import BotKit

@Suite("The talk with a handler")
struct HandlerDialogueTests {
  @Test("it begins with hello")
  func hello() {
    var script = HandlerScript(events: [.command, .message])
    #expect(
      script.dialogue.begin(jid: "bot@example.org", commands: ["weather"]).map(HandlerScript.text) == [
        #"< {"type":"hello","version":1,"handler":"bridge","jid":"bot@example.org","commands":["weather"],"#
          + #""events":["command","message"]}"#
      ])
  }

  @Test("a command comes with its arguments and with who asks; what is not known is null")
  func command() throws {
    var script = HandlerScript()
    #expect(
      try script.use("weather", "Oslo  now") == [
        #"< {"type":"command","id":"1","command":"weather","args":["Oslo","now"],"text":"Oslo  now","#
          + #""body":"weather Oslo  now","from":"alice@example.org","resource":"phone","nick":null,"room":null,"#
          + #""occupant":null,"message":"m1","lang":"en","time":"2001-09-09T01:46:40.000001Z"}"#
      ])
  }

  @Test("what a contact writes can't end the line")
  func oneLine() throws {
    var script = HandlerScript()
    let lines = try script.use("weather", "a\nb\u{2028}c\"}\r")
    #expect(lines.count == 1)
    #expect(!lines[0].contains { $0.isNewline })
  }

  @Test("a reply ends the command, unless it says that it is not done")
  func reply() throws {
    var script = HandlerScript()
    _ = try script.use("weather")
    #expect(script.says(#"{"type":"reply","id":"1","text":"wait","done":false}"#) == ["1 replies: wait"])
    #expect(script.says(#"{"type":"reply","id":"1","text":"sunny","done":true}"#) == ["1 ends (done): sunny"])
    _ = try script.use("weather")
    #expect(script.says(#"{"type":"reply","id":2,"text":"rain"}"#) == ["2 ends (done): rain"])
    #expect(script.dialogue.unanswered.isEmpty)
  }

  @Test("a command that ends without a word is said to be done; one that has spoken ends in silence")
  func silent() throws {
    var script = HandlerScript()
    _ = try script.use("weather")
    #expect(script.says(#"{"type":"reply","id":"1"}"#) == ["1 ends (done): weather: done"])
    _ = try script.use("weather")
    _ = script.says(#"{"type":"reply","id":"2","text":"one","done":false}"#)
    #expect(script.says(#"{"type":"reply","id":"2","done":true}"#) == ["2 ends (done)"])
  }

  @Test(
    "how it ended can be said, as a program's exit code does",
    arguments: [
      (#""result":"usage""#, "1 ends (wrong arguments, its usage was shown)"),
      (#""result":"later""#, "1 ends (try again later)"), (#""result":"denied""#, "1 ends (not allowed)"),
      (#""result":"failed","text":"no such town""#, "1 ends (no such town)"),
      (#""result":"failed""#, "1 ends (it does not say why)"),
    ])
  func results(_ member: String, _ end: String) throws {
    var script = HandlerScript()
    _ = try script.use("weather")
    #expect(script.says(#"{"type":"reply","id":"1",\#(member)}"#) == [end])
  }

  @Test("a result that is not known ends the command all the same, and the author is told")
  func unknownResult() throws {
    var script = HandlerScript()
    _ = try script.use("weather")
    let said = script.says(#"{"type":"reply","id":"1","text":"x","result":"great"}"#)
    #expect(said.first == "1 ends (done): x")
    #expect(said.last?.hasPrefix(#"< {"type":"error""#) == true)
  }

  @Test("the last message can be edited, and that can be the end")
  func edit() throws {
    var script = HandlerScript()
    _ = try script.use("weather")
    #expect(script.says(#"{"type":"edit","id":"1","text":"10 %"}"#) == ["1 edits: 10 %"])
    #expect(
      script.says(#"{"type":"edit","id":"1","text":"100 %","done":true}"#) == ["1 edits: 100 %", "1 ends (done)"])
  }

  @Test("a file of its own folder is uploaded, and that can be the end")
  func upload() throws {
    var script = HandlerScript()
    _ = try script.use("weather")
    let start = "1 uploads file(path: \"map.png\") of bridge.handler as -: "
    #expect(script.says(#"{"type":"upload","id":"1","path":"map.png"}"#) == [start + "-"])
    #expect(
      script.says(#"{"type":"upload","id":"1","path":"map.png","caption":"Today","done":true}"#)
        == [start + "Today", "1 ends (done)"])
    #expect(script.says(#"{"type":"upload","id":"1","path":"map.png"}"#).first?.hasPrefix("debug:") == true)
  }

  @Test("a reaction goes to the message that asked, also when the command has ended")
  func react() throws {
    var script = HandlerScript(events: [.message])
    _ = try script.use("weather")
    #expect(script.says(#"{"type":"react","id":"1","emoji":"👍"}"#) == ["1 reacts: 👍"])
    _ = try script.use("weather")
    #expect(
      script.says(#"{"type":"react","id":"2","emoji":"👍","done":true}"#) == ["2 reacts: 👍", "2 ends (done)"],
      "and it can be the end")
    _ = script.says(#"{"type":"reply","id":"1","text":"sunny"}"#)
    #expect(script.says(#"{"type":"react","id":"1","emoji":["🎉","☀️"]}"#) == ["to alice@example.org reacts: 🎉 ☀️"])
    #expect(script.says(#"{"type":"react","id":"1","emoji":""}"#) == ["to alice@example.org reacts: "])
    #expect(script.says(#"{"type":"react","id":"1","emoji":"two words"}"#).first?.hasPrefix("warning") == true)
  }

  @Test("who writes what is no command is answered, and needs no right for that")
  func message() throws {
    var script = HandlerScript(events: [.message])
    #expect(try script.write("good morning")[0].contains(#""type":"message","id":"1","text":"good morning""#))
    #expect(script.says(#"{"type":"reply","id":"1","text":"hello"}"#) == ["to alice@example.org replies: hello"])
    #expect(script.says(#"{"type":"reply","id":"1","text":"again"}"#) == ["to alice@example.org replies: again"])
  }

  @Test("what comes for a command that has ended, or never was, is passed over")
  func late() throws {
    var script = HandlerScript()
    _ = try script.use("weather")
    _ = script.says(#"{"type":"reply","id":"1","text":"sunny"}"#)
    for line in [
      #"{"type":"reply","id":"1","text":"again"}"#, #"{"type":"reply","id":"7","text":"x"}"#,
      #"{"type":"edit","id":"1","text":"x"}"#, #"{"type":"reply","id":"one","text":"x"}"#,
      #"{"type":"react","id":"99","emoji":"👍"}"#,
    ] {
      let said = script.says(line)
      #expect(said.count == 1 && said[0].hasPrefix("debug: "), "\(line): \(said)")
    }
  }

  @Test("unknown members and unknown types are passed over")
  func unknown() throws {
    var script = HandlerScript()
    _ = try script.use("weather")
    #expect(
      script.says(#"{"type":"dance","steps":3}"#) == [
        "info: lines of the type “dance”, which is not known, are passed over"
      ])
    #expect(script.says(#"{"type":"dance","steps":4}"#).isEmpty, "said once")
    #expect(script.says(#"{"new":[1,{}],"type":"reply","id":"1","text":"x","mood":null}"#) == ["1 ends (done): x"])
    #expect(script.says("  \r").isEmpty)
  }

  @Test(
    "a line that says nothing is logged with its reason, and its author is told",
    arguments: [
      "hello", "[1]", "{", "", #"{"id":"1"}"#, #"{"type":"reply"}"#, #"{"type":"reply","id":"1","text":5}"#,
      #"{"type":"reply","id":"1","text":"x","done":"yes"}"#, #"{"type":"send","text":"x"}"#,
      #"{"type":"reply","id":"1","choices":["a",2]}"#, #"{"type":"reply","id":"1","choices":["a"," "]}"#,
      #"{"type":"reply","id":"1","done":false}"#,
    ].filter { !$0.isEmpty })
  func wrong(_ line: String) throws {
    var script = HandlerScript()
    _ = try script.use("weather")
    let said = script.says(line)
    #expect(said.count == 2)
    #expect(said.first?.hasPrefix("warning: ") == true && said.first?.hasSuffix("in the line: \(line)") == true)
    #expect(said.last?.hasPrefix(#"< {"type":"error","text":""#) == true)
    #expect(script.dialogue.unanswered == [1], "the command goes on")
  }

  @Test("a type that is nearly one that is known is a slip, and its author is told")
  func slip() {
    var script = HandlerScript()
    let text = "lines of the type “repyl”, which is not known, are passed over; did you mean “reply”?"
    #expect(
      script.says(#"{"type":"repyl","id":"1"}"#) == ["warning: \(text)", #"< {"type":"error","text":"\#(text)"}"#])
  }

  @Test("a reply to what is no command says something")
  func emptyAnswer() throws {
    var script = HandlerScript(events: [.message])
    _ = try script.write("good morning")
    #expect(script.says(#"{"type":"reply","id":"1"}"#).first?.hasPrefix("warning: \"text\" is missing") == true)
  }

  @Test("one that repeats what it reads is soon told nothing more of its lines")
  func echo() {
    var script = HandlerScript()
    var told = 0
    for _ in 0..<1000 { told += script.says("garbage").count { $0.hasPrefix("< ") } }
    #expect(told == 11, "ten, and that no more follow")
    script.now += .seconds(11)
    #expect(script.says("garbage").contains { $0.hasPrefix("< ") })
  }

  @Test("of a long line that is no JSON only its beginning is logged")
  func longGarbage() {
    var script = HandlerScript()
    let said = script.says(String(repeating: "é", count: 100_000))
    #expect(said[0].utf8.count < 600)
    #expect(said[0].hasSuffix("é…"))
  }

  @Test("broken UTF-8 and NUL are cleaned, and nothing that a terminal would obey comes through")
  func cleaned() throws {
    var script = HandlerScript()
    _ = try script.use("weather")
    let line =
      Array(#"{"type":"reply","id":"1","done":false,"text":"a"#.utf8) + [0x00, 0xff, 0xc3] + Array(#"b"}"#.utf8)
    #expect(script.says(line) == ["1 replies: a\u{fffd}\u{fffd}b"])
    let escaped = #"{"type":"reply","id":"1","done":false,"text":"a\u0000b\u001b[31mc\r\nd\ufffe"}"#
    #expect(script.says(escaped) == ["1 replies: abc\nd"])
  }

  @Test("a line that is too long is dropped, and said")
  func tooLong() {
    var script = HandlerScript()
    let said = script.dialogue.lineTooLong(2_000_000, now: script.now).map(HandlerScript.text)
    #expect(said.first == "warning: a line of 2000000 bytes was dropped: a line has 1 M at most")
  }

  @Test("a text that is longer than commands may send is cut")
  func cut() throws {
    var script = HandlerScript()
    script.dialogue.output = 1024
    _ = try script.use("weather")
    let long = String(repeating: "é", count: 1000)
    #expect(
      script.says(#"{"type":"reply","id":"1","text":"\#(long)"}"#) == [
        "1 ends (done): \(String(repeating: "é", count: 512))\n(cut off at 1 K)"
      ])
  }

  @Test("choices are numbered, and offered before the reply goes")
  func choices() throws {
    var script = HandlerScript()
    _ = try script.use("deploy")
    #expect(
      script.says(#"{"type":"reply","id":"1","text":"Where?","choices":["test","live\nnow"]}"#) == [
        "1 offers for 1: test|live now", "1 ends (done): Where?\n1. test\n2. live now",
      ])
  }

  @Test("options without end are cut, too")
  func manyChoices() throws {
    var script = HandlerScript()
    script.dialogue.output = 1024
    _ = try script.use("deploy")
    let option = String(repeating: "x", count: 500)
    let said = script.says(#"{"type":"reply","id":"1","choices":["\#(option)1","\#(option)2","\#(option)3"]}"#)
    #expect(said.last?.hasSuffix("\n(cut off at 1 K)") == true)
  }

  @Test("the choice comes as the command again")
  func chosen() throws {
    var script = HandlerScript()
    var request = CommandRequest(
      message: ChatMessage(sender: try JID("alice@example.org"), body: "2"), command: "deploy", arguments: ["live"],
      text: "live")
    request.choice = .init(number: 2, text: "live", asked: "1")
    let said = script.dialogue.command(2, request).map(HandlerScript.text)
    #expect(said[0].contains(#""command":"deploy","args":["live"],"text":"live","body":"2""#))
    #expect(said[0].hasSuffix(#""choice":{"number":2,"text":"live","asked":"1"}}"#))
  }

  @Test("it may send, register and log")
  func others() {
    var script = HandlerScript()
    #expect(script.says(#"{"type":"send","to":"bob@example.org","text":"hi"}"#) == ["sends to bob@example.org: hi"])
    #expect(
      script.says(#"{"type":"register","command":"toss","description":"Toss a coin"}"#) == [
        "registers toss: Toss a coin, -"
      ])
    #expect(script.says(#"{"type":"log","level":"WARNING","text":"low\u001b[2J"}"#) == ["warning: low"])
    #expect(script.says(#"{"type":"log","text":"hm"}"#) == ["info: hm"])
  }

  @Test("one that logs without end is logged a hundred times in ten seconds, and then counted")
  func logs() {
    var script = HandlerScript()
    var lines = 0
    for _ in 0..<1000 { lines += script.says(#"{"type":"log","text":"x"}"#).count + script.says("garbage").count }
    #expect(lines < 250)
    script.now += .seconds(11)
    #expect(script.says(#"{"type":"log","text":"y"}"#) == ["info: (1900 more lines left out)", "info: y"])
  }

  // MARK: - Time

  @Test("a command that took too long is cancelled; one that hangs then answers no ping")
  func ping() throws {
    var script = HandlerScript()
    _ = try script.use("weather")
    #expect(
      script.cancel(1, .timedOut(.seconds(60))) == [
        #"< {"type":"cancel","id":"1","reason":"timeout"}"#, #"< {"type":"ping","id":"1"}"#,
      ])
    #expect(!script.dialogue.isHanging(at: script.now + .seconds(9)))
    #expect(script.dialogue.isHanging(at: script.now + .seconds(10)))
    #expect(script.says(#"{"type":"pong"}"#).isEmpty)
    #expect(!script.dialogue.isHanging(at: script.now + .seconds(100)))
  }

  @Test("whatever it says shows that it lives")
  func alive() throws {
    var script = HandlerScript()
    _ = try script.use("weather")
    _ = script.cancel(1, .timedOut(.seconds(60)))
    _ = script.says(#"{"type":"reply","id":"1","text":"at last"}"#)
    #expect(script.dialogue.pongDue == nil)
  }

  @Test("a command that is cancelled for another reason raises no doubt")
  func cancelled() throws {
    var script = HandlerScript()
    _ = try script.use("weather")
    #expect(script.cancel(1, .interrupted) == [#"< {"type":"cancel","id":"1","reason":"stopping"}"#])
    #expect(script.cancel(1, .interrupted).isEmpty, "once")
    #expect(script.dialogue.pongDue == nil)
  }

  @Test("what it has not answered when it ends has failed")
  func ended() throws {
    var script = HandlerScript()
    for _ in 0..<3 { _ = try script.use("weather") }
    _ = script.says(#"{"type":"reply","id":"2","text":"x"}"#)
    #expect(
      script.dialogue.ended().map(HandlerScript.text) == [
        "1 ends (it ended before it had answered)", "3 ends (it ended before it had answered)",
      ])
    #expect(script.dialogue.ended().isEmpty)
  }

  // MARK: - Back-pressure

  @Test("one that does not read gets no more than its backlog: commands are busy, events are dropped, said once")
  func doesNotRead() throws {
    var limits = HandlerLimits()
    limits.backlog = 1000
    var script = HandlerScript(events: [.message], limits: limits)
    while script.dialogue.backlog < 1000 { _ = try script.use("weather", "Oslo") }
    let full = script.dialogue.backlog
    let number = script.lastNumber + 1
    #expect(
      try script.use("weather") == [
        "\(number) ends (busy)",
        "warning: it does not read: \(full) bytes wait; events are dropped, and from 1000 bytes on commands are answered busy",
      ])
    #expect(try script.use("weather") == ["\(number + 1) ends (busy)"])
    for _ in 0..<5 { #expect(try script.write("hello").isEmpty) }
    #expect(script.dialogue.backlog == full)
    #expect(script.dialogue.read(100).isEmpty)
    #expect(
      script.dialogue.read(full - 100).map(HandlerScript.text) == [
        "warning: it reads again; 5 events were dropped meanwhile"
      ])
    #expect(try script.write("hello").count == 1)
  }

  @Test("events that come without end leave room for commands")
  func eventsLeaveRoom() throws {
    var limits = HandlerLimits()
    limits.backlog = 4_000
    var script = HandlerScript(events: [.message], limits: limits)
    for _ in 0..<100 { _ = try script.write("hello") }
    #expect(script.dialogue.backlog < 2_400)
    #expect(try script.use("weather").first?.hasPrefix(#"< {"type":"command""#) == true)
  }

  @Test("complaints, too, end where the backlog is full")
  func complaints() throws {
    var limits = HandlerLimits()
    limits.backlog = 100
    var script = HandlerScript(limits: limits)
    _ = try script.use("weather")
    #expect(script.says("garbage").map { $0.prefix(8) } == ["warning:"])
  }

  // MARK: - Anything

  @Test("whatever a handler says, each command ends once at most, and what is written is one line of JSON")
  func random() throws {
    let seed = UInt64.random(in: .min ... .max)
    print("seed \(seed)")
    var random = SplitMix(state: seed)
    var script = HandlerScript(events: [.message])
    var ended: Set<Int> = []
    let pieces = [
      "{", "}", "\"", ":", ",", "[", "]", "type", "reply", "id", "1", "2", "text", "done", "false", "choices", "null",
      "edit", "react", "emoji", "\\u0000", "\u{0}", "é", "\n", "\\", "send", "to", "0", "-", "1e9", "register",
    ]
    for round in 0..<5_000 {
      if round % 100 == 0 { _ = try script.use("weather") }
      var line = ""
      if random.next() % 3 == 0 {
        for _ in 0..<(random.next() % 20) { line += pieces[Int(random.next() % UInt64(pieces.count))] }
      } else {
        let type = ["reply", "edit", "react", "send", "log", "pong"][Int(random.next() % 6)]
        let id = random.next() % UInt64(script.lastNumber + 2)
        line = #"{"type":"\#(type)","id":"\#(id)","text":"x","emoji":"x","to":"y","done":\#(random.next() % 2 == 0)}"#
      }
      for action in script.dialogue.line(Array(line.utf8), now: script.now) {
        switch action {
        case .finish(let number, _, _): #expect(ended.insert(number).inserted, "\(number) ended twice: \(line)")
        case .perform(let number, _): #expect(!ended.contains(number), "\(number) had ended: \(line)")
        case .write(let bytes):
          #expect(bytes.firstIndex(of: 0x0a) == bytes.count - 1)
          #expect(throws: Never.self) { try JSON(parsing: bytes) }
        default: break
        }
      }
    }
  }

  private struct SplitMix {
    var state: UInt64
    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var z = state
      z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
      z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
      return z ^ (z >> 31)
    }
  }
}
