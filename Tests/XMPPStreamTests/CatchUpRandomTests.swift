import Testing

@Suite("Catching up, at random")
struct CatchUpRandomTests {
  @Test("whatever comes in between, each message is archived once, in the archive's order")
  func everything() throws {
    var random = SeededRandom()
    for _ in 0..<500 {
      let seed = random.next()
      var model = try CatchUpModel(SeededRandom(seed: seed, quietly: true))
      try model.run(steps: 300)
      #expect(model.rows == Array(model.archive.dropFirst(model.begin)), "seed \(seed)")
      #expect(model.passing.taken == model.passing.sent, "seed \(seed)")
      #expect(model.problems == [], "seed \(seed)")
      if model.rows.count != model.archive.count - model.begin { return }
    }
  }
}
