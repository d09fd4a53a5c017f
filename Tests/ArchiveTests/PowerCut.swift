import CRecordingVFS
import Glibc
import TestSupport

/// What reached the files of a folder, step by step, and what a power cut in the midst of it leaves.
///
/// For each file: what its last fsync made certain, and of what was written after that any part: a write is there, or is
/// not, or some of its sectors are (512 bytes, as disks tear them). A new file without an fsync may be gone.
struct PowerCut {
  private struct Step {
    let kind: recording_kind
    let file: Int32
    let offset: Int
    let bytes: [UInt8]
    let isFolderSynced: Bool
  }

  private let steps: [Step]
  private let names: [String]
  static let sector = 512

  /// Records what SQLite does in `folder` while `body` runs.
  init(in folder: TemporaryFolder, _ body: () throws -> Void) rethrows {
    _ = PowerCut.registered
    recording_start(folder.path + "/")
    defer { recording_stop() }
    try body()
    steps = (0..<recording_count()).map { index in
      let step = recording_get(index)
      let bytes = [UInt8](unsafeUninitializedCapacity: Int(step.length)) { buffer, count in
        if step.kind == RECORDING_WRITE, step.length > 0 { recording_bytes(index, buffer.baseAddress) }
        count = step.kind == RECORDING_WRITE ? Int(step.length) : 0
      }
      return Step(
        kind: step.kind, file: step.file, offset: Int(step.offset), bytes: bytes,
        isFolderSynced: step.kind == RECORDING_DELETE && step.length == 1)
    }
    var names: [String] = []
    while let name = recording_name(Int32(names.count)) { names.append(String(cString: name)) }
    self.names = names
  }

  private static let registered = recording_register()

  /// Steps so far.
  static var now: Int { recording_count() }
  /// All steps.
  var count: Int { steps.count }
  func count(of kind: recording_kind) -> Int { steps.count { $0.kind == kind } }

  /// The files as the cut after `steps` steps may have left them; nil: no such file.
  func files(after count: Int, using random: inout some RandomNumberGenerator) -> [String: [UInt8]] {
    var files: [String: [UInt8]] = [:]
    for (number, name) in names.enumerated() {
      files[name] = content(of: Int32(number), after: count, using: &random)
    }
    return files
  }

  /// The last step whose new and deleted names are certain: SQLite syncs the folder when it syncs a new file for the first
  /// time, and after some deletions.
  private func folderSynced(in done: ArraySlice<Step>) -> Int {
    var new: Set<Int32> = []
    var synced = -1
    for (index, step) in done.enumerated() {
      switch step.kind {
      case RECORDING_CREATE: new.insert(step.file)
      case RECORDING_SYNC where new.remove(step.file) != nil: synced = index
      case RECORDING_DELETE where step.isFolderSynced: synced = index
      default: break
      }
    }
    return synced
  }

  private func content(of file: Int32, after count: Int, using random: inout some RandomNumberGenerator) -> [UInt8]? {
    let done = steps[..<count]
    let certain = done.lastIndex { $0.file == file && $0.kind == RECORDING_SYNC } ?? -1
    let certainNames = folderSynced(in: done)
    // The archive itself makes its database's file, and syncs the folder.
    var exists = !names[Int(file)].contains("-")
    var bytes: [UInt8] = []
    for (index, step) in done.enumerated() where step.file == file {
      let isCertain = index <= certain
      switch step.kind {
      case RECORDING_CREATE:
        exists = index <= certainNames || Bool.random(using: &random)
        bytes = []
      case RECORDING_DELETE: if index <= certainNames || Bool.random(using: &random) { exists = false }
      case RECORDING_TRUNCATE: if isCertain || Bool.random(using: &random) { resize(&bytes, to: step.offset) }
      case RECORDING_WRITE:
        write(step, to: &bytes, parts: isCertain ? 0 : Int.random(in: 0..<3, using: &random), &random)
      default: break
      }
    }
    return exists ? bytes : nil
  }

  private func resize(_ bytes: inout [UInt8], to size: Int) {
    if bytes.count > size {
      bytes.removeLast(bytes.count - size)
    } else {
      bytes.append(contentsOf: repeatElement(0, count: size - bytes.count))
    }
  }

  /// `parts`: 0: the whole write; 1: nothing of it; 2: some of its sectors.
  private func write(
    _ step: Step, to bytes: inout [UInt8], parts: Int, _ random: inout some RandomNumberGenerator
  ) {
    if parts == 1 { return }
    let size = step.bytes.count
    if bytes.count < step.offset + size { resize(&bytes, to: step.offset + size) }
    if parts == 0 { return bytes.replaceSubrange(step.offset..<step.offset + size, with: step.bytes) }
    var start = 0
    while start < size {
      let end = min(size, start + PowerCut.sector - (step.offset + start) % PowerCut.sector)
      if Bool.random(using: &random) {
        bytes.replaceSubrange(step.offset + start..<step.offset + end, with: step.bytes[start..<end])
      }
      start = end
    }
  }
}

/// Random numbers that a seed repeats (SplitMix64).
struct SeededRandom: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
