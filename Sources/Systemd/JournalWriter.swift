import CSystemd
import Glibc

/// Writes records to the journal in its native protocol, with the fields that interface and catalog name.
public struct JournalWriter: LogSink {
  public init() {}

  public func write(_ record: LogRecord) {
    let fields = Self.fields(of: record)
    fields.bytes.withUnsafeBufferPointer { bytes in
      guard let base = bytes.baseAddress else { return }
      var vectors: [iovec] = []
      vectors.reserveCapacity(fields.ends.count)
      var start = 0
      for end in fields.ends {
        vectors.append(iovec(iov_base: UnsafeMutableRawPointer(mutating: base + start), iov_len: end - start))
        start = end
      }
      // There is nowhere left to report a failure to.
      _ = sd_journal_sendv(vectors, Int32(vectors.count))
    }
  }

  /// `NAME=value` fields, one after the other in one buffer, and where each ends.
  struct Fields: Equatable {
    var bytes: [UInt8] = []
    var ends: [Int] = []

    mutating func add(_ name: StaticString, _ value: String?) {
      guard let value else { return }
      name.withUTF8Buffer { bytes.append(contentsOf: $0) }
      bytes.append(UInt8(ascii: "="))
      LogText.append(value, to: &bytes)
      ends.append(bytes.count)
    }
  }

  static func fields(of record: LogRecord) -> Fields {
    var fields = Fields()
    fields.bytes.reserveCapacity(256)
    fields.ends.reserveCapacity(10)
    fields.add("MESSAGE", record.message)
    fields.add("MESSAGE_ID", record.event.messageID)
    fields.add("PRIORITY", String(record.priority))
    fields.add("XMPPBOT_EVENT", record.event.rawValue)
    fields.add("XMPPBOT_JID", record.jid)
    fields.add("XMPPBOT_PEER", record.peer)
    fields.add("XMPPBOT_ROOM", record.room)
    fields.add("XMPPBOT_COMMAND", record.command)
    fields.add("XMPPBOT_STANZA_ID", record.stanzaID)
    fields.add("XMPPBOT_DURATION_US", record.duration.map { String(microseconds($0)) })
    return fields
  }
}

/// The whole microseconds in `duration`; what does not fit is the greatest number.
func microseconds(_ duration: Duration) -> Int64 {
  let (seconds, attoseconds) = duration.components
  let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
  return overflow ? .max : whole + attoseconds / 1_000_000_000_000
}
