import Testing

@testable import SASL
