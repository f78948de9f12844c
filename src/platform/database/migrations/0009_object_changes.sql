-- Objects whose visibility changes: each counter follows.

CREATE TRIGGER objects_count_visibility AFTER UPDATE OF visibility ON objects WHEN OLD.visibility <> NEW.visibility BEGIN
  UPDATE row_counts SET n = n - 1
    WHERE list = 'objects' AND project_id = OLD.project_id AND facet = OLD.visibility;
  INSERT INTO row_counts VALUES ('objects', NEW.project_id, NEW.visibility, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
