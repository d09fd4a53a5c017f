import Archive
import JSON
import XMPPStanzas

extension MessageRow {
  /// The message for xmppbotctl and for exports.
  public var json: JSON {
    var object = JSONObject()
    object["id"] = .int(Int(id))
    object["time"] = .string(Timestamp.format(self.time))
    object["direction"] = .string(self.direction.rawValue)
    object["kind"] = .string(self.kind.rawValue)
    object["state"] = .string(self.state.rawValue)
    object["peer"] = .string(self.peer)
    let texts: [(String, String?)] = [
      ("resource", self.resource), ("room", self.room), ("nick", self.nick), ("subject", self.subject),
      ("body", self.body), ("thread", self.thread), ("lang", self.lang), ("message_id", self.messageID),
      ("origin_id", self.originID), ("stanza_id", self.stanzaID?.id), ("stanza_id_by", self.stanzaID?.by),
      ("replaces", self.replaces), ("retracts", self.retracts), ("reply_to", self.replyTo),
      ("occupant_id", self.occupantID), ("error", self.error),
    ]
    for case (let key, let text?) in texts { object[key] = .string(text) }
    if let reaction = self.reaction {
      object["reacts_to"] = .string(reaction.to)
      object["reactions"] = .array(reaction.emoji.map(JSON.string))
    }
    if let delay = self.delay { object["delay"] = .string(Timestamp.format(delay)) }
    return .object(object)
  }
}

extension Statistics {
  public var json: JSON {
    [
      "messages": .int(Int(count)), "unindexed": .int(Int(unindexed)), "file_bytes": .int(Int(fileSize)),
      "wal_bytes": .int(Int(walSize)), "free_bytes": .int(Int(freeSize)),
      "kinds": .array(
        lines.map {
          [
            "direction": .string($0.direction.rawValue), "kind": .string($0.kind.rawValue),
            "count": .int(Int($0.count)),
            "first": .string(Timestamp.format($0.first)), "last": .string(Timestamp.format($0.last)),
          ]
        }),
    ]
  }
}
