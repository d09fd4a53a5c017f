import Configuration
import Glibc

/// What the system says of this process.
struct ProcessFigures: Sendable, Hashable {
  /// Bytes.
  var residentMemory: Int?
  var virtualMemory: Int?
  /// Seconds of all threads, in user space and in the kernel.
  var processorTime: Double?
  var openDescriptors: Int?
  var allowedDescriptors: Int?

  /// As of now.
  static func read() -> ProcessFigures {
    var figures = ProcessFigures()
    if let statm = try? readRegularFile("/proc/self/statm") {
      let pages = String(decoding: statm, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
      let size = Int(sysconf(Int32(_SC_PAGESIZE)))
      if pages.count >= 2 {
        figures.virtualMemory = pages[0] * size
        figures.residentMemory = pages[1] * size
      }
    }
    var usage = rusage()
    if getrusage(Int32(RUSAGE_SELF.rawValue), &usage) == 0 {
      figures.processorTime = usage.ru_utime.seconds + usage.ru_stime.seconds
    }
    var limit = rlimit()
    if getrlimit(Int32(RLIMIT_NOFILE.rawValue), &limit) == 0 {
      figures.allowedDescriptors = Int(clamping: limit.rlim_cur)
    }
    figures.openDescriptors = descriptors()
    return figures
  }

  private static func descriptors() -> Int? {
    guard let folder = opendir("/proc/self/fd") else { return nil }
    defer { closedir(folder) }
    var count = 0
    while let entry = readdir(folder) {
      // Neither "." nor "..".
      if entry.pointee.d_name.0 != CChar(UInt8(ascii: ".")) { count += 1 }
    }
    // One is the folder itself.
    return count - 1
  }
}

extension timeval {
  fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1_000_000 }
}
