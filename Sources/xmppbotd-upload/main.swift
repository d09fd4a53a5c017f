import Glibc
import Upload

// The program that puts a file to where a server says (XEP-0363), for xmppbotd: apart from it, since libcurl brings 25 libraries
// that the daemon need not have in its memory. The file is standard input; standard output is a socket, from which the
// order is read and to which the reason is written when it fails.

signal(SIGPIPE, SIG_IGN)

/// Says why, and ends.
func fail(_ reason: String) -> Never {
  let line = Array((reason + "\n").utf8)
  _ = write(STDOUT_FILENO, line, line.count)
  exit(1)
}

/// All up to an empty line.
func readOrder() -> String {
  var text: [UInt8] = []
  while !text.suffix(2).elementsEqual([0x0a, 0x0a]) {
    var byte: UInt8 = 0
    guard text.count < 262_144, read(STDOUT_FILENO, &byte, 1) == 1 else { break }
    text.append(byte)
  }
  return String(decoding: text, as: UTF8.self)
}

if CommandLine.arguments.count > 1 {
  fail("xmppbotd-upload is started by xmppbotd, and of no use by itself")
}
guard let order = UploadOrder(readOrder()) else { fail("the order can't be read; are both programs of one version?") }
if let reason = Transfer.put(order) { fail(reason) }
