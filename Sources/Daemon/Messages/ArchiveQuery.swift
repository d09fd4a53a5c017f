import Archive

// BotKit has a `SearchQuery` too, and `Archive` names a class as well as its module: this is the archive's.
typealias ArchiveQuery = SearchQuery

extension ArchiveError {
  /// The same write may succeed later: the disk is full or can't be written now.
  var mayPass: Bool {
    switch self {
    case .diskFull, .inUse: true
    case .failed(let error): error.isIOError || error.isReadOnly || error.code.primary == .cannotOpen
    default: false
    }
  }
}
