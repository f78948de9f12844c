-- How long the audit trail is, over all projects and what belongs to none.
INSERT INTO row_counts SELECT 'audit_all', 0, event, count(*) FROM audit_events GROUP BY event;
CREATE TRIGGER audit_count_all AFTER INSERT ON audit_events BEGIN
  INSERT INTO row_counts VALUES ('audit_all', 0, NEW.event, 1) ON CONFLICT DO UPDATE SET n = n + 1;
END;
