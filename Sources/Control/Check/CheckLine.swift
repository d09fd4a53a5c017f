import JSON

/// One step of `xmppbotctl check`: what was looked at, and what was found.
struct CheckLine: Hashable, Sendable {
  let step: String
  let found: String
  /// What the user loses by it, and what to do about it; nil: all is well.
  var warning: String?

  init(_ step: String, _ found: String, warning: String? = nil) {
    self.step = step
    self.found = found
    self.warning = warning
  }

  var text: String {
    let mark = warning == nil ? Ink.good.on("ok") : Ink.warning.on("!!")
    return mark + "  " + Table.padded(step, 18)
      + Terminal.safe([found, warning].compactMap { $0 }.joined(separator: ": "))
  }

  var json: JSON {
    [
      "step": .string(step), "ok": .bool(warning == nil), "found": .string(found),
      "warning": warning.map(JSON.string) ?? .null,
    ]
  }

  /// It is to be seen when it is known: the next step may take long.
  func print(asJSON: Bool) {
    Swift.print(asJSON ? json.text() : text)
    Terminal.flush()
  }
}
