-- The backups that a server was asked for: each is a job of no project, and what became of it. Backups leave them out.
CREATE TABLE backup_runs (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL CHECK (status IN ('processing', 'completed', 'failed')),
  error TEXT,
  result TEXT,
  created_at INTEGER NOT NULL,
  finished_at INTEGER
) STRICT;
CREATE UNIQUE INDEX backup_runs_one_at_a_time ON backup_runs (status) WHERE status = 'processing';
