import Testing

@testable import XMPPClient
