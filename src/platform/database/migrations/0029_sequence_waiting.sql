-- Which mails of a sequence wait for their relay: few, however many it sent.

ALTER TABLE sequence_mails ADD COLUMN is_waiting INTEGER NOT NULL DEFAULT 1;
UPDATE sequence_mails SET is_waiting = 0
WHERE email_id IN (SELECT id FROM emails WHERE status NOT IN ('queued', 'sending'));
CREATE INDEX sequence_mails_waiting ON sequence_mails (sequence_id) WHERE is_waiting = 1;
CREATE TRIGGER sequence_mails_gone AFTER UPDATE OF status ON emails
WHEN NEW.source = 'sequence' AND NEW.status NOT IN ('queued', 'sending') BEGIN
  UPDATE sequence_mails SET is_waiting = 0 WHERE email_id = NEW.id AND is_waiting = 1;
END;
