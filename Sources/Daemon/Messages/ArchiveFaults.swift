import Archive

// BotKit has a `SearchQuery` too, and `Archive` names a class as well as its module: this is the archive's.
typealias ArchiveSearch = SearchQuery

extension ArchiveError {
  /// The same write may succeed later: the disk is full or can't be written now, or memory is short.
  var mayPass: Bool {
    switch self {
    case .diskFull, .inUse: true
    case .failed(let error):
      error.isIOError || error.isReadOnly || error.code.primary == .cannotOpen || error.code.primary == .noMemory
    default: false
    }
  }

  /// How a program ends that can't do without the archive: what the operator must mend first is not tried again by the
  /// service manager, what may pass is.
  public var exitCode: ExitCode {
    switch self {
    case .newerSchema, .olderSchema, .notAnArchive, .unusable: .configuration
    case .inUse, .damaged, .diskFull, .fatal, .moved, .failed, .closed, .noThread: .failed
    }
  }
}
