import CSystemd
import Glibc

/// Sockets that the service manager opened for the daemon (sd_listen_fds(3)).
public enum SocketActivation {
  public struct Socket: Sendable, Hashable {
    public let descriptor: Int32
    /// `FileDescriptorName=` of the socket unit; by default the unit's name.
    public let name: String
  }

  /// The sockets passed to this process, close-on-exec, in the manager's order. Belongs into the first lines of the
  /// program: it takes the variables out of the environment, so that it yields the sockets once and children see none.
  public static func listenSockets() -> [Socket] {
    var names: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
    let count = sd_listen_fds_with_names(1, &names)
    defer {
      if count > 0, let names {
        for index in 0..<Int(count) { free(names[index]) }
      }
      free(names)
    }
    guard count > 0 else { return [] }
    let first: Int32 = 3  // SD_LISTEN_FDS_START
    return (0..<count).map { index in
      let name = names?[Int(index)].map { String(cString: $0) } ?? ""
      return Socket(descriptor: first + index, name: name)
    }
  }
}
