-- What the overview shows without counting: bytes of files, and what became of mails hour by hour.

INSERT INTO row_counts SELECT 'object_bytes', project_id, '', sum(size_bytes) FROM objects GROUP BY project_id;
CREATE TRIGGER objects_bytes_insert AFTER INSERT ON objects BEGIN
  INSERT INTO row_counts VALUES ('object_bytes', NEW.project_id, '', NEW.size_bytes)
    ON CONFLICT DO UPDATE SET n = n + excluded.n;
END;
CREATE TRIGGER objects_bytes_delete AFTER DELETE ON objects BEGIN
  UPDATE row_counts SET n = n - OLD.size_bytes
    WHERE list = 'object_bytes' AND project_id = OLD.project_id AND facet = '';
END;

CREATE TABLE email_hours (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  hour INTEGER NOT NULL, -- hours since 1970
  what TEXT NOT NULL CHECK (what IN ('sent', 'bounced', 'complained', 'failed')),
  n INTEGER NOT NULL,
  PRIMARY KEY (project_id, hour, what)
) STRICT, WITHOUT ROWID;
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
