import JSON

/// What xmppbotctl and the daemon say to each other: JSON objects, one a line.
///
/// A request is `{"verb": …, …}`. Any number of `{"row": …}` may follow as answer, then exactly one
/// `{"done": {…}}` or `{"error": "…", "code": N}`, where N is xmppbotctl's exit code.
public enum ControlMessage: Sendable {
  case row(JSON)
  case done(JSON)
  case failed(ControlFailure)

  public var json: JSON {
    switch self {
    case .row(let row): ["row": row]
    case .done(let result): ["done": result]
    case .failed(let failure): ["error": .string(failure.reason), "code": .int(Int(failure.code.rawValue))]
    }
  }

  public init?(_ json: JSON) {
    if let row = json["row"] {
      self = .row(row)
    } else if let result = json["done"] {
      self = .done(result)
    } else if let reason = json["error"]?.stringValue {
      let code = json["code"]?.intValue.flatMap { ExitCode(rawValue: Int32(truncatingIfNeeded: $0)) }
      self = .failed(ControlFailure(code ?? .failed, reason))
    } else {
      return nil
    }
  }
}

/// Why a request could not be done, in words for the operator.
public struct ControlFailure: Error, Sendable, Hashable {
  public var code: ExitCode
  public var reason: String

  public init(_ code: ExitCode, _ reason: String) {
    self.code = code
    self.reason = reason
  }
}

/// How xmppbotctl ends (and xmppbotd, as far as it applies).
public enum ExitCode: Int32, Sendable, CaseIterable {
  case done = 0
  case failed = 1
  case usage = 2
  case notRunning = 3
  case offline = 4
  case notAllowed = 5
  case timedOut = 6
  case configuration = 78
}
