import Glibc

/// What a process has started, and what those have started in turn.
enum Descendants {
  /// The children of `process`, by proc(5); of one that is gone, none.
  static func children(of process: pid_t) -> [pid_t] {
    let descriptor = open("/proc/\(process)/task/\(process)/children", O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { return [] }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 { text += buffer[..<count] }
    return text.split(separator: UInt8(ascii: " ")).compactMap { pid_t(String(decoding: $0, as: UTF8.self)) }
  }

  /// Kills `process` and all below it.
  static func kill(_ process: pid_t) {
    // From above: who is dead starts no more.
    let below = children(of: process)
    Glibc.kill(process, SIGKILL)
    below.forEach(kill)
  }

  /// Kills a group and everything below this process, and reaps it, for as long as there is something: what was started
  /// behind our back is found in the next round. Gives up after some seconds, when there is what can't be killed.
  static func killAll(leader: pid_t) {
    Glibc.kill(-leader, SIGKILL)
    for round in 0..<1000 {
      var ended: pid_t
      repeat { ended = waitpid(-1, nil, WNOHANG) } while ended > 0
      if ended < 0, errno == ECHILD { return }
      children(of: getpid()).forEach(kill)
      // At once at first; dying takes a moment.
      poll(nil, 0, round < 100 ? 1 : 10)
    }
  }
}

/// The processes and threads of this user, which is what RLIMIT_NPROC limits.
enum UserTasks {
  static func count() -> Int {
    guard let directory = opendir("/proc") else { return 0 }
    defer { closedir(directory) }
    let user = geteuid()
    var count = 0
    while let entry = readdir(directory) {
      let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      guard name.first?.isNumber == true else { continue }
      var status = stat()
      // One link for each thread besides the folder's own two.
      if stat("/proc/\(name)/task", &status) == 0, status.st_uid == user { count += max(0, Int(status.st_nlink) - 2) }
    }
    return count
  }
}
