import Glibc

/// Standard input, output and error.
public enum StandardDescriptors {
  /// Opens those that the process was started without on /dev/null: else the next file opened, such as the archive,
  /// would get their numbers, and what is written to standard error would land in it.
  public static func ensure() {
    for descriptor in STDIN_FILENO...STDERR_FILENO where fcntl(descriptor, F_GETFD) == -1 {
      // The lowest free number is this one.
      _ = open("/dev/null", O_RDWR)
    }
  }
}
