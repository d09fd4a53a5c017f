/// What a nickname looks like to other bots, each of which has its own idea of when it is addressed.
enum RoomNick {
  /// Letters and digits, with hyphens, underlines and full stops between them or behind: nothing in it ends a name and begins
  /// a command. Characters that only look like others (full-width ones, ligatures) are none.
  static func isOneWord(_ nick: String) -> Bool {
    guard let first = nick.unicodeScalars.first, isLetterOrDigit(first) else { return false }
    return nick.unicodeScalars.allSatisfy { scalar in
      isLetterOrDigit(scalar) || isAccent(scalar) || scalar == "-" || scalar == "_" || scalar == "."
    }
  }

  /// Whether somebody else of `others` may take `nick` for their own: upper and lower case are one to many bots, and what is no
  /// letter or digit is passed over by some. Nicknames in rooms differ by their bytes.
  static func isMistakable(_ nick: String, among others: [String]) -> Bool {
    let form = folded(nick)
    return others.contains { !$0.utf8.elementsEqual(nick.utf8) && folded($0) == form }
  }

  private static func folded(_ nick: String) -> String {
    var word = String.UnicodeScalarView()
    word.append(
      contentsOf: nick.lowercased().unicodeScalars.filter { $0.properties.isAlphabetic || isDigit($0) || isAccent($0) })
    return String(word)
  }

  private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
    isDigit(scalar)
      || scalar.properties.isAlphabetic
        && !scalar.properties.lowercaseMapping.unicodeScalars.contains { $0.properties.changesWhenNFKCCaseFolded }
  }

  private static func isDigit(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .decimalNumber && !scalar.properties.changesWhenNFKCCaseFolded
  }

  private static func isAccent(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .nonspacingMark && !scalar.properties.isDefaultIgnorableCodePoint
  }
}
