-- What a relay's URL asks for beyond its place, and how each attempt travelled.

ALTER TABLE mailboxes ADD COLUMN is_signed_by_relay INTEGER NOT NULL DEFAULT 0; -- no DKIM signature of ours
ALTER TABLE email_attempts ADD COLUMN tls TEXT; -- the version, or 'none'; NULL where no connection came about
