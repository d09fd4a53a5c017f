import Testing

@testable import SASL

@Suite("The strongest mechanism is chosen, and never a weaker one than someone in between would like")
struct MechanismPolicyTests {
  private static let everything = Mechanism.allCases.map(\.rawValue)
  private static let both = ChannelBindingData(tlsExporter: [1], tlsServerEndPoint: [2])
  private static let floor = MechanismFloor(mechanism: .scramSHA256Plus, binding: .tlsExporter)

  private func choose(
    _ offered: [String], bindings: [String]? = nil, available: ChannelBindingData = both, tls: Bool = true,
    floor: MechanismFloor? = nil, guessFailed: Bool = false
  ) throws(SASLFailure) -> MechanismChoice {
    try MechanismPolicy.choose(
      offered: offered, offeredBindings: bindings, available: available, tls: tls, floor: floor,
      guessFailed: guessFailed)
  }

  @Test("strongest first, whatever the server's order", arguments: 0..<Mechanism.allCases.count)
  func order(dropped: Int) throws {
    let offered = Self.everything.dropFirst(dropped).reversed() + ["X-UNKNOWN", "DIGEST-MD5", "EXTERNAL"]
    #expect(try choose(offered, bindings: ["tls-exporter"]).mechanism == Mechanism.allCases[dropped])
  }

  @Test("the strongest type of binding that both have")
  func bindingType() throws {
    #expect(
      try choose(Self.everything, bindings: ["tls-server-end-point", "tls-exporter"]).binding
        == .bound(.tlsExporter, data: [1]))
    #expect(
      try choose(Self.everything, bindings: ["tls-server-end-point", "tls-unique"]).binding
        == .bound(.tlsServerEndPoint, data: [2]))
    #expect(
      try choose(
        Self.everything, bindings: ["tls-server-end-point", "tls-exporter"],
        available: ChannelBindingData(tlsServerEndPoint: [2])
      ).binding == .bound(.tlsServerEndPoint, data: [2]))
  }

  @Test("y when we can bind and the server offers no -PLUS, also when it announces types")
  func notOffered() throws {
    for bindings in [nil, [], ["tls-exporter"]] {
      let choice = try choose(["SCRAM-SHA-1", "SCRAM-SHA-256"], bindings: bindings)
      #expect(choice.mechanism == .scramSHA256)
      #expect(choice.binding == .notOffered)
      #expect(!choice.requiresDowngradeProof)
    }
  }

  @Test("n when we cannot bind, with or without -PLUS on offer")
  func unsupported() throws {
    for offered in [["SCRAM-SHA-1"], ["SCRAM-SHA-1", "SCRAM-SHA-1-PLUS"]] {
      let choice = try choose(offered, available: ChannelBindingData())
      #expect(choice.mechanism == .scramSHA1)
      #expect(choice.binding == .unsupported)
      #expect(!choice.requiresDowngradeProof)
    }
  }

  @Test("n with proof when the server announces only types that we lack, or only a -PLUS that we lack")
  func noSharedType() throws {
    for (offered, bindings) in [
      (["SCRAM-SHA-256", "SCRAM-SHA-256-PLUS"], ["tls-unique"]),
      (["SCRAM-SHA-256", "SCRAM-SHA3-512-PLUS"], ["tls-exporter"]),
      (["SCRAM-SHA-256", "SCRAM-SHA3-512-PLUS"], nil),
    ] as [([String], [String]?)] {
      let choice = try choose(offered, bindings: bindings)
      #expect(choice.mechanism == .scramSHA256)
      #expect(choice.binding == .unsupported)
      #expect(choice.requiresDowngradeProof)
    }
  }

  @Test("a server that announces nothing is asked for our best type once, then goes without")
  func guess() throws {
    for bindings in [nil, []] as [[String]?] {
      let first = try choose(Self.everything, bindings: bindings)
      #expect(first.binding == .bound(.tlsExporter, data: [1]))
      #expect(first.bindingIsGuessed)
      #expect(first.offeredBindings == nil)
      let second = try choose(Self.everything, bindings: bindings, guessFailed: true)
      #expect(second.mechanism == .scramSHA512)
      #expect(second.binding == .unsupported)
      #expect(!second.requiresDowngradeProof)
    }
  }

  @Test("the guess is not repeated when the last login did without")
  func rememberedGuess() throws {
    let choice = try choose(Self.everything, floor: MechanismFloor(mechanism: .scramSHA512, binding: nil))
    #expect(choice.binding == .unsupported)
    #expect(!choice.requiresDowngradeProof)
  }

  @Test("a failed guess does not get below what worked before")
  func guessAgainstFloor() throws {
    let choice = try choose(Self.everything, floor: Self.floor, guessFailed: true)
    #expect(choice.requiresDowngradeProof)
  }

  @Test("PLAIN only when nothing else is offered")
  func plain() throws {
    let choice = try choose(["PLAIN", "EXTERNAL"])
    #expect(choice.mechanism == .plain)
    #expect(try choose(["PLAIN", "SCRAM-SHA-1"]).mechanism == .scramSHA1)
  }

  @Test("PLAIN never without verified TLS, and never again after SCRAM")
  func noPlain() {
    #expect(throws: SASLFailure.plainWithoutTLS) { try choose(["PLAIN"], tls: false) }
    let floor = MechanismFloor(mechanism: .scramSHA1, binding: nil)
    #expect(throws: SASLFailure.weakerThanBefore(floor, offered: ["PLAIN"])) { try choose(["PLAIN"], floor: floor) }
  }

  @Test(
    "less than before needs the server's proof",
    arguments: [
      (["SCRAM-SHA-256-PLUS", "SCRAM-SHA-256"], ["tls-exporter"], false),
      (["SCRAM-SHA-512-PLUS"], ["tls-exporter"], false),
      (["SCRAM-SHA-1-PLUS", "SCRAM-SHA-1"], ["tls-exporter"], true),
      (["SCRAM-SHA-256-PLUS"], ["tls-server-end-point"], true),
      (["SCRAM-SHA-512"], nil, true),
      (["SCRAM-SHA-1"], nil, true),
    ] as [([String], [String]?, Bool)])
  func belowFloor(offered: [String], bindings: [String]?, needsProof: Bool) throws {
    let choice = try choose(offered, bindings: bindings, floor: Self.floor)
    #expect(choice.requiresDowngradeProof == needsProof)
    #expect(choice.weakerThan == (needsProof ? Self.floor : nil))
  }

  @Test("nothing usable names what was offered", arguments: [[], ["DIGEST-MD5", "X-OAUTH2"], ["scram-sha-1"]])
  func nothing(offered: [String]) {
    #expect(throws: SASLFailure.noMechanism(offered: offered)) { try choose(offered) }
  }
}

@Suite("The remembered strength")
struct MechanismFloorTests {
  @Test("survives being written down")
  func rawValue() {
    for mechanism in Mechanism.allCases {
      for binding in mechanism.bindsChannel ? ChannelBindingType.allCases.map(Optional.some) : [nil] {
        let floor = MechanismFloor(mechanism: mechanism, binding: binding)
        #expect(MechanismFloor(rawValue: floor.rawValue) == floor)
      }
    }
    #expect(
      MechanismFloor(mechanism: .scramSHA256Plus, binding: .tlsExporter).rawValue == "SCRAM-SHA-256-PLUS tls-exporter")
  }

  @Test(
    "nonsense is not read",
    arguments: [
      "", " ", "SCRAM", "SCRAM-SHA-1 tls-exporter", "SCRAM-SHA-1-PLUS", "SCRAM-SHA-1-PLUS tls-unique",
      "SCRAM-SHA-1-PLUS tls-exporter x", "PLAIN ", "SCRAM-SHA-1\n",
    ])
  func nonsense(text: String) {
    #expect(MechanismFloor(rawValue: text) == nil)
  }

  @Test("a login below it names the verb that forgets it; where nothing was remembered, there is nothing to forget")
  func remedy() {
    let floor = MechanismFloor(mechanism: .scramSHA256, binding: nil)
    let weaker = SASLFailure.weakerThanBefore(floor, offered: ["PLAIN"]).description
    #expect(weaker.contains("less than SCRAM-SHA-256") && weaker.hasSuffix("xmppbotctl forget-mechanism"))
    let unknown = SASLFailure.weakerThanBefore(nil, offered: ["SCRAM-SHA-1-PLUS"]).description
    #expect(!unknown.contains("forget-mechanism") && unknown.contains("tls-server-end-point"))
  }

  @Test("is ordered by binding, then by hash")
  func order() {
    let ascending = [
      "PLAIN", "SCRAM-SHA-1", "SCRAM-SHA-256", "SCRAM-SHA-512", "SCRAM-SHA-1-PLUS tls-server-end-point",
      "SCRAM-SHA-512-PLUS tls-server-end-point", "SCRAM-SHA-1-PLUS tls-exporter", "SCRAM-SHA-512-PLUS tls-exporter",
    ].compactMap(MechanismFloor.init(rawValue:))
    #expect(ascending.count == 8)
    #expect(ascending.reversed().sorted() == ascending)
    #expect(!(ascending[0] < ascending[0]))
  }
}
