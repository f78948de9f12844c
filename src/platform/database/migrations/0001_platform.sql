-- What every capability stands on: facts about the deployment, data keys, jobs, the audit trail, idempotency, counters.

CREATE TABLE meta (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE data_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  scope TEXT NOT NULL UNIQUE, -- 'platform' or 'project:<public_id>'
  wrapped TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE projects (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  slug TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'inactive')),
  notes TEXT,
  description TEXT,
  app_identifier TEXT,
  primary_url TEXT,
  repo_url TEXT,
  repo_is_public INTEGER,
  platforms TEXT NOT NULL DEFAULT '[]',
  tech_stack TEXT NOT NULL DEFAULT '[]',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX projects_by_status ON projects (status, id);

CREATE TABLE jobs (
  id TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  type TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
  priority INTEGER NOT NULL, -- lower runs first
  lane TEXT NOT NULL,        -- what the job competes for, such as one sending domain
  run_at INTEGER NOT NULL,   -- epoch ms; 0 means at once, whatever the clock does
  attempts INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL,
  interruptions INTEGER NOT NULL DEFAULT 0, -- attempts cut off by a crash: they count in attempts, not towards max_attempts
  payload TEXT NOT NULL,
  result TEXT,
  error TEXT,
  queued_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER
) STRICT;
-- The claim walks this: most urgent first, then each lane and project by itself, so that all of them take turns.
CREATE INDEX jobs_pending ON jobs (priority, lane, project_id, run_at, id) WHERE status = 'pending';
CREATE INDEX jobs_processing ON jobs (id) WHERE status = 'processing';
CREATE INDEX jobs_finished ON jobs (finished_at) WHERE finished_at IS NOT NULL;
CREATE INDEX jobs_by_project ON jobs (project_id, id);
CREATE INDEX jobs_by_project_status ON jobs (project_id, status, id);
CREATE INDEX jobs_by_project_type ON jobs (project_id, type, status, id);

-- Totals of lists, kept by triggers, so that a page costs the same whatever the size of its table.
CREATE TABLE row_counts (
  list TEXT NOT NULL,
  project_id INTEGER NOT NULL,
  facet TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (list, project_id, facet)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER jobs_count_insert AFTER INSERT ON jobs BEGIN
  INSERT INTO row_counts VALUES ('jobs', NEW.project_id, NEW.type || ':' || NEW.status, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER jobs_count_delete AFTER DELETE ON jobs BEGIN
  UPDATE row_counts SET n = n - 1
    WHERE list = 'jobs' AND project_id = OLD.project_id AND facet = OLD.type || ':' || OLD.status;
END;
CREATE TRIGGER jobs_count_update AFTER UPDATE OF status ON jobs WHEN OLD.status <> NEW.status BEGIN
  UPDATE row_counts SET n = n - 1
    WHERE list = 'jobs' AND project_id = OLD.project_id AND facet = OLD.type || ':' || OLD.status;
  INSERT INTO row_counts VALUES ('jobs', NEW.project_id, NEW.type || ':' || NEW.status, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
-- Projects belong to no project: their own count stands under 0, which is no project's id.
CREATE TRIGGER projects_count_insert AFTER INSERT ON projects BEGIN
  INSERT INTO row_counts VALUES ('projects', 0, NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER projects_count_update AFTER UPDATE OF status ON projects WHEN OLD.status <> NEW.status BEGIN
  UPDATE row_counts SET n = n - 1 WHERE list = 'projects' AND project_id = 0 AND facet = OLD.status;
  INSERT INTO row_counts VALUES ('projects', 0, NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER projects_count_delete AFTER DELETE ON projects BEGIN
  DELETE FROM row_counts WHERE project_id = OLD.id;
  UPDATE row_counts SET n = n - 1 WHERE list = 'projects' AND project_id = 0 AND facet = OLD.status;
END;

-- Append-only: who did what to what, when, from where. Rows outlive what they speak of, so nothing is referenced.
CREATE TABLE audit_events (
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('token', 'shell', 'system')),
  actor_id TEXT,
  actor_name TEXT NOT NULL,
  ip TEXT,
  event TEXT NOT NULL,
  target TEXT,
  project_id INTEGER,
  project_public_id TEXT,
  metadata TEXT NOT NULL DEFAULT '{}'
) STRICT;
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
