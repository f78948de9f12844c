-- The vault of each project with the trail of its reveals, and the accounts at database and AI providers.

-- When a service's values last changed. It stays when the last of them is removed, so that a client that polls notices.
CREATE TABLE vault_services (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  service TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, service)
) STRICT, WITHOUT ROWID;

-- One stored field. Plain ones are sealed like secrets: nobody who can write the file can change what an app relies on.
CREATE TABLE vault_values (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  service TEXT NOT NULL,
  field TEXT NOT NULL,
  sealed TEXT NOT NULL,
  filename TEXT, -- null for what is no file
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (project_id, service, field)
) STRICT;

-- Who took secrets out of a vault. Written before they leave.
CREATE TABLE vault_reveals (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('token', 'shell', 'system')),
  actor_id TEXT,
  actor_name TEXT NOT NULL,
  ip TEXT,
  how TEXT NOT NULL CHECK (how IN ('reveal', 'file', 'env', 'run')),
  service TEXT, -- null for the whole vault
  field TEXT
) STRICT;
CREATE INDEX vault_reveals_by_project ON vault_reveals (project_id, id);

CREATE TABLE database_accounts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  provider TEXT,
  organization_slug TEXT,
  token_prefix TEXT NOT NULL,
  sealed_access_token TEXT NOT NULL,
  expires_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE database_projects (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  account_id INTEGER REFERENCES database_accounts (id) ON DELETE RESTRICT,
  ref TEXT NOT NULL,
  name TEXT NOT NULL,
  region TEXT,
  status TEXT,
  api_url TEXT,
  publishable_key TEXT,
  db_host TEXT,
  db_port INTEGER,
  db_name TEXT,
  db_user TEXT,
  pool_mode TEXT CHECK (pool_mode IN ('transaction', 'session')),
  sealed_secret_key TEXT,
  sealed_db_password TEXT,
  sealed_connection_string TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX database_projects_by_account ON database_projects (account_id);

-- Which projects a database project belongs to. One of a project's links at most is the one it shows.
CREATE TABLE database_project_links (
  database_project_id INTEGER NOT NULL REFERENCES database_projects (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  is_shown INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (database_project_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX database_project_links_by_project ON database_project_links (project_id);
CREATE UNIQUE INDEX database_project_links_one_shown ON database_project_links (project_id) WHERE is_shown = 1;

CREATE TABLE ai_accounts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  provider TEXT NOT NULL,
  key_prefix TEXT,
  sealed_api_key TEXT,
  base_url TEXT,
  organization_id TEXT,
  is_active INTEGER NOT NULL DEFAULT 1,
  all_projects INTEGER NOT NULL DEFAULT 0, -- a standing rule: later projects too
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX ai_accounts_for_all ON ai_accounts (id) WHERE all_projects = 1;

CREATE TABLE ai_account_projects (
  ai_account_id INTEGER NOT NULL REFERENCES ai_accounts (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  PRIMARY KEY (ai_account_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX ai_account_projects_by_project ON ai_account_projects (project_id);
