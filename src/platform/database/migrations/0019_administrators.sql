-- Who may administer, and people as actors: a CHECK can't be changed in place, so both tables that name actors are made anew.

-- Goes with all_projects alone.
ALTER TABLE access_tokens ADD COLUMN can_administer INTEGER NOT NULL DEFAULT 0;

CREATE TABLE audit_events_of_people (
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('token', 'person', 'shell', 'system')),
  actor_id TEXT,
  actor_name TEXT NOT NULL,
  ip TEXT,
  event TEXT NOT NULL,
  target TEXT,
  project_id INTEGER,
  project_public_id TEXT,
  metadata TEXT NOT NULL DEFAULT '{}'
) STRICT;
INSERT INTO audit_events_of_people SELECT * FROM audit_events;
DROP TABLE audit_events;
ALTER TABLE audit_events_of_people RENAME TO audit_events;
CREATE TRIGGER audit_count_insert AFTER INSERT ON audit_events WHEN NEW.project_id IS NOT NULL BEGIN
  INSERT INTO row_counts VALUES ('audit', NEW.project_id, NEW.event, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE INDEX audit_by_project ON audit_events (project_id, id);
CREATE INDEX audit_by_event ON audit_events (event, id);
CREATE INDEX audit_by_actor ON audit_events (actor_name, id);
CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit_events BEGIN
  SELECT RAISE(ABORT, 'the audit trail is append-only');
END;
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit_events BEGIN
  SELECT RAISE(ABORT, 'the audit trail is append-only');
END;

CREATE TABLE vault_reveals_of_people (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('token', 'person', 'shell', 'system')),
  actor_id TEXT,
  actor_name TEXT NOT NULL,
  ip TEXT,
  how TEXT NOT NULL CHECK (how IN ('reveal', 'file', 'env', 'run')),
  service TEXT, -- null for the whole vault
  field TEXT
) STRICT;
INSERT INTO vault_reveals_of_people SELECT * FROM vault_reveals;
DROP TABLE vault_reveals;
ALTER TABLE vault_reveals_of_people RENAME TO vault_reveals;
CREATE INDEX vault_reveals_by_project ON vault_reveals (project_id, id);
