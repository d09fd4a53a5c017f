/// The messages that show one text, which may change: each piece of it a message, corrected in place (XEP-0308).
struct ShownText: Sendable, Hashable {
  private struct Shown: Hashable {
    var id: String
    var piece: String
  }

  /// What has to be sent for a change.
  enum Change: Sendable, Hashable {
    case add(String)
    /// The message with this id says something else; corrections of it, too, name this first id.
    case correct(String, String)

    var body: String {
      switch self {
      case .add(let body), .correct(_, let body): body
      }
    }
  }

  /// Stands where the text became shorter by a message.
  private static let nothing = "…"

  private var shown: [Shown] = []

  /// Messages that say `pieces`.
  init(_ pieces: [(id: String, piece: String)] = []) {
    shown = pieces.map { Shown(id: $0.id, piece: $0.piece) }
  }

  /// What makes the messages say `pieces`; the messages that are added get ids of `newID`.
  mutating func show(_ pieces: [String], newID: () -> String) -> [(id: String, change: Change)] {
    var changes: [(String, Change)] = []
    for index in 0..<max(pieces.count, shown.count) {
      let piece = index < pieces.count ? pieces[index] : Self.nothing
      if index >= shown.count {
        shown.append(Shown(id: newID(), piece: piece))
        changes.append((shown[index].id, .add(piece)))
      } else if shown[index].piece != piece {
        shown[index].piece = piece
        changes.append((newID(), .correct(shown[index].id, piece)))
      }
    }
    return changes
  }
}
