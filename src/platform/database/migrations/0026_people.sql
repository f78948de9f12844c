-- People who sign in: what they may do, how they prove who they are, and where they are signed in.

CREATE TABLE people (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email TEXT NOT NULL UNIQUE COLLATE NOCASE, -- addresses are ASCII
  name TEXT,
  all_projects INTEGER NOT NULL DEFAULT 0,
  can_manage_database INTEGER NOT NULL DEFAULT 0,
  can_read_vault INTEGER NOT NULL DEFAULT 0,
  can_reveal_vault INTEGER NOT NULL DEFAULT 0,
  can_write_vault INTEGER NOT NULL DEFAULT 0,
  can_read_database_tokens INTEGER NOT NULL DEFAULT 0,
  can_read_ai_accounts INTEGER NOT NULL DEFAULT 0,
  can_administer INTEGER NOT NULL DEFAULT 0,
  is_active INTEGER NOT NULL DEFAULT 1,
  password_hash TEXT,    -- argon2id; null until a link is used
  sealed_totp TEXT,      -- null while the second step is off
  sealed_next_totp TEXT, -- shown, and not yet confirmed with a code
  totp_step INTEGER NOT NULL DEFAULT 0, -- of the last code that was taken: none is taken twice
  last_sign_in_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

-- As with tokens: a person scoped to a deleted project stays scoped.
CREATE TABLE person_projects (
  person_id INTEGER NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  PRIMARY KEY (person_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX person_projects_by_project ON person_projects (project_id);

-- One-time links that are still good; person_id is null for the first person, who says who they are.
CREATE TABLE person_links (
  token_hash TEXT PRIMARY KEY, -- SHA-256, hex
  person_id INTEGER UNIQUE REFERENCES people (id) ON DELETE CASCADE,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE person_sessions (
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE, -- SHA-256, hex
  person_id INTEGER NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  ip TEXT,
  user_agent TEXT,
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL
) STRICT;
CREATE INDEX person_sessions_by_person ON person_sessions (person_id, id);

CREATE TABLE person_recovery_codes (
  person_id INTEGER NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  code_hash TEXT NOT NULL, -- SHA-256, hex
  PRIMARY KEY (person_id, code_hash)
) STRICT, WITHOUT ROWID;

-- Networks that a person has signed in from: strangers' failures do not count against them.
CREATE TABLE person_networks (
  person_id INTEGER NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  network TEXT NOT NULL,
  last_sign_in_at INTEGER NOT NULL,
  PRIMARY KEY (person_id, network)
) STRICT, WITHOUT ROWID;
