import SQLite

/// The archive's tables. One SQLite file in WAL mode that people read with `sqlite3` while the daemon runs:
/// `SELECT * FROM messages WHERE peer = 'alice@example.org'` shows times as text.
///
/// Rules for every version: a released migration is never changed; text is stored as it came; an id is never given twice
/// (AUTOINCREMENT), since the full-text index and paging go by id. The CHECKs of `message` are chains of OR: with IN, SQLite
/// builds a table for each row, which costs more than the insertion.
enum Schema {
  /// "xbot", in `PRAGMA application_id`.
  static let applicationID: Int32 = 0x7862_6f74

  static let migrator = Migrator(applicationID: applicationID, migrations: [version1, version2, version3])

  private static let version1: StaticString = """
    CREATE TABLE message (
      id           INTEGER PRIMARY KEY AUTOINCREMENT,  -- the order in which the daemon took them in
      time         INTEGER NOT NULL,  -- when the daemon received or accepted it: microseconds since 1970, UTC
      direction    TEXT NOT NULL CHECK (direction = 'in' OR direction = 'out'),
      kind         TEXT NOT NULL CHECK (
        kind = 'chat' OR kind = 'groupchat' OR kind = 'normal' OR kind = 'headline' OR kind = 'error'),
      state        TEXT NOT NULL CHECK (
        state = 'received' OR state = 'queued' OR state = 'sent' OR state = 'acked' OR state = 'displayed'
        OR state = 'failed'),
      peer         TEXT NOT NULL,     -- bare JID of the other side; the room's for what is said in a room
      resource     TEXT,              -- the other side's resource
      room         TEXT,              -- bare JID of the room, also for private messages through it
      nick         TEXT,              -- the speaker's nick in the room
      occupant_id  TEXT,              -- XEP-0421: the same for one person in one room, whatever the nick
      subject      TEXT,
      body         TEXT,
      lang         TEXT,              -- xml:lang of the body
      thread       TEXT,
      delay        INTEGER,           -- XEP-0203: the sender's or server's own stamp, microseconds since 1970
      message_id   TEXT,              -- the stanza's id attribute
      origin_id    TEXT,              -- XEP-0359
      stanza_id    TEXT,              -- XEP-0359, and the archive that gave it
      stanza_id_by TEXT,
      replaces     TEXT,              -- XEP-0308: the id that this message corrects
      retracts     TEXT,              -- XEP-0424: the id that this message retracts
      reply_to     TEXT,              -- XEP-0461: the id that this message answers
      error        TEXT,              -- why it failed
      raw_xml      TEXT,              -- the stanza, if [archive] raw-xml = yes
      CHECK ((stanza_id IS NULL) = (stanza_id_by IS NULL))
    ) STRICT;
    CREATE UNIQUE INDEX message_stanza_id ON message (stanza_id_by, stanza_id) WHERE stanza_id IS NOT NULL;
    CREATE INDEX message_peer ON message (peer);  -- each entry ends with the id, so these lists are in order
    CREATE INDEX message_room ON message (room) WHERE room IS NOT NULL;

    CREATE INDEX message_queued ON message (id) WHERE state = 'queued';
    CREATE INDEX message_origin ON message (origin_id) WHERE direction = 'out' AND origin_id IS NOT NULL;

    CREATE VIEW messages AS
      SELECT id, strftime('%Y-%m-%dT%H:%M:%S', time / 1000000, 'unixepoch') || printf('.%06dZ', time % 1000000) AS time,
        direction, kind, state, peer, resource, room, nick, subject, body, thread,
        strftime('%Y-%m-%dT%H:%M:%SZ', delay / 1000000, 'unixepoch') AS delay,
        message_id, origin_id, stanza_id, stanza_id_by, replaces, retracts, reply_to, error
      FROM message;

    -- Full text: SELECT * FROM messages WHERE id IN (SELECT rowid FROM message_text WHERE message_text MATCH 'word').
    -- Filled a moment after the message, up to meta's indexed_up_to. Text is segmented first (Segmenter).
    CREATE VIRTUAL TABLE message_text USING fts5 (
      subject, body, content = '', columnsize = 0,
      tokenize = "unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'");

    CREATE TABLE roster (
      jid          TEXT PRIMARY KEY,  -- bare
      name         TEXT,
      subscription TEXT NOT NULL CHECK (subscription IN ('none', 'to', 'from', 'both')),
      ask          INTEGER NOT NULL CHECK (ask IN (0, 1))  -- 1: we asked, no answer yet
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE roster_group (
      jid          TEXT NOT NULL REFERENCES roster (jid) ON DELETE CASCADE,
      name         TEXT NOT NULL,
      PRIMARY KEY (jid, name)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE meta (
      key          TEXT PRIMARY KEY,
      value        TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    """
  /// What it takes to lose nothing: where the stream and the archives stand, how far messages of ours have come, and which
  /// commands are under way.
  private static let version2: StaticString = """
    -- What message.state says of a message of ours:
    --   queued     waits until the bot is online
    --   sent       written to the server, which has not said yet that it has it; temporary
    --   acked      the server has it (XEP-0198, or by its archive, XEP-0313)
    --   received   the contact's client has it (XEP-0184)
    --   displayed  the contact has seen it (XEP-0333)
    --   failed     it came back as an error, or could not be sent; the column error says why
    -- Of what comes in it is received. Version 1 knew no acknowledgement, so sent was as far as a message came: left at
    -- that, all of them would be sent again.
    DROP INDEX message_origin;
    UPDATE message SET state = 'acked' WHERE direction = 'out' AND state = 'sent';
    -- Finds messages of ours by origin_id, and what is not acknowledged. By state first: what is new lies together, so that
    -- a message on its way out changes one page here, and always the same.
    CREATE INDEX message_out ON message (state, origin_id) WHERE direction = 'out';

    CREATE TABLE stream (              -- the session that can be resumed (XEP-0198, 5); one row, or none
      id           TEXT NOT NULL,      -- the server's name for it
      jid          TEXT NOT NULL,      -- full JID that it is bound to
      location     TEXT,               -- where the server would like it resumed
      trusts_ids   INTEGER NOT NULL CHECK (trusts_ids = 0 OR trusts_ids = 1),  -- 1: the server's stanza-ids are its own
      one_row      INTEGER PRIMARY KEY DEFAULT 1 CHECK (one_row = 1)
    ) STRICT;

    CREATE TABLE progress (            -- up to where everything is in this archive; changes together with the rows it means
      source       TEXT PRIMARY KEY,   -- bare JID of an archive (XEP-0313); empty, '>': the stream above, in and out
      position     TEXT NOT NULL       -- the archive's last stanza-id, empty: its beginning; the stream's count of
                                       -- stanzas; out: and the origin_id of the last message among them
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE command (             -- messages that had a program run, so that each is answered once
      message      INTEGER PRIMARY KEY REFERENCES message (id) ON DELETE CASCADE,
      name         TEXT NOT NULL,
      started      INTEGER NOT NULL,   -- when it was accepted: microseconds since 1970, UTC
      finished     INTEGER,            -- when its answer was queued, likewise; NULL: not yet
      outcome      TEXT,               -- how it ended
      CHECK ((finished IS NULL) = (outcome IS NULL))
    ) STRICT;
    CREATE INDEX command_open ON command (message) WHERE finished IS NULL;

    CREATE VIEW commands AS
      SELECT message, name, peer,
        strftime('%Y-%m-%dT%H:%M:%S', started / 1000000, 'unixepoch') || printf('.%06dZ', started % 1000000) AS started,
        strftime('%Y-%m-%dT%H:%M:%S', finished / 1000000, 'unixepoch') || printf('.%06dZ', finished % 1000000) AS finished,
        outcome
      FROM command JOIN message ON message.id = command.message;
    """

  /// Reactions (XEP-0444).
  private static let version3: StaticString = """
    ALTER TABLE message ADD COLUMN reacts_to TEXT;  -- XEP-0444: the id of the message that the emoji stand at
    ALTER TABLE message ADD COLUMN reactions TEXT;  -- the emoji with spaces between them; empty: none any more

    DROP VIEW messages;
    CREATE VIEW messages AS
      SELECT id, strftime('%Y-%m-%dT%H:%M:%S', time / 1000000, 'unixepoch') || printf('.%06dZ', time % 1000000) AS time,
        direction, kind, state, peer, resource, room, nick, subject, body, thread,
        strftime('%Y-%m-%dT%H:%M:%SZ', delay / 1000000, 'unixepoch') AS delay,
        message_id, origin_id, stanza_id, stanza_id_by, replaces, retracts, reply_to, reacts_to, reactions, error
      FROM message;
    """
}
