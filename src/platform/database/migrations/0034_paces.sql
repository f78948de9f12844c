-- How fast mail may leave a mailbox: the rate that is set, such as 14/s, and beside it a row of what goes by it and of
-- what its relay has taught. Most mailboxes have neither.

ALTER TABLE mailboxes ADD COLUMN rate TEXT;
CREATE TABLE mailbox_paces (
  mailbox_id INTEGER PRIMARY KEY REFERENCES mailboxes (id) ON DELETE CASCADE,
  next_at REAL NOT NULL,           -- when the next mail may go, where they go evenly
  sent TEXT NOT NULL,              -- [slice of the rate's minute or hour, mails that went in it], oldest first
  allowed REAL,                    -- mails a minute, while its relay has it slowed
  lifts_at REAL,                   -- what it was before: grown to that, it is slowed no more
  since INTEGER,
  words TEXT,
  slowed_at INTEGER,               -- when it was halved last
  waits INTEGER NOT NULL,          -- halvings in a row without a mail taken between
  waits_until INTEGER NOT NULL,
  grown_at INTEGER
) STRICT;
