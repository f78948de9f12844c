-- Refusals that speak of us and not of people: reports of them, sequences that pause for them, and what lifting undoes.

-- As before, with the kind `refused`.
CREATE TABLE email_reports_new (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  email_id TEXT NOT NULL REFERENCES emails (id) ON DELETE CASCADE,
  kind TEXT NOT NULL CHECK (kind IN ('delivered', 'bounced', 'soft_bounced', 'refused', 'complained')),
  address TEXT NOT NULL COLLATE NOCASE, -- the recipient whom it concerns
  smtp_code INTEGER,
  words TEXT NOT NULL,
  reported_at INTEGER NOT NULL,
  UNIQUE (email_id, kind, address)
) STRICT;
INSERT INTO email_reports_new SELECT id, email_id, kind, address, smtp_code, words, reported_at FROM email_reports;
DROP TABLE email_reports;
ALTER TABLE email_reports_new RENAME TO email_reports;
CREATE INDEX email_reports_of_address ON email_reports (address, id);
-- For a look at the last day's, however many others there are.
CREATE INDEX email_reports_refused ON email_reports (reported_at) WHERE kind = 'refused';

-- A column that is checked is made anew beside the old one: the table itself cannot be, as enrollments go with their sequence.
ALTER TABLE sequences ADD COLUMN pause_reason_new TEXT
  CHECK (pause_reason_new IN ('manual', 'bounce_threshold', 'relay_refuses'));
UPDATE sequences SET pause_reason_new = pause_reason;
ALTER TABLE sequences DROP COLUMN pause_reason;
ALTER TABLE sequences RENAME COLUMN pause_reason_new TO pause_reason;

-- When a mail of a sequence ended, for what the last of them ended by. Mails from before count as none.
ALTER TABLE sequence_mails ADD COLUMN ended_at INTEGER;
ALTER TABLE sequence_mails ADD COLUMN refused_at INTEGER; -- by a relay, for what it holds against us; at SMTP time or in a report
CREATE INDEX sequence_mails_ended ON sequence_mails (sequence_id, ended_at) WHERE ended_at IS NOT NULL;

-- What a lifted hard bounce gives back. Whoever had not confirmed a sign-up yet stays one who has not.
ALTER TABLE contacts ADD COLUMN status_before_bounce TEXT CHECK (status_before_bounce IN ('pending', 'active'));
UPDATE contacts SET status_before_bounce = 'pending'
WHERE status = 'bounced' AND source_platform = 'form' AND confirmed_at IS NULL
  AND list_id IN (SELECT id FROM contact_lists WHERE double_opt_in = 1);
-- The mailbox whose mail came back, of a hard bounce; null where it is not known.
ALTER TABLE suppressions ADD COLUMN mailbox TEXT;
