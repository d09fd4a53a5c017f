import Archive
import EventLoop

/// What is to be committed, and what to do once it is.
struct PreparedAnswer {
  let rows: [NewMessage]
  let send: @LoopActor () -> Void

  init(_ rows: [NewMessage] = [], send: @escaping @LoopActor () -> Void) {
    self.rows = rows
    self.send = send
  }
}
