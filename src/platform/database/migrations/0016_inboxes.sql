-- Where reports about a mailbox's mail arrive, and how far each was read.
CREATE TABLE inboxes (
  mailbox_id INTEGER PRIMARY KEY REFERENCES mailboxes (id) ON DELETE CASCADE,
  version TEXT NOT NULL, -- another one whenever it is set: what is read of the one before is not noted here
  host TEXT NOT NULL,
  port INTEGER NOT NULL,
  security TEXT NOT NULL CHECK (security IN ('tls', 'starttls', 'none')),
  username TEXT NOT NULL,
  sealed_password TEXT NOT NULL,
  folder TEXT NOT NULL,
  uid_validity TEXT, -- of the folder as it was read last; null before
  last_uid INTEGER NOT NULL, -- messages up to this one were looked at
  unflagged TEXT NOT NULL, -- UIDs of messages whose reports took effect, and which may not bear the flag yet
  reports INTEGER NOT NULL, -- how many took effect
  last_look_at INTEGER,
  last_error TEXT, -- null again with the next look that goes well
  last_error_at INTEGER
) STRICT;
