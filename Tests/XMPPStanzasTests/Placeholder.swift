import Testing

@testable import XMPPStanzas
