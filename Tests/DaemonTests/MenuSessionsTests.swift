import BotKit
import EventLoop
import JID
import Testing
import XMPPStanzas

@testable import Daemon

@Suite("The sessions of menus")
struct MenuSessionsTests {
  private struct Nothing: WaitingCommand {
    func start(_ request: CommandRequest, _ events: CommandEvents) -> any RunningCommand {
      final class Never: RunningCommand { func stop(_ reason: CommandResult) {} }
      return Never()
    }
  }

  /// Two people with their menus.
  private struct Desk {
    var sessions = MenuSessions()
    var now = ContinuousClock.now
    let deploy = CommandForm(
      Command(CommandDescription(name: "deploy", usage: "deploy SERVICE"), Nothing(), origin: "test"))
    let uptime = CommandForm(Command(CommandDescription(name: "uptime"), Nothing(), origin: "test"))

    mutating func begin(
      _ form: CommandForm, _ id: String, by jid: String = "alice@example.org/phone", _ entries: [FormEntry]? = nil
    ) throws -> MenuSessions.Step {
      sessions.begin(form, id: id, by: try JID(jid), entries, at: now)
    }

    mutating func go(
      on id: String, _ action: AdHocCommand.Action = .execute, node: String = "deploy",
      by jid: String = "alice@example.org/phone", filled entries: [FormEntry]? = nil
    ) throws -> MenuSessions.Step {
      var request = try AdHocCommand.Request(
        .init("command", Namespace.commands, [("node", node), ("sessionid", id), ("action", action.rawValue)]))
      request.form = nil
      return sessions.go(on: id, request, by: try JID(jid), entries, at: now)
    }
  }

  private static let expired = MenuSessions.Step.refuse(
    AdHocCommand.Fault.sessionExpired.error("This menu is no longer open: begin again."))
  /// The command runs that the first word names.
  private static func run(_ text: String) -> MenuSessions.Step {
    .run(FilledForm(String(text.prefix { $0 != " " }), text))
  }
  private static let badAction = MenuSessions.Step.refuse(AdHocCommand.Fault.badAction.error())

  @Test("a command without fields runs at once; one with fields shows its form, and runs when it comes back")
  func form() throws {
    var desk = Desk()
    #expect(try desk.begin(desk.uptime, "1") == Self.run("uptime"))
    #expect(try desk.begin(desk.deploy, "2") == .show(desk.deploy, [], []))
    #expect(try desk.go(on: "2", .complete, filled: [FormEntry("service", ["web"])]) == Self.run("deploy web"))
    // Who knows the form may send it with the first request.
    #expect(try desk.begin(desk.deploy, "3", [FormEntry("service", ["db"])]) == Self.run("deploy db"))
  }

  @Test("a form that does not fit is shown again with what was filled in, and nothing runs")
  func unfit() throws {
    var desk = Desk()
    _ = try desk.begin(desk.deploy, "1")
    #expect(try desk.go(on: "1", .complete, filled: []) == .show(desk.deploy, ["Service: fill this in."], []))
    let entries = [FormEntry("service", ["web", "db"])]
    #expect(
      try desk.go(on: "1", filled: entries) == .show(desk.deploy, ["Service: give one value, in one line."], entries))
    #expect(
      try desk.go(on: "1", filled: [FormEntry("other", ["x"])])
        == .refuse(AdHocCommand.Fault.badPayload.error("Nobody asked for one of these fields.")))
    #expect(try desk.go(on: "1", filled: [FormEntry("service", ["web"])]) == Self.run("deploy web"))
  }

  @Test("a session is its own requester's: not another contact's, nor another device's, nor another command's")
  func foreign() throws {
    var desk = Desk()
    _ = try desk.begin(desk.deploy, "1")
    for jid in ["mallory@example.org/phone", "alice@example.org/laptop", "alice@example.org"] {
      #expect(try desk.go(on: "1", by: jid, filled: [FormEntry("service", ["web"])]) == Self.expired)
      #expect(try desk.go(on: "1", .cancel, by: jid) == Self.expired)
    }
    #expect(try desk.go(on: "1", node: "uptime") == Self.expired)
    #expect(try desk.go(on: "2") == Self.expired)
    #expect(try desk.go(on: "1", filled: [FormEntry("service", ["web"])]) == Self.run("deploy web"))
  }

  @Test("cancel ends a form, and a command that runs; afterwards the session is unknown")
  func cancel() throws {
    var desk = Desk()
    _ = try desk.begin(desk.deploy, "1")
    #expect(try desk.go(on: "1", .cancel) == .cancel(stopsCommand: false))
    #expect(try desk.go(on: "1") == Self.expired)
    _ = try desk.begin(desk.uptime, "2")
    #expect(try desk.go(on: "2", .cancel, node: "uptime") == .cancel(stopsCommand: true))
    #expect(desk.sessions.count == 0)
  }

  @Test("actions that a page does not offer are refused")
  func actions() throws {
    var desk = Desk()
    _ = try desk.begin(desk.deploy, "1")
    #expect(try desk.go(on: "1", .prev) == Self.badAction)
    #expect(try desk.go(on: "1", .next) == Self.badAction)
  }

  @Test("a request is answered in time though the command still runs; then the contact may look again, or leave")
  func patience() throws {
    var desk = Desk()
    _ = try desk.begin(desk.uptime, "1")
    // Its first request still waits.
    #expect(try desk.go(on: "1", .next, node: "uptime") == Self.badAction)
    #expect(desk.sessions.nextDeadline == desk.now + .seconds(10))
    #expect(desk.sessions.expire(at: desk.now + .seconds(9)) == [])
    desk.now += .seconds(10)
    #expect(desk.sessions.expire(at: desk.now) == [.stillRunning("1")])
    // While it runs and nobody looks there is nothing to wait for.
    #expect(desk.sessions.nextDeadline == nil)
    #expect(try desk.go(on: "1", .next, node: "uptime") == .wait)
    desk.now += .seconds(10)
    #expect(desk.sessions.expire(at: desk.now) == [.stillRunning("1")])
    #expect(try desk.go(on: "1", .complete, node: "uptime") == .leave)
    #expect(desk.sessions.count == 0)
  }

  @Test("a command that ended while nobody waited says so to who looks again")
  func over() throws {
    var desk = Desk()
    _ = try desk.begin(desk.uptime, "1")
    desk.now += .seconds(10)
    _ = desk.sessions.expire(at: desk.now)
    desk.sessions.finished("1", at: desk.now)
    #expect(try desk.go(on: "1", .next, node: "uptime") == .over)
    #expect(try desk.go(on: "1", .next, node: "uptime") == Self.expired)
  }

  @Test("a running command asks, step by step, with a way back; the answers are checked like any form's")
  func steps() throws {
    var desk = Desk()
    let size = Question("Size", fields: [CommandField("size", .choice(["s", "l"]), label: "Size")])
    let colour = Question("Colour", fields: [CommandField("colour")], mayGoBack: true, isLast: true)
    _ = try desk.begin(desk.uptime, "1")
    #expect(desk.sessions.asked("1", size, at: desk.now) == true)
    #expect(try desk.go(on: "1", .complete, node: "uptime") == Self.badAction)
    #expect(try desk.go(on: "1", .prev, node: "uptime") == Self.badAction)
    let wrong = [FormEntry("size", ["xl"])]
    #expect(
      try desk.go(on: "1", .next, node: "uptime", filled: wrong) == .ask(size, ["Size: choose one of s, l."], wrong))
    #expect(
      try desk.go(on: "1", .next, node: "uptime", filled: [FormEntry("size", ["l"])]) == .answer(.values(["size": "l"]))
    )
    #expect(desk.sessions.asked("1", colour, at: desk.now) == true)
    #expect(try desk.go(on: "1", .prev, node: "uptime") == .answer(.back))
    #expect(desk.sessions.asked("1", size, at: desk.now) == true)
    #expect(try desk.go(on: "1", node: "uptime", filled: []) == .answer(.values([:])))
    #expect(desk.sessions.asked("1", colour, at: desk.now) == true)
    #expect(
      try desk.go(on: "1", .complete, node: "uptime", filled: [FormEntry("colour", ["red"])])
        == .answer(.values(["colour": "red"])))
    desk.sessions.finished("1", at: desk.now)
    #expect(desk.sessions.count == 0)
  }

  @Test("a command that ends with a choice goes on with it in its session; what is chosen answers that question")
  func choice() throws {
    var desk = Desk()
    _ = try desk.begin(desk.uptime, "1")
    let form = CommandForm(choosing: ["Web server", "Database"], asked: "q", of: "uptime", title: "Which?")
    #expect(desk.sessions.offered("1", form, at: desk.now) == true)
    #expect(
      try desk.go(on: "1", node: "uptime", filled: [FormEntry("choice", ["web"])])
        == .show(form, ["Choose: choose one of Web server, Database."], [FormEntry("choice", ["web"])]))
    #expect(
      try desk.go(on: "1", .complete, node: "uptime", filled: [FormEntry("choice", ["Database"])])
        == .run(FilledForm("uptime", "Database", choice: .init(number: 2, text: "Database", asked: "q"))))
    // Nobody waits: the choice is made in a chat.
    desk.now += .seconds(10)
    _ = desk.sessions.expire(at: desk.now)
    #expect(desk.sessions.offered("1", form, at: desk.now) == false)
  }

  @Test("a question that came while nobody looked is shown to who looks again; nobody answers it: the command ends")
  func lateQuestion() throws {
    var desk = Desk()
    let question = Question("Size", fields: [])
    _ = try desk.begin(desk.uptime, "1")
    desk.now += .seconds(10)
    _ = desk.sessions.expire(at: desk.now)
    #expect(desk.sessions.asked("1", question, at: desk.now) == false)
    #expect(try desk.go(on: "1", .next, node: "uptime") == .ask(question, [], []))
    desk.now += .seconds(600)
    #expect(desk.sessions.expire(at: desk.now) == [.abandoned("1")])
    #expect(desk.sessions.asked("1", question, at: desk.now) == nil)
  }

  @Test("one contact's forms make room for each other; their running commands do not, nor those of all")
  func bounded() throws {
    var desk = Desk()
    for number in 1...9 {
      _ = try desk.begin(desk.deploy, "\(number)", by: "alice@example.org/\(number)")
      desk.now += .seconds(1)
    }
    #expect(desk.sessions.count == 4)
    #expect(try desk.go(on: "5", .cancel, by: "alice@example.org/5") == Self.expired)
    for number in 10..<14 { #expect(try desk.begin(desk.uptime, "\(number)") == Self.run("uptime")) }
    guard case .refuse(let error) = try desk.begin(desk.uptime, "14") else {
      Issue.record("a fifth command of one contact runs")
      return
    }
    #expect(error.condition == .resourceConstraint)
    for number in 0..<100 {
      desk.now += .seconds(1)
      _ = try desk.begin(desk.deploy, "b\(number)", by: "b\(number)@example.org/x")
    }
    #expect(desk.sessions.count == 64)
    // The longest idle have gone.
    #expect(try desk.go(on: "b0", by: "b0@example.org/x") == Self.expired)
    #expect(
      try desk.go(on: "b99", by: "b99@example.org/x", filled: [FormEntry("service", ["web"])]) == Self.run("deploy web")
    )
  }

  @Test("a form that nobody sends back is forgotten after ten minutes")
  func idle() throws {
    var desk = Desk()
    _ = try desk.begin(desk.deploy, "1")
    desk.now += .seconds(600)
    #expect(desk.sessions.nextDeadline == desk.now)
    #expect(desk.sessions.expire(at: desk.now) == [])
    #expect(desk.sessions.count == 0 && desk.sessions.nextDeadline == nil)
  }
}
