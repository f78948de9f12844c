-- What a mail may go out from and how its content is kept, and what is told of it from outside.

ALTER TABLE emails ADD COLUMN allowed_mailboxes TEXT NOT NULL DEFAULT '[]'; -- addresses that bind every attempt; none: any that fits
ALTER TABLE emails ADD COLUMN merge TEXT; -- what its content is rendered from as it is sent; such a mail has no row in email_bodies

-- Reports of other mail servers, and of an operator in their place. Each counts once.
CREATE TABLE email_reports (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email_id TEXT NOT NULL REFERENCES emails (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('delivered', 'bounced', 'soft_bounced', 'complained')),
  address TEXT NOT NULL COLLATE NOCASE, -- the recipient whom it concerns
  smtp_code INTEGER,
  words TEXT NOT NULL,
  reported_at INTEGER NOT NULL,
  UNIQUE (email_id, kind, address)
) STRICT;
