/// How long-lasting somebody's standing in a room is (XEP-0045 section 5.2), from the least to the most.
public enum Affiliation: String, Sendable, Hashable, CaseIterable, Comparable {
  case outcast, none, member, admin, owner

  public static func < (a: Affiliation, b: Affiliation) -> Bool { a.rank < b.rank }
  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}

/// What an occupant may do in a room at present (XEP-0045 section 5.1), from the least to the most.
public enum Role: String, Sendable, Hashable, CaseIterable, Comparable {
  case none, visitor, participant, moderator

  public static func < (a: Role, b: Role) -> Bool { a.rank < b.rank }
  private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
