-- An enrollment waits for the end of its mail before its next delay begins, and what a test key made stands apart.

-- What became of a mail: `sent_at` where a relay took it, `ended_at` when that or the end of its attempts was; null while it
-- waits, and for one that was taken back.
ALTER TABLE sequence_mails ADD COLUMN is_test INTEGER NOT NULL DEFAULT 0;
UPDATE sequence_mails SET ended_at = (SELECT coalesce(sent_at, bounced_at, failed_at) FROM emails WHERE id = email_id)
WHERE is_waiting = 0 AND ended_at IS NULL;
-- A relay that refused the recipient did not take the mail.
UPDATE sequence_mails SET sent_at = NULL
WHERE sent_at IS NOT NULL AND (SELECT sent_at FROM emails WHERE id = email_id) IS NULL;
DROP INDEX sequence_mails_sent;

-- Every mail that was made is one of sent, waiting and lost.
INSERT INTO sequence_counts
  SELECT sequence_id, step, '', iif(is_waiting, 'waiting', 'lost'), count(*) FROM sequence_mails
  WHERE sent_at IS NULL AND sequence_id IN (SELECT id FROM sequences) GROUP BY 1, 2, 4;
DROP TRIGGER sequence_mails_count;
CREATE TRIGGER sequence_mails_count_insert AFTER INSERT ON sequence_mails WHEN NEW.is_test = 0 BEGIN
  INSERT INTO sequence_counts VALUES (NEW.sequence_id, NEW.step, '', 'waiting', 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER sequence_mails_count
AFTER UPDATE OF sent_at, is_waiting, clicked_at, opened_at, bounced_at, complained_at, unsubscribed_at ON sequence_mails
WHEN NEW.is_test = 0 BEGIN
  INSERT INTO sequence_counts SELECT NEW.sequence_id, NEW.step, '', column1, column2 FROM (VALUES
      ('sent', (NEW.sent_at IS NOT NULL) - (OLD.sent_at IS NOT NULL)),
      ('waiting', (NEW.sent_at IS NULL AND NEW.is_waiting) - (OLD.sent_at IS NULL AND OLD.is_waiting)),
      ('lost', (NEW.sent_at IS NULL AND NOT NEW.is_waiting) - (OLD.sent_at IS NULL AND NOT OLD.is_waiting)),
      ('clicked', (NEW.clicked_at IS NOT NULL) - (OLD.clicked_at IS NOT NULL)),
      ('opened', (NEW.opened_at IS NOT NULL) - (OLD.opened_at IS NOT NULL)),
      ('bounced', (NEW.bounced_at IS NOT NULL) - (OLD.bounced_at IS NOT NULL)),
      ('complained', (NEW.complained_at IS NOT NULL) - (OLD.complained_at IS NOT NULL)),
      ('unsubscribed', (NEW.unsubscribed_at IS NOT NULL) - (OLD.unsubscribed_at IS NOT NULL)))
    WHERE column2 <> 0
    ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
INSERT INTO sequence_counts
  SELECT sequence_id, step, '', 'complained', count(*) FROM sequence_mails
  WHERE complained_at IS NOT NULL AND sequence_id IN (SELECT id FROM sequences) GROUP BY 1, 2;
DROP TRIGGER sequence_mails_gone;
CREATE TRIGGER sequence_mails_gone AFTER UPDATE OF status ON emails
WHEN NEW.source = 'sequence' AND NEW.status NOT IN ('queued', 'sending') BEGIN
  UPDATE sequence_mails SET is_waiting = 0, sent_at = coalesce(sent_at, NEW.sent_at),
    ended_at = coalesce(NEW.sent_at, NEW.bounced_at, NEW.failed_at)
  WHERE email_id = NEW.id AND is_waiting = 1;
END;
DROP TRIGGER sequence_mails_again;
CREATE TRIGGER sequence_mails_again AFTER UPDATE OF status ON emails
WHEN NEW.source = 'sequence' AND NEW.status = 'queued' AND OLD.status NOT IN ('queued', 'sending') BEGIN
  UPDATE sequence_mails SET is_waiting = 1, ended_at = NULL, refused_at = NULL WHERE email_id = NEW.id;
END;

-- Rebuilt for its rule: a contact is in a sequence once, and once more as a test.
CREATE TABLE enrollments_new (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  sequence_id INTEGER NOT NULL REFERENCES sequences (id) ON DELETE CASCADE,
  contact_id INTEGER NOT NULL REFERENCES contacts (id) ON DELETE CASCADE,
  is_test INTEGER NOT NULL DEFAULT 0, -- made by a test key: its mail is captured, and it stands in no counter
  state TEXT NOT NULL CHECK (state IN ('active', 'completed', 'exited', 'failed')),
  exit_reason TEXT CHECK (exit_reason IN ('event', 'condition', 'unsubscribed', 'suppressed', 'bounced', 'complained',
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
INSERT INTO enrollments_new (id, public_id, sequence_id, contact_id, state, exit_reason, error, track, step, counts_from,
    next_at, last_email_id, enrolled_at, ended_at)
  SELECT id, public_id, sequence_id, contact_id, state, exit_reason, error, track, step, counts_from, next_at,
    last_email_id, enrolled_at, ended_at
  FROM enrollments;
-- No id is given twice: mails name them.
DELETE FROM sqlite_sequence WHERE name = 'enrollments_new';
INSERT INTO sqlite_sequence (name, seq) SELECT 'enrollments_new', seq FROM sqlite_sequence WHERE name = 'enrollments';
DROP TABLE enrollments;
ALTER TABLE enrollments_new RENAME TO enrollments;
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
-- Whose mail waits for its relay now: they go on when it ends. One behind its last step is complete only then.
UPDATE enrollments SET waits_for = last_email_id, next_at = NULL, state = 'active', ended_at = NULL
WHERE last_email_id IN (SELECT email_id FROM sequence_mails WHERE is_waiting = 1)
  AND (state = 'active' OR state = 'completed')
  AND sequence_id IN (SELECT id FROM sequences WHERE status IN ('active', 'paused'));

-- Of an event that is known to the second alone: it may have been at any moment of that.
ALTER TABLE contact_events ADD COLUMN is_whole_second INTEGER NOT NULL DEFAULT 0;

-- An attempt that was cut off, or lost its relay after the message, may have delivered it.
ALTER TABLE email_attempts ADD COLUMN may_be_sent INTEGER NOT NULL DEFAULT 0;
UPDATE email_attempts SET may_be_sent = 1
WHERE outcome = 'interrupted' AND email_id IN (SELECT email_id FROM sequence_mails WHERE is_waiting = 1);

-- A job that waits for its first attempt, or goes on later, has not started.
UPDATE jobs SET started_at = NULL WHERE status = 'pending' AND attempts = 0;
