import Testing

extension SystemTests {
  @Suite("Injected faults")
  struct InjectionTests {
    @Test("a process that starts programs without end is let go when the injection ends")
    func letsGo() throws {
      if Injection.obstacle != nil { return }
      let scratch = try Scratch()
      let shell = try Program(["/bin/sh", "-c", "while :; do /bin/true; done"], output: scratch.file("output"))
      for _ in 0..<20 {
        let injection = try Injection(into: shell.pid, "fsync", error: "EIO")
        try injection.end()
      }
      #expect(shell.isRunning)
    }
  }
}
