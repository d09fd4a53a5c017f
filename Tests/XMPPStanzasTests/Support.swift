import XML
import XMPPStanzas

/// A stanza as it comes over the stream: without a namespace of its own it is the stream's.
func stanza(_ xml: String) throws -> Element {
  let start = xml.firstIndex { $0 == " " || $0 == "/" || $0 == ">" } ?? xml.endIndex
  return try Element(parsing: xml[..<start] + " xmlns='jabber:client'" + xml[start...])
}

func message(_ xml: String) throws -> Message { try Message(stanza(xml)) }
func iq(_ xml: String) throws -> IQ { try IQ(stanza(xml)) }
func presence(_ xml: String) throws -> Presence { try Presence(stanza(xml)) }
