import Glibc

/// The name of a user of this system, or the number where none is known; for messages.
public func userName(_ user: uid_t) -> String {
  var buffer = [CChar](repeating: 0, count: 16_384)
  var entry = passwd()
  var found: UnsafeMutablePointer<passwd>?
  guard getpwuid_r(user, &entry, &buffer, buffer.count, &found) == 0, found != nil, let name = entry.pw_name else {
    return "\(user)"
  }
  return String(cString: name)
}
