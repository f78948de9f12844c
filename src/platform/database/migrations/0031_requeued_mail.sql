-- A mail of a sequence that failed and is queued again waits for its relay like any other: a pause holds it, and whoever
-- leaves does not get it.

CREATE TRIGGER sequence_mails_again AFTER UPDATE OF status ON emails
WHEN NEW.source = 'sequence' AND NEW.status = 'queued' AND OLD.status NOT IN ('queued', 'sending') BEGIN
  UPDATE sequence_mails SET is_waiting = 1 WHERE email_id = NEW.id;
END;
