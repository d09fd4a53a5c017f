import Testing

@testable import JID
