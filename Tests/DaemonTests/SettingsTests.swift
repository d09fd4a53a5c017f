import BotKit
import Configuration
import Glibc
import JID
import Testing

@testable import Daemon

@Suite("Settings")
struct SettingsTests {
  private func settings(_ text: String) throws -> Settings {
    try Settings.parse(text, file: "/etc/xmppbotd/xmppbotd.conf", environment: serviceEnvironment)
  }

  /// The diagnostics of `text`, without the folder of the file.
  private func diagnostics(_ text: String, environment: [String: String] = serviceEnvironment) -> [String] {
    do throws(ConfigurationProblems) {
      _ = try Settings.parse(text, file: "bot.conf", environment: environment)
      return []
    } catch {
      return error.diagnostics.map(\.description)
    }
  }

  @Test("an address is all that a configuration needs; the rest has the defaults of the manual")
  func defaults() throws {
    let settings = try settings("[account]\njid = Bot@Example.org\n")
    #expect(
      settings
        == Settings(
          file: "/etc/xmppbotd/xmppbotd.conf",
          account: .init(jid: try JID("bot@example.org"), tls: .auto, publicKeyPins: [], priority: 0),
          subscriptions: .init(accept: [.everyone], group: "Bot users"),
          archive: .init(path: "/var/lib/xmppbotd/archive.db", rawXML: false, sync: .full),
          limits: .init(
            rate: .commands(20, per: .seconds(10)), timeout: .seconds(60), output: 65_536, concurrent: 8,
            maxAge: .seconds(300), resources: .init(memory: 512 << 20, processes: 64, seconds: .max)),
          keepalive: .init(interval: .seconds(60), timeout: .seconds(20)),
          control: .init(socket: "/run/xmppbotd/control.sock"),
          isolation: .init(socket: "/run/xmppbotd-commands.sock", isRequired: true),
          log: .init(level: .info, xml: false), groups: [],
          commands: []))
    #expect(settings.commandsDirectory == "/etc/xmppbotd/commands.d")
  }

  @Test("every key arrives in its setting")
  func everything() throws {
    let settings = try settings(
      """
      [account]
      jid = bot@example.org
      password-file = /etc/secret
      resource = home
      host = 2001:db8::1
      port = 5223
      tls = direct
      ca-file = /etc/passwd
      public-key-pin = sha256:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=
      public-key-pin = sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
      priority = -1
      nickname = The Bot
      avatar = /etc/passwd
      status = Here # to help
      [subscriptions]
      accept = alice@example.org *@example.net, @ops
      group = Friends
      [archive]
      path = /srv/archive.db
      raw-xml = yes
      sync = normal
      [limits]
      rate = unlimited
      room-rate = 5/1m
      timeout = 500ms
      output = 1M
      concurrent = 2
      max-age = 1h
      memory = 1G
      processes = unlimited
      cpu = 1500ms
      [keepalive]
      interval = 30s
      timeout = 5s
      [control]
      socket = /srv/control.sock
      [commands]
      socket = /srv/commands.sock
      [log]
      level = trace
      xml = yes
      [group ops]
      member = alice@example.org
      member = *@example.com
      [command env]
      exec = /usr/bin/env 'A=b c'
      description = Environment
      usage = env
      allow = roster, @ops
      where = chat, room
      timeout = 2m
      output = code
      memory = unlimited
      cpu = 20s
      live = yes
      field = name text required "Which variable"
      field = more words
      """)
    let account = settings.account
    #expect(account.passwordFile == "/etc/secret")
    #expect([account.resource, account.host, account.nickname] == ["home", "2001:db8::1", "The Bot"])
    #expect(account.status == "Here # to help")
    #expect(account.port == 5223 && account.tls == .direct && account.priority == -1)
    #expect([account.caFile, account.avatar] == ["/etc/passwd", "/etc/passwd"])
    #expect(account.publicKeyPins.count == 2 && Set(account.publicKeyPins).count == 1)
    #expect(
      settings.subscriptions.accept
        == [.address(try JID("alice@example.org")), .domain("example.net"), .group("ops")])
    #expect(settings.subscriptions.group == "Friends")
    #expect(settings.archive == .init(path: "/srv/archive.db", rawXML: true, sync: .normal))
    #expect(
      settings.limits
        == .init(
          rate: .unlimited, roomRate: .commands(5, per: .seconds(60)), timeout: .milliseconds(500), output: 1 << 20,
          concurrent: 2, maxAge: .seconds(3600), resources: .init(memory: 1 << 30, processes: .max, seconds: 2)))
    #expect(settings.keepalive == .init(interval: .seconds(30), timeout: .seconds(5)))
    #expect(settings.control.socket == "/srv/control.sock")
    #expect(settings.isolation == .init(socket: "/srv/commands.sock", isRequired: true))
    #expect(settings.log == .init(level: .trace, xml: true))
    #expect(
      settings.groups
        == [.init(name: "ops", members: [.address(try JID("alice@example.org")), .domain("example.com")])])
    #expect(
      settings.commands == [
        .init(
          name: "env", exec: ["/usr/bin/env", "A=b c"], description: "Environment", usage: "env",
          allow: [.roster, .group("ops")], places: [.chat, .room], timeout: .seconds(120), output: .code,
          reruns: false, isLive: true, resources: .init(memory: .max, seconds: 20),
          allowOrigin: "/etc/xmppbotd/xmppbotd.conf:49",
          fields: [CommandField("name", label: "Which variable", required: true), CommandField("more", .words)])
      ])
  }

  @Test("a field line that can't be read is told with its line, and so are two fields of one name")
  func fields() {
    let start = "[account]\njid = bot@example.org\n[command env]\nexec = /usr/bin/env\n"
    #expect(
      diagnostics(start + "field = a number\n") == [
        "bot.conf:5: field = a number is no field: a: “number” is no kind: the kinds are text, lines, words, boolean, jid, choice"
      ])
    #expect(
      diagnostics(start + "field = a text\nfield = a jid\n") == [
        "bot.conf:6: field: there are two fields with the name a: rename one of them"
      ])
  }

  @Test("a configuration with five mistakes gives five lines, file and line number each")
  func fiveMistakes() {
    #expect(
      diagnostics(
        """
        [account]
        jid = bot@example.org
        prot = 5222
        [limits]
        timeout = 60
        [arkive]
        path = /srv/archive.db
        [log]
        level = verbos
        level = info
        """) == [
          "bot.conf:3: unknown key `prot` in [account]: did you mean `port`?",
          "bot.conf:5: timeout = 60 has no unit: write a whole number and ms, s, m, h or d, as in 20s",
          "bot.conf:6: unknown section [arkive]: did you mean [archive]?",
          "bot.conf:9: level = verbos is none of error, warning, info, debug, trace: choose one of them",
          "bot.conf:10: `level` is there already, at bot.conf:9: keep one of them",
        ])
  }

  @Test("mistakes of every kind come together: those of a line, of a value and of values that do not fit together")
  func allAtOnce() {
    #expect(
      diagnostics(
        """
        nonsense
        [account]
        jid = bot
        port = 5222
        [command deploy]
        exec = /nowhere/deploy
        allow = @admin
        [group admins]
        member = alice
        """) == [
          "bot.conf:1: `nonsense` is neither a [section] nor `key = value`: put `#` before it if it is a comment",
          "bot.conf:3: jid = bot has no part before `@`: write it as bot@example.org",
          "bot.conf:4: `port` is given without `host`: add `host`, or leave `port` to DNS",
          "bot.conf:6: exec: /nowhere/deploy can't be run: No such file or directory: check the file and its link",
          "bot.conf:7: allow names the group `@admin`, which is not there: did you mean `@admins`?",
          "bot.conf:9: member = alice holds `alice`, which is none of JID, *@DOMAIN: write one of these",
        ])
  }

  @Test(
    "an account that cannot be is refused",
    arguments: [
      (
        "jid = bot@example.org/home",
        "jid = bot@example.org/home has a resource: put what follows the slash into `resource`"
      ),
      ("jid = bot@", "jid = bot@ is no JID: the domain part of the address is empty: write it as name@example.org"),
      ("host = example.org:5222", "host = example.org:5222 is no host: put what follows the colon into `port`"),
      ("host = a b", "host = a b is no host: write a name such as xmpp.example.org, or an address"),
      ("port = 0", "port = 0 is no whole number from 1 to 65535: write a number in that range"),
      (
        "public-key-pin = sha256:abc",
        "public-key-pin = sha256:abc is no pin: write sha256: and the key's digest in base64 or hexadecimal; `xmppbotctl check` shows the server's"
      ),
      ("ca-file = /nowhere.pem", "ca-file: /nowhere.pem does not exist: create it, or correct the path"),
      ("avatar = /etc", "avatar: /etc is not a file: name a file"),
      ("password-file = secret", "password-file = secret is no absolute path: begin it with `/`"),
    ])
  func badAccount(line: String, diagnostic: String) {
    let others = ["jid = bot@example.org", "host = localhost"].filter { !line.hasPrefix($0.prefix(4)) }
    #expect(
      diagnostics((["[account]", line] + others).joined(separator: "\n")).first == "bot.conf:2: " + diagnostic)
  }

  @Test("a host without a port, and direct TLS without a host, are fine")
  func hostAndPort() {
    #expect(diagnostics("[account]\njid = b@e.org\nhost = xmpp.e.org").isEmpty)
    #expect(diagnostics("[account]\njid = b@e.org\ntls = direct").isEmpty)
  }

  @Test(
    "who may do what is written in known words only",
    arguments: [
      (
        "accept = nobody",
        "accept = nobody holds `nobody`, which is none of JID, *@DOMAIN, @GROUP, everyone, none: write one of these"
      ),
      (
        "accept = roster",
        "accept = roster holds `roster`, which is none of JID, *@DOMAIN, @GROUP, everyone, none: write one of these"
      ),
      ("accept = none, a@b", "accept = none, a@b has `none` among others: leave the others out, or `none`"),
      ("accept = *@a@b", "accept = *@a@b holds `*@a@b`, which has two `@`: write *@DOMAIN"),
      ("accept = @friends", "accept names the group `@friends`, which is not there: add [group friends]"),
    ])
  func badAccess(line: String, diagnostic: String) {
    #expect(
      diagnostics("[account]\njid = b@e.org\n[subscriptions]\n\(line)\n") == ["bot.conf:4: " + diagnostic])
  }

  @Test("a command has one word for a name, and a program")
  func commandNames() {
    #expect(
      diagnostics(
        "[account]\njid = b@e.org\n[command a b]\nexec = /bin/true\n[command ../x]\nexec = /bin/true\n[command y]\n")
        == [
          "bot.conf:3: the name in [command a b] is more than one word: write one word; arguments belong into `exec`",
          "bot.conf:5: the name in [command ../x] holds a slash or begins with a dot: leave it out",
          "bot.conf:7: [command y] has no `exec`: add `exec = PROGRAM [ARGUMENT…]`",
        ])
  }

  @Test("a program that others may write, or that cannot be run, is refused")
  func programs() throws {
    let folder = try SettingsTestsFolder()
    func diagnostic(_ file: String) -> [String] {
      diagnostics("[account]\njid = b@e.org\n[command x]\nexec = \(file)\n")
    }
    let writable = try folder.write("#!/bin/sh\n", to: "writable", mode: 0o757)
    #expect(
      diagnostic(writable) == [
        "bot.conf:4: exec: \(writable) can't be run: others may write \(writable): chmod go-w \(writable)"
      ])
    let plain = try folder.write("#!/bin/sh\n", to: "plain", mode: 0o644)
    #expect(
      diagnostic(plain) == [
        "bot.conf:4: exec: \(plain) can't be run: it is not executable: chmod 755 \(plain), or remove it"
      ])
    #expect(
      diagnostic("/etc") == [
        "bot.conf:4: exec: /etc can't be run: it is no regular file: a program belongs there"
      ])
    let good = try folder.write("#!/bin/sh\n", to: "good", mode: 0o755)
    #expect(diagnostic(good).isEmpty)
    let parent = good.parentFolder
    chmod(parent, 0o777)
    #expect(
      diagnostic(good) == [
        "bot.conf:4: exec: \(good) can't be run: others may write \(parent): chmod go-w \(parent)"
      ])
    chmod(parent, 0o700)
  }

  @Test(
    "messages are kept for ever, or as long as `keep` says",
    arguments: [
      ("forever", 0), ("90d", 0), ("1m", 0), ("0d", 1), ("90", 1), ("for ever", 1), ("", 0),
    ])
  func keep(value: String, mistakes: Int) {
    #expect(diagnostics("[account]\njid = b@e.org\n[archive]\nkeep = \(value)\n").count == mistakes)
  }

  @Test("a file that is not there is one line, without others about what it lacks")
  func missingFile() {
    do throws(ConfigurationProblems) {
      _ = try Settings.load(path: "/nowhere/bot.conf", environment: serviceEnvironment)
      Issue.record("a missing file was read")
    } catch {
      #expect(
        error.description
          == "/nowhere/bot.conf: does not exist: create it, or name another one with --config FILE")
    }
  }

  @Test("an empty file asks for the address")
  func emptyFile() {
    #expect(diagnostics("") == ["bot.conf:1: the section [account] is missing: add [account] with jid = …"])
  }

  @Test("without a place for archive and socket the diagnostics ask for one")
  func noPlace() {
    var parser = ConfigurationParser(file: "bot.conf")
    parser.parse(Array("[account]\njid = b@e.org\n".utf8), file: "bot.conf")
    var reader = SettingsReader(
      document: parser.document, problems: [],
      paths: StandardPaths(configurationFile: "bot.conf", environment: [:], isRoot: false))
    do throws(ConfigurationProblems) {
      _ = try reader.read()
      Issue.record("a place was found")
    } catch {
      #expect(
        error.diagnostics.map(\.description) == [
          "bot.conf:1: there is no `path`, $STATE_DIRECTORY or $HOME: add `path` to [archive]",
          "bot.conf:1: there is no `socket`, $RUNTIME_DIRECTORY or $XDG_RUNTIME_DIR: add `socket` to [control]",
        ])
    }
  }

  @Test("the socket is found in a configuration with mistakes, and without one")
  func socketOfRunningDaemon() throws {
    let folder = try SettingsTestsFolder()
    let file = try folder.write("nonsense\n[control]\nsocket = /srv/x.sock\n", to: "bot.conf")
    #expect(Settings.controlSocket(path: file, environment: [:]) == "/srv/x.sock")
    #expect(
      Settings.controlSocket(path: "/etc/xmppbotd/nowhere.conf", environment: [:])
        == "/run/xmppbotd-nowhere/control.sock")
  }

  @Test("a socket path that no socket can have is refused")
  func longSocket() {
    let path = "/" + String(repeating: "x", count: 107)
    #expect(
      diagnostics("[account]\njid = b@e.org\n[control]\nsocket = \(path)\n")
        == ["bot.conf:4: the socket's path \(path) is longer than 107 bytes: choose a shorter one"])
  }
}
