-- Sequences: who writes them, what they send, and the product events that they wait for.

CREATE TABLE sequences (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  list_id INTEGER NOT NULL REFERENCES contact_lists (id) ON DELETE CASCADE,
  name TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('draft', 'active', 'paused', 'finished')),
  pause_reason TEXT CHECK (pause_reason IN ('manual', 'bounce_threshold')),
  max_recipients INTEGER NOT NULL,
  exit_events TEXT NOT NULL DEFAULT '[]',
  enroll_tags TEXT NOT NULL DEFAULT '[]',
  auto_enroll_new_contacts INTEGER NOT NULL DEFAULT 0,
  track_opens INTEGER NOT NULL DEFAULT 0,
  steps TEXT NOT NULL DEFAULT '[]', -- in the order in which they were given
  job_id TEXT,                      -- the job that moves its enrollments while it is active
  bounces_since INTEGER,            -- sends from then on count towards the bounce threshold
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;
CREATE INDEX sequences_by_project ON sequences (project_id, id);
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
  meta TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (contact_id, event)
) STRICT, WITHOUT ROWID;

-- A contact's way through a sequence.
CREATE TABLE enrollments (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  sequence_id INTEGER NOT NULL REFERENCES sequences (id) ON DELETE CASCADE,
  contact_id INTEGER NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
  state TEXT NOT NULL CHECK (state IN ('active', 'completed', 'exited', 'failed')),
  exit_reason TEXT CHECK (exit_reason IN ('event', 'condition', 'unsubscribed', 'suppressed', 'bounced', 'complained',
    'sequence_finished', 'manual')),
  error TEXT,
  track TEXT NOT NULL,
  step TEXT NOT NULL,           -- the key of the step that comes next, or came last
  counts_from INTEGER NOT NULL, -- what the delay of that step counts from
  next_at INTEGER,              -- null once it has ended
  last_email_id TEXT,
  enrolled_at INTEGER NOT NULL,
  ended_at INTEGER,
  UNIQUE (sequence_id, contact_id)
) STRICT;
-- What the engine walks: one seek finds what is due next, however many wait.
CREATE INDEX enrollments_due ON enrollments (sequence_id, next_at, id) WHERE state = 'active';
CREATE INDEX enrollments_by_contact ON enrollments (contact_id) ;
CREATE INDEX enrollments_by_sequence ON enrollments (sequence_id, id);
CREATE INDEX enrollments_by_state ON enrollments (sequence_id, state, id);
CREATE INDEX enrollments_by_track ON enrollments (sequence_id, track, id);
CREATE INDEX enrollments_by_track_state ON enrollments (sequence_id, track, state, id);

-- What a step sent to whom.
CREATE TABLE sequence_mails (
  email_id TEXT PRIMARY KEY REFERENCES emails (id) ON DELETE CASCADE,
  sequence_id INTEGER NOT NULL,
  enrollment_id INTEGER NOT NULL,
  step TEXT NOT NULL,
  sent_at INTEGER,
  clicked_at INTEGER,
  opened_at INTEGER,
  bounced_at INTEGER,
  unsubscribed_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX sequence_mails_by_enrollment ON sequence_mails (enrollment_id, email_id);
CREATE INDEX sequence_mails_sent ON sequence_mails (sequence_id, sent_at) WHERE sent_at IS NOT NULL;

-- The numbers of a sequence and of each step, as true as the rows, as they change with them.
CREATE TABLE sequence_counts (
  sequence_id INTEGER NOT NULL REFERENCES sequences (id) ON DELETE CASCADE,
  step TEXT NOT NULL,   -- '' counts enrollments of the whole sequence
  track TEXT NOT NULL,  -- of enrollments, for lists by track
  what TEXT NOT NULL,   -- a state of enrollments, or sent, clicked, opened, bounced, unsubscribed of mails
  n INTEGER NOT NULL,
  PRIMARY KEY (sequence_id, step, track, what)
) STRICT, WITHOUT ROWID;
CREATE TRIGGER enrollments_count_insert AFTER INSERT ON enrollments BEGIN
  INSERT INTO sequence_counts VALUES (NEW.sequence_id, '', NEW.track, NEW.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
  INSERT INTO sequence_counts VALUES (NEW.sequence_id, NEW.step, '', NEW.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER enrollments_count_update AFTER UPDATE OF state, track, step ON enrollments BEGIN
  UPDATE sequence_counts SET n = n - 1
    WHERE sequence_id = OLD.sequence_id AND step = '' AND track = OLD.track AND what = OLD.state;
  UPDATE sequence_counts SET n = n - 1
    WHERE sequence_id = OLD.sequence_id AND step = OLD.step AND track = '' AND what = OLD.state;
  INSERT INTO sequence_counts VALUES (NEW.sequence_id, '', NEW.track, NEW.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
  INSERT INTO sequence_counts VALUES (NEW.sequence_id, NEW.step, '', NEW.state, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER enrollments_count_delete AFTER DELETE ON enrollments BEGIN
  UPDATE sequence_counts SET n = n - 1
    WHERE sequence_id = OLD.sequence_id AND step = '' AND track = OLD.track AND what = OLD.state;
  UPDATE sequence_counts SET n = n - 1
    WHERE sequence_id = OLD.sequence_id AND step = OLD.step AND track = '' AND what = OLD.state;
END;
CREATE TRIGGER sequence_mails_count AFTER UPDATE ON sequence_mails BEGIN
  INSERT INTO sequence_counts SELECT NEW.sequence_id, NEW.step, '', column1, column2 FROM (VALUES
      ('sent', (NEW.sent_at IS NOT NULL) - (OLD.sent_at IS NOT NULL)),
      ('clicked', (NEW.clicked_at IS NOT NULL) - (OLD.clicked_at IS NOT NULL)),
      ('opened', (NEW.opened_at IS NOT NULL) - (OLD.opened_at IS NOT NULL)),
      ('bounced', (NEW.bounced_at IS NOT NULL) - (OLD.bounced_at IS NOT NULL)),
      ('unsubscribed', (NEW.unsubscribed_at IS NOT NULL) - (OLD.unsubscribed_at IS NOT NULL)))
    WHERE column2 <> 0
    ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;

-- Marketing mails of a project by UTC day, for its daily cap.
CREATE TABLE marketing_usage (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  day TEXT NOT NULL,
  n INTEGER NOT NULL,
  PRIMARY KEY (project_id, day)
) STRICT, WITHOUT ROWID;
