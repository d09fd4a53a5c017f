import JSON
import Testing

extension RealSystemd {
  @Suite("Secrets, users and sandboxes")
  struct SecretTests {
    @Test("the password in a file that only root can read reaches the daemon, which is not root")
    func plainCredential() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server).startOnline()
      let process = try bot.property("MainPID")
      #expect(try bot.machine.run("stat", "--format=%U", "/proc/\(process)") == "xmppbotd\n", "\(bot.situation)")
      #expect(try bot.machine.run("stat", "--format=%U %a", bot.passwordFile) == "root 600\n")
      let read = try bot.machine.attempt("setpriv", "--reuid=xmppbotd", "--clear-groups", "cat", bot.passwordFile)
      #expect(read.exit != .code(0), "its user can read the file itself: \(read.output)")
    }

    @Test(
      "a password that is encrypted reaches it, too, with the machine's key and with what systemd-creds takes by itself",
      arguments: ["host", "auto"])
    func encryptedCredential(key: String) throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server)
      try bot.machine.run("rm", bot.passwordFile)
      try bot.machine.run("mkdir", "--parents", "--mode=700", "/etc/credstore.encrypted")
      try bot.machine.run(
        "systemd-creds", "encrypt", "--with-key=\(key)", "--name=password", "-", "/etc/credstore.encrypted/xmppbotd",
        input: bot.account.password)
      try bot.dropIn(
        "[Service]\nLoadCredential=\nLoadCredentialEncrypted=password:/etc/credstore.encrypted/xmppbotd\n")
      try bot.startOnline()
      let alice = try bot.contact()
      #expect(try bot.answer(to: "ping", from: alice) == "pong", "\(bot.situation)")
      let found = try bot.machine.attempt("grep", "-rlF", bot.account.password, "/etc", "/var/lib")
      #expect(found.output == "", "the password is on the disk: \(found.output)")
    }

    @Test("no password at all is said, with what to do")
    func noPassword() throws {
      let bot = try InstalledBot(on: try Server.shared(.prosody))
      try bot.machine.run("rm", bot.passwordFile)
      #expect(try bot.machine.attempt("systemctl", "start", bot.unit).exit == .code(1), "\(bot.situation)")
      let said = try bot.entry("config-invalid")
      #expect(said.contains("/etc/xmppbotd/password"), "\(said)\n\(bot.situation)")
    }

    @Test("with DynamicUser=yes all works as before, commands too, and the archive moves along")
    func dynamicUser() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server)
      try bot.addCommand("me", "id -un")
      try bot.startOnline()
      let alice = try bot.contact()
      #expect(try bot.answer(to: "ping before", from: alice) == "pong before", "\(bot.situation)")
      try bot.dropIn("[Service]\nDynamicUser=yes\n")
      try bot.machine.run("systemctl", "restart", bot.unit)
      try bot.awaitStatus("online as \(bot.account.jid)/")
      #expect(try bot.machine.run("readlink", "/var/lib/xmppbotd") == "private/xmppbotd\n", "\(bot.situation)")
      #expect(try bot.answer(to: "me", from: alice) == "xmppbotd-commands", "\(bot.situation)")
      #expect(try bot.control("archive", "search", "before").output.contains("pong before"), "\(bot.situation)")
      #expect(!bot.wasSeenLeaving(by: alice), "\(bot.situation)")
    }

    @Test("as a user that exists only while it runs it is online, and says why it may not have commands started")
    func onlyDynamicUser() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server)
      try bot.addCommand("me", "id -un")
      try bot.dropIn("[Service]\nDynamicUser=yes\nUser=xmppbotd-dynamic\n")
      try bot.startOnline()
      let process = try bot.property("MainPID")
      let user = Int(try bot.machine.run("stat", "--format=%u", "/proc/\(process)").dropLast()) ?? 0
      #expect((61_184...65_519).contains(user), "user \(user): \(bot.situation)")
      let alice = try bot.contact()
      #expect(try bot.answer(to: "ping", from: alice) == "pong", "\(bot.situation)")
      #expect(try bot.answer(to: "me", from: alice).contains("failed"), "\(bot.situation)")
      let said = try bot.entry("handler-output")
      #expect(said.contains("xmppbotd-commands.socket"), "\(said)")
    }

    @Test("where the commands' service can't be had, commands fail, and don't get the daemon's rights")
    func failsClosed() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server)
      try bot.addCommand("me", "id -un")
      try bot.machine.run("systemctl", "mask", "--runtime", "--now", "xmppbotd-commands.socket")
      defer { _ = try? bot.machine.attempt("systemctl", "unmask", "--runtime", "xmppbotd-commands.socket") }
      try bot.machine.run("rm", "-f", "/run/xmppbotd-commands.sock")
      try bot.startOnline()
      let alice = try bot.contact()
      #expect(try bot.answer(to: "me", from: alice).contains("failed"), "\(bot.situation)")
      let said = try bot.entry("handler-output")
      #expect(said.contains("xmppbotd-commands.socket"), "\(said)")
      try bot.machine.run("systemctl", "unmask", "--runtime", "xmppbotd-commands.socket")
      try bot.machine.run("systemctl", "start", "xmppbotd-commands.socket")
      #expect(try bot.answer(to: "me", from: alice) == "xmppbotd-commands", "\(bot.situation)")
    }

    @Test("commands run as another user, and reach neither the password nor the archive nor the daemon")
    func isolation() throws {
      let server = try Server.shared(.prosody)
      let bot = try InstalledBot(on: server)
      try bot.addCommand(
        "pry",
        """
        id -un
        grep -rlsF -- "$1" /etc /run /var/lib
        cat /etc/xmppbotd/password /run/credentials/*/password /var/lib/xmppbotd/archive.db* 2>/dev/null
        /usr/bin/xmppbotctl status >/dev/null 2>&1 && echo controls the daemon
        for process in /proc/[0-9]*; do
          [ "$(stat -c %U "$process")" = xmppbotd ] && echo "sees $process"
        done
        kill -0 "$2" 2>/dev/null && echo "may signal $2"
        touch /etc/xmppbotd/new /usr/new 2>/dev/null && echo writes
        exit 0
        """)
      try bot.startOnline()
      let alice = try bot.contact()
      let password = bot.account.password
      let process = try bot.property("MainPID")
      #expect(
        try bot.answer(to: "pry \(password) \(process)", from: alice) == "xmppbotd-commands", "\(bot.situation)")
      let seen = try bot.machine.run("grep", "-rlsF", password, "/etc", "/var/lib")
      #expect(
        seen.contains(bot.passwordFile) && seen.contains("archive.db"), "there was nothing to be seen: \(seen)")
    }

    @Test(
      "systemd counts an exposure of 1.5 at most",
      arguments: [
        "xmppbotd.service", "xmppbotd@second.service", "xmppbotd-commands.service", "xmppbotd-commands@second.service",
        "xmppbot-notify@x.service",
      ])
    func exposure(of unit: String) throws {
      try InstalledBot.install()
      let machine = try Machine.shared()
      let analysis = try machine.attempt("systemd-analyze", "security", "--no-pager", "--threshold=15", unit)
      #expect(analysis.exit == .code(0), "\(analysis.output.split(separator: "\n").filter { !$0.hasPrefix("✓") })")
      #expect(analysis.output.contains("Overall exposure level for \(unit)"))
    }

    @Test("members of the group xmppbotd may use xmppbotctl, nobody else but root")
    func controllers() throws {
      let bot = try InstalledBot(on: try Server.shared(.prosody)).startOnline()
      let nobody = ["setpriv", "--reuid=nobody", "--regid=nogroup"]
      let member = try bot.machine.attempt(nobody + ["--groups=xmppbotd", "xmppbotctl", "status"])
      #expect(member.exit == .code(0) && member.output.contains("online"), "\(member.output)\(bot.situation)")
      let other = try bot.machine.attempt(nobody + ["--clear-groups", "xmppbotctl", "status"])
      #expect(other.exit != .code(0) && !other.output.contains(bot.account.jid), "\(other.output)")
    }
  }
}
