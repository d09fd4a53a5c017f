import XML
import XMPPStanzas

/// What waits to be written to a connection: whole elements, in order, and before them what is urgent.
///
/// A connection gets little at a time, since nothing can go before what it has. On a narrow link a server would else get our
/// acknowledgement (XEP-0198) behind minutes of our messages, and has given us up by then (ejabberd after a minute).
struct StreamOutput {
  /// About so many bytes go together, if that many wait.
  private static let piece = 16 * 1024

  private var urgent: [UInt8] = []
  /// Full ones, of which those before `first` have gone.
  private var pieces: [[UInt8]] = []
  private var first = 0
  private var last: [UInt8] = []
  /// Bytes that wait.
  private(set) var count = 0

  var isEmpty: Bool { count == 0 }

  /// Appends an element; returns its bytes.
  mutating func append(_ element: Element) -> Int {
    let before = last.count
    element.write(to: &last, parentNamespace: Namespace.client)
    return appended(since: before)
  }

  /// Appends what is not a whole element: the stream's beginning and its end.
  mutating func append(_ text: String) {
    let before = last.count
    last += text.utf8
    _ = appended(since: before)
  }

  private mutating func appended(since before: Int) -> Int {
    let bytes = last.count - before
    count += bytes
    if last.count >= Self.piece {
      pieces.append(last)
      last = []
    }
    return bytes
  }

  /// Puts an element before all that waits, in the place of the last one that was put there and has not gone: of
  /// acknowledgements only the newest says anything.
  mutating func putFirst(_ element: Element) {
    count -= urgent.count
    urgent = []
    element.write(to: &urgent, parentNamespace: Namespace.client)
    count += urgent.count
  }

  /// Takes what goes next; nil when nothing waits.
  mutating func next() -> [UInt8]? {
    var next: [UInt8] = []
    if !urgent.isEmpty {
      swap(&urgent, &next)
    } else if first < pieces.count {
      swap(&pieces[first], &next)
      first += 1
      if first == pieces.count {
        pieces = []
        first = 0
      }
    } else {
      swap(&last, &next)
    }
    count -= next.count
    return next.isEmpty ? nil : next
  }
}
