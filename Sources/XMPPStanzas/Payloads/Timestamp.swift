/// XEP-0082 (1.1): date and time as text, to and from microseconds since 1970 UTC.
public enum Timestamp {
  /// Reads `2002-09-10T23:08:25.123456Z` (or with an offset). Nil for what is no such text or lies outside the years
  /// 1970 to 9998, which no honest stamp does.
  public static func parse(_ text: String) -> Int64? {
    var reader = Reader(bytes: Array(text.utf8))
    guard let year = reader.number(4), reader.skip("-"), let month = reader.number(2), reader.skip("-"),
      let day = reader.number(2), reader.skip("T"), let hour = reader.number(2), reader.skip(":"),
      let minute = reader.number(2), reader.skip(":"), let second = reader.number(2)
    else { return nil }
    let fraction = reader.fraction()
    guard let offset = reader.offset(), reader.isAtEnd else { return nil }
    guard (1970...9998).contains(year), (1...12).contains(month), (1...daysIn(month, year)).contains(day),
      hour < 24, minute < 60, second <= 60
    else { return nil }
    let seconds = daysSinceEpoch(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset
    return Int64(seconds) * 1_000_000 + Int64(fraction)
  }

  /// `2002-09-10T23:08:25.123456Z`; with `seconds` only whole ones.
  public static func format(_ microseconds: Int64, wholeSeconds: Bool = false) -> String {
    var days = Int(microseconds / 86_400_000_000)
    var rest = Int(microseconds % 86_400_000_000)
    if rest < 0 {
      rest += 86_400_000_000
      days -= 1
    }
    let (year, month, day) = civil(days)
    let seconds = rest / 1_000_000
    let whole =
      "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T\(pad(seconds / 3_600, 2)):\(pad(seconds / 60 % 60, 2)):\(pad(seconds % 60, 2))"
    return wholeSeconds ? whole + "Z" : "\(whole).\(pad(rest % 1_000_000, 6))Z"
  }

  private struct Reader {
    let bytes: [UInt8]
    var position = 0

    var isAtEnd: Bool { position == bytes.count }

    mutating func number(_ digits: Int) -> Int? {
      var value = 0
      for _ in 0..<digits {
        guard position < bytes.count, (0x30...0x39).contains(bytes[position]) else { return nil }
        value = value * 10 + Int(bytes[position] - 0x30)
        position += 1
      }
      return value
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
      guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
      position += 1
      return true
    }

    /// Microseconds after a decimal point; 0 without one. Digits beyond the sixth are dropped.
    mutating func fraction() -> Int {
      guard skip(".") else { return 0 }
      var value = 0
      var digits = 0
      while let digit = number(1) {
        if digits < 6 {
          value = value * 10 + digit
          digits += 1
        }
      }
      for _ in digits..<6 { value *= 10 }
      return value
    }

    /// Seconds east of UTC.
    mutating func offset() -> Int? {
      if skip("Z") { return 0 }
      let sign = skip("+") ? 1 : skip("-") ? -1 : 0
      guard sign != 0, let hours = number(2), skip(":"), let minutes = number(2), hours < 24, minutes < 60 else {
        return nil
      }
      return sign * (hours * 3_600 + minutes * 60)
    }
  }

  private static func pad(_ value: Int, _ width: Int) -> String {
    let digits = String(value)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  private static func daysIn(_ month: Int, _ year: Int) -> Int {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
  }

  // Days from and to the proleptic Gregorian calendar, counted in eras of 400 years that begin in March, so that the
  // leap day is the last of its year.
  private static func daysSinceEpoch(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let y = month <= 2 ? year - 1 : year
    let era = y / 400
    let yearOfEra = y - era * 400
    let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let z = days + 719_468
    let era = (z >= 0 ? z : z - 146_096) / 146_097
    let dayOfEra = z - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shifted = (5 * dayOfYear + 2) / 153
    let month = shifted + (shifted < 10 ? 3 : -9)
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
  }
}
