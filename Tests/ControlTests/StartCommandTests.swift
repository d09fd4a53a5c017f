import Testing

@testable import Control

@Suite("What starts the daemon")
struct StartCommandTests {
  @Test(
    "the unit of the configuration, or the program where there is no unit",
    arguments: [
      ("/etc/xmppbotd/xmppbotd.conf", "systemctl start xmppbotd"),
      ("/etc/xmppbotd/second.conf", "systemctl start xmppbotd@second"),
      ("/home/me/bot.conf", "xmppbotd --config /home/me/bot.conf"),
    ])
  func command(configuration: String, expected: String) {
    let call = Call(words: [], options: ["--config": configuration], environment: [:])
    #expect(call.startCommand == expected)
  }
}
