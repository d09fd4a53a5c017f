import SQLite

/// How a `NewMessage` lies in the columns of `message`: the one place where their order is known.
/// `insert` and the queries list them alike.
enum MessageColumns {
  static let insert: StaticString = """
    INSERT INTO message (time, direction, kind, state, peer, resource, room, nick, occupant_id, subject, body, lang,
      thread, delay, message_id, origin_id, stanza_id, stanza_id_by, replaces, retracts, reply_to, error, raw_xml,
      reacts_to, reactions)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (stanza_id_by, stanza_id) WHERE stanza_id IS NOT NULL DO NOTHING
    """

  static let byID: StaticString = """
    SELECT time, direction, kind, state, peer, resource, room, nick, occupant_id, subject, body, lang,
      thread, delay, message_id, origin_id, stanza_id, stanza_id_by, replaces, retracts, reply_to, error, raw_xml,
      reacts_to, reactions, id
    FROM message WHERE id = ?
    """

  static let all: StaticString = """
    SELECT time, direction, kind, state, peer, resource, room, nick, occupant_id, subject, body, lang,
      thread, delay, message_id, origin_id, stanza_id, stanza_id_by, replaces, retracts, reply_to, error, raw_xml,
      reacts_to, reactions, id
    FROM message WHERE id > ?1 ORDER BY id LIMIT ?2
    """

  static let ofPeer: StaticString = """
    SELECT time, direction, kind, state, peer, resource, room, nick, occupant_id, subject, body, lang,
      thread, delay, message_id, origin_id, stanza_id, stanza_id_by, replaces, retracts, reply_to, error, raw_xml,
      reacts_to, reactions, id
    FROM message WHERE id > ?1 AND peer = ?3 ORDER BY id LIMIT ?2
    """

  static let ofRoom: StaticString = """
    SELECT time, direction, kind, state, peer, resource, room, nick, occupant_id, subject, body, lang,
      thread, delay, message_id, origin_id, stanza_id, stanza_id_by, replaces, retracts, reply_to, error, raw_xml,
      reacts_to, reactions, id
    FROM message WHERE id > ?1 AND room = ?3 ORDER BY id LIMIT ?2
    """

  static let queued: StaticString = """
    SELECT time, direction, kind, state, peer, resource, room, nick, occupant_id, subject, body, lang,
      thread, delay, message_id, origin_id, stanza_id, stanza_id_by, replaces, retracts, reply_to, error, raw_xml,
      reacts_to, reactions, id
    FROM message WHERE state = 'queued' AND (room IS NULL OR room IN (SELECT value FROM json_each(?2)))
    ORDER BY id LIMIT ?1
    """

  // Columns that a filter looks at before the row is read as a whole.
  static let time: Int32 = 0
  static let peer: Int32 = 4
  static let kind: Int32 = 2
  static let room: Int32 = 6
  static let id: Int32 = 25

  static func bind(_ message: NewMessage, to row: Statement) throws(DatabaseError) {
    try row.bind(message.time, at: 1)
    try row.bind(message.direction.rawValue, at: 2)
    try row.bind(message.kind.rawValue, at: 3)
    try row.bind(message.state.rawValue, at: 4)
    try row.bind(message.peer, at: 5)
    try row.bind(message.resource, at: 6)
    try row.bind(message.room, at: 7)
    try row.bind(message.nick, at: 8)
    try row.bind(message.occupantID, at: 9)
    try row.bind(message.subject, at: 10)
    try row.bind(message.body, at: 11)
    try row.bind(message.lang, at: 12)
    try row.bind(message.thread, at: 13)
    try row.bind(message.delay, at: 14)
    try row.bind(message.messageID, at: 15)
    try row.bind(message.originID, at: 16)
    try row.bind(message.stanzaID?.id, at: 17)
    try row.bind(message.stanzaID?.by, at: 18)
    try row.bind(message.replaces, at: 19)
    try row.bind(message.retracts, at: 20)
    try row.bind(message.replyTo, at: 21)
    try row.bind(message.error, at: 22)
    try row.bind(message.rawXML, at: 23)
    try row.bind(message.reaction?.to, at: 24)
    try row.bind(message.reaction?.emoji.joined(separator: " "), at: 25)
  }

  /// The current row. The CHECKs of the table leave no other words than those of the enumerations.
  static func read(_ row: Statement) -> MessageRow {
    var message = NewMessage(
      NewMessage.Direction(rawValue: row.text(at: 1)) ?? .in, NewMessage.Kind(rawValue: row.text(at: 2)) ?? .normal,
      peer: row.text(at: 4), time: row.integer(at: 0), body: row.optionalText(at: 10),
      state: NewMessage.State(rawValue: row.text(at: 3)))
    message.resource = row.optionalText(at: 5)
    message.room = row.optionalText(at: 6)
    message.nick = row.optionalText(at: 7)
    message.occupantID = row.optionalText(at: 8)
    message.subject = row.optionalText(at: 9)
    message.lang = row.optionalText(at: 11)
    message.thread = row.optionalText(at: 12)
    message.delay = row.optionalInteger(at: 13)
    message.messageID = row.optionalText(at: 14)
    message.originID = row.optionalText(at: 15)
    if let id = row.optionalText(at: 16) { message.stanzaID = .init(id: id, by: row.text(at: 17)) }
    message.replaces = row.optionalText(at: 18)
    message.retracts = row.optionalText(at: 19)
    message.replyTo = row.optionalText(at: 20)
    message.error = row.optionalText(at: 21)
    message.rawXML = row.optionalText(at: 22)
    if let target = row.optionalText(at: 23) {
      message.reaction = .init(to: target, emoji: row.text(at: 24).split(separator: " ").map(String.init))
    }
    return MessageRow(id: row.integer(at: id), message: message)
  }
}
