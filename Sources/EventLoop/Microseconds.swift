extension Duration {
  /// Whole microseconds; 0 for a negative duration.
  public var microseconds: UInt64 {
    let (seconds, attoseconds) = components
    return seconds < 0 ? 0 : UInt64(seconds) * 1_000_000 + UInt64(max(0, attoseconds)) / 1_000_000_000_000
  }
}
