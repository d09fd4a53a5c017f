import EventLoop
import Testing
import XMPPTesting

@testable import Daemon

/// Lines of scripts in which contacts use menus.
protocol MenuScripts {}

extension MenuScripts {
  static var phone: String { "alice@example.net/phone" }

  /// The request of a menu; `more`: attributes; `form`: the fields of a form that was filled in.
  static func command(
    _ id: String, _ node: String, from: String = phone, _ more: String = "", form: String? = nil
  ) -> String {
    "server: <iq type='set' id='\(id)' from='\(from)' to='bot@example.org/r'>"
      + "<command xmlns='http://jabber.org/protocol/commands' node='\(node)' \(more)>"
      + (form.map { "<x xmlns='jabber:x:data' type='submit'>\($0)</x>" } ?? "") + "</command></iq>"
  }

  static func field(_ name: String, _ values: String...) -> String {
    "<field var='\(name)'>\(values.map { "<value>\($0)</value>" }.joined())</field>"
  }

  /// What the bot answers; the session is called `$sid`.
  static func answer(
    _ id: String, _ node: String, _ status: String, to: String = phone, session: String = "$sid", _ inside: String
  ) -> String {
    "bot: <iq type='result' id='\(id)' to='\(to)'><command xmlns='http://jabber.org/protocol/commands' "
      + "node='\(node)' sessionid='\(session)' status='\(status)'>\(inside)</command></iq>"
  }

  static func note(_ text: String, _ type: String = "info") -> String { "<note type='\(type)'>\(text)</note>" }

  static func error(
    _ id: String, _ type: String, _ condition: String, _ detail: String? = nil, text: Bool = false, to: String = phone
  ) -> String {
    "bot: <iq type='error' id='\(id)' to='\(to)'><error type='\(type)'>"
      + "<\(condition) xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'/>"
      + (text ? "<text xmlns='urn:ietf:params:xml:ns:xmpp-stanzas'>$any</text>" : "")
      + (detail.map { "<\($0) xmlns='http://jabber.org/protocol/commands'/>" } ?? "") + "</error></iq>"
  }

  static var form: String {
    """
    <actions execute='complete'><complete/></actions>
     <x xmlns='jabber:x:data' type='form'><title>Deploy a release</title>
     <field var='service' type='list-single' label='Service'><required/>
     <option><value>web</value></option><option><value>db</value></option></field>
     <field var='notes' type='text-multi' label='Notes'/>
     <field var='owner' type='jid-single' label='Owner'/>
     <field var='force' type='boolean' label='Force'><value>1</value></field></x>
    """
  }

  static func disco(_ kind: String, _ id: String, _ node: String, from: String = phone) -> String {
    "server: <iq type='get' id='\(id)' from='\(from)' to='bot@example.org/r'>"
      + "<query xmlns='http://jabber.org/protocol/disco#\(kind)' node='\(node)'/></iq>"
  }

  /// Plays, and waits until all is archived that came of it.
  @LoopActor
  func play(_ bench: FlowBench, _ lines: String...) async throws {
    for line in lines {
      try bench.play(line)
      await bench.settle()
    }
  }

  /// The same for a command that runs on other threads.
  @LoopActor
  func run(_ bench: FlowBench, _ line: String) async throws {
    let before = bench.recording.messages(.commandRun).count + bench.recording.messages(.commandFailed).count
    try bench.play(line)
    for _ in 0..<100_000 {
      let ended = bench.recording.messages(.commandRun).count + bench.recording.messages(.commandFailed).count
      if ended > before { break }
      await bench.turnOnce()
    }
    await bench.settle()
  }

  @LoopActor
  func ended(_ bench: FlowBench) async throws {
    for _ in 0..<100_000 where bench.dispatcher.running > 0 { await bench.turnOnce() }
    #expect(bench.dispatcher.running == 0)
    await bench.settle()
  }

  /// The bot says it before long.
  @LoopActor
  func expect(_ bench: FlowBench, _ line: String) async throws {
    for _ in 0..<100_000 where bench.conversation.dialer.stream?.written.isEmpty == true { await bench.turnOnce() }
    try bench.play(line)
    await bench.settle()
  }
}
