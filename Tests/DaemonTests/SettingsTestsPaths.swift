import Testing

@testable import Daemon

@Suite("Where archive and socket are")
struct SettingsTestsPaths {
  private func paths(_ file: String, _ environment: [String: String], root: Bool) -> [String?] {
    let paths = StandardPaths(configurationFile: file, environment: environment, isRoot: root)
    return [paths.archive, paths.socket]
  }

  @Test("the service manager's folders come first, the first of several")
  func service() {
    let environment = ["STATE_DIRECTORY": "/s/a:/s/b", "RUNTIME_DIRECTORY": "/r/a:/r/b", "HOME": "/home/x"]
    for root in [true, false] {
      #expect(paths("/home/x/bot.conf", environment, root: root) == ["/s/a/archive.db", "/r/a/control.sock"])
    }
  }

  @Test("without it, the service's own places are found for its configuration files")
  func tool() {
    let service = ["/var/lib/xmppbotd/archive.db", "/run/xmppbotd/control.sock"]
    let work = ["/var/lib/xmppbotd-work/archive.db", "/run/xmppbotd-work/control.sock"]
    for root in [true, false] {
      #expect(paths("/etc/xmppbotd/xmppbotd.conf", ["HOME": "/home/x"], root: root) == service)
      #expect(paths("/etc/xmppbotd/work.conf", [:], root: root) == work)
    }
  }

  @Test("the commands' service is where its unit listens, and nowhere for configurations that no unit uses")
  func commands() {
    let sockets = ["/etc/xmppbotd/xmppbotd.conf", "/etc/xmppbotd/work.conf", "/srv/work.conf", "xmppbotd.conf"].map {
      StandardPaths(configurationFile: $0, environment: [:], isRoot: true).commandsSocket
    }
    #expect(sockets == ["/run/xmppbotd-commands.sock", "/run/xmppbotd-commands-work.sock", nil, nil])
  }

  @Test("somebody who runs it by hand has the folders of the XDG specification")
  func byHand() {
    #expect(
      paths("bot.conf", ["HOME": "/home/x", "XDG_RUNTIME_DIR": "/run/user/1000"], root: false)
        == ["/home/x/.local/state/xmppbotd-bot/archive.db", "/run/user/1000/xmppbotd-bot/control.sock"])
    #expect(
      paths("./xmppbotd.conf", ["HOME": "/home/x", "XDG_STATE_HOME": "/state"], root: false)
        == ["/state/xmppbotd/archive.db", nil])
    #expect(paths("bot.conf", ["HOME": "relative", "XDG_STATE_HOME": "too"], root: false) == [nil, nil])
  }
}
