import JID

/// Why something filled in does not fit its field, as a sentence for who did it.
public struct UnfitValue: Error, Sendable, Hashable {
  public let text: String
}

extension CommandField {
  /// The argument that `given` stands for; nil for none. Several values are the lines of a text.
  public func value(of given: [String]) throws(UnfitValue) -> String? {
    let isFilledIn = given.contains { !$0.isEmpty }
    guard isFilledIn else {
      if let standard { return standard }
      if case .boolean = kind { return "no" }
      if isRequired { throw UnfitValue(text: "\(label): fill this in.") }
      return nil
    }
    switch kind {
    case .lines, .words: return given.joined(separator: "\n")
    case .text, .choice, .boolean, .jid: break
    }
    guard given.count == 1, let text = given.first, !text.contains(where: \.isNewline) else {
      throw UnfitValue(text: "\(label): give one value, in one line.")
    }
    switch kind {
    case .boolean:
      switch text {
      case "1", "true", "yes": return "yes"
      case "0", "false", "no": return "no"
      default: throw UnfitValue(text: "\(label): it is yes or no.")
      }
    case .choice(let choices):
      guard choices.contains(where: { $0.utf8.elementsEqual(text.utf8) }) else {
        throw UnfitValue(text: "\(label): choose one of \(choices.joined(separator: ", ")).")
      }
      return text
    case .jid:
      // A name alone would pass as a domain.
      guard let jid = try? JID(text), jid.local != nil || jid.domain.contains(".") else {
        throw UnfitValue(text: "\(label): that is no address; write it as name@example.org.")
      }
      return jid.description
    case .text, .lines, .words: return text
    }
  }
}

/// What came of a form.
public enum FormFault: Error, Sendable, Hashable {
  /// It is not the form that was asked for: a program's mistake rather than a person's.
  case malformed(String)
  /// It has to be filled in again; a sentence for each reason.
  case unfit([String])
}

/// One field as it was filled in.
public struct FormEntry: Sendable, Hashable {
  public var name: String
  public var values: [String]

  public init(_ name: String, _ values: [String]) {
    self.name = name
    self.values = values
  }
}

extension [CommandField] {
  /// More bytes than this are not taken from a form.
  static var byteLimit: Int { 65_536 }

  /// The value of each field, by its name; those that were left out are missing.
  public func values(of entries: [FormEntry]) throws(FormFault) -> [String: String] {
    guard entries.count <= CommandField.limit * 2 else { throw .malformed("That form has too many fields.") }
    let bytes = entries.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.utf8.count + 1 } }
    guard bytes <= Self.byteLimit else { throw .malformed("That is too long: send less text.") }
    var given: [String: [String]] = [:]
    for entry in entries where entry.name != "FORM_TYPE" {
      guard contains(where: { $0.name == entry.name }) else {
        throw .malformed("Nobody asked for one of these fields.")
      }
      guard given.updateValue(entry.values, forKey: entry.name) == nil else {
        throw .malformed("A field is there twice.")
      }
    }
    var values: [String: String] = [:]
    var faults: [String] = []
    for field in self {
      do { values[field.name] = try field.value(of: given[field.name] ?? []) } catch { faults.append(error.text) }
    }
    if !faults.isEmpty { throw .unfit(faults) }
    return values
  }
}
