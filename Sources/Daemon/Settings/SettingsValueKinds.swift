import BotKit
import Configuration
import Glibc

extension ValueKind where Value == Settings.Limits.Rate {
  /// `20/10s`, or `unlimited`.
  static var rate: ValueKind {
    let period = ValueKind<Duration>.duration(.seconds(1) ... .seconds(86_400))
    let count = ValueKind<Int>.integer(1...1_000_000)
    return ValueKind(syntax: "NUMBER/DURATION | unlimited") { text throws(ValueProblem) in
      if text == "unlimited" { return .unlimited }
      guard let slash = text.firstIndex(of: "/") else {
        throw ValueProblem("is no rate", remedy: "write it as 20/10s, or `unlimited`")
      }
      return .commands(
        try count.parse(String(text[..<slash])), per: try period.parse(String(text[text.index(after: slash)...])))
    }
  }
}

extension ValueKind where Value == Settings.ArchiveSettings.Keep {
  /// `90d`, or `forever`.
  static var keep: ValueKind {
    let age = ValueKind<Duration>.duration(.seconds(60) ... .seconds(36_500 * 86_400))
    return ValueKind(syntax: "DURATION | forever") { text throws(ValueProblem) in
      if text == "forever" { return .forever }
      guard text.first?.isNumber == true else {
        throw ValueProblem("is neither a duration nor `forever`", remedy: "write it as 90d, or `forever`")
      }
      return .age(try age.parse(text))
    }
  }
}

extension ValueKind where Value == String {
  /// A host name, or an IPv4 or IPv6 address.
  static var host: ValueKind {
    ValueKind(syntax: "HOST") { text throws(ValueProblem) in
      var address = in6_addr()
      if text.contains(":"), inet_pton(AF_INET6, text, &address) != 1 {
        throw ValueProblem("is no host", remedy: "put what follows the colon into `port`")
      }
      if text.contains(where: { $0.isWhitespace || "/@[]".contains($0) }) {
        throw ValueProblem("is no host", remedy: "write a name such as xmpp.example.org, or an address")
      }
      return text
    }
  }

  /// One word that may also be the name of a file, since each command has a folder of its own.
  static var commandName: ValueKind {
    ValueKind(syntax: "NAME") { text throws(ValueProblem) in
      guard !text.contains(where: \.isWhitespace) else {
        throw ValueProblem("is more than one word", remedy: "write one word; arguments belong into `exec`")
      }
      guard !text.contains("/"), !text.hasPrefix(".") else {
        throw ValueProblem("holds a slash or begins with a dot", remedy: "leave it out")
      }
      return text
    }
  }
}

extension ValueKind where Value == CommandField {
  /// `service choice web|db required "Which service"`.
  static var commandField: ValueKind {
    ValueKind(syntax: "NAME KIND [required] [default=VALUE] [\"LABEL\"]") { text throws(ValueProblem) in
      do throws(FieldFault) {
        return try CommandField(line: text)
      } catch {
        throw ValueProblem("is no field: \(error.problem)", remedy: error.remedy)
      }
    }
  }
}

extension ValueKind where Value == Int {
  /// A size, or `unlimited`.
  static var memory: ValueKind { orUnlimited(.size(ResourceLimits.memoryRange), syntax: "SIZE | unlimited") }

  /// A number, or `unlimited`.
  static var processes: ValueKind { orUnlimited(.integer(ResourceLimits.processesRange), syntax: "NUMBER | unlimited") }

  /// A duration in whole seconds, or `unlimited`.
  static var cpu: ValueKind {
    let duration = ValueKind<Duration>.duration(ResourceLimits.cpuRange)
    return orUnlimited(
      ValueKind(syntax: "DURATION") { text throws(ValueProblem) in
        // What is left of a second counts as one.
        let (seconds, rest) = try duration.parse(text).components
        return Int(seconds) + (rest > 0 ? 1 : 0)
      }, syntax: "DURATION | unlimited")
  }

  private static func orUnlimited(_ kind: ValueKind, syntax: String) -> ValueKind {
    ValueKind(syntax: syntax) { text throws(ValueProblem) in
      text == "unlimited" ? ResourceLimits.unlimited : try kind.parse(text)
    }
  }
}
