import XML

/// What a parser made of some bytes.
struct Outcome: Equatable {
  var events: [StreamEvent] = []
  var error: XMLStreamError?

  var stanzas: [Element] {
    events.compactMap { if case .element(let element) = $0 { element } else { nil } }
  }
}

/// Parses pieces one after the other, as they would come from the network.
func parse(_ pieces: some Sequence<some Sequence<UInt8>>, limits: ParserLimits = .init()) -> Outcome {
  let parser = StreamParser(limits: limits)
  var outcome = Outcome()
  do throws(XMLStreamError) {
    for piece in pieces { try parser.parse(Array(piece)) { outcome.events.append($0) } }
  } catch {
    outcome.error = error
  }
  return outcome
}

func parse(_ text: String, limits: ParserLimits = .init()) -> Outcome { parse([Array(text.utf8)], limits: limits) }

func bytewise(_ text: String, limits: ParserLimits = .init()) -> Outcome {
  parse(text.utf8.map { [$0] }, limits: limits)
}

let header =
  "<?xml version='1.0'?><stream:stream xmlns='jabber:client' xmlns:stream='http://etherx.jabber.org/streams' id='x'>"

/// The condition with which a stream that goes on like this is refused, whole and byte by byte.
func condition(_ text: String, limits: ParserLimits = .init()) -> String? {
  let whole = parse(header + text, limits: limits).error?.condition
  let pieces = bytewise(header + text, limits: limits).error?.condition
  return whole == pieces ? whole : "whole: \(whole ?? "-"), bytewise: \(pieces ?? "-")"
}

/// Steele, Lea and Flood's SplitMix64: repeatable random numbers.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  /// A generator with a random seed, which it prints.
  init() {
    state = .random(in: 0...UInt64.max)
    print("seed \(state)")
  }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }

  /// Text full of what XML makes hard: markup, white space, control characters, surrogates' neighbours.
  mutating func text() -> String {
    let hard: [Unicode.Scalar] = [
      "<", ">", "&", "'", "\"", "\t", "\n", "\r", "\0", "\u{1}", "\u{B}", "\u{1F}", "\u{7F}", "\u{85}", "\u{2028}",
      "\u{FFFD}", "\u{FFFE}", "\u{FFFF}", "\u{D7FF}", "\u{E000}", "\u{1FFFE}", "\u{10FFFF}", "]", "é", "日", "😀", " ",
      "a", ";", "#", "\u{FEFF}", "\u{EFFF}", "\u{FFBF}",
    ]
    var view = String.UnicodeScalarView()
    for _ in 0..<Int.random(in: 0...12, using: &self) { view.append(hard.randomElement(using: &self) ?? " ") }
    return String(view)
  }

  mutating func element(depth: Int = 0) -> Element {
    let names = ["message", "body", "x", "é", "a.b-c_d1"]
    let namespaces = ["", "jabber:client", "urn:a", "urn:a'<&>\"", "http://etherx.jabber.org/streams"]
    var element = Element(names.randomElement(using: &self) ?? "x", namespaces.randomElement(using: &self) ?? "")
    for name in ["a", "b", "lang"] where Bool.random(using: &self) {
      let namespace = (["", XMLNamespace.xml] + namespaces).randomElement(using: &self) ?? ""
      element[name, namespace: namespace] = text()
    }
    for _ in 0..<(depth > 4 ? 0 : Int.random(in: 0...3, using: &self)) {
      if Bool.random(using: &self) { element.append(self.element(depth: depth + 1)) }
      // Neighbouring texts would come back as one.
      if case .text = element.children.last { continue }
      let text = text()
      if !text.isEmpty { element.children.append(.text(text)) }
    }
    return element
  }
}

/// The element as it comes back from a parser: with forbidden characters replaced and attributes in no certain order.
func sanitized(_ element: Element) -> Element {
  var result = element
  result.attributes = element.attributes.map {
    Attribute($0.name, $0.namespace, value: XMLText.sanitized($0.value))
  }.sorted { ($0.namespace, $0.name) < ($1.namespace, $1.name) }
  result.children = element.children.map {
    switch $0 {
    case .element(let child): .element(sanitized(child))
    case .text(let text): .text(XMLText.sanitized(text))
    }
  }
  return result
}
