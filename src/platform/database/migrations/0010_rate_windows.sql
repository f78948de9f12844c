-- Rates that hold across a restart: how much of one a caller has used in its current hour or day. The caller is a hash,
-- as it may be somebody's address.
CREATE TABLE rate_windows (
  caller TEXT PRIMARY KEY,
  ends_at INTEGER NOT NULL,
  used INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX rate_windows_by_end ON rate_windows (ends_at);
