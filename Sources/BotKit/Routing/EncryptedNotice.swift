/// Who was told that the bot can't read what is encrypted: once in a long time, so that a client which encrypts
/// everything does not get this for an answer each time.
struct EncryptedNotice {
  static let text = "I can't read encrypted messages. Turn encryption off for this chat, and send it again."
  static let pause: Duration = .seconds(30 * 86_400)

  private var told: SpeakerTable<ContinuousClock.Instant>

  init(speakers: Int = 4096) {
    told = SpeakerTable(capacity: speakers) { $0 }
  }

  /// Whether the speaker is to be told now; counts as told then.
  mutating func isDue(_ speaker: Speaker, now: ContinuousClock.Instant) -> Bool {
    if let last = told[speaker], now - last < Self.pause { return false }
    told[speaker] = now
    return true
  }
}
