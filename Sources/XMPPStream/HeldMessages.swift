/// Live messages that wait until what came before them is fetched from the archive, in the order in which they came (see
/// ``CatchUp``). Pure.
struct HeldMessages<Item> {
  private var entries: [(item: Item, stanzaID: String?, size: Int)] = []
  private var bytes = 0
  private let most: (count: Int, bytes: Int)

  /// - Parameter most: beyond these, what can be fetched from the archive is not held.
  init(most: (count: Int, bytes: Int)) { self.most = most }

  var isEmpty: Bool { entries.isEmpty }
  var count: Int { entries.count }

  /// There is no place for one more of this size, if the archive has it.
  func isFull(for size: Int) -> Bool { entries.count >= most.count || bytes + size > most.bytes }

  /// There is no place for one more, whatever it is.
  func isStuffed(for size: Int) -> Bool { entries.count >= Self.utmost.count || bytes + size > Self.utmost.bytes }

  mutating func append(_ item: Item, stanzaID: String?, size: Int) {
    entries.append((item, stanzaID, size))
    bytes += size
  }

  /// Those for which there is no place, and which the archive has, are not held any more. The last one's id is the one to wait for.
  mutating func shed() -> (items: [Item], last: String?) {
    var kept = HeldMessages(most: most)
    var shed: (items: [Item], last: String?) = ([], nil)
    for entry in entries {
      if let id = entry.stanzaID, kept.isFull(for: entry.size) {
        shed.items.append(entry.item)
        shed.last = id
      } else {
        kept.append(entry.item, stanzaID: entry.stanzaID, size: entry.size)
      }
    }
    self = kept
    return shed
  }

  /// The next ones to go on, at most `count`.
  mutating func removeFirst(_ count: Int) -> [Item] {
    let part = entries.prefix(count)
    bytes -= part.reduce(0) { $0 + $1.size }
    entries.removeFirst(part.count)
    return part.map(\.item)
  }

  private static var utmost: (count: Int, bytes: Int) { (20_000, 32 << 20) }
}
