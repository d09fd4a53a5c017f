import JSON

/// A push, wherever it comes from.
struct GitChange {
  let project: String
  /// As git has it: `refs/heads/main`.
  let reference: String
  let isTag: Bool
  let isDeleted: Bool
  let isNew: Bool
  var isForced = false
  /// " by NAME", or nothing.
  let by: String

  /// Commits that are named; the rest is counted.
  private static let most = 5

  func rendered(commits: Int, _ titles: [String], link: String?) -> Rendered {
    let what = isTag ? "tag" : "branch"
    let name = reference.split(separator: "/", maxSplits: 2).last.map(String.init) ?? reference
    if isDeleted { return Rendered(lines: ["\(project): \(what) \(name) deleted\(by)", link]) }
    let count = commits == 1 ? "1 commit" : "\(commits) commits"
    let head =
      if isTag || (isNew && commits == 0) {
        "\(project): \(what) \(name) \(isNew ? "created" : "moved")\(by)"
      } else {
        "\(project): \(count) \(isForced ? "forced " : "")to \(isNew ? "the new branch " : "")\(name)\(by)"
      }
    var lines: [String?] = [head]
    if !isTag {
      let told = titles.suffix(Self.most)
      if commits > told.count, !told.isEmpty { lines.append("(\(commits - told.count) more before)") }
      for title in told { lines.append("- " + title) }
    }
    return Rendered(lines: lines + [link])
  }

  /// A commit's first line.
  static func title(of commit: JSON) -> String {
    let first = commit["message"]?.stringValue?.split(separator: "\n").first.map(String.init)
    return first.map { HookText.line($0, 120) } ?? commit.line("id", limit: 12) ?? ""
  }

  /// Whether this is the id of no commit: nothing was there before, or is after.
  static func isNothing(_ id: JSON?) -> Bool {
    guard let text = id?.stringValue, !text.isEmpty else { return false }
    return text.utf8.allSatisfy { $0 == UInt8(ascii: "0") }
  }
}
