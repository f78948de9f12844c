-- API keys of projects with the rules that restrict them, global rules, and tokens of the management plane.

CREATE TABLE api_keys (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  key_prefix TEXT NOT NULL,
  key_hash TEXT NOT NULL UNIQUE, -- SHA-256, hex
  sealed_key TEXT,               -- for reveal; null when the plaintext is not retained
  can_read INTEGER NOT NULL DEFAULT 0,
  can_write INTEGER NOT NULL DEFAULT 0,
  can_send_emails INTEGER NOT NULL DEFAULT 0,
  can_manage_email_marketing INTEGER NOT NULL DEFAULT 0,
  restricted INTEGER NOT NULL DEFAULT 0,
  allow_no_origin INTEGER NOT NULL DEFAULT 0,
  email_daily_limit INTEGER,
  rate_limit_per_minute INTEGER,
  permissions TEXT NOT NULL DEFAULT '{}',
  is_test INTEGER NOT NULL DEFAULT 0,
  is_active INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX api_keys_by_project ON api_keys (project_id, id);
CREATE TRIGGER api_keys_count_insert AFTER INSERT ON api_keys BEGIN
  INSERT INTO row_counts VALUES ('api_keys', NEW.project_id, '', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER api_keys_count_delete AFTER DELETE ON api_keys BEGIN
  UPDATE row_counts SET n = n - 1 WHERE list = 'api_keys' AND project_id = OLD.project_id AND facet = '';
END;

CREATE TABLE key_origins (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  type TEXT NOT NULL CHECK (type IN ('domain', 'android', 'ios')),
  value TEXT NOT NULL,
  sha256_fingerprints TEXT NOT NULL DEFAULT '[]',
  sha1_fingerprints TEXT NOT NULL DEFAULT '[]',
  created_at INTEGER NOT NULL,
  UNIQUE (api_key_id, type, value)
) STRICT;

CREATE TABLE global_origins (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL CHECK (type IN ('domain', 'android', 'ios')),
  value TEXT NOT NULL,
  sha256_fingerprints TEXT NOT NULL DEFAULT '[]',
  sha1_fingerprints TEXT NOT NULL DEFAULT '[]',
  note TEXT,
  is_active INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  UNIQUE (type, value)
) STRICT;

CREATE TABLE access_tokens (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  token_prefix TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE, -- SHA-256, hex
  all_projects INTEGER NOT NULL DEFAULT 0,
  can_manage_database INTEGER NOT NULL DEFAULT 0,
  can_read_vault INTEGER NOT NULL DEFAULT 0,
  can_reveal_vault INTEGER NOT NULL DEFAULT 0,
  can_write_vault INTEGER NOT NULL DEFAULT 0,
  can_read_database_tokens INTEGER NOT NULL DEFAULT 0,
  can_read_ai_accounts INTEGER NOT NULL DEFAULT 0,
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER,
  last_used_ip TEXT,
  created_at INTEGER NOT NULL
) STRICT;

-- A token that is scoped to a deleted project stays scoped: its last row goes, all_projects stays 0.
CREATE TABLE access_token_projects (
  token_id INTEGER NOT NULL REFERENCES access_tokens (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  PRIMARY KEY (token_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX access_token_projects_by_project ON access_token_projects (project_id);

-- The first 2xx answer to a request with an Idempotency-Key, by API key.
CREATE TABLE idempotent_answers (
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  idempotency_key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  status INTEGER NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (api_key_id, idempotency_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotent_answers_by_age ON idempotent_answers (created_at);
