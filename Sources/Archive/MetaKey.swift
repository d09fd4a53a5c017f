/// What the `meta` table remembers between runs, one text each.
public enum MetaKey: String, Sendable, CaseIterable {
  /// The account that the archive last served: what is remembered of another's server does not hold for it.
  case account
  /// The version of the roster that the `roster` table holds (RFC 6121, 2.6).
  case rosterVersion = "roster_version"
  /// The strongest SASL mechanism that this account has used: a server that offers less later is suspect (XEP-0474).
  case saslFloor = "sasl_floor"
  /// The resource that stays the same for this installation.
  case resource
  /// Where the account's archive on the server ended when this archive was begun; empty: it was empty.
  case archiveStart = "archive_start"
  /// In which rooms we are, one full address a line: our place there.
  case rooms
  /// The id of the last message in the full-text index.
  case indexedUpTo = "indexed_up_to"
}
