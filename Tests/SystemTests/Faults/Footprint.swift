/// What a process holds of what can leak.
struct Footprint: CustomStringConvertible {
  let descriptors: [String]
  /// Memory of its own, in KiB: what it shares of programs and libraries depends on who else runs.
  let memory: Int

  init(of pid: Int32) throws {
    descriptors = try Program.run(["/bin/ls", "/proc/\(pid)/fd"]).split(separator: "\n").map(String.init)
    let line = contents(of: "/proc/\(pid)/smaps_rollup").split(separator: "\n").first { $0.hasPrefix("Pss_Anon:") }
    memory = line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
  }

  var description: String { "\(descriptors.count) descriptors, \(memory) KiB" }

  /// SQLite's cache and the allocator's spare pages fill with use: 8 MiB, and never with the number of messages. In KiB.
  static let usualGrowth = 8 * 1_024

  /// What grew since `before` by more than a process in use may; nil when nothing did.
  func growth(since before: Footprint, _ maximum: Int) -> String? {
    if descriptors.count > before.descriptors.count + 2 {
      return "descriptors: \(before.descriptors.count) before, \(descriptors.count) after"
    }
    if memory > before.memory + maximum { return "memory: \(before.memory) KiB before, \(memory) KiB after" }
    return nil
  }
}
