import Testing

@testable import XMPPStream
