/// What a contact gets of what a program printed.
struct ProgramAnswer {
  private(set) var text: String?
  private(set) var file: CommandUpload?

  /// Of all that it printed.
  init(_ printed: [UInt8], _ result: CommandResult, name: String, style: ProgramCommand.Style) {
    let isCut = if case .outputLimit = result { true } else { false }
    if style == .file {
      if !printed.isEmpty { file = CommandUpload(.bytes(printed)) }
    } else {
      text = Self.text(isCut ? OutputText.whole(printed[...]) : printed[...], style)
    }
    if text == nil, file == nil, result == .done { text = "\(name): done" }
  }

  /// Of what it has printed so far; a file is shown when it is whole.
  init(progress printed: [UInt8], style: ProgramCommand.Style) {
    if style != .file { text = Self.text(OutputText.whole(printed[...]), style) }
  }

  /// Nil when there is nothing to see.
  private static func text(_ bytes: ArraySlice<UInt8>, _ style: ProgramCommand.Style) -> String? {
    let text = OutputText.clean(bytes)
    if text.allSatisfy(\.isWhitespace) { return nil }
    return style == .code ? OutputText.block(text) : text
  }
}
