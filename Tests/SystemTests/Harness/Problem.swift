/// What kept a test from being carried out, with what the programs had to say about it.
struct Problem: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}
