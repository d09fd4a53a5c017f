import CSystemd

/// The variables that this process was started with.
public enum ProcessEnvironment {
  /// A copy of the environment. To be called before there are other threads that change it.
  public static func current() -> [String: String] {
    var variables: [String: String] = [:]
    guard var next = csystemd_environment() else { return variables }
    while let entry = next.pointee {
      let text = String(cString: entry)
      if let equals = text.firstIndex(of: "=") {
        variables[String(text[..<equals])] = String(text[text.index(after: equals)...])
      }
      next += 1
    }
    return variables
  }
}
