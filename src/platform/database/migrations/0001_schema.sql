-- The schema, noun by noun in the order of src/. The reason of an index, a trigger or a column stands beside it. scripts/tables.ts
-- writes each noun's tables.ts off it, and says how types are told here. Times are milliseconds UTC; a boolean is 0 or 1.
-- row_counts and the other counters are kept by triggers, so that a page of a list costs the same whatever the size of its table.

-- --- platform ------------------------------------------------------------------------------------------------------

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

CREATE TABLE jobs ( -- JobRow
  id TEXT PRIMARY KEY,
  project_id INTEGER REFERENCES projects (id) ON DELETE CASCADE, -- null: of none, such as a backup
  type TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'completed', 'failed')), -- JobStatus
  priority INTEGER NOT NULL, -- lower runs first
  lane TEXT NOT NULL,        -- what the job competes for, such as one sending domain
  run_at INTEGER NOT NULL,   -- epoch ms; 0 means at once, whatever the clock does
  attempts INTEGER NOT NULL DEFAULT 0,
  max_attempts INTEGER NOT NULL,
  interruptions INTEGER NOT NULL DEFAULT 0, -- attempts cut off by a crash: they count in attempts, not towards max_attempts
  payload TEXT NOT NULL, -- JSON Record<string, unknown>
  result TEXT, -- JSON Record<string, unknown>
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
CREATE INDEX jobs_by_project_type ON jobs (project_id, type, id);
-- Jobs of no project are counted under 0, which is no project's id.
CREATE TRIGGER jobs_count_insert AFTER INSERT ON jobs BEGIN
  INSERT INTO row_counts VALUES ('jobs', coalesce(NEW.project_id, 0), NEW.type || ':' || NEW.status, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER jobs_count_delete AFTER DELETE ON jobs BEGIN
  UPDATE row_counts SET n = n - 1
    WHERE list = 'jobs' AND project_id = coalesce(OLD.project_id, 0) AND facet = OLD.type || ':' || OLD.status;
END;
CREATE TRIGGER jobs_count_update AFTER UPDATE OF status ON jobs WHEN OLD.status <> NEW.status BEGIN
  UPDATE row_counts SET n = n - 1
    WHERE list = 'jobs' AND project_id = coalesce(OLD.project_id, 0) AND facet = OLD.type || ':' || OLD.status;
  INSERT INTO row_counts VALUES ('jobs', coalesce(NEW.project_id, 0), NEW.type || ':' || NEW.status, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;

-- Totals of lists, kept by triggers, so that a page costs the same whatever the size of its table.
CREATE TABLE row_counts (
  list TEXT NOT NULL,
  project_id INTEGER NOT NULL,
  facet TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (list, project_id, facet)
) STRICT, WITHOUT ROWID;

-- Append-only: who did what to what, when, from where. Rows outlive what they speak of, so nothing is referenced.
CREATE TABLE audit_events (
  id TEXT PRIMARY KEY,
  at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('token', 'person', 'shell', 'system')), -- ActorKind
  actor_id TEXT,
  actor_name TEXT NOT NULL,
  ip TEXT,
  event TEXT NOT NULL,
  target TEXT,
  project_id INTEGER,
  project_public_id TEXT,
  metadata TEXT NOT NULL DEFAULT '{}', -- JSON Record<string, unknown>
  changes TEXT NOT NULL DEFAULT '{}' -- JSON Changes; what fields of a change were and became
) STRICT;
CREATE INDEX audit_by_project ON audit_events (project_id, id);
CREATE INDEX audit_by_event ON audit_events (event, id);
CREATE INDEX audit_by_actor ON audit_events (actor_name, id);
CREATE TRIGGER audit_count_insert AFTER INSERT ON audit_events WHEN NEW.project_id IS NOT NULL BEGIN
  INSERT INTO row_counts VALUES ('audit', NEW.project_id, NEW.event, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit_events
  WHEN OLD.event NOT IN ('person.sign_in_failed', 'token_trust.refused') OR NEW.id <> OLD.id OR NEW.at <> OLD.at OR NEW.event <> OLD.event
    OR NEW.actor_kind <> OLD.actor_kind OR NEW.actor_id IS NOT OLD.actor_id OR NEW.actor_name <> OLD.actor_name
    OR NEW.ip IS NOT OLD.ip OR NEW.target IS NOT OLD.target
    OR NEW.project_id IS NOT OLD.project_id OR NEW.project_public_id IS NOT OLD.project_public_id
    OR NEW.metadata ->> 'count' <= OLD.metadata ->> 'count'
BEGIN
  SELECT RAISE(ABORT, 'the audit trail is append-only');
END;
-- What an import brought that broke off was never anybody's.
CREATE TRIGGER audit_is_kept BEFORE DELETE ON audit_events
  WHEN NOT EXISTS (SELECT 1 FROM projects WHERE id = OLD.project_id AND status = 'arriving')
BEGIN
  SELECT RAISE(ABORT, 'the audit trail is append-only');
END;
CREATE TRIGGER audit_uncount_all AFTER DELETE ON audit_events BEGIN
  UPDATE row_counts SET n = n - 1 WHERE list = 'audit_all' AND project_id = 0 AND facet = OLD.event;
END;
CREATE TRIGGER audit_count_all AFTER INSERT ON audit_events BEGIN
  INSERT INTO row_counts VALUES ('audit_all', 0, NEW.event, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;

-- The first 2xx answer to a request with an Idempotency-Key, by API key.
CREATE TABLE idempotent_answers (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  caller TEXT NOT NULL, -- 'key:12', 'token:3'
  idempotency_key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  status INTEGER NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, caller, idempotency_key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotent_answers_by_age ON idempotent_answers (created_at);

-- Rates that hold across a restart: how much of one a caller has used in its current hour or day. The caller is a hash,
-- as it may be somebody's address.
CREATE TABLE rate_windows (
  caller TEXT PRIMARY KEY,
  ends_at INTEGER NOT NULL,
  used INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX rate_windows_by_end ON rate_windows (ends_at);

-- --- access: projects ----------------------------------------------------------------------------------------------

CREATE TABLE projects ( -- ProjectRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  slug TEXT NOT NULL UNIQUE,
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'inactive', 'arriving')), -- 'active' | 'inactive'; arriving: only its import sees it
  notes TEXT,
  description TEXT,
  app_identifier TEXT,
  primary_url TEXT,
  repo_url TEXT,
  repo_is_public INTEGER CHECK (repo_is_public IN (0, 1)),
  platforms TEXT NOT NULL DEFAULT '[]', -- JSON string[]
  tech_stack TEXT NOT NULL DEFAULT '[]', -- JSON string[]
  -- By name: a project that was imported may name domains that are yet to be added.
  sending_domain TEXT, -- where mail goes out from that names no domain; null: the default domain, else the first of its own
  sending_domains TEXT CHECK (json_array_length(sending_domains) > 0), -- JSON string[]; those that it may send from; null: all
  link_domain TEXT, -- whose links and public pages begin with it while it is active
  link_domain_status TEXT CHECK (link_domain_status IN ('pending', 'active', 'failing')),
  link_domain_problem TEXT, -- of the last look; of an active one, that the look before was fine
  is_moved INTEGER NOT NULL DEFAULT 0 CHECK (is_moved IN (0, 1)), -- it was active until it was exported
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX projects_by_status ON projects (status, id);
CREATE UNIQUE INDEX projects_by_link_domain ON projects (link_domain) WHERE link_domain IS NOT NULL;
-- Projects belong to no project: their own count stands under 0, which is no project's id.
CREATE TRIGGER projects_count_insert AFTER INSERT ON projects WHEN NEW.status <> 'arriving' BEGIN
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

-- --- access: keys --------------------------------------------------------------------------------------------------

CREATE TABLE api_keys ( -- KeyRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  key_prefix TEXT NOT NULL,
  key_hash TEXT NOT NULL UNIQUE, -- SHA-256, hex
  sealed_key TEXT,               -- for reveal; null when the plaintext is not retained
  can_read INTEGER NOT NULL DEFAULT 0 CHECK (can_read IN (0, 1)),
  can_write INTEGER NOT NULL DEFAULT 0 CHECK (can_write IN (0, 1)),
  can_send_emails INTEGER NOT NULL DEFAULT 0 CHECK (can_send_emails IN (0, 1)),
  can_manage_email_marketing INTEGER NOT NULL DEFAULT 0 CHECK (can_manage_email_marketing IN (0, 1)),
  restricted INTEGER NOT NULL DEFAULT 0 CHECK (restricted IN (0, 1)),
  allow_no_origin INTEGER NOT NULL DEFAULT 0 CHECK (allow_no_origin IN (0, 1)),
  email_daily_limit INTEGER,
  rate_limit_per_minute INTEGER,
  permissions TEXT NOT NULL DEFAULT '{}', -- JSON Record<string, boolean>
  is_test INTEGER NOT NULL DEFAULT 0 CHECK (is_test IN (0, 1)),
  is_active INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  last_used_at INTEGER -- noted at most once a minute
) STRICT;
CREATE INDEX api_keys_by_project ON api_keys (project_id, id);
CREATE TRIGGER api_keys_count_insert AFTER INSERT ON api_keys BEGIN
  INSERT INTO row_counts VALUES ('api_keys', NEW.project_id, '', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER api_keys_count_delete AFTER DELETE ON api_keys BEGIN
  UPDATE row_counts SET n = n - 1 WHERE list = 'api_keys' AND project_id = OLD.project_id AND facet = '';
END;

-- --- access: origins -----------------------------------------------------------------------------------------------

CREATE TABLE key_origins ( -- OriginRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  type TEXT NOT NULL CHECK (type IN ('domain', 'android', 'ios')),
  value TEXT NOT NULL,
  sha256_fingerprints TEXT NOT NULL DEFAULT '[]', -- JSON string[]
  sha1_fingerprints TEXT NOT NULL DEFAULT '[]', -- JSON string[]
  created_at INTEGER NOT NULL,
  UNIQUE (api_key_id, type, value)
) STRICT;

CREATE TABLE global_origins ( -- GlobalOriginRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  type TEXT NOT NULL CHECK (type IN ('domain', 'android', 'ios')),
  value TEXT NOT NULL,
  sha256_fingerprints TEXT NOT NULL DEFAULT '[]', -- JSON string[]
  sha1_fingerprints TEXT NOT NULL DEFAULT '[]', -- JSON string[]
  note TEXT,
  is_active INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
  created_at INTEGER NOT NULL,
  UNIQUE (type, value)
) STRICT;

-- --- access: tokens ------------------------------------------------------------------------------------------------

CREATE TABLE access_tokens ( -- TokenRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  token_prefix TEXT NOT NULL,
  token_hash TEXT NOT NULL UNIQUE, -- SHA-256, hex
  all_projects INTEGER NOT NULL DEFAULT 0 CHECK (all_projects IN (0, 1)),
  can_manage_database INTEGER NOT NULL DEFAULT 0 CHECK (can_manage_database IN (0, 1)),
  can_read_vault INTEGER NOT NULL DEFAULT 0 CHECK (can_read_vault IN (0, 1)),
  can_reveal_vault INTEGER NOT NULL DEFAULT 0 CHECK (can_reveal_vault IN (0, 1)),
  can_write_vault INTEGER NOT NULL DEFAULT 0 CHECK (can_write_vault IN (0, 1)),
  can_read_database_tokens INTEGER NOT NULL DEFAULT 0 CHECK (can_read_database_tokens IN (0, 1)),
  can_read_ai_accounts INTEGER NOT NULL DEFAULT 0 CHECK (can_read_ai_accounts IN (0, 1)),
  environments TEXT, -- JSON string[]; of vaults it knows these alone; null: all
  expires_at INTEGER,
  revoked_at INTEGER,
  last_used_at INTEGER,
  last_used_ip TEXT,
  created_at INTEGER NOT NULL,
  can_administer INTEGER NOT NULL DEFAULT 0 CHECK (can_administer IN (0, 1)), -- Goes with all_projects alone.
  created_by_kind TEXT CHECK (created_by_kind IN ('token', 'person', 'shell', 'system', 'trust')),
  created_by_id TEXT,
  created_by_name TEXT,
  person_id INTEGER, -- also where a token of theirs made it; the person may be gone
  read_only INTEGER NOT NULL DEFAULT 0 CHECK (read_only IN (0, 1)),
  is_persons_read_only INTEGER NOT NULL DEFAULT 0 CHECK (is_persons_read_only IN (0, 1)), -- as the person is, or was last
  trust_id INTEGER -- by which it was had; the trust may be gone
) STRICT;
CREATE INDEX access_tokens_by_person ON access_tokens (person_id) WHERE person_id IS NOT NULL;
CREATE INDEX access_tokens_by_trust ON access_tokens (trust_id) WHERE trust_id IS NOT NULL;

-- A token that is scoped to a deleted project stays scoped: its last row goes, all_projects stays 0.
CREATE TABLE access_token_projects (
  token_id INTEGER NOT NULL REFERENCES access_tokens (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  PRIMARY KEY (token_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX access_token_projects_by_project ON access_token_projects (project_id);

-- Whose OIDC tokens are changed for access tokens of some minutes.
CREATE TABLE token_trusts ( -- TrustRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  issuer TEXT NOT NULL,
  subject TEXT NOT NULL, -- a pattern
  audience TEXT,         -- null: PUBLIC_URL
  claims TEXT NOT NULL,  -- JSON Record<string, string>; patterns of other claims
  capabilities TEXT NOT NULL, -- JSON string[]
  environments TEXT, -- JSON string[]
  read_only INTEGER NOT NULL CHECK (read_only IN (0, 1)),
  is_persons_read_only INTEGER NOT NULL DEFAULT 0 CHECK (is_persons_read_only IN (0, 1)), -- as of tokens
  minutes INTEGER NOT NULL,
  last_used_at INTEGER,
  last_refused_at INTEGER,
  last_refused_reason TEXT,
  last_refused_subject TEXT, -- only where the signature was right
  created_at INTEGER NOT NULL,
  created_by_kind TEXT NOT NULL CHECK (created_by_kind IN ('token', 'person', 'shell', 'system')),
  created_by_id TEXT,
  created_by_name TEXT NOT NULL,
  person_id INTEGER -- as of tokens
) STRICT;
CREATE INDEX token_trusts_by_issuer ON token_trusts (issuer);

CREATE TABLE token_trust_projects (
  trust_id INTEGER NOT NULL REFERENCES token_trusts (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  PRIMARY KEY (trust_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX token_trust_projects_by_project ON token_trust_projects (project_id);

-- --- access: people ------------------------------------------------------------------------------------------------

-- People who sign in: what they may do, how they prove who they are, and where they are signed in.
CREATE TABLE people ( -- PersonRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email TEXT NOT NULL UNIQUE COLLATE NOCASE, -- addresses are ASCII
  name TEXT,
  all_projects INTEGER NOT NULL DEFAULT 0 CHECK (all_projects IN (0, 1)),
  can_manage_database INTEGER NOT NULL DEFAULT 0 CHECK (can_manage_database IN (0, 1)),
  can_read_vault INTEGER NOT NULL DEFAULT 0 CHECK (can_read_vault IN (0, 1)),
  can_reveal_vault INTEGER NOT NULL DEFAULT 0 CHECK (can_reveal_vault IN (0, 1)),
  can_write_vault INTEGER NOT NULL DEFAULT 0 CHECK (can_write_vault IN (0, 1)),
  can_read_database_tokens INTEGER NOT NULL DEFAULT 0 CHECK (can_read_database_tokens IN (0, 1)),
  can_read_ai_accounts INTEGER NOT NULL DEFAULT 0 CHECK (can_read_ai_accounts IN (0, 1)),
  can_administer INTEGER NOT NULL DEFAULT 0 CHECK (can_administer IN (0, 1)),
  is_active INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
  password_hash TEXT,    -- argon2id; null until a link is used
  sealed_totp TEXT,      -- null while the second step is off
  sealed_next_totp TEXT, -- shown, and not yet confirmed with a code
  totp_step INTEGER NOT NULL DEFAULT 0, -- of the last code that was taken: none is taken twice
  last_sign_in_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  wrong_codes INTEGER NOT NULL DEFAULT 0, -- of the second step, since the last right one
  wrong_code_at INTEGER, -- the last of them
  read_only INTEGER NOT NULL DEFAULT 0 CHECK (read_only IN (0, 1)),
  sso_issuer TEXT, -- whose account they sign in with, without a slash at its end
  sso_subject TEXT, -- what that issuer calls them
  user_handle TEXT UNIQUE, -- what their passkeys call them: random, base64url, theirs for good; null before the first
  UNIQUE (sso_issuer, sso_subject)
) STRICT;

-- As with tokens: a person scoped to a deleted project stays scoped.
CREATE TABLE person_projects (
  person_id INTEGER NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  PRIMARY KEY (person_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX person_projects_by_project ON person_projects (project_id);

-- One-time links that are still good; person_id is null for the first person, who says who they are.
CREATE TABLE person_links ( -- LinkRow
  token_hash TEXT PRIMARY KEY, -- SHA-256, hex
  person_id INTEGER UNIQUE REFERENCES people (id) ON DELETE CASCADE,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE person_sessions ( -- SessionRow
  id TEXT PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE, -- SHA-256, hex
  person_id INTEGER NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  ip TEXT,
  user_agent TEXT,
  signed_in_by TEXT NOT NULL CHECK (signed_in_by IN ('password', 'passkey', 'sso')),
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL
) STRICT;
CREATE INDEX person_sessions_by_person ON person_sessions (person_id, id);

CREATE TABLE person_recovery_codes (
  person_id INTEGER NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  code_hash TEXT NOT NULL, -- SHA-256, hex
  PRIMARY KEY (person_id, code_hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE person_passkeys ( -- PasskeyRow
  id TEXT PRIMARY KEY,
  credential_id TEXT NOT NULL UNIQUE, -- base64url
  person_id INTEGER NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  host TEXT NOT NULL, -- the only one that it works at
  public_key TEXT NOT NULL, -- COSE, base64url
  counter INTEGER NOT NULL, -- of uses, as its authenticator said last; 0 where it counts none
  backed_up INTEGER NOT NULL CHECK (backed_up IN (0, 1)),
  created_at INTEGER NOT NULL,
  last_used_at INTEGER,
  suspected_at INTEGER -- when its counter last did not go forward: there may be a copy
) STRICT;
CREATE INDEX person_passkeys_by_person ON person_passkeys (person_id, id);

-- Challenges of passkeys that were used, until they end.
CREATE TABLE used_challenges (
  challenge TEXT PRIMARY KEY,
  ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Networks that a person has signed in from: strangers' failures do not count against them.
CREATE TABLE person_networks (
  person_id INTEGER NOT NULL REFERENCES people (id) ON DELETE CASCADE,
  network TEXT NOT NULL,
  last_sign_in_at INTEGER NOT NULL,
  PRIMARY KEY (person_id, network)
) STRICT, WITHOUT ROWID;

-- --- files: objects ------------------------------------------------------------------------------------------------

-- Stored objects. The bytes are files of the data directory or keys of the store, named by public_id, or stand in object_contents. Those of internal ones, such
-- as messages that came by SMTP, are the server's own: they are in no list, in no count, and nobody's to fetch.
CREATE TABLE objects ( -- ObjectRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  original_filename TEXT NOT NULL,
  sought_name TEXT NOT NULL, -- by which it is found: made of the one before
  mime_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL, -- hex
  visibility TEXT NOT NULL CHECK (visibility IN ('public', 'private', 'internal')), -- Visibility
  store TEXT NOT NULL CHECK (store IN ('local', 'database', 's3')),
  is_utf8 INTEGER NOT NULL DEFAULT 0 CHECK (is_utf8 IN (0, 1)), -- text that names no charset, and was found to be more than ASCII
  missing_since INTEGER, -- when the store was found to have no such bytes
  expires_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX objects_by_project ON objects (project_id, id);
CREATE INDEX objects_listed ON objects (project_id, id) WHERE visibility <> 'internal';
-- Doctor, backups and moves walk those of the store; local ones are in no such index, and cost nothing for it.
CREATE INDEX objects_in_store ON objects (id) WHERE store = 's3';
CREATE INDEX objects_missing ON objects (id) WHERE missing_since IS NOT NULL;
CREATE INDEX objects_by_visibility ON objects (project_id, visibility, id);
CREATE INDEX objects_expiring ON objects (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX objects_expiring_by_project ON objects (project_id, visibility, expires_at) WHERE expires_at IS NOT NULL;
-- Files are found by the beginning of their name.
CREATE INDEX objects_by_name ON objects (project_id, sought_name, id) WHERE visibility <> 'internal';
-- A search walks names, newest first, without a look into the table.
CREATE INDEX objects_searched ON objects (project_id, id, sought_name, visibility, expires_at)
  WHERE visibility <> 'internal';
CREATE TRIGGER objects_count_insert AFTER INSERT ON objects WHEN NEW.visibility <> 'internal' BEGIN
  INSERT INTO row_counts VALUES ('objects', NEW.project_id, NEW.visibility, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER objects_count_delete AFTER DELETE ON objects WHEN OLD.visibility <> 'internal' BEGIN
  UPDATE row_counts SET n = n - 1
    WHERE list = 'objects' AND project_id = OLD.project_id AND facet = OLD.visibility;
END;
-- Objects whose visibility changes: each counter follows.
CREATE TRIGGER objects_count_visibility AFTER UPDATE OF visibility ON objects WHEN OLD.visibility <> NEW.visibility BEGIN
  UPDATE row_counts SET n = n - 1
    WHERE list = 'objects' AND project_id = OLD.project_id AND facet = OLD.visibility;
  INSERT INTO row_counts VALUES ('objects', NEW.project_id, NEW.visibility, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER objects_bytes_insert AFTER INSERT ON objects WHEN NEW.visibility <> 'internal' BEGIN
  INSERT INTO row_counts VALUES ('object_bytes', NEW.project_id, '', NEW.size_bytes)
    ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER objects_bytes_delete AFTER DELETE ON objects WHEN OLD.visibility <> 'internal' BEGIN
  UPDATE row_counts SET n = n - OLD.size_bytes
    WHERE list = 'object_bytes' AND project_id = OLD.project_id AND facet = '';
END;

-- The bytes of the objects whose store is the database. They go with their row.
CREATE TABLE object_contents (
  object_id INTEGER PRIMARY KEY REFERENCES objects (id) ON DELETE CASCADE,
  bytes BLOB NOT NULL
) STRICT;
-- But for those that a waiting mail needs: they go with the last such mail.
CREATE TABLE pinned_contents (
  public_id TEXT NOT NULL UNIQUE,
  bytes BLOB NOT NULL
) STRICT;
CREATE TRIGGER objects_keep_pinned BEFORE DELETE ON objects
  WHEN OLD.store = 'database' AND EXISTS (SELECT 1 FROM attachment_pins WHERE object_public_id = OLD.public_id)
BEGIN
  INSERT INTO pinned_contents SELECT OLD.public_id, bytes FROM object_contents WHERE object_id = OLD.id;
END;

-- Keys of the store that no row names any more: their bytes go once the store takes it and no waiting mail needs them. Every way
-- in which a row goes notes its key, a project's end too.
CREATE TABLE store_removals (
  public_id TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
-- While a project arrives, the bytes may still be those of the Satchel that it comes from.
CREATE TRIGGER objects_leave_store AFTER DELETE ON objects
  WHEN OLD.store = 's3' AND NOT EXISTS (SELECT 1 FROM projects WHERE id = OLD.project_id AND status = 'arriving')
BEGIN
  INSERT OR IGNORE INTO store_removals VALUES (OLD.public_id);
END;

-- What came in, by day: deletions leave it as it is.
CREATE TABLE upload_days (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  day INTEGER NOT NULL, -- days since 1970
  uploads INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  PRIMARY KEY (project_id, day)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER objects_days_insert AFTER INSERT ON objects WHEN NEW.visibility <> 'internal' BEGIN
  INSERT INTO upload_days VALUES (NEW.project_id, NEW.created_at / 86400000, 1, NEW.size_bytes)
    ON CONFLICT DO UPDATE SET uploads = uploads + 1, bytes = bytes + excluded.bytes;
END;

-- What the links of a project's files are signed with; sealed. A row that goes takes every link with it.
CREATE TABLE object_link_keys (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  sealed_key TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- --- files: uploads ------------------------------------------------------------------------------------------------

-- Resumable uploads. The bytes that came stand where those of the object will, under its id: up to the offset they are durable.
CREATE TABLE uploads ( -- UploadRow
  id TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  key_id INTEGER NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  metadata TEXT NOT NULL, -- as it was sent
  size_bytes INTEGER NOT NULL,
  offset_bytes INTEGER NOT NULL CHECK (offset_bytes <= size_bytes),
  object_id TEXT, -- what it has become; null while it is unfinished
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX uploads_by_project ON uploads (project_id);
CREATE INDEX uploads_by_key ON uploads (key_id, object_id);
CREATE INDEX uploads_unfinished ON uploads (id) WHERE object_id IS NULL;
CREATE INDEX uploads_expiring ON uploads (expires_at);

-- --- mail: sending domains -----------------------------------------------------------------------------------------

CREATE TABLE sending_domains ( -- DomainRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  is_default INTEGER NOT NULL DEFAULT 0 CHECK (is_default IN (0, 1)),
  is_active INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
  is_trusted INTEGER NOT NULL DEFAULT 0 CHECK (is_trusted IN (0, 1)), -- the operator vouches for it: no look-up needed
  verified_at INTEGER,
  ownership_token TEXT NOT NULL,
  dkim_selector TEXT NOT NULL,
  dkim_public_key TEXT NOT NULL,
  sealed_dkim_private_key TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  next_dkim_selector TEXT,
  next_dkim_public_key TEXT,
  next_sealed_dkim_private_key TEXT,
  old_dkim_selector TEXT,
  dkim_rotated_at INTEGER,
  old_dkim_public_key TEXT, -- what was signed with it comes back for some days after it was changed
  -- it was the default when it could send, and takes that over from a trial's domain no more
  has_been_default INTEGER NOT NULL DEFAULT 0 CHECK (has_been_default IN (0, 1))
) STRICT;
CREATE UNIQUE INDEX sending_domains_one_default ON sending_domains (is_default) WHERE is_default = 1;

-- --- mail: mailboxes -----------------------------------------------------------------------------------------------

CREATE TABLE mailboxes ( -- MailboxRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain_id INTEGER NOT NULL REFERENCES sending_domains (id) ON DELETE CASCADE,
  address TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('smtp', 'capture')), -- MailboxKind
  smtp_host TEXT,
  smtp_port INTEGER,
  smtp_security TEXT CHECK (smtp_security IN ('tls', 'starttls', 'opportunistic', 'none')),
  smtp_username TEXT,
  sealed_smtp_password TEXT,
  return_path TEXT,
  daily_limit INTEGER,
  for_transactional INTEGER NOT NULL DEFAULT 1 CHECK (for_transactional IN (0, 1)),
  for_marketing INTEGER NOT NULL DEFAULT 0 CHECK (for_marketing IN (0, 1)),
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused')),
  failures INTEGER NOT NULL DEFAULT 0, -- connection failures in a row
  resting_until INTEGER,               -- after failures it is left alone until then
  last_error TEXT,
  last_failure_at INTEGER,
  last_success_at INTEGER,
  revision INTEGER NOT NULL DEFAULT 1, -- grows with every change of its settings: open connections of an old one are not reused
  created_at INTEGER NOT NULL,
  is_signed_by_relay INTEGER NOT NULL DEFAULT 0 CHECK (is_signed_by_relay IN (0, 1)), -- no DKIM signature of ours
  refusal TEXT, -- the relay's words for what it holds against the mailbox
  refused_at INTEGER, -- null again with the next mail that it takes
  verp INTEGER CHECK (verp IN (0, 1)), -- null: where the mailbox has an inbox
  verp_refusal TEXT, -- the relay's words, until the mailbox is changed
  rate TEXT
) STRICT;
CREATE INDEX mailboxes_by_domain ON mailboxes (domain_id);

-- Messages accepted for each mailbox and for each API key, by UTC day: the daily limits survive a restart.
CREATE TABLE mailbox_usage (
  mailbox_id INTEGER NOT NULL REFERENCES mailboxes (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (day, mailbox_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE mailbox_paces ( -- PaceRow
  mailbox_id INTEGER PRIMARY KEY REFERENCES mailboxes (id) ON DELETE CASCADE,
  turn_at REAL NOT NULL,           -- the turn that the last mail had
  sent TEXT NOT NULL, -- JSON [slice: number, count: number][]; slices of the rate's minute or hour, and mails that went in each, oldest first
  allowed REAL,                    -- mails a second that its relay was found to take
  speed REAL,                      -- mails a second that may go now
  speed_at INTEGER NOT NULL,       -- since when
  waits INTEGER NOT NULL,          -- waits in a row
  waits_until INTEGER NOT NULL,
  is_probing INTEGER NOT NULL CHECK (is_probing IN (0, 1)), -- after the wait one mail asks for all
  probed_at REAL NOT NULL,         -- when that began; 0 where none is out
  ended_at INTEGER NOT NULL,       -- when the last burst did: what had begun by then teaches nothing
  since INTEGER,                   -- the first refusal of this trouble
  refused_at INTEGER,              -- the last one, and its words
  words TEXT
) STRICT;

-- --- mail: inboxes -------------------------------------------------------------------------------------------------

-- Where reports about a mailbox's mail arrive, and how far each was read.
CREATE TABLE inboxes ( -- InboxRow
  mailbox_id INTEGER PRIMARY KEY REFERENCES mailboxes (id) ON DELETE CASCADE,
  version TEXT NOT NULL, -- another one whenever it is set: what is read of the one before is not noted here
  host TEXT NOT NULL,
  port INTEGER NOT NULL,
  security TEXT NOT NULL CHECK (security IN ('tls', 'starttls', 'none')),
  username TEXT NOT NULL,
  sealed_password TEXT NOT NULL,
  folder TEXT NOT NULL,
  uid_validity TEXT, -- of the folder as it was read last; null before
  last_uid INTEGER NOT NULL, -- messages up to this one were looked at
  unflagged TEXT NOT NULL, -- JSON number[]; UIDs of messages whose reports took effect, and which may not bear the flag yet
  reports INTEGER NOT NULL, -- how many took effect
  last_look_at INTEGER,
  last_error TEXT, -- null again with the next look that goes well
  last_error_at INTEGER,
  skipped INTEGER NOT NULL DEFAULT 0, -- how many, of the folder as its UIDs are now
  last_skipped TEXT NOT NULL DEFAULT '[]', -- JSON { uid: number, at: number }[]; the last of them
  unread INTEGER NOT NULL DEFAULT 0, -- reports of DMARC or TLS of which nothing could be read
  last_unread TEXT NOT NULL DEFAULT '[]' -- JSON { at: number, subject: string, reason: 'too_large' | 'doctype' | 'encrypted' | 'broken' }[]; the last of them, the newest first
) STRICT;

-- --- mail: relay events ------------------------------------------------------------------------------------------

-- Where the provider of a mailbox's relay tells what became of its mail, and how that goes.
CREATE TABLE relay_events ( -- EventsRow
  mailbox_id INTEGER PRIMARY KEY REFERENCES mailboxes (id) ON DELETE CASCADE,
  provider TEXT NOT NULL CHECK (provider IN ('ses', 'sendgrid', 'mailgun', 'postmark', 'brevo', 'mailjet', 'resend')), -- EventProvider
  configuration_set TEXT,
  sealed_key TEXT,
  sealed_token TEXT NOT NULL, -- of the URL
  token_hash TEXT NOT NULL UNIQUE,
  topic TEXT,     -- the only one of SNS that is believed: the first that asked
  confirmed TEXT, -- hash of the address that confirmed it last
  last_event_at INTEGER,
  refused_at INTEGER,
  refusals INTEGER NOT NULL DEFAULT 0, -- in a row
  problem TEXT, -- why the last one was refused, until one is taken
  set_at INTEGER NOT NULL
) STRICT;

-- --- mail: templates -----------------------------------------------------------------------------------------------

CREATE TABLE email_templates ( -- TemplateRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  category TEXT NOT NULL CHECK (category IN ( -- TemplateCategory
    'transactional', 'marketing', 'welcome', 'opt_in', 'notification', 'receipt', 'other'
  )),
  subject TEXT NOT NULL,
  body_html TEXT,
  body_text TEXT,
  body_markdown TEXT, -- what both bodies were made from
  description TEXT,
  variables TEXT NOT NULL DEFAULT '[]', -- JSON TemplateVariable[]
  is_active INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
  is_marketing INTEGER NOT NULL DEFAULT 0 CHECK (is_marketing IN (0, 1)),
  layout TEXT CHECK (layout IN ('marketing')),
  is_own INTEGER NOT NULL DEFAULT 0 CHECK (is_own IN (0, 1)),
  draft TEXT, -- JSON TemplateDraft; what is being written, and in no mail yet
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (project_id, slug)
) STRICT;
CREATE INDEX own_templates ON email_templates (created_at) WHERE is_own = 1;

-- --- mail: emails --------------------------------------------------------------------------------------------------

CREATE TABLE key_usage (
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (api_key_id, day)
) STRICT, WITHOUT ROWID;

-- The log: one row for each message, kept when its body is gone.
CREATE TABLE emails ( -- EmailRow
  id TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  job_id TEXT,
  api_key_id INTEGER,
  source TEXT NOT NULL CHECK (source IN ('api', 'schedule', 'sequence', 'broadcast', 'confirmation', 'test', 'smtp', 'resend', 'mailgun', 'mailgun_bulk')), -- EmailSource
  is_test INTEGER NOT NULL DEFAULT 0 CHECK (is_test IN (0, 1)),
  status TEXT NOT NULL CHECK (status IN ( -- EmailStatus
    'scheduled', 'queued', 'sending', 'sent', 'delivered', 'bounced', 'complained', 'suppressed', 'failed', 'unknown',
    'canceled')),
  requested_domain TEXT,    -- null: the default, and any other with capacity
  mailbox_id INTEGER,       -- the one whose quota it uses; chosen anew when due
  quota_day TEXT,
  from_email TEXT NOT NULL,
  from_name TEXT,
  domain TEXT NOT NULL,
  to_email TEXT NOT NULL,
  to_name TEXT,
  cc TEXT NOT NULL DEFAULT '[]', -- JSON string[]
  bcc TEXT NOT NULL DEFAULT '[]', -- JSON string[]
  reply_to TEXT,
  subject TEXT NOT NULL,
  template TEXT,
  attachments TEXT NOT NULL DEFAULT '[]', -- JSON StoredAttachment[]
  headers TEXT NOT NULL DEFAULT '{}', -- JSON Record<string, string>; extra headers, such as List-Unsubscribe
  message_id TEXT NOT NULL,
  taken TEXT NOT NULL DEFAULT '[]', -- JSON string[]; recipients a relay has taken; a retry leaves them out
  refused TEXT NOT NULL DEFAULT '[]', -- JSON RefusedRecord[]; recipients refused for good, with the relay's words
  attempts INTEGER NOT NULL DEFAULT 0,
  smtp_code INTEGER,
  smtp_response TEXT,
  bounce_type TEXT CHECK (bounce_type IN ('permanent', 'transient')),
  error TEXT,
  app_id TEXT,
  ip TEXT,
  user_agent TEXT,
  created_at INTEGER NOT NULL,
  scheduled_at INTEGER,
  queued_at INTEGER,
  sent_at INTEGER,
  delivered_at INTEGER,
  opened_at INTEGER,
  clicked_at INTEGER,
  bounced_at INTEGER,
  complained_at INTEGER,
  failed_at INTEGER,
  replied_at INTEGER, -- when the first reply of a person came
  allowed_mailboxes TEXT NOT NULL DEFAULT '[]', -- JSON string[]; addresses that bind every attempt; none: any that fits
  merge TEXT, -- what its content is rendered from as it is sent; such a mail has no row in email_bodies
  due_at INTEGER,   -- of bulk mail that waits, which has no job: when it is tried next, 0 at once
  began_at INTEGER, -- when its first attempt began, which has no row of its own where the relay just took the mail
  choice TEXT,      -- of that attempt: why its mailbox; null for bulk mail, where all mails of a piece share it
  tls TEXT,         -- of that attempt
  is_captured INTEGER NOT NULL DEFAULT 0 CHECK (is_captured IN (0, 1)), -- kept here in place of being sent
  call_id TEXT -- of app_calls; null for mail that came otherwise
) STRICT;
CREATE INDEX emails_by_project ON emails (project_id, id);
CREATE INDEX emails_by_status ON emails (project_id, status, id);
CREATE INDEX emails_by_recipient ON emails (project_id, to_email COLLATE NOCASE, id);
-- Mails that went to others too, for whoever asks what is held about an address.
CREATE INDEX emails_copied ON emails (project_id, id) WHERE cc <> '[]' OR bcc <> '[]';
CREATE INDEX emails_by_template ON emails (project_id, template, id) WHERE template IS NOT NULL;
-- The queue of bulk mail, which is empty but for what waits: of a mailbox and a project, longest due first.
CREATE INDEX emails_bulk ON emails (mailbox_id, project_id, due_at, id) WHERE due_at IS NOT NULL;
-- Replies name a mail by its Message-ID, in which the other mails have their id.
CREATE INDEX emails_by_message_id ON emails (message_id) WHERE source IN ('smtp', 'resend', 'mailgun');
CREATE INDEX emails_by_call ON emails (call_id) WHERE call_id IS NOT NULL;
CREATE INDEX emails_failed ON emails (failed_at) WHERE status IN ('failed', 'unknown');
-- What waits for somebody in a project; so are the other indexes of what is braked or disabled.
CREATE INDEX emails_failed_of_project ON emails (project_id, status, failed_at) WHERE status IN ('failed', 'unknown') AND is_test = 0;
CREATE INDEX emails_captured_of_project ON emails (project_id, sent_at) WHERE is_captured = 1 AND is_test = 0;
CREATE TRIGGER emails_count_insert AFTER INSERT ON emails BEGIN
  INSERT INTO row_counts VALUES ('emails', NEW.project_id, NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER emails_count_delete AFTER DELETE ON emails BEGIN
  UPDATE row_counts SET n = n - 1 WHERE list = 'emails' AND project_id = OLD.project_id AND facet = OLD.status;
END;
CREATE TRIGGER emails_count_update AFTER UPDATE OF status ON emails WHEN OLD.status <> NEW.status BEGIN
  UPDATE row_counts SET n = n - 1 WHERE list = 'emails' AND project_id = OLD.project_id AND facet = OLD.status;
  INSERT INTO row_counts VALUES ('emails', NEW.project_id, NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
-- A mail that is queued again and fails again has failed twice; the rest happens to it once.
CREATE TRIGGER emails_hours_sent AFTER UPDATE OF sent_at ON emails WHEN OLD.sent_at IS NULL AND NEW.sent_at IS NOT NULL BEGIN
  INSERT INTO email_hours VALUES (NEW.project_id, NEW.sent_at / 3600000, 'sent', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER emails_hours_bounced AFTER UPDATE OF bounced_at ON emails WHEN OLD.bounced_at IS NULL AND NEW.bounced_at IS NOT NULL BEGIN
  INSERT INTO email_hours VALUES (NEW.project_id, NEW.bounced_at / 3600000, 'bounced', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER emails_hours_complained AFTER UPDATE OF complained_at ON emails WHEN OLD.complained_at IS NULL AND NEW.complained_at IS NOT NULL BEGIN
  INSERT INTO email_hours VALUES (NEW.project_id, NEW.complained_at / 3600000, 'complained', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER emails_hours_failed AFTER UPDATE OF failed_at ON emails WHEN OLD.failed_at IS NULL AND NEW.failed_at IS NOT NULL BEGIN
  INSERT INTO email_hours VALUES (NEW.project_id, NEW.failed_at / 3600000, 'failed', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
-- A mail's first click.
CREATE TRIGGER emails_hours_clicked AFTER UPDATE OF clicked_at ON emails WHEN OLD.clicked_at IS NULL AND NEW.clicked_at IS NOT NULL BEGIN
  INSERT INTO email_hours VALUES (NEW.project_id, NEW.clicked_at / 3600000, 'clicked', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER sequence_mails_gone AFTER UPDATE OF status ON emails
WHEN NEW.source = 'sequence' AND NEW.status NOT IN ('queued', 'sending') BEGIN
  UPDATE sequence_mails SET is_waiting = 0, sent_at = coalesce(sent_at, NEW.sent_at),
    ended_at = coalesce(NEW.sent_at, NEW.bounced_at, NEW.failed_at)
  WHERE email_id = NEW.id AND is_waiting = 1;
END;
-- A mail of a sequence that failed and is queued again waits for its relay like any other: a pause holds it, and whoever
-- leaves does not get it.
CREATE TRIGGER sequence_mails_again AFTER UPDATE OF status ON emails
WHEN NEW.source = 'sequence' AND NEW.status = 'queued' AND OLD.status NOT IN ('queued', 'sending') BEGIN
  UPDATE sequence_mails SET is_waiting = 1, ended_at = NULL, refused_at = NULL WHERE email_id = NEW.id;
END;
-- As these two, for broadcasts.
CREATE TRIGGER broadcast_recipients_gone AFTER UPDATE OF status ON emails
WHEN NEW.source = 'broadcast' AND NEW.status NOT IN ('queued', 'sending') BEGIN
  UPDATE broadcast_recipients SET is_waiting = 0, sent_at = coalesce(sent_at, NEW.sent_at),
    ended_at = coalesce(NEW.sent_at, NEW.bounced_at, NEW.failed_at)
  WHERE email_id = NEW.id AND is_waiting = 1;
END;
CREATE TRIGGER broadcast_recipients_again AFTER UPDATE OF status ON emails
WHEN NEW.source = 'broadcast' AND NEW.status = 'queued' AND OLD.status NOT IN ('queued', 'sending') BEGIN
  UPDATE broadcast_recipients SET is_waiting = 1, ended_at = NULL, refused_at = NULL WHERE email_id = NEW.id;
END;

-- What was accepted, rendered. Apart from the log, so that lists never read it and it can be dropped earlier.
CREATE TABLE email_bodies (
  email_id TEXT PRIMARY KEY REFERENCES emails (id) ON DELETE CASCADE,
  body_html TEXT,
  body_text TEXT,
  message TEXT -- of a mail that came whole: the object that has its bytes, one for all recipients; it has no bodies here
) STRICT, WITHOUT ROWID;
CREATE INDEX email_bodies_by_message ON email_bodies (message) WHERE message IS NOT NULL;
-- A message goes with the last mail that needs it.
CREATE TRIGGER email_bodies_message_gone AFTER DELETE ON email_bodies
WHEN OLD.message IS NOT NULL AND NOT EXISTS (SELECT 1 FROM email_bodies WHERE message = OLD.message) BEGIN
  DELETE FROM objects WHERE public_id = OLD.message;
END;

-- Blobs of attachments are pinned here at acceptance: a deleted object's bytes stay until its last mail is out.
CREATE TABLE attachment_pins (
  email_id TEXT NOT NULL REFERENCES emails (id) ON DELETE CASCADE,
  object_public_id TEXT NOT NULL,
  PRIMARY KEY (object_public_id, email_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX attachment_pins_by_email ON attachment_pins (email_id);
CREATE TRIGGER attachment_pins_release AFTER DELETE ON attachment_pins
  WHEN NOT EXISTS (SELECT 1 FROM attachment_pins WHERE object_public_id = OLD.object_public_id)
BEGIN
  DELETE FROM pinned_contents WHERE public_id = OLD.object_public_id;
END;

CREATE TABLE email_hours (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  hour INTEGER NOT NULL, -- hours since 1970
  what TEXT NOT NULL CHECK (what IN ('sent', 'bounced', 'complained', 'failed', 'clicked')),
  n INTEGER NOT NULL,
  PRIMARY KEY (project_id, hour, what)
) STRICT, WITHOUT ROWID;
-- The overview reads the last day of all projects, of the month that is kept; a sweep takes what is older.
CREATE INDEX email_hours_by_hour ON email_hours (hour);

-- --- mail: apps -----------------------------------------------------------------------------------------------------

-- One call of an app that speaks another product's API: what its mails, one for each recipient, don't say themselves.
CREATE TABLE app_calls ( -- AppCallRow
  id TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  source TEXT NOT NULL CHECK (source IN ('resend', 'mailgun')), -- AppSource
  parties TEXT NOT NULL, -- JSON Parties; as they were sent, and gone once one of them was forgotten
  extra TEXT NOT NULL, -- JSON Record<string, unknown>; what else it said that answers repeat, such as its tags
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX app_calls_by_project ON app_calls (project_id, id);
-- It goes with the last of its mails.
CREATE TRIGGER emails_call_gone AFTER DELETE ON emails
WHEN OLD.call_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM emails WHERE call_id = OLD.call_id) BEGIN
  DELETE FROM app_calls WHERE id = OLD.call_id;
END;
-- A recipient is forgotten.
CREATE TRIGGER emails_call_emptied AFTER UPDATE OF to_email ON emails
WHEN NEW.call_id IS NOT NULL AND NEW.to_email = '' BEGIN
  UPDATE app_calls SET parties = '{}' WHERE id = NEW.call_id;
END;

-- --- mail: deliveries ----------------------------------------------------------------------------------------------

CREATE TABLE email_attempts ( -- AttemptRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email_id TEXT NOT NULL REFERENCES emails (id) ON DELETE CASCADE,
  attempt INTEGER NOT NULL,
  mailbox TEXT NOT NULL,
  choice TEXT NOT NULL, -- why this mailbox, and why not the others
  started_at INTEGER NOT NULL,
  finished_at INTEGER,  -- null: under way, or cut off by a crash
  -- captured: kept instead of delivered; unanswered: a relay got it and said nothing of it; postponed: waits for what is the server's
  -- own, such as room on its disk; interrupted: cut off by a crash or a stop.
  outcome TEXT CHECK (outcome IN ( -- AttemptOutcome
    'sent', 'captured', 'refused', 'deferred', 'unreachable', 'unanswered', 'postponed', 'interrupted')),
  smtp_code INTEGER,
  smtp_response TEXT,
  tls TEXT, -- the version, or 'none'; NULL where no connection came about
  may_be_sent INTEGER NOT NULL DEFAULT 0 CHECK (may_be_sent IN (0, 1)) -- cut off, or without an answer behind the message: it may have been delivered
) STRICT;
CREATE INDEX email_attempts_by_email ON email_attempts (email_id, id);

-- What capturing mailboxes and test keys hold instead of sending.
CREATE TABLE captured_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email_id TEXT NOT NULL REFERENCES emails (id) ON DELETE CASCADE,
  mailbox TEXT NOT NULL,
  envelope TEXT NOT NULL, -- JSON { from: string, to: string[] }
  raw BLOB NOT NULL, -- of a mail that came by SMTP its signature alone, which goes before its message
  captured_at INTEGER NOT NULL
) STRICT;
CREATE INDEX captured_by_email ON captured_messages (email_id);
CREATE INDEX captured_by_age ON captured_messages (captured_at);

-- Reports of other mail servers, and of an operator in their place. Each counts once.
CREATE TABLE email_reports ( -- ReportRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email_id TEXT NOT NULL REFERENCES emails (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('delivered', 'bounced', 'soft_bounced', 'refused', 'complained', 'unsubscribed')), -- ReportKind
  address TEXT NOT NULL COLLATE NOCASE, -- the recipient whom it concerns
  smtp_code INTEGER,
  words TEXT NOT NULL,
  reported_at INTEGER NOT NULL,
  mailbox TEXT NOT NULL, -- the one that the mail went out from last
  UNIQUE (email_id, kind, address)
) STRICT;
-- What was told last of mails to an address, for soft bounces in a row.
CREATE INDEX email_reports_of_address ON email_reports (address, id);
-- For a look at the last day's, however many others there are.
CREATE INDEX email_reports_refused ON email_reports (reported_at) WHERE kind = 'refused';

-- --- mail: domain reports -------------------------------------------------------------------------------------------

-- What receivers reported of a domain, so that each report counts once.
CREATE TABLE domain_reports ( -- DomainReportRow
  domain_id INTEGER NOT NULL REFERENCES sending_domains (id) ON DELETE CASCADE,
  organization TEXT NOT NULL,
  report_id TEXT NOT NULL,
  ends_day INTEGER NOT NULL,    -- days since 1970: by which it is asked for, and forgotten
  arrived_day INTEGER NOT NULL, -- anybody may send reports: so many a day
  policy TEXT CHECK (policy IN ('none', 'quarantine', 'reject')), -- null: one of TLS
  ends_at INTEGER NOT NULL,
  PRIMARY KEY (domain_id, organization, report_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX domain_reports_by_end ON domain_reports (domain_id, ends_day);
CREATE INDEX domain_reports_by_arrival ON domain_reports (domain_id, arrived_day);

-- Mails in a domain's name, by where they came from; '' for sources past those that are told apart.
CREATE TABLE domain_sources (
  domain_id INTEGER NOT NULL REFERENCES sending_domains (id) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  ip TEXT NOT NULL,
  count INTEGER NOT NULL,
  dkim_aligned INTEGER NOT NULL,
  spf_aligned INTEGER NOT NULL,
  aligned INTEGER NOT NULL, -- by one of them
  none INTEGER NOT NULL,
  quarantine INTEGER NOT NULL,
  reject INTEGER NOT NULL,
  ours INTEGER NOT NULL,    -- passed DKIM with a key of ours
  sender TEXT NOT NULL,     -- another domain that they passed DKIM or SPF for; empty without one
  PRIMARY KEY (domain_id, day, ip)
) STRICT, WITHOUT ROWID;

-- TLS sessions of those who send to a domain, by what became of them.
CREATE TABLE domain_tls (
  domain_id INTEGER NOT NULL REFERENCES sending_domains (id) ON DELETE CASCADE,
  day INTEGER NOT NULL,
  reason TEXT NOT NULL, -- success, or why they failed
  sessions INTEGER NOT NULL,
  PRIMARY KEY (domain_id, day, reason)
) STRICT, WITHOUT ROWID;

-- --- mail: replies --------------------------------------------------------------------------------------------------

-- What was answered to a mail, each message once.
CREATE TABLE email_replies ( -- ReplyRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  email_id TEXT NOT NULL REFERENCES emails (id) ON DELETE CASCADE,
  digest TEXT NOT NULL, -- of its Message-ID, else of its header section
  is_automatic INTEGER NOT NULL CHECK (is_automatic IN (0, 1)), -- by a machine: without its text
  from_email TEXT NOT NULL COLLATE NOCASE,
  subject TEXT NOT NULL,
  text TEXT, -- without what it quotes
  received_at INTEGER NOT NULL,
  UNIQUE (email_id, digest)
) STRICT;
CREATE INDEX email_replies_of_address ON email_replies (project_id, from_email);
CREATE INDEX email_replies_by_age ON email_replies (received_at);

-- --- mail: schedules -----------------------------------------------------------------------------------------------

CREATE TABLE email_schedules ( -- ScheduleRow
  id TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  api_key_id INTEGER, -- the creating key; runs follow its is_test
  is_test INTEGER NOT NULL DEFAULT 0 CHECK (is_test IN (0, 1)),
  name TEXT NOT NULL,
  recipients TEXT NOT NULL, -- JSON ScheduleValues['recipients']
  cron_expression TEXT NOT NULL,
  timezone TEXT NOT NULL,
  template TEXT,
  variables TEXT NOT NULL DEFAULT '{}', -- JSON Record<string, unknown>
  subject TEXT,
  body_html TEXT,
  body_text TEXT,
  cc TEXT NOT NULL DEFAULT '[]', -- JSON string[]
  bcc TEXT NOT NULL DEFAULT '[]', -- JSON string[]
  reply_to TEXT,
  from_name TEXT,
  domain TEXT,
  description TEXT,
  missed_runs TEXT NOT NULL DEFAULT 'skip' CHECK (missed_runs IN ('skip', 'run_once')),
  is_active INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
  next_run_at INTEGER,
  last_run_at INTEGER,
  last_status TEXT CHECK (last_status IN ('queued', 'completed', 'failed', 'skipped')), -- LastStatus; of the last run; skipped: left out after a downtime
  is_moved INTEGER NOT NULL DEFAULT 0 CHECK (is_moved IN (0, 1)), -- it was active where its project came from
  is_held INTEGER NOT NULL DEFAULT 0 CHECK (is_held IN (0, 1)), -- it was active until a restore paused it
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX email_schedules_by_project ON email_schedules (project_id, id);
CREATE INDEX email_schedules_due ON email_schedules (next_run_at) WHERE next_run_at IS NOT NULL;
CREATE TRIGGER email_schedules_count_insert AFTER INSERT ON email_schedules BEGIN
  INSERT INTO row_counts VALUES ('email_schedules', NEW.project_id, '', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER email_schedules_count_delete AFTER DELETE ON email_schedules BEGIN
  UPDATE row_counts SET n = n - 1 WHERE list = 'email_schedules' AND project_id = OLD.project_id AND facet = '';
END;

-- --- marketing: settings -------------------------------------------------------------------------------------------

CREATE TABLE marketing_settings ( -- SettingsRow
  project_id INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  enabled INTEGER NOT NULL DEFAULT 0 CHECK (enabled IN (0, 1)),
  from_name TEXT,
  reply_to TEXT,
  postal_address TEXT,
  brand_name TEXT,
  brand_color TEXT,
  brand_logo_url TEXT,
  brand_website_url TEXT,
  daily_cap INTEGER,
  send_window_start TEXT, -- HH:MM; null together with the end: always
  send_window_end TEXT,
  timezone TEXT NOT NULL DEFAULT 'UTC',
  bounce_pause_threshold_percent REAL NOT NULL,
  tracking TEXT NOT NULL DEFAULT 'all' CHECK (tracking IN ('all', 'consented')), -- TrackingMode; whose opens and clicks are counted
  view_link INTEGER NOT NULL DEFAULT 0 CHECK (view_link IN (0, 1)), -- the layout begins with a link to the mail in the browser
  accounts TEXT NOT NULL DEFAULT '[]', -- JSON string[]; mailbox addresses; empty: every active marketing mailbox
  updated_at INTEGER NOT NULL
) STRICT;

-- What suppression hashes and the tokens of public pages are made with; sealed, so that neither the database nor a
-- backup lets anybody try addresses against the hashes.
CREATE TABLE marketing_keys (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  sealed_key TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- Marketing mails of a project by UTC day, for its daily cap.
CREATE TABLE marketing_usage (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (project_id, day)
) STRICT, WITHOUT ROWID;

-- --- marketing: lists ----------------------------------------------------------------------------------------------

CREATE TABLE contact_lists ( -- ListRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  default_consent_basis TEXT CHECK (default_consent_basis IN ('consent', 'double_opt_in', 'contract', 'legitimate_interest', 'existing_customer')), -- ConsentBasis
  double_opt_in INTEGER NOT NULL DEFAULT 0 CHECK (double_opt_in IN (0, 1)),
  token_hosts TEXT NOT NULL DEFAULT '[]', -- JSON string[]
  confirmation_template TEXT,
  from_address TEXT, -- the mailbox that mails go out from which ask to confirm a sign-up
  sign_up_page INTEGER NOT NULL DEFAULT 0 CHECK (sign_up_page IN (0, 1)),
  is_public INTEGER NOT NULL DEFAULT 0 CHECK (is_public IN (0, 1)), -- people see it on the page of their choices
  archive INTEGER NOT NULL DEFAULT 0 CHECK (archive IN (0, 1)), -- what was sent to all of it can be read by anybody
  language TEXT CHECK (language IN ('en', 'de', 'fr', 'es')), -- Language; of its mail; null: en
  signed_up_url TEXT,  -- where a sign-up by form leads, in place of a page of ours
  confirmed_url TEXT,  -- where a confirmation leads
  archived_at INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX contact_lists_by_project ON contact_lists (project_id, id);
CREATE INDEX contact_lists_current ON contact_lists (project_id, id) WHERE archived_at IS NULL;
CREATE TRIGGER contact_lists_count_insert AFTER INSERT ON contact_lists BEGIN
  INSERT INTO row_counts VALUES ('contact_lists', NEW.project_id, iif(NEW.archived_at IS NULL, 'current', 'archived'), 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER contact_lists_count_update AFTER UPDATE OF archived_at ON contact_lists
WHEN (OLD.archived_at IS NULL) <> (NEW.archived_at IS NULL) BEGIN
  UPDATE row_counts SET n = n - 1 WHERE list = 'contact_lists' AND project_id = OLD.project_id
    AND facet = iif(OLD.archived_at IS NULL, 'current', 'archived');
  INSERT INTO row_counts VALUES ('contact_lists', NEW.project_id, iif(NEW.archived_at IS NULL, 'current', 'archived'), 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;

-- The counters of a list: by status, and by tag and status. They are as true as the rows, as they change with them.
CREATE TABLE contact_counts (
  list_id INTEGER NOT NULL REFERENCES contact_lists (id) ON DELETE CASCADE,
  tag TEXT NOT NULL, -- '' counts every contact
  status TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (list_id, tag, status)
) STRICT, WITHOUT ROWID;

-- How many contacts of a list have a custom field, or sent an event. Tags stand above.
CREATE TABLE contact_facets (
  list_id INTEGER NOT NULL REFERENCES contact_lists (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('custom', 'event')),
  name TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (list_id, kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX contact_facets_by_count ON contact_facets (list_id, kind, n);
CREATE TRIGGER contact_facets_gone AFTER UPDATE OF n ON contact_facets WHEN NEW.n <= 0 BEGIN
  DELETE FROM contact_facets WHERE list_id = NEW.list_id AND kind = NEW.kind AND name = NEW.name;
END;

-- --- marketing: contacts -------------------------------------------------------------------------------------------

-- One address on one list. No foreign keys: a project with a million contacts is deleted at once, and the rows that are
-- left without their list are swept in small steps.
CREATE TABLE contacts ( -- ContactRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL,
  list_id INTEGER NOT NULL,
  email TEXT NOT NULL, -- canonical: lower case, domain in ASCII
  first_name TEXT,
  last_name TEXT,
  custom TEXT NOT NULL DEFAULT '{}', -- JSON CustomFields
  status TEXT NOT NULL CHECK (status IN ('pending', 'active', 'unsubscribed', 'bounced', 'complained')), -- ContactStatus
  source TEXT,
  reason TEXT,
  contact_token TEXT NOT NULL UNIQUE,
  -- The evidence that this address may be mailed.
  consent_basis TEXT NOT NULL,
  consent_at INTEGER NOT NULL,
  consent_ip TEXT,
  consent_origin TEXT,     -- the web page whose form it was
  source_platform TEXT NOT NULL,
  confirmed_at INTEGER,    -- the click in a double opt-in's mail
  status_changed_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  status_before_bounce TEXT CHECK (status_before_bounce IN ('pending', 'active')), -- what a lifted hard bounce gives back
  status_before_leaving TEXT CHECK (status_before_leaving IN ('pending', 'active', 'unsubscribed', 'bounced', 'complained')), -- ContactStatus; what an unsubscription that is taken back gives back
  is_mx_unasked INTEGER NOT NULL DEFAULT 0 CHECK (is_mx_unasked IN (0, 1)),
  clicked_at INTEGER, -- when a person last clicked in a marketing mail, each mail's first click counting
  paused_until INTEGER, -- until when they get no marketing mail, as they chose; the same of all contacts of the address
  UNIQUE (list_id, email)
) STRICT;
CREATE INDEX contacts_by_list ON contacts (list_id, id);
CREATE INDEX contacts_by_status ON contacts (list_id, status, id);
CREATE INDEX contacts_by_address ON contacts (project_id, email);
CREATE INDEX contacts_by_first_name ON contacts (list_id, first_name COLLATE NOCASE) WHERE first_name IS NOT NULL;
CREATE INDEX contacts_by_last_name ON contacts (list_id, last_name COLLATE NOCASE) WHERE last_name IS NOT NULL;
-- Who clicked of late, for filters; empty for those who never did, so that imports pay nothing for it.
CREATE INDEX contacts_by_click ON contacts (list_id, clicked_at) WHERE clicked_at IS NOT NULL;
CREATE INDEX contacts_mx_unasked ON contacts (project_id, email) WHERE is_mx_unasked = 1;
CREATE TRIGGER contacts_count_insert AFTER INSERT ON contacts BEGIN
  INSERT INTO contact_counts VALUES (NEW.list_id, '', NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER contacts_count_delete AFTER DELETE ON contacts BEGIN
  UPDATE contact_counts SET n = n - 1 WHERE list_id = OLD.list_id AND tag = '' AND status = OLD.status;
END;
CREATE TRIGGER contacts_count_update AFTER UPDATE OF status ON contacts WHEN OLD.status <> NEW.status BEGIN
  UPDATE contact_counts SET n = n - 1 WHERE list_id = OLD.list_id AND tag = '' AND status = OLD.status;
  INSERT INTO contact_counts VALUES (NEW.list_id, '', NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
  UPDATE contact_tags SET status = NEW.status WHERE contact_id = NEW.id;
END;

-- Before the row goes: its events, which go with it, no longer know its list.
CREATE TRIGGER contacts_facets_delete BEFORE DELETE ON contacts BEGIN
  UPDATE contact_facets SET n = n - 1
    WHERE list_id = OLD.list_id AND kind = 'custom' AND name IN (SELECT key FROM json_each(OLD.custom));
  UPDATE contact_facets SET n = n - 1 WHERE list_id = OLD.list_id AND kind = 'event'
    AND name IN (SELECT event FROM contact_events WHERE contact_id = OLD.id);
END;
CREATE TRIGGER contacts_facets_insert AFTER INSERT ON contacts WHEN NEW.custom <> '{}' BEGIN
  INSERT INTO contact_facets SELECT NEW.list_id, 'custom', key, 1 FROM json_each(NEW.custom) WHERE true
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER contacts_facets_update AFTER UPDATE OF custom ON contacts WHEN OLD.custom <> NEW.custom BEGIN
  UPDATE contact_facets SET n = n - 1 WHERE list_id = OLD.list_id AND kind = 'custom' AND name IN (
    SELECT key FROM json_each(OLD.custom) EXCEPT SELECT key FROM json_each(NEW.custom));
  INSERT INTO contact_facets SELECT NEW.list_id, 'custom', key, 1 FROM (
      SELECT key FROM json_each(NEW.custom) EXCEPT SELECT key FROM json_each(OLD.custom)) WHERE true
    ON CONFLICT DO UPDATE SET n = n + 1;
END;

-- The status stands here too, so that a page of a tag, of any status or of one, is one walk of an index.
CREATE TABLE contact_tags (
  contact_id INTEGER NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  list_id INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'active', 'unsubscribed', 'bounced', 'complained')), -- ContactStatus
  PRIMARY KEY (contact_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX contact_tags_by_tag ON contact_tags (list_id, tag, contact_id);
CREATE INDEX contact_tags_by_status ON contact_tags (list_id, tag, status, contact_id);
CREATE TRIGGER contact_tags_count_insert AFTER INSERT ON contact_tags BEGIN
  INSERT INTO contact_counts VALUES (NEW.list_id, NEW.tag, NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER contact_tags_count_delete AFTER DELETE ON contact_tags BEGIN
  UPDATE contact_counts SET n = n - 1 WHERE list_id = OLD.list_id AND tag = OLD.tag AND status = OLD.status;
END;
CREATE TRIGGER contact_tags_count_update AFTER UPDATE OF status ON contact_tags BEGIN
  UPDATE contact_counts SET n = n - 1 WHERE list_id = OLD.list_id AND tag = OLD.tag AND status = OLD.status;
  INSERT INTO contact_counts VALUES (NEW.list_id, NEW.tag, NEW.status, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;

-- Addresses that are being forgotten, in pieces: what a crash cut off goes on at the next start.
CREATE TABLE addresses_to_forget (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  email TEXT NOT NULL,
  PRIMARY KEY (project_id, email)
) STRICT, WITHOUT ROWID;

-- --- marketing: imports --------------------------------------------------------------------------------------------

CREATE TABLE contact_imports ( -- ImportRow
  id TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  list_id INTEGER NOT NULL REFERENCES contact_lists (id) ON DELETE CASCADE,
  job_id TEXT,
  method TEXT NOT NULL CHECK (method IN ('paste', 'csv')),
  status TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'completed', 'failed', 'cancelled')), -- ImportStatus
  object_public_id TEXT,          -- the CSV file
  settings TEXT NOT NULL, -- JSON ImportSettings; columns, defaults, delimiter and so on, as they were asked for or found
  position TEXT NOT NULL, -- JSON ImportPosition; where the next piece begins: changes with the counters, in one commit
  total_rows INTEGER,             -- null until the rows of a long file are counted
  accepted INTEGER NOT NULL DEFAULT 0,
  duplicate INTEGER NOT NULL DEFAULT 0,
  invalid_syntax INTEGER NOT NULL DEFAULT 0,
  no_mx INTEGER NOT NULL DEFAULT 0,
  suppressed INTEGER NOT NULL DEFAULT 0,
  missing_consent INTEGER NOT NULL DEFAULT 0,
  updated_existing INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  created_at INTEGER NOT NULL,
  started_at INTEGER,
  finished_at INTEGER
) STRICT;
CREATE INDEX contact_imports_by_project ON contact_imports (project_id, id);
-- The imports of a list, newest first.
CREATE INDEX contact_imports_by_list ON contact_imports (list_id, id);

-- Rows that were not taken, for rejected.csv.
CREATE TABLE contact_import_rejections (
  import_id TEXT NOT NULL REFERENCES contact_imports (id) ON DELETE CASCADE,
  row_number INTEGER NOT NULL, -- the header is row 1
  email TEXT NOT NULL,
  reason TEXT NOT NULL,
  PRIMARY KEY (import_id, row_number)
) STRICT, WITHOUT ROWID;

-- Rows whose domain no resolver could be asked about yet. They are tried again; an import ends when none is left.
CREATE TABLE contact_import_waiting (
  import_id TEXT NOT NULL REFERENCES contact_imports (id) ON DELETE CASCADE,
  row_number INTEGER NOT NULL,
  fields TEXT NOT NULL, -- JSON WaitingFields
  PRIMARY KEY (import_id, row_number)
) STRICT, WITHOUT ROWID;

-- --- marketing: suppressions ---------------------------------------------------------------------------------------

CREATE TABLE suppressions ( -- SuppressionRow
  id TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  hash TEXT NOT NULL, -- HMAC-SHA-256 of the canonical address, hex; the address itself is nowhere
  kind TEXT NOT NULL CHECK (kind IN ('hard_bounce', 'manual', 'unsubscribed', 'complaint')), -- SuppressionKind; weakest first: a stronger reason takes the place of a weaker one, and what somebody decided outlasts a bounce
  created_at INTEGER NOT NULL,
  mailbox TEXT, -- The mailbox whose mail came back, of a hard bounce; null where it is not known.
  also_kind TEXT CHECK (also_kind IN ('hard_bounce', 'manual', 'unsubscribed', 'complaint')), -- SuppressionKind; the strongest other reason that was given, which stays where an unsubscription is taken back
  -- What else than imports gave as reasons, where these gave some (suppression_imports).
  own_kind TEXT CHECK (own_kind IN ('hard_bounce', 'manual', 'unsubscribed', 'complaint')), -- SuppressionKind
  own_also_kind TEXT CHECK (own_also_kind IN ('hard_bounce', 'manual', 'unsubscribed', 'complaint')), -- SuppressionKind
  UNIQUE (project_id, hash)
) STRICT;
CREATE INDEX suppressions_by_project ON suppressions (project_id, id);
CREATE TRIGGER suppressions_count_insert AFTER INSERT ON suppressions BEGIN
  INSERT INTO row_counts VALUES ('suppressions', NEW.project_id, '', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER suppressions_count_delete AFTER DELETE ON suppressions BEGIN
  UPDATE row_counts SET n = n - 1 WHERE list = 'suppressions' AND project_id = OLD.project_id AND facet = '';
END;

-- Reasons that imports gave, by which they can be taken back.
CREATE TABLE suppression_imports (
  import_id TEXT NOT NULL REFERENCES contact_imports (id) ON DELETE CASCADE,
  suppression_id TEXT NOT NULL REFERENCES suppressions (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('hard_bounce', 'manual', 'unsubscribed', 'complaint')), -- SuppressionKind
  departures TEXT NOT NULL, -- JSON Departed[]; contacts that left by it
  PRIMARY KEY (import_id, suppression_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX suppression_imports_by_suppression ON suppression_imports (suppression_id);

-- --- marketing: subscriptions --------------------------------------------------------------------------------------

-- A double opt-in that waits for its click. Only the hash of the link's token is kept.
CREATE TABLE contact_confirmations (
  token_hash TEXT PRIMARY KEY,
  contact_id INTEGER NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
  expires_at INTEGER NOT NULL,
  is_test INTEGER NOT NULL DEFAULT 0 CHECK (is_test IN (0, 1)), -- of a test key's sign-up
  tracking_at INTEGER,  -- when the box was ticked that allows tracking, which holds with the click; null where it was not
  tracking_ip TEXT,
  tracking_origin TEXT, -- the web page whose form it was
  created_at INTEGER NOT NULL,
  comes_back TEXT -- JSON ComingBack; the sign-up of somebody who had left, as it was sent: the click brings them back on its evidence
) STRICT, WITHOUT ROWID;
CREATE INDEX contact_confirmations_by_contact ON contact_confirmations (contact_id);
CREATE INDEX contact_confirmations_by_end ON contact_confirmations (expires_at);
-- The last sign-up by form of an address that was suppressed, and what came of it, by the hash of its suppression: that may be gone since.
CREATE TABLE sign_ups_of_left ( -- SignUpOfLeftRow
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  hash TEXT NOT NULL,
  list_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  outcome TEXT NOT NULL CHECK (outcome IN ('asked', 'confirmed', 'mails_used_up', 'no_double_opt_in', 'other_reason', 'no_mx', 'test')), -- SignUpOutcome
  outcome_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, hash)
) STRICT, WITHOUT ROWID;

-- --- marketing: mailgun ----------------------------------------------------------------------------------------------

-- What the mails of a call are made of that has one for each recipient: Mailgun's, with recipient-variables.
CREATE TABLE bulk_contents ( -- BulkContentRow
  call_id TEXT PRIMARY KEY REFERENCES app_calls (id) ON DELETE CASCADE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  body_html TEXT,
  body_text TEXT,
  has_picture INTEGER NOT NULL CHECK (has_picture IN (0, 1)), -- which tells of an opening
  attachments TEXT NOT NULL -- JSON StoredAttachment[]; objects of its own
) STRICT, WITHOUT ROWID;
CREATE INDEX bulk_contents_by_project ON bulk_contents (project_id, call_id);
CREATE TRIGGER bulk_contents_gone AFTER DELETE ON bulk_contents WHEN OLD.attachments <> '[]' BEGIN
  DELETE FROM objects WHERE public_id IN (SELECT value ->> 'public_id' FROM json_each(OLD.attachments));
END;

-- What Mailgun's clients are told of mails that came by its API; kept as long as these.
CREATE TABLE mailgun_events ( -- MailgunEventRow
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  domain TEXT NOT NULL, -- in the path of the call, whatever its mails came from
  at INTEGER NOT NULL,  -- microseconds since 1970: when it was written, later than all before it of the domain
  email_id TEXT NOT NULL REFERENCES emails (id) ON DELETE CASCADE,
  event TEXT NOT NULL CHECK (event IN ('accepted', 'delivered', 'failed', 'opened', 'complained', 'unsubscribed')), -- MailgunEvent
  is_permanent INTEGER CHECK (is_permanent IN (0, 1)), -- of a failure
  reason TEXT,
  code INTEGER,
  words TEXT, -- of a mail server
  PRIMARY KEY (project_id, domain, at)
) STRICT, WITHOUT ROWID;
CREATE INDEX mailgun_events_of_mail ON mailgun_events (email_id);

-- --- marketing: tracking -------------------------------------------------------------------------------------------

-- Whether it may be counted what an address opens and clicks, where somebody said so; of contacts that come later, too. Rows go with
-- their project's contacts, and no foreign key takes so many at once.
CREATE TABLE tracking_choices ( -- TrackingChoiceRow
  project_id INTEGER NOT NULL,
  email TEXT NOT NULL, -- canonical, as contacts have it
  tracking TEXT NOT NULL CHECK (tracking IN ('allowed', 'refused')), -- Tracking
  -- The evidence.
  at INTEGER NOT NULL,
  told_by TEXT NOT NULL CHECK (told_by IN ('page', 'form', 'import', 'api')), -- Teller; the first two are the person's own word
  ip TEXT,
  origin TEXT, -- the web page whose form it was
  PRIMARY KEY (project_id, email)
) STRICT, WITHOUT ROWID;

-- --- marketing: segments --------------------------------------------------------------------------------------------

-- A filter of a list, kept under a name.
CREATE TABLE segments ( -- SegmentRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  list_id INTEGER NOT NULL REFERENCES contact_lists (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  filter TEXT NOT NULL, -- JSON Record<string, unknown>
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX segments_by_project ON segments (project_id, id);
-- Those of one list, and what goes when it does.
CREATE INDEX segments_by_list ON segments (list_id, id);
CREATE TRIGGER segments_count_insert AFTER INSERT ON segments BEGIN
  INSERT INTO row_counts VALUES ('segments', NEW.project_id, '', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER segments_count_delete AFTER DELETE ON segments BEGIN
  UPDATE row_counts SET n = n - 1 WHERE list = 'segments' AND project_id = OLD.project_id AND facet = '';
END;

-- --- marketing: sequences ------------------------------------------------------------------------------------------

CREATE TABLE sequences ( -- SequenceRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  list_id INTEGER NOT NULL REFERENCES contact_lists (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('draft', 'active', 'paused', 'finished')), -- SequenceStatus
  max_recipients INTEGER NOT NULL,
  exit_events TEXT NOT NULL DEFAULT '[]', -- JSON string[]
  enroll_tags TEXT NOT NULL DEFAULT '[]', -- JSON string[]
  auto_enroll_new_contacts INTEGER NOT NULL DEFAULT 0 CHECK (auto_enroll_new_contacts IN (0, 1)),
  track_opens INTEGER NOT NULL DEFAULT 0 CHECK (track_opens IN (0, 1)),
  utm TEXT, -- JSON Record<string, string>; what links that are counted gain, such as source
  steps TEXT NOT NULL DEFAULT '[]', -- JSON unknown[]; in the order in which they were given
  job_id TEXT,                      -- the job that moves its enrollments while it is active
  bounces_since INTEGER,            -- sends from then on count towards the bounce threshold
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  pause_reason TEXT CHECK (pause_reason IN ('manual', 'moved', 'restored', 'bounce_threshold', 'relay_refuses')) -- PauseReason
) STRICT;
CREATE INDEX sequences_by_project ON sequences (project_id, id);
-- Asked for at every new contact of a list.
CREATE INDEX sequences_open ON sequences (list_id) WHERE status IN ('active', 'paused');
CREATE INDEX sequences_braked ON sequences (project_id) WHERE status = 'paused' AND pause_reason <> 'manual';
CREATE TRIGGER sequences_count_insert AFTER INSERT ON sequences BEGIN
  INSERT INTO row_counts VALUES ('sequences', NEW.project_id, '', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER sequences_count_delete AFTER DELETE ON sequences BEGIN
  UPDATE row_counts SET n = n - 1 WHERE list = 'sequences' AND project_id = OLD.project_id AND facet = '';
END;

-- What apps say that a contact did. One event of one name a contact; a second one is a duplicate.
CREATE TABLE contact_events (
  contact_id INTEGER NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
  event TEXT NOT NULL,
  occurred_at INTEGER NOT NULL,
  meta TEXT, -- JSON Record<string, unknown>
  created_at INTEGER NOT NULL,
  is_whole_second INTEGER NOT NULL DEFAULT 0 CHECK (is_whole_second IN (0, 1)), -- occurred_at is known to the second alone
  PRIMARY KEY (contact_id, event)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER contact_events_facets_insert AFTER INSERT ON contact_events BEGIN
  INSERT INTO contact_facets SELECT list_id, 'event', NEW.event, 1 FROM contacts
    WHERE id = NEW.contact_id AND list_id IN (SELECT id FROM contact_lists)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
-- With a contact it counts no more already.
CREATE TRIGGER contact_events_facets_delete AFTER DELETE ON contact_events BEGIN
  UPDATE contact_facets SET n = n - 1 WHERE kind = 'event' AND name = OLD.event
    AND list_id = (SELECT list_id FROM contacts WHERE id = OLD.contact_id);
END;

-- A contact's way through a sequence.
CREATE TABLE enrollments ( -- EnrollmentRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  sequence_id INTEGER NOT NULL REFERENCES sequences (id) ON DELETE CASCADE,
  contact_id INTEGER NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
  is_test INTEGER NOT NULL DEFAULT 0 CHECK (is_test IN (0, 1)), -- made by a test key: its mail is captured, and it stands in no counter
  state TEXT NOT NULL CHECK (state IN ('active', 'completed', 'exited', 'failed')), -- EnrollmentState
  exit_reason TEXT CHECK (exit_reason IN ('event', 'condition', 'unsubscribed', 'suppressed', 'bounced', 'complained', -- ExitReason
    'sequence_finished', 'manual')),
  error TEXT,
  track TEXT NOT NULL,
  step TEXT NOT NULL,           -- the key of the step that comes next, or came last
  counts_from INTEGER NOT NULL, -- what the delay of that step counts from
  next_at INTEGER,              -- null while it waits for its mail, and once it has ended
  waits_for TEXT,               -- the mail at whose end the next delay begins, or behind the last step it is complete
  last_email_id TEXT,
  enrolled_at INTEGER NOT NULL,
  ended_at INTEGER,
  UNIQUE (sequence_id, contact_id, is_test)
) STRICT;
-- What the engine walks: one seek finds what is due next, however many wait.
CREATE INDEX enrollments_due ON enrollments (sequence_id, next_at, id) WHERE state = 'active';
CREATE INDEX enrollments_by_contact ON enrollments (contact_id);
CREATE INDEX enrollments_by_sequence ON enrollments (sequence_id, id);
CREATE INDEX enrollments_by_state ON enrollments (sequence_id, state, id);
CREATE INDEX enrollments_by_track ON enrollments (sequence_id, track, id);
CREATE INDEX enrollments_by_track_state ON enrollments (sequence_id, track, state, id);
-- Test enrollments count under names of their own, which only the length of their list asks for.
CREATE TRIGGER enrollments_count_insert AFTER INSERT ON enrollments BEGIN
  INSERT INTO sequence_counts VALUES (NEW.sequence_id, '', NEW.track, iif(NEW.is_test, 'test_', '') || NEW.state, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
  INSERT INTO sequence_counts VALUES (NEW.sequence_id, NEW.step, '', iif(NEW.is_test, 'test_', '') || NEW.state, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER enrollments_count_update AFTER UPDATE OF state, track, step ON enrollments
WHEN OLD.state <> NEW.state OR OLD.track <> NEW.track OR OLD.step <> NEW.step BEGIN
  UPDATE sequence_counts SET n = n - 1 WHERE sequence_id = OLD.sequence_id AND step = '' AND track = OLD.track
    AND what = iif(OLD.is_test, 'test_', '') || OLD.state;
  UPDATE sequence_counts SET n = n - 1 WHERE sequence_id = OLD.sequence_id AND step = OLD.step AND track = ''
    AND what = iif(OLD.is_test, 'test_', '') || OLD.state;
  INSERT INTO sequence_counts VALUES (NEW.sequence_id, '', NEW.track, iif(NEW.is_test, 'test_', '') || NEW.state, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
  INSERT INTO sequence_counts VALUES (NEW.sequence_id, NEW.step, '', iif(NEW.is_test, 'test_', '') || NEW.state, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER enrollments_count_delete AFTER DELETE ON enrollments BEGIN
  UPDATE sequence_counts SET n = n - 1 WHERE sequence_id = OLD.sequence_id AND step = '' AND track = OLD.track
    AND what = iif(OLD.is_test, 'test_', '') || OLD.state;
  UPDATE sequence_counts SET n = n - 1 WHERE sequence_id = OLD.sequence_id AND step = OLD.step AND track = ''
    AND what = iif(OLD.is_test, 'test_', '') || OLD.state;
END;

-- What a step sent to whom.
CREATE TABLE sequence_mails ( -- SequenceMailRow
  email_id TEXT PRIMARY KEY REFERENCES emails (id) ON DELETE CASCADE,
  sequence_id INTEGER NOT NULL,
  enrollment_id INTEGER NOT NULL,
  step TEXT NOT NULL,
  sent_at INTEGER,
  clicked_at INTEGER,
  opened_at INTEGER,
  opened_by_machine_at INTEGER, -- its picture was fetched by one that does so for people
  bounced_at INTEGER,
  unsubscribed_at INTEGER,
  complained_at INTEGER,
  replied_at INTEGER, -- by the address that it went to
  is_waiting INTEGER NOT NULL DEFAULT 1 CHECK (is_waiting IN (0, 1)), -- for its relay: few, however many it sent
  ended_at INTEGER,   -- when a relay took it, or its attempts ended; null while it waits, and for one that was taken back
  refused_at INTEGER, -- by a relay, for what it holds against us; at SMTP time or in a report
  is_test INTEGER NOT NULL DEFAULT 0 CHECK (is_test IN (0, 1)), -- of a test key's enrollment: captured, and counted nowhere
  is_untracked INTEGER NOT NULL DEFAULT 0 CHECK (is_untracked IN (0, 1)) -- for want of consent: nothing tells whether it was read
) STRICT, WITHOUT ROWID;
CREATE INDEX sequence_mails_by_enrollment ON sequence_mails (enrollment_id, email_id);
CREATE INDEX sequence_mails_waiting ON sequence_mails (sequence_id) WHERE is_waiting = 1;
CREATE INDEX sequence_mails_ended ON sequence_mails (sequence_id, ended_at) WHERE ended_at IS NOT NULL;
CREATE TRIGGER sequence_mails_count
AFTER UPDATE OF sent_at, is_waiting, clicked_at, opened_at, opened_by_machine_at, bounced_at, complained_at,
  unsubscribed_at, replied_at ON sequence_mails
WHEN NEW.is_test = 0 BEGIN
  INSERT INTO sequence_counts SELECT NEW.sequence_id, NEW.step, '', column1, column2 FROM (VALUES
      ('sent', (NEW.sent_at IS NOT NULL) - (OLD.sent_at IS NOT NULL)),
      ('untracked', (NEW.sent_at IS NOT NULL AND NEW.is_untracked) - (OLD.sent_at IS NOT NULL AND OLD.is_untracked)),
      ('waiting', (NEW.sent_at IS NULL AND NEW.is_waiting) - (OLD.sent_at IS NULL AND OLD.is_waiting)),
      ('lost', (NEW.sent_at IS NULL AND NOT NEW.is_waiting) - (OLD.sent_at IS NULL AND NOT OLD.is_waiting)),
      ('clicked', (NEW.clicked_at IS NOT NULL) - (OLD.clicked_at IS NOT NULL)),
      ('opened', (NEW.opened_at IS NOT NULL) - (OLD.opened_at IS NOT NULL)),
      ('opened_by_machine', (NEW.opened_by_machine_at IS NOT NULL) - (OLD.opened_by_machine_at IS NOT NULL)),
      ('bounced', (NEW.bounced_at IS NOT NULL) - (OLD.bounced_at IS NOT NULL)),
      ('complained', (NEW.complained_at IS NOT NULL) - (OLD.complained_at IS NOT NULL)),
      ('unsubscribed', (NEW.unsubscribed_at IS NOT NULL) - (OLD.unsubscribed_at IS NOT NULL)),
      ('replied', (NEW.replied_at IS NOT NULL) - (OLD.replied_at IS NOT NULL)))
    WHERE column2 <> 0
    ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER sequence_mails_count_insert AFTER INSERT ON sequence_mails WHEN NEW.is_test = 0 BEGIN
  INSERT INTO sequence_counts VALUES (NEW.sequence_id, NEW.step, '', 'waiting', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;

-- The numbers of a sequence and of each step, as true as the rows, as they change with them.
CREATE TABLE sequence_counts (
  sequence_id INTEGER NOT NULL REFERENCES sequences (id) ON DELETE CASCADE,
  step TEXT NOT NULL,   -- '' counts enrollments of the whole sequence
  track TEXT NOT NULL,  -- of enrollments, for lists by track
  what TEXT NOT NULL,   -- a state of enrollments, or sent, clicked, opened, bounced, unsubscribed of mails
  n INTEGER NOT NULL,
  PRIMARY KEY (sequence_id, step, track, what)
) STRICT, WITHOUT ROWID;

-- --- marketing: broadcasts -----------------------------------------------------------------------------------------

-- One mail to a list.
CREATE TABLE broadcasts ( -- BroadcastRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  list_id INTEGER NOT NULL REFERENCES contact_lists (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  template TEXT, -- a slug; a draft may have none yet
  variables TEXT NOT NULL DEFAULT '{}', -- JSON Record<string, string>
  preheader TEXT, -- what inboxes show behind the subject
  filter TEXT, -- JSON Record<string, unknown>; null: everybody on the list, or whom its segment means
  segment_id INTEGER REFERENCES segments (id) ON DELETE SET NULL, -- whose filter is copied when sending begins
  track_opens INTEGER NOT NULL DEFAULT 0 CHECK (track_opens IN (0, 1)),
  utm TEXT, -- JSON Record<string, string>; what links that are counted gain, such as source
  ab TEXT, -- JSON AbPlan; null: the same mail for all
  status TEXT NOT NULL CHECK (status IN ( -- BroadcastStatus
    'draft', 'scheduled', 'sending', 'testing', 'paused', 'sent', 'cancelled')),
  pause_reason TEXT CHECK (pause_reason IN ( -- PauseReason
    'manual', 'moved', 'restored', 'late', 'not_ready', 'bounce_threshold', 'relay_refuses')),
  is_test INTEGER NOT NULL DEFAULT 0 CHECK (is_test IN (0, 1)), -- sent by a test key: captured, and counted nowhere
  send_at INTEGER,
  started_at INTEGER,
  finished_at INTEGER,
  recipients INTEGER,      -- how many were to get it when sending began
  last_contact_id INTEGER, -- whoever came to the list after that contact gets nothing
  source_id INTEGER,       -- what all its mails are rendered from: a row of merge_sources
  from_name TEXT,          -- of the settings when sending began, as the next one is
  reply_to TEXT,
  decided_to INTEGER NOT NULL DEFAULT 0, -- contacts up to this one had their turn: changes in the commit of their mails. With an A/B those of the share, then from 0 on the rest
  tested_at INTEGER,       -- of an A/B: when the share had had its turn
  decides_at INTEGER,      -- when the clicks decide
  decided_at INTEGER,
  winner INTEGER,          -- its place in the variants of ab: what the rest gets
  in_archive INTEGER CHECK (in_archive IN (0, 1)), -- null: it is fixed when sending begins
  title TEXT,              -- of its mail as anybody may read it; null until it is sent, and where it needs a contact's values
  summary TEXT,
  job_id TEXT,             -- the job that waits for send_at, and then sends
  bounces_since INTEGER,   -- mails that ended since then count towards the bounce threshold
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX broadcasts_by_project ON broadcasts (project_id, id);
-- What a contact of a list got, and broadcasts that go when their list does.
CREATE INDEX broadcasts_by_list ON broadcasts (list_id, id);
-- The archive of a list.
CREATE INDEX broadcasts_archived ON broadcasts (list_id, started_at, id) WHERE status = 'sent' AND in_archive = 1 AND title IS NOT NULL;
CREATE INDEX broadcasts_by_segment ON broadcasts (segment_id) WHERE segment_id IS NOT NULL;
-- The few that a job is at work on, asked for each hour and at each start.
CREATE INDEX broadcasts_open ON broadcasts (status) WHERE status IN ('scheduled', 'sending', 'testing', 'paused');
CREATE INDEX broadcasts_braked ON broadcasts (project_id) WHERE status = 'paused' AND pause_reason <> 'manual';
CREATE TRIGGER broadcasts_count_insert AFTER INSERT ON broadcasts BEGIN
  INSERT INTO row_counts VALUES ('broadcasts', NEW.project_id, '', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER broadcasts_count_delete AFTER DELETE ON broadcasts BEGIN
  UPDATE row_counts SET n = n - 1 WHERE list = 'broadcasts' AND project_id = OLD.project_id AND facet = '';
END;

-- A contact that had its turn: the mail that it got, or why it got none. It is there once, whatever becomes of the mail, the log or
-- the contact, which is no foreign key.
CREATE TABLE broadcast_recipients ( -- RecipientRow
  broadcast_id INTEGER NOT NULL REFERENCES broadcasts (id) ON DELETE CASCADE,
  contact_id INTEGER NOT NULL,
  email_id TEXT REFERENCES emails (id) ON DELETE SET NULL,
  reason TEXT CHECK (reason IN ('unsubscribed', 'suppressed', 'bounced', 'complained', 'pending', 'paused', 'filter', 'no_value')), -- LeftOutReason; why it was left out
  variant INTEGER, -- of one in the share of an A/B: its place in ab
  is_waiting INTEGER NOT NULL DEFAULT 0 CHECK (is_waiting IN (0, 1)), -- for its relay
  sent_at INTEGER,
  ended_at INTEGER, -- when a relay took it, or its attempts ended; null while it waits, and for one that was taken back
  clicked_at INTEGER,
  opened_at INTEGER,
  opened_by_machine_at INTEGER, -- its picture was fetched by one that does so for people
  bounced_at INTEGER,
  complained_at INTEGER,
  unsubscribed_at INTEGER,
  replied_at INTEGER, -- by the address that it went to
  refused_at INTEGER, -- by a relay, for what it holds against us; at SMTP time or in a report
  is_untracked INTEGER NOT NULL DEFAULT 0 CHECK (is_untracked IN (0, 1)), -- for want of consent: nothing tells whether it was read
  PRIMARY KEY (broadcast_id, contact_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX broadcast_recipients_by_email ON broadcast_recipients (email_id) WHERE email_id IS NOT NULL;
-- What a pause or a cancel takes back, and what somebody who leaves no longer gets: a thousand a broadcast at most.
CREATE INDEX broadcast_recipients_waiting ON broadcast_recipients (broadcast_id) WHERE is_waiting = 1;
CREATE INDEX broadcast_recipients_waiting_of ON broadcast_recipients (contact_id) WHERE is_waiting = 1;
-- The last hundred, at which the brakes look.
CREATE INDEX broadcast_recipients_ended ON broadcast_recipients (broadcast_id, ended_at) WHERE ended_at IS NOT NULL;
CREATE TRIGGER broadcast_recipients_count
AFTER UPDATE OF sent_at, is_waiting, clicked_at, opened_at, opened_by_machine_at, bounced_at, complained_at,
  unsubscribed_at, replied_at ON broadcast_recipients
BEGIN
  INSERT INTO broadcast_counts SELECT NEW.broadcast_id, column1, column2 FROM (VALUES
      ('sent', (NEW.sent_at IS NOT NULL) - (OLD.sent_at IS NOT NULL)),
      ('untracked', (NEW.sent_at IS NOT NULL AND NEW.is_untracked) - (OLD.sent_at IS NOT NULL AND OLD.is_untracked)),
      ('waiting', (NEW.sent_at IS NULL AND NEW.is_waiting) - (OLD.sent_at IS NULL AND OLD.is_waiting)),
      ('lost', (NEW.sent_at IS NULL AND NOT NEW.is_waiting) - (OLD.sent_at IS NULL AND NOT OLD.is_waiting)),
      ('clicked', (NEW.clicked_at IS NOT NULL) - (OLD.clicked_at IS NOT NULL)),
      ('opened', (NEW.opened_at IS NOT NULL) - (OLD.opened_at IS NOT NULL)),
      ('opened_by_machine', (NEW.opened_by_machine_at IS NOT NULL) - (OLD.opened_by_machine_at IS NOT NULL)),
      ('bounced', (NEW.bounced_at IS NOT NULL) - (OLD.bounced_at IS NOT NULL)),
      ('complained', (NEW.complained_at IS NOT NULL) - (OLD.complained_at IS NOT NULL)),
      ('unsubscribed', (NEW.unsubscribed_at IS NOT NULL) - (OLD.unsubscribed_at IS NOT NULL)),
      ('replied', (NEW.replied_at IS NOT NULL) - (OLD.replied_at IS NOT NULL)))
    WHERE column2 <> 0
    ON CONFLICT DO UPDATE SET n = n + excluded.n;
  INSERT INTO broadcast_hours SELECT NEW.broadcast_id, column2 / 3600000, column1, 1 FROM (VALUES
      ('sent', iif(OLD.sent_at IS NULL, NEW.sent_at, NULL)),
      ('clicked', iif(OLD.clicked_at IS NULL, NEW.clicked_at, NULL)),
      ('opened', iif(OLD.opened_at IS NULL, NEW.opened_at, NULL)),
      ('opened_by_machine', iif(OLD.opened_by_machine_at IS NULL, NEW.opened_by_machine_at, NULL)))
    WHERE column2 IS NOT NULL
    ON CONFLICT DO UPDATE SET n = n + 1;
END;

CREATE TRIGGER broadcast_recipients_count_variant AFTER UPDATE OF is_untracked, sent_at, clicked_at, unsubscribed_at
ON broadcast_recipients WHEN NEW.variant IS NOT NULL BEGIN
  UPDATE broadcast_variants SET
    sent = sent + (NEW.sent_at IS NOT NULL) - (OLD.sent_at IS NOT NULL),
    untracked = untracked + NEW.is_untracked * (NEW.sent_at IS NOT NULL) - OLD.is_untracked * (OLD.sent_at IS NOT NULL),
    clicked = clicked + (NEW.clicked_at IS NOT NULL) - (OLD.clicked_at IS NOT NULL),
    unsubscribed = unsubscribed + (NEW.unsubscribed_at IS NOT NULL) - (OLD.unsubscribed_at IS NOT NULL)
  WHERE broadcast_id = NEW.broadcast_id AND variant = NEW.variant;
END;

-- An A/B that began: what mails of each variant are rendered from, and the numbers of the share.
CREATE TABLE broadcast_variants ( -- VariantRow
  broadcast_id INTEGER NOT NULL REFERENCES broadcasts (id) ON DELETE CASCADE,
  variant INTEGER NOT NULL, -- its place in ab
  source_id INTEGER NOT NULL, -- a row of merge_sources
  sent INTEGER NOT NULL DEFAULT 0,
  untracked INTEGER NOT NULL DEFAULT 0, -- of those that were sent
  clicked INTEGER NOT NULL DEFAULT 0,
  unsubscribed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (broadcast_id, variant)
) STRICT, WITHOUT ROWID;

-- The numbers of a broadcast: those of new recipients change with the piece that decides on them, the others with the rows.
CREATE TABLE broadcast_counts (
  broadcast_id INTEGER NOT NULL REFERENCES broadcasts (id) ON DELETE CASCADE,
  what TEXT NOT NULL, -- a number of its stats, or left_out: and the reason
  n INTEGER NOT NULL,
  PRIMARY KEY (broadcast_id, what)
) STRICT, WITHOUT ROWID;

CREATE TABLE broadcast_hours (
  broadcast_id INTEGER NOT NULL REFERENCES broadcasts (id) ON DELETE CASCADE,
  hour INTEGER NOT NULL, -- hours since 1970
  what TEXT NOT NULL CHECK (what IN ('sent', 'clicked', 'opened', 'opened_by_machine')),
  n INTEGER NOT NULL,
  PRIMARY KEY (broadcast_id, hour, what)
) STRICT, WITHOUT ROWID;

-- What people followed, by the link's position in the source.
CREATE TABLE broadcast_links (
  broadcast_id INTEGER NOT NULL REFERENCES broadcasts (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  people INTEGER NOT NULL,
  clicks INTEGER NOT NULL,
  PRIMARY KEY (broadcast_id, position)
) STRICT, WITHOUT ROWID;

-- --- marketing: mails ----------------------------------------------------------------------------------------------

-- Template, layout and the values of the sequence put together, once for all mails that share them. What is a row here
-- never changes: a mail that names it is shown again as it was.
CREATE TABLE merge_sources (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  hash TEXT NOT NULL, -- SHA-256 of the content
  created_at INTEGER NOT NULL,
  content TEXT NOT NULL, -- the last column: a redirect reads those before it and none of its pages
  UNIQUE (project_id, hash)
) STRICT;

-- What a source was called in links that were sent before its project moved here.
CREATE TABLE merge_source_names (
  former_id INTEGER NOT NULL,
  source_id INTEGER NOT NULL REFERENCES merge_sources (id) ON DELETE CASCADE,
  PRIMARY KEY (former_id, source_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX merge_source_names_by_source ON merge_source_names (source_id);

-- Where the links of a source lead: the only places that a redirect knows.
CREATE TABLE merge_links (
  source_id INTEGER NOT NULL REFERENCES merge_sources (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  target TEXT NOT NULL,  -- text and names of merge fields, as JSON
  token_hosts TEXT,      -- hosts that get the contact_token, as JSON; null where the link leads to none
  utm TEXT,              -- what its address gains once it is followed, as JSON; null for nothing
  PRIMARY KEY (source_id, position)
) STRICT, WITHOUT ROWID;

-- A click waits until it is known whether it was one of a scanner's burst; only then may it count.
CREATE TABLE email_clicks (
  id INTEGER PRIMARY KEY,
  email_id TEXT NOT NULL REFERENCES emails (id) ON DELETE CASCADE,
  position INTEGER NOT NULL, -- of the link
  at INTEGER NOT NULL,
  flag TEXT CHECK (flag IN ('head', 'robot', 'burst', 'machine')), -- ClickFlag; why it drives nothing; null: a person's
  is_settled INTEGER NOT NULL CHECK (is_settled IN (0, 1)),
  user_agent TEXT
) STRICT;
CREATE INDEX email_clicks_by_email ON email_clicks (email_id, at);
CREATE INDEX email_clicks_unsettled ON email_clicks (at) WHERE is_settled = 0;
-- At that moment: one that was written down while its recipient was being forgotten is among them.
CREATE TRIGGER email_clicks_forget AFTER UPDATE OF to_email ON emails WHEN NEW.to_email = '' BEGIN
  DELETE FROM email_clicks WHERE email_id = NEW.id;
END;

-- --- secrets: vault ------------------------------------------------------------------------------------------------

-- When a service's values last changed. It stays when the last of them is removed, so that a client that polls notices.
CREATE TABLE vault_services (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  service TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, service)
) STRICT, WITHOUT ROWID;

-- The environments of a vault, and how often the values of each have changed: deploy tools know that as a version. Production is there without a row.
CREATE TABLE vault_environments ( -- EnvironmentRow
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  inherits INTEGER NOT NULL DEFAULT 0 CHECK (inherits IN (0, 1)), -- what it lacks is production's
  changes INTEGER NOT NULL DEFAULT 0,
  changed_at INTEGER,
  PRIMARY KEY (project_id, name)
) STRICT, WITHOUT ROWID;

-- One stored field. Plain ones are sealed like secrets: nobody who can write the file can change what an app relies on.
CREATE TABLE vault_values ( -- VaultValueRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  service TEXT NOT NULL,
  field TEXT NOT NULL,
  sealed TEXT NOT NULL,
  filename TEXT, -- null for what is no file
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  is_plain INTEGER NOT NULL DEFAULT 0 CHECK (is_plain IN (0, 1)), -- of the service `env`; bound into the sealed value, so that setting it here makes nothing public
  expires_at INTEGER, -- when somebody wants to be reminded that it ends
  note TEXT, -- for all who read the vault
  UNIQUE (project_id, environment, service, field)
) STRICT;
CREATE INDEX vault_values_expiring ON vault_values (project_id, expires_at) WHERE expires_at IS NOT NULL;

-- What a field has held: a row for each change. What is stored now is sealed in vault_values alone.
CREATE TABLE vault_versions ( -- VaultVersionRow
  id TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment TEXT NOT NULL,
  service TEXT NOT NULL,
  field TEXT NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('set', 'removed', 'restored')), -- VersionKind
  sealed TEXT, -- null of a removal, and while it is stored
  is_plain INTEGER NOT NULL DEFAULT 0 CHECK (is_plain IN (0, 1)), -- as it was sealed
  filename TEXT,
  changed_at INTEGER NOT NULL,
  ended_at INTEGER, -- when it was replaced or removed; null while it is stored
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('token', 'person', 'shell', 'system')),
  actor_id TEXT,
  actor_name TEXT NOT NULL
) STRICT;
CREATE INDEX vault_versions_by_field ON vault_versions (project_id, environment, service, field, id);
CREATE INDEX vault_versions_ended ON vault_versions (ended_at) WHERE ended_at IS NOT NULL;

-- Who took secrets out of a vault. Written before they leave.
CREATE TABLE vault_reveals (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  at INTEGER NOT NULL,
  actor_kind TEXT NOT NULL CHECK (actor_kind IN ('token', 'person', 'shell', 'system')),
  actor_id TEXT,
  actor_name TEXT NOT NULL,
  ip TEXT,
  how TEXT NOT NULL CHECK (how IN ('reveal', 'file', 'env', 'run', 'kv', 'version')), -- RevealHow
  environment TEXT NOT NULL,
  service TEXT, -- null for the whole vault
  field TEXT
) STRICT;
CREATE INDEX vault_reveals_by_project ON vault_reveals (project_id, id);
-- A deploy tool may ask each second; a minute of it is one row.
CREATE INDEX vault_reveals_by_kv ON vault_reveals (project_id, at) WHERE how = 'kv';

-- --- secrets: provider accounts -----------------------------------------------------------------------------------------------

CREATE TABLE ai_accounts ( -- AiAccountRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  provider TEXT NOT NULL CHECK (provider IN ('openai', 'anthropic', 'gemini', 'openrouter', 'bedrock', 'vertex-ai', 'ollama', 'custom')), -- AiProvider
  key_prefix TEXT,
  sealed_api_key TEXT,
  base_url TEXT,
  organization_id TEXT,
  is_active INTEGER NOT NULL DEFAULT 1 CHECK (is_active IN (0, 1)),
  all_projects INTEGER NOT NULL DEFAULT 0 CHECK (all_projects IN (0, 1)), -- a standing rule: later projects too
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


CREATE TABLE database_accounts ( -- DatabaseAccountRow
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

CREATE TABLE database_projects ( -- DatabaseProjectRow
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
  is_shown INTEGER NOT NULL DEFAULT 0 CHECK (is_shown IN (0, 1)),
  PRIMARY KEY (database_project_id, project_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX database_project_links_by_project ON database_project_links (project_id);
CREATE UNIQUE INDEX database_project_links_one_shown ON database_project_links (project_id) WHERE is_shown = 1;

-- --- operation: alerts ------------------------------------------------------------------------------------------------

-- Whom doctor tells, and what it has told them. One row, or none before anybody is told.
CREATE TABLE alerts ( -- AlertsRow
  id INTEGER PRIMARY KEY CHECK (id = 1),
  email TEXT NOT NULL,   -- JSON string[]
  sealed_url TEXT,
  url TEXT,              -- its scheme and host
  format TEXT CHECK (format IN ('json', 'slack', 'discord', 'ntfy', 'gotify')), -- AlertFormat
  backups_here INTEGER NOT NULL CHECK (backups_here IN (0, 1)),
  last_sent_at INTEGER,
  findings TEXT NOT NULL, -- JSON KnownFindings
  ways TEXT NOT NULL      -- JSON Ways
) STRICT;

-- --- webhooks ------------------------------------------------------------------------------------------------------

CREATE TABLE webhooks ( -- WebhookRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  url TEXT NOT NULL,
  description TEXT,
  types TEXT, -- JSON EventType[]; null is all
  sealed_secret TEXT NOT NULL,
  sealed_old_secret TEXT,       -- signs as well until then
  old_secret_until INTEGER,
  is_active INTEGER NOT NULL CHECK (is_active IN (0, 1)),
  disabled_reason TEXT CHECK (disabled_reason IN ('gone', 'failing')), -- DisabledReason
  failing_since INTEGER,        -- the first of the tries that have failed since one went well
  after_event INTEGER NOT NULL, -- the last event from before it was made
  deliveries INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhooks_by_project ON webhooks (project_id, id);
CREATE INDEX webhooks_disabled ON webhooks (project_id) WHERE disabled_reason IS NOT NULL;

-- What happened, for whoever listened then. Nothing is referenced: what is left of a deleted project goes in small steps.
CREATE TABLE webhook_events ( -- EventRow
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL,
  type TEXT NOT NULL,
  body TEXT NOT NULL,           -- as it is sent
  address TEXT,                 -- whom it speaks of
  is_fanned_out INTEGER NOT NULL CHECK (is_fanned_out IN (0, 1)),
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX webhook_events_to_fan_out ON webhook_events (id) WHERE is_fanned_out = 0;
CREATE INDEX webhook_events_by_age ON webhook_events (created_at);
CREATE INDEX webhook_events_by_project ON webhook_events (project_id);
CREATE INDEX webhook_events_by_address ON webhook_events (project_id, address) WHERE address IS NOT NULL;

CREATE TABLE webhook_deliveries ( -- DeliveryRow
  id TEXT PRIMARY KEY,
  webhook_id INTEGER NOT NULL,
  event_id INTEGER NOT NULL,
  type TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('waiting', 'delivered', 'failed')), -- DeliveryStatus
  attempts INTEGER NOT NULL,
  next_at INTEGER,
  response_status INTEGER,
  error TEXT,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX webhook_deliveries_by_webhook ON webhook_deliveries (webhook_id, id);
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event_id);
CREATE INDEX webhook_deliveries_by_age ON webhook_deliveries (created_at);
CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (webhook_id, next_at, id) WHERE status = 'waiting';
-- The last try of each of the newest deliveries, for a day: what went out, and what came back.
CREATE TABLE webhook_tries ( -- TryRow
  delivery_id TEXT PRIMARY KEY REFERENCES webhook_deliveries (id) ON DELETE CASCADE,
  webhook_id INTEGER NOT NULL,
  at INTEGER NOT NULL,
  ms INTEGER NOT NULL,
  url TEXT NOT NULL,
  headers TEXT NOT NULL, -- JSON Record<string, string>
  answer TEXT,           -- JSON AnswerRecord; null where none came
  is_inside INTEGER NOT NULL CHECK (is_inside IN (0, 1)) -- only SATCHEL_WEBHOOK_ALLOW lets its host be reached
) STRICT;
CREATE INDEX webhook_tries_by_webhook ON webhook_tries (webhook_id, delivery_id);
CREATE INDEX webhook_tries_by_age ON webhook_tries (at);
CREATE TRIGGER webhook_deliveries_count_insert AFTER INSERT ON webhook_deliveries BEGIN
  UPDATE webhooks SET deliveries = deliveries + 1 WHERE id = NEW.webhook_id;
END;
CREATE TRIGGER webhook_deliveries_count_delete AFTER DELETE ON webhook_deliveries BEGIN
  UPDATE webhooks SET deliveries = deliveries - 1 WHERE id = OLD.webhook_id;
END;
