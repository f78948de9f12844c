-- Which mails of a sequence wait for their relay: few, however many it sent.

ALTER TABLE sequence_mails ADD COLUMN is_waiting INTEGER NOT NULL DEFAULT 1;
UPDATE sequence_mails SET is_waiting = 0
WHERE email_id IN (SELECT id FROM emails WHERE status NOT IN ('queued', 'sending'));
CREATE INDEX sequence_mails_waiting ON sequence_mails (sequence_id) WHERE is_waiting = 1;
CREATE TRIGGER sequence_mails_gone AFTER UPDATE OF status ON emails
WHEN NEW.source = 'sequence' AND NEW.status NOT IN ('queued', 'sending') BEGIN
  UPDATE sequence_mails SET is_waiting = 0 WHERE email_id = NEW.id AND is_waiting = 1;
END;
-- As before, but not for a change of `is_waiting`, which counts nowhere.
DROP TRIGGER sequence_mails_count;
CREATE TRIGGER sequence_mails_count
AFTER UPDATE OF sent_at, clicked_at, opened_at, bounced_at, unsubscribed_at ON sequence_mails BEGIN
  INSERT INTO sequence_counts SELECT NEW.sequence_id, NEW.step, '', column1, column2 FROM (VALUES
      ('sent', (NEW.sent_at IS NOT NULL) - (OLD.sent_at IS NOT NULL)),
      ('clicked', (NEW.clicked_at IS NOT NULL) - (OLD.clicked_at IS NOT NULL)),
      ('opened', (NEW.opened_at IS NOT NULL) - (OLD.opened_at IS NOT NULL)),
      ('bounced', (NEW.bounced_at IS NOT NULL) - (OLD.bounced_at IS NOT NULL)),
      ('unsubscribed', (NEW.unsubscribed_at IS NOT NULL) - (OLD.unsubscribed_at IS NOT NULL)))
    WHERE column2 <> 0
    ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
