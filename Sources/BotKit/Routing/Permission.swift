import JID

/// Whether somebody may use a command, here.
public enum Permission: Sendable, Hashable {
  case granted(Admission)
  /// They may, but the command works only in another kind of place.
  case misplaced(Admission)
  case denied

  public var isGranted: Bool { if case .granted = self { true } else { false } }

  /// By which rule they may use it, here or elsewhere.
  public var admission: Admission? {
    switch self {
    case .granted(let admission), .misplaced(let admission): admission
    case .denied: nil
    }
  }
}

extension AccessPolicy {
  /// What `subject` may do with `command` in this place. `inRoster` is asked only when a rule needs it.
  public func permission(
    of subject: AccessSubject, in place: Places, for command: CommandDescription, inRoster: (JID) -> Bool
  ) -> Permission {
    guard let admission = admission(of: subject, command.allow, inRoster: inRoster) else { return .denied }
    return command.places.contains(place) ? .granted(admission) : .misplaced(admission)
  }

  /// The same of the sender of `message`, where it was said.
  public func permission(
    of message: ChatMessage, for command: CommandDescription, inRoster: (JID) -> Bool
  ) -> Permission {
    permission(of: message.subject, in: message.place, for: command, inRoster: inRoster)
  }
}
