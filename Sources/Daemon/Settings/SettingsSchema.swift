import Configuration
import BotKit
import JID
import Transport
import Systemd

/// Every key of the configuration: its kind, its default and what it is for.
enum SettingsSchema {
  enum Account {
    static let jid = Key("jid", .accountJID, required: true, "The bot's address.")
    static let passwordFile = Key(
      "password-file", .path, otherwise: "the systemd credential `password`",
      "A file that holds the password and that only its owner can read.")
    static let resource = Key(
      "resource", .text, otherwise: "a name that stays the same for this installation",
      "The part of the full address after the slash.")
    static let host = Key(
      "host", .host, otherwise: "what DNS says for the JID's domain", "The server to dial, by name or address.")
    static let port = Key(
      "port", .integer(1...65535), otherwise: "5222, or 5223 with tls = direct", "The port of `host`.")
    static let tls = Key<Settings.Account.TLSMode>("tls", .choice, default: "auto", "How TLS begins.")
    static let caFile = Key(
      "ca-file", .path, otherwise: "the system's authorities", "Certificates of private authorities to trust, in PEM.")
    static let publicKeyPin = ListKey(
      "public-key-pin", .line(of: .publicKeyPin), "The server's public key; one of those given has to match.")
    static let priority = Key("priority", .integer(-128...127), default: "0", "The priority of the bot's presence.")
    static let nickname = Key("nickname", .text, "The name that contacts see.")
    static let avatar = Key("avatar", .path, "A picture that contacts see, PNG or JPEG.")
    static let status = Key("status", .text, "The text beside the bot's presence.")

    static let section = Schema.Section(
      "account", required: true, "The bot's own account and its server.",
      keys: [
        jid.description, passwordFile.description, resource.description, host.description, port.description,
        tls.description, caFile.description, publicKeyPin.description, priority.description, nickname.description,
        avatar.description, status.description,
      ])
  }

  enum Subscriptions {
    static let accept = ListKey(
      "accept", .access([.group, .everyone, .none]), default: "everyone",
      "Whose requests to add the bot are accepted.")
    static let group = Key("group", .text, default: "Bot users", "The roster group for accepted contacts.")

    static let section = Schema.Section(
      "subscriptions", "Who may add the bot.", keys: [accept.description, group.description])
  }

  enum Archive {
    static let path = Key("path", .path, otherwise: "$STATE_DIRECTORY/archive.db", "The database of all messages.")
    static let keep = Key(
      "keep", .keep, default: "forever", "How long messages are kept; older ones are deleted once a day.")
    static let rawXML = Key("raw-xml", .boolean, default: "no", "Whether each message's XML is kept, too.")
    static let sync = Key<Settings.ArchiveSettings.Sync>(
      "sync", .choice, default: "full", "What a row survives: `full` a power cut, `normal` a crash of the process.")

    static let section = Schema.Section(
      "archive", "Where messages are kept.",
      keys: [path.description, keep.description, rawXML.description, sync.description])
  }

  enum Limits {
    static let rate = Key("rate", .rate, default: "20/10s", "Commands that one sender may give in a time.")
    static let roomRate = Key(
      "room-rate", .rate, default: "40/10s", "Commands that one room's occupants together may give in a time.")
    static let timeout = Key(
      "timeout", .duration(ProgramCommand.timeouts), default: "60s", "How long a command may run.")
    static let output = Key(
      "output", .size(1024...64 << 20), default: "64K", "How much output of a command is sent.")
    static let concurrent = Key("concurrent", .integer(1...1000), default: "8", "How many commands run at once.")
    static let maxAge = Key(
      "max-age", .duration(.seconds(1) ... .seconds(365 * 86_400)), default: "5m",
      "A command that arrives later than this is not run.")

    static let memory = Key("memory", .memory, default: "512M", "How much memory each process of a command may use.")
    static let processes = Key(
      "processes", .processes, default: "64",
      "How many processes and threads a command may start; holds in the commands' service.")
    static let cpu = Key(
      "cpu", .cpu, default: "unlimited", "How long each process of a command may keep a processor busy.")

    static let section = Schema.Section(
      "limits", "What commands may use.",
      keys: [
        rate.description, roomRate.description, timeout.description, output.description, concurrent.description,
        maxAge.description, memory.description, processes.description, cpu.description,
      ])
  }

  enum Keepalive {
    static let interval = Key(
      "interval", .duration(.seconds(1) ... .seconds(86_400)), default: "60s",
      "After this long without a word from the server it is asked whether it is there.")
    static let timeout = Key(
      "timeout", .duration(.seconds(1) ... .seconds(3600)), default: "20s",
      "Without an answer in this time the connection counts as lost.")

    static let section = Schema.Section(
      "keepalive", "How a dead connection is noticed.", keys: [interval.description, timeout.description])
  }

  enum Control {
    static let socket = Key(
      "socket", .path, otherwise: "$RUNTIME_DIRECTORY/control.sock", "The socket that xmppbotctl talks to.")

    static let section = Schema.Section(
      "control", "How xmppbotctl reaches the daemon.", keys: [socket.description])
  }

  enum Commands {
    static let socket = Key(
      "socket", .path, otherwise: "/run/xmppbotd-commands.sock, where that is",
      "The socket of the service in which commands run; without one they run as children of the daemon.")

    static let isolated = Key(
      "isolated", .boolean, otherwise: "yes under systemd, else where the socket is",
      "Whether commands run in that service or not at all; no: they always run as children of the daemon.")

    static let section = Schema.Section(
      "commands", "Where commands run.", keys: [socket.description, isolated.description])
  }

  enum Log {
    static let level = Key<LogLevel>("level", .choice, default: "info", "The least important events that are logged.")
    static let xml = Key("xml", .boolean, default: "no", "Whether all XML is logged, with its secrets blanked.")

    static let section = Schema.Section(
      "log", "What goes to the journal.", keys: [level.description, xml.description])
  }

  enum Group {
    static let member = ListKey(
      "member", .access([]), required: true, "Who belongs to the group: JIDs and *@DOMAIN.")

    static let section = Schema.Section(
      "group", argument: "NAME", "Contacts that `allow` and `accept` can name together, as @NAME.",
      keys: [member.description])
  }

  enum Command {
    static let exec = Key("exec", .commandLine, required: true, "The program and its first arguments.")
    static let description = Key("description", .text, "One line for `help`.")
    static let usage = Key("usage", .text, "How the command is written, for `help NAME`.")
    static let allow = ListKey(
      "allow", .access([.group, .roster, .room, .everyone, .none]), default: "@admins", "Who may use the command.")
    static let places = ListKey<Settings.CommandSettings.Place>(
      "where", .list(of: .choice), default: "chat", "Where the command is heard.")
    static let timeout = Key(
      "timeout", .duration(ProgramCommand.timeouts), otherwise: "that of [limits]",
      "How long the command may run.")
    static let output = Key<Settings.CommandSettings.Output>(
      "output", .choice, default: "text",
      "How its output is sent: as text, as a code block, or as a file with a link to it.")
    static let rerun = Key(
      "rerun", .boolean, default: "no", "Whether it runs again when the bot's process ended in its midst.")
    static let live = Key(
      "live", .boolean, default: "no",
      "Whether what it prints is shown while it runs, by correcting one message once a second.")
    static let field = ListKey(
      "field", .line(of: .commandField), "What its form in menus asks for, one line for each argument.")

    static let memory = Key(
      "memory", .memory, otherwise: "that of [limits]", "How much memory each of its processes may use.")
    static let processes = Key(
      "processes", .processes, otherwise: "that of [limits]", "How many processes and threads it may start.")
    static let cpu = Key(
      "cpu", .cpu, otherwise: "that of [limits]", "How long each of its processes may keep a processor busy.")

    static let section = Schema.Section(
      "command", argument: "NAME", argumentKind: .commandName, "A program that contacts can run.",
      keys: [
        exec.description, description.description, usage.description, allow.description, places.description,
        timeout.description, output.description, rerun.description, live.description, memory.description,
        processes.description, cpu.description, field.description,
      ])
  }

  enum Handler {
    static let exec = Key("exec", .commandLine, required: true, "The program and its arguments.")
    static let events = ListKey<HandlerDescription.Event>(
      "events", .list(of: .choice), default: "command", "What it is told: command, message, presence, room.")
    static let commands = ListKey(
      "commands", .list(of: .commandName), "The commands that it serves; it may register more.")
    static let description = Key("description", .text, "One line for `help`, for commands that it does not describe.")
    static let allow = ListKey(
      "allow", .access([.group, .roster, .room, .everyone, .none]), default: "@admins",
      "Who may use its commands, and whose messages and presence it is told.")
    static let places = ListKey<Settings.CommandSettings.Place>(
      "where", .list(of: .choice), default: "chat", "Where its commands are heard.")
    static let send = ListKey(
      "send", .access([.group, .roster, .everyone, .none]), default: "none", "To whom it may send unasked.")
    static let timeout = Key(
      "timeout", .duration(ProgramCommand.timeouts), otherwise: "that of [limits]",
      "How long its commands may take.")

    static let section = Schema.Section(
      "handler", argument: "NAME", argumentKind: .commandName, "A long-running program that speaks JSON lines.",
      keys: [
        exec.description, events.description, commands.description, description.description, allow.description,
        places.description, send.description, timeout.description,
      ])
  }

  static let schema = Schema([
    Account.section, Subscriptions.section, Archive.section, Limits.section, Keepalive.section, Control.section,
    Commands.section, Log.section, Room.section, Group.section, Command.section, Handler.section, HTTP.section,
    Webhook.section,
  ])
}

extension Settings {
  /// Every section and key that a configuration may have.
  public static var schema: Schema { SettingsSchema.schema }
}
