/// The members of a JSON object in the order in which they were written, each key once.
///
/// Keys are compared by their code points, as RFC 8259 section 8.3 has it, not by canonical equivalence as strings are.
/// Equality does not depend on the order. Lookup is linear, which for the objects of a protocol is the fastest way.
public struct JSONObject: Sendable {
  public typealias Member = (key: String, value: JSON)

  private var members: [Member]

  public init() { members = [] }

  /// Of equal keys the last value counts, at the place of the first.
  public init(_ members: some Sequence<(String, JSON)>) {
    self.init()
    for (key, value) in members { self[key] = value }
  }

  /// For the parser, which has made sure that no key is repeated.
  init(unique members: [Member]) { self.members = members }

  /// Setting nil removes the member; setting `JSON.null` does not.
  public subscript(key: String) -> JSON? {
    get { index(of: key).map { members[$0].value } }
    set {
      switch (index(of: key), newValue) {
      case (let index?, let value?): members[index].value = value
      case (let index?, nil): members.remove(at: index)
      case (nil, let value?): members.append((key, value))
      case (nil, nil): break
      }
    }
  }

  public var count: Int { members.count }
  public var isEmpty: Bool { members.isEmpty }
  public var keys: [String] { members.map(\.key) }

  private func index(of key: String) -> Int? {
    members.firstIndex { $0.key.utf8.elementsEqual(key.utf8) }
  }
}

extension JSONObject: Sequence {
  public func makeIterator() -> IndexingIterator<[Member]> { members.makeIterator() }
}

extension JSONObject: Hashable {
  public static func == (left: JSONObject, right: JSONObject) -> Bool {
    func same(_ left: Member, _ right: Member) -> Bool {
      left.key.utf8.elementsEqual(right.key.utf8) && left.value == right.value
    }
    guard left.count == right.count else { return false }
    return left.members.elementsEqual(right.members, by: same)
      || left.sortedMembers.elementsEqual(right.sortedMembers, by: same)
  }

  public func hash(into hasher: inout Hasher) {
    // A sum, for the order must not matter.
    var sum = 0
    for member in members {
      var memberHasher = Hasher()
      memberHasher.combine(member.key)
      memberHasher.combine(member.value)
      sum &+= memberHasher.finalize()
    }
    hasher.combine(sum)
  }

  private var sortedMembers: [Member] { members.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) } }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
  public init(dictionaryLiteral members: (String, JSON)...) { self.init(members) }
}
