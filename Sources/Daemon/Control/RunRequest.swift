import BotKit
import EventLoop
import JID
import JSON
import Systemd

/// `xmppbotctl run`: a command as a contact would have it, without the contact.
extension Daemon {
  func serveRun(_ request: JSON, _ client: ControlClient) {
    guard let name = request["command"]?.stringValue, !name.isEmpty else {
      return client.fail(.usage, "name a command")
    }
    let message: ChatMessage
    do throws(ControlFailure) {
      message = try ChatMessage(asking: request, "from", id: session.newID(), time: surroundings.wallClock())
    } catch {
      return client.fail(error.code, error.reason)
    }
    let words = request["arguments"]?.arrayValue?.compactMap(\.stringValue) ?? []
    log.log(
      .commandRun, "\(client.peer) tries out the command \(name) as \(message.sender)",
      peer: message.sender.description,
      command: name)
    switch flow.router.trial(name, words, as: message) {
    case .heard: client.fail(.failed, "no command")
    case .ignore(let reason): client.fail(.failed, "no answer: \(reason.rawValue)")
    case .answer(let answer):
      client.send(rows: [["reply": .string(answer.text)]])
      switch answer.kind {
      case .builtin: client.finish()
      case .denied: client.fail(.notAllowed, denial(of: name, to: message))
      default: client.fail(.usage, "\(name) was not run: \(answer.kind.rawValue)")
      }
    case .run(var command):
      command.id = flow.trials.begin(client) { [dispatcher] in dispatcher.stop($0, $1) }
      dispatcher.start(command)
    }
  }

  private func denial(of name: String, to message: ChatMessage) -> String {
    guard let command = flow.router.commands[name.lowercased()] else { return name }
    let rules = command.description.allow.map(\.asWritten).joined(separator: ", ")
    return "\(message.sender) may not use \(name): it is for \(rules) (\(command.allowOrigin ?? command.origin))"
  }
}

/// `xmppbotctl commands`: who may use what, and why.
extension Daemon {
  func serveCommands(_ request: JSON, _ client: ControlClient) {
    var asking: ChatMessage?
    if request["for"] != nil {
      do throws(ControlFailure) {
        asking = try ChatMessage(asking: request, "for", id: nil, time: surroundings.wallClock())
      } catch {
        return client.fail(error.code, error.reason)
      }
    }
    client.send(rows: flow.router.commands.all.map { .object(row($0, asking)) })
    let groups = flow.router.access.members.map { group, members -> JSON in
      ["name": .string(group), "members": .array(members.map(JSON.string))]
    }
    client.finish(["refused": .array(commandFaults.map { .string($0.description) }), "groups": .array(groups)])
  }

  private func row(_ command: Command, _ asking: ChatMessage?) -> JSONObject {
    let description = command.description
    var row = JSONObject()
    row["name"] = .string(description.name)
    row["description"] = .string(description.description)
    row["usage"] = description.usage.map(JSON.string) ?? .null
    row["where"] = .array(
      [(Places.chat, "chat"), (.room, "room")].filter { description.places.contains($0.0) }.map { .string($0.1) })
    row["allow"] = .array(description.allow.map { .string($0.asWritten) })
    row["allow_from"] = .string(command.allowOrigin ?? command.origin)
    row["origin"] = .string(command.origin)
    if let asking {
      let admission = flow.router.admission(of: asking.subject, to: description.name)
      row["allowed"] = .bool(admission != nil && description.places.contains(asking.place))
      row["by"] = admission.map { .string($0.asWritten) } ?? .null
    }
    return row
  }
}

extension ChatMessage {
  /// A message of whom an operator names: the address under `key`, and the room and the standing there, if it is one.
  fileprivate init(asking request: JSON, _ key: String, id: String?, time: Int64) throws(ControlFailure) {
    guard let sender = try Self.address(request, key) else {
      throw ControlFailure(.usage, "say who is to have sent it: --\(key) JID")
    }
    let room = try Self.address(request, "room")
    self.init(
      sender: sender, body: "", resource: room == nil ? sender.resource : nil, room: room?.bare, messageID: id,
      time: time)
    nick = room?.resource
    affiliation = try Self.standing(request, "affiliation")
    role = try Self.standing(request, "role")
    if room == nil, affiliation != nil || role != nil {
      throw ControlFailure(.usage, "an affiliation or a role is one in a room: add --room JID")
    }
  }

  private static func address(_ request: JSON, _ key: String) throws(ControlFailure) -> JID? {
    guard let text = request[key]?.stringValue else { return nil }
    do {
      return try JID(text)
    } catch {
      throw ControlFailure(.usage, "--\(key): '\(text)' is no address: \(error)")
    }
  }

  private static func standing<Standing: RawRepresentable<String> & CaseIterable>(
    _ request: JSON, _ key: String
  ) throws(ControlFailure) -> Standing? {
    guard let text = request[key]?.stringValue else { return nil }
    if let standing = Standing(rawValue: text) { return standing }
    let words = Standing.allCases.map(\.rawValue).joined(separator: ", ")
    throw ControlFailure(.usage, "--\(key): '\(text)' is none of \(words)")
  }
}
