import BotKit
import Configuration
import JID

extension AccessRule {
  /// What kinds of entry a key takes beside JID and `*@domain`.
  struct Forms: OptionSet {
    let rawValue: Int
    static let group = Forms(rawValue: 1)
    static let roster = Forms(rawValue: 2)
    static let everyone = Forms(rawValue: 4)
    static let none = Forms(rawValue: 8)
    /// Affiliations and roles.
    static let room = Forms(rawValue: 16)

    /// Each form as it is written.
    var words: [String] {
      var words = ["JID", "*@DOMAIN"]
      if contains(.group) { words.append("@GROUP") }
      if contains(.roster) { words.append("roster") }
      if contains(.room) { words += ["affiliation:AFFILIATION", "role:ROLE"] }
      if contains(.everyone) { words.append("everyone") }
      if contains(.none) { words.append("none") }
      return words
    }
  }

  /// Reads one entry of a list of a configuration, with a problem that names what the key takes.
  init(_ text: String, forms: Forms) throws(ValueProblem) {
    switch text {
    case "roster" where forms.contains(.roster): self = .roster
    case "everyone" where forms.contains(.everyone): self = .everyone
    case "none" where forms.contains(.none): self = .none
    case _ where forms.contains(.room) && (text.hasPrefix("affiliation:") || text.hasPrefix("role:")):
      do throws(AccessRuleError) {
        self = try AccessRule(text)
      } catch {
        throw ValueProblem("names no such standing in a room", remedy: error.reason)
      }
    case _ where text.hasPrefix("*@"):
      let domain = try bareJID(String(text.dropFirst(2)))
      guard domain.local == nil else { throw ValueProblem("has two `@`", remedy: "write *@DOMAIN") }
      self = .domain(domain.domain)
    case _ where text.hasPrefix("@") && forms.contains(.group) && text.count > 1:
      self = .group(String(text.dropFirst()))
    default:
      // A server's own JID has no `@`, but a word without a dot is a slip far more often.
      guard text.contains("@"), !text.hasPrefix("@") else {
        throw ValueProblem("is none of " + forms.words.joined(separator: ", "), remedy: "write one of these")
      }
      self = .address(try bareJID(text))
    }
  }
}

extension ValueKind where Value == [AccessRule] {
  /// A list of entries; `none` stands alone.
  static func access(_ forms: AccessRule.Forms) -> ValueKind {
    let element = ValueKind<AccessRule>(syntax: forms.words.joined(separator: " | ")) { text throws(ValueProblem) in
      try AccessRule(text, forms: forms)
    }
    let list = ValueKind.list(of: element)
    return ValueKind(syntax: list.syntax) { text throws(ValueProblem) in
      let entries = try list.parse(text)
      if entries.count > 1, entries.contains(AccessRule.none) {
        throw ValueProblem("has `none` among others", remedy: "leave the others out, or `none`")
      }
      return entries
    }
  }
}

extension ValueKind where Value == JID {
  /// An account's address without a resource.
  static var accountJID: ValueKind {
    ValueKind(syntax: "JID") { text throws(ValueProblem) in
      let jid = try bareJID(text, resourceRemedy: "put what follows the slash into `resource`")
      guard jid.local != nil else {
        throw ValueProblem("has no part before `@`", remedy: "write it as bot@example.org")
      }
      return jid
    }
  }
}

private func bareJID(
  _ text: String, resourceRemedy: String = "leave out the slash and what follows it"
) throws(ValueProblem) -> JID {
  let jid: JID
  do throws(JIDError) {
    jid = try JID(text)
  } catch {
    throw ValueProblem("is no JID: \(error)", remedy: "write it as name@example.org")
  }
  guard jid.resource == nil else { throw ValueProblem("has a resource", remedy: resourceRemedy) }
  return jid
}
