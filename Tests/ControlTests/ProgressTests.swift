import Testing

@testable import Control

@Suite("The line that says how far a verb is")
struct ProgressTests {
  @Test("it has the same width from the beginning to the end")
  func line() {
    #expect(ProgressLine.text("copying", 0) == "copying [....................]   0 %")
    #expect(ProgressLine.text("copying", 42) == "copying [########............]  42 %")
    #expect(ProgressLine.text("copying", 100) == "copying [####################] 100 %")
    #expect(ProgressLine.text("copying", 250) == "copying [####################] 100 %")
  }
}
