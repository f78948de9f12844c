-- Email marketing, the people: settings, lists, contacts, suppressions, imports and sign-ups that wait to be confirmed.

CREATE TABLE marketing_settings (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  enabled INTEGER NOT NULL DEFAULT 0,
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
  accounts TEXT NOT NULL DEFAULT '[]', -- mailbox addresses; empty: every active marketing mailbox
  updated_at INTEGER NOT NULL
) STRICT;

-- What suppression hashes and the tokens of public pages are made with; sealed, so that neither the database nor a
-- backup lets anybody try addresses against the hashes.
CREATE TABLE marketing_keys (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  sealed_key TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE suppressions (
  id TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  hash TEXT NOT NULL, -- HMAC-SHA-256 of the canonical address, hex; the address itself is nowhere
  kind TEXT NOT NULL CHECK (kind IN ('manual', 'unsubscribed', 'hard_bounce', 'complaint')),
  created_at INTEGER NOT NULL,
  UNIQUE (project_id, hash)
) STRICT;
CREATE INDEX suppressions_by_project ON suppressions (project_id, id);
CREATE TRIGGER suppressions_count_insert AFTER INSERT ON suppressions BEGIN
  INSERT INTO row_counts VALUES ('suppressions', NEW.project_id, '', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER suppressions_count_delete AFTER DELETE ON suppressions BEGIN
  UPDATE row_counts SET n = n - 1 WHERE list = 'suppressions' AND project_id = OLD.project_id AND facet = '';
END;

CREATE TABLE contact_lists (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  description TEXT,
  default_consent_basis TEXT,
  double_opt_in INTEGER NOT NULL DEFAULT 0,
  token_hosts TEXT NOT NULL DEFAULT '[]',
  confirmation_template TEXT,
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

-- One address on one list. No foreign keys: a project with a million contacts is deleted at once, and the rows that are
-- left without their list are swept in small steps.
CREATE TABLE contacts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL,
  list_id INTEGER NOT NULL,
  email TEXT NOT NULL, -- canonical: lower case, domain in ASCII
  first_name TEXT,
  last_name TEXT,
  custom TEXT NOT NULL DEFAULT '{}',
  status TEXT NOT NULL CHECK (status IN ('pending', 'active', 'unsubscribed', 'bounced', 'complained')),
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
  UNIQUE (list_id, email)
) STRICT;
CREATE INDEX contacts_by_list ON contacts (list_id, id);
CREATE INDEX contacts_by_status ON contacts (list_id, status, id);
CREATE INDEX contacts_by_address ON contacts (project_id, email);
CREATE INDEX contacts_by_first_name ON contacts (list_id, first_name COLLATE NOCASE) WHERE first_name IS NOT NULL;
CREATE INDEX contacts_by_last_name ON contacts (list_id, last_name COLLATE NOCASE) WHERE last_name IS NOT NULL;

-- The status stands here too, so that a page of a tag, of any status or of one, is one walk of an index.
CREATE TABLE contact_tags (
  contact_id INTEGER NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
  tag TEXT NOT NULL,
  list_id INTEGER NOT NULL,
  status TEXT NOT NULL,
  PRIMARY KEY (contact_id, tag)
) STRICT, WITHOUT ROWID;
CREATE INDEX contact_tags_by_tag ON contact_tags (list_id, tag, contact_id);
CREATE INDEX contact_tags_by_status ON contact_tags (list_id, tag, status, contact_id);

-- The counters of a list: by status, and by tag and status. They are as true as the rows, as they change with them.
CREATE TABLE contact_counts (
  list_id INTEGER NOT NULL REFERENCES contact_lists (id) ON DELETE CASCADE,
  tag TEXT NOT NULL, -- '' counts every contact
  status TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (list_id, tag, status)
) STRICT, WITHOUT ROWID;
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

-- A double opt-in that waits for its click. Only the hash of the link's token is kept.
CREATE TABLE contact_confirmations (
  token_hash TEXT PRIMARY KEY,
  contact_id INTEGER NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX contact_confirmations_by_contact ON contact_confirmations (contact_id);
CREATE INDEX contact_confirmations_by_end ON contact_confirmations (expires_at);

CREATE TABLE contact_imports (
  id TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  list_id INTEGER NOT NULL REFERENCES contact_lists (id) ON DELETE CASCADE,
  job_id TEXT,
  method TEXT NOT NULL CHECK (method IN ('paste', 'csv')),
  status TEXT NOT NULL CHECK (status IN ('pending', 'processing', 'completed', 'failed')),
  object_public_id TEXT,          -- the CSV file
  settings TEXT NOT NULL,         -- columns, keep_columns, defaults, update_existing, as they were asked for
  position TEXT NOT NULL,         -- where the next piece begins: changes with the counters, in one commit
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
  fields TEXT NOT NULL,
  PRIMARY KEY (import_id, row_number)
) STRICT, WITHOUT ROWID;
