-- Sending domains and mailboxes, templates, schedules, and the log of every email with its attempts.

CREATE TABLE sending_domains (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL UNIQUE,
  is_default INTEGER NOT NULL DEFAULT 0,
  is_active INTEGER NOT NULL DEFAULT 1,
  is_trusted INTEGER NOT NULL DEFAULT 0, -- the operator vouches for it: no look-up needed
  verified_at INTEGER,
  ownership_token TEXT NOT NULL,
  dkim_selector TEXT NOT NULL,
  dkim_public_key TEXT NOT NULL,
  sealed_dkim_private_key TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX sending_domains_one_default ON sending_domains (is_default) WHERE is_default = 1;

CREATE TABLE mailboxes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  domain_id INTEGER NOT NULL REFERENCES sending_domains (id) ON DELETE CASCADE,
  address TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('smtp', 'capture')),
  smtp_host TEXT,
  smtp_port INTEGER,
  smtp_security TEXT,
  smtp_username TEXT,
  sealed_smtp_password TEXT,
  return_path TEXT,
  daily_limit INTEGER,
  for_transactional INTEGER NOT NULL DEFAULT 1,
  for_marketing INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'paused')),
  failures INTEGER NOT NULL DEFAULT 0, -- connection failures in a row
  resting_until INTEGER,               -- after failures it is left alone until then
  last_error TEXT,
  last_failure_at INTEGER,
  last_success_at INTEGER,
  revision INTEGER NOT NULL DEFAULT 1, -- grows with every change of its settings: open connections of an old one are not reused
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX mailboxes_by_domain ON mailboxes (domain_id);

-- Messages accepted for each mailbox and for each API key, by UTC day: the daily limits survive a restart.
CREATE TABLE mailbox_usage (
  mailbox_id INTEGER NOT NULL REFERENCES mailboxes (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (day, mailbox_id)
) STRICT, WITHOUT ROWID;
CREATE TABLE key_usage (
  api_key_id INTEGER NOT NULL REFERENCES api_keys (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (api_key_id, day)
) STRICT, WITHOUT ROWID;

CREATE TABLE email_templates (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  slug TEXT NOT NULL,
  name TEXT NOT NULL,
  category TEXT NOT NULL,
  subject TEXT NOT NULL,
  body_html TEXT,
  body_text TEXT,
  description TEXT,
  variables TEXT NOT NULL DEFAULT '[]',
  is_active INTEGER NOT NULL DEFAULT 1,
  is_marketing INTEGER NOT NULL DEFAULT 0,
  layout TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  UNIQUE (project_id, slug)
) STRICT;

CREATE TABLE email_schedules (
  id TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  api_key_id INTEGER, -- the creating key; runs follow its is_test
  is_test INTEGER NOT NULL DEFAULT 0,
  name TEXT NOT NULL,
  recipients TEXT NOT NULL,
  cron_expression TEXT NOT NULL,
  timezone TEXT NOT NULL,
  template TEXT,
  variables TEXT NOT NULL DEFAULT '{}',
  subject TEXT,
  body_html TEXT,
  body_text TEXT,
  cc TEXT NOT NULL DEFAULT '[]',
  bcc TEXT NOT NULL DEFAULT '[]',
  reply_to TEXT,
  from_name TEXT,
  domain TEXT,
  description TEXT,
  missed_runs TEXT NOT NULL DEFAULT 'skip' CHECK (missed_runs IN ('skip', 'run_once')),
  is_active INTEGER NOT NULL DEFAULT 1,
  next_run_at INTEGER,
  last_run_at INTEGER,
  last_status TEXT,
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

-- The log: one row for each message, kept when its body is gone.
CREATE TABLE emails (
  id TEXT PRIMARY KEY,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  job_id TEXT,
  api_key_id INTEGER,
  source TEXT NOT NULL CHECK (source IN ('api', 'schedule', 'sequence', 'confirmation', 'test')),
  is_test INTEGER NOT NULL DEFAULT 0,
  status TEXT NOT NULL CHECK (status IN (
    'scheduled', 'queued', 'sending', 'sent', 'delivered', 'bounced', 'complained', 'suppressed', 'failed', 'canceled')),
  requested_domain TEXT,    -- null: the default, and any other with capacity
  mailbox_id INTEGER,       -- the one whose quota it uses; chosen anew when due
  quota_day TEXT,
  from_email TEXT NOT NULL,
  from_name TEXT,
  domain TEXT NOT NULL,
  to_email TEXT NOT NULL,
  to_name TEXT,
  cc TEXT NOT NULL DEFAULT '[]',
  bcc TEXT NOT NULL DEFAULT '[]',
  reply_to TEXT,
  subject TEXT NOT NULL,
  template TEXT,
  attachments TEXT NOT NULL DEFAULT '[]',
  headers TEXT NOT NULL DEFAULT '{}', -- extra headers, such as List-Unsubscribe
  message_id TEXT NOT NULL,
  taken TEXT NOT NULL DEFAULT '[]',    -- recipients a relay has taken; a retry leaves them out
  refused TEXT NOT NULL DEFAULT '[]',  -- recipients refused for good, with the relay's words
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
  failed_at INTEGER
) STRICT;
CREATE INDEX emails_by_project ON emails (project_id, id);
CREATE INDEX emails_by_status ON emails (project_id, status, id);
CREATE INDEX emails_by_recipient ON emails (project_id, to_email, id);
CREATE INDEX emails_by_template ON emails (project_id, template, id) WHERE template IS NOT NULL;
CREATE INDEX emails_failed ON emails (failed_at) WHERE status = 'failed';
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

-- What was accepted, rendered. Apart from the log, so that lists never read it and it can be dropped earlier.
CREATE TABLE email_bodies (
  email_id TEXT PRIMARY KEY REFERENCES emails (id) ON DELETE CASCADE,
  body_html TEXT,
  body_text TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE email_attempts (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email_id TEXT NOT NULL REFERENCES emails (id) ON DELETE CASCADE,
  attempt INTEGER NOT NULL,
  mailbox TEXT NOT NULL,
  choice TEXT NOT NULL, -- why this mailbox, and why not the others
  started_at INTEGER NOT NULL,
  finished_at INTEGER,  -- null: under way, or cut off by a crash
  outcome TEXT,         -- sent, captured, refused, deferred, unreachable, interrupted
  smtp_code INTEGER,
  smtp_response TEXT
) STRICT;
CREATE INDEX email_attempts_by_email ON email_attempts (email_id, id);

-- What capturing mailboxes and test keys hold instead of sending.
CREATE TABLE captured_messages (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email_id TEXT NOT NULL REFERENCES emails (id) ON DELETE CASCADE,
  mailbox TEXT NOT NULL,
  envelope TEXT NOT NULL, -- {from, to[]}
  raw BLOB NOT NULL,
  captured_at INTEGER NOT NULL
) STRICT;
CREATE INDEX captured_by_email ON captured_messages (email_id);
-- Blobs of attachments are pinned here at acceptance: a deleted object's bytes stay until its last mail is out.
CREATE TABLE attachment_pins (
  email_id TEXT NOT NULL REFERENCES emails (id) ON DELETE CASCADE,
  object_public_id TEXT NOT NULL,
  PRIMARY KEY (object_public_id, email_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX attachment_pins_by_email ON attachment_pins (email_id);
