-- Stored objects. The bytes are files named by public_id.

CREATE TABLE objects (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  public_id TEXT NOT NULL UNIQUE,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  original_filename TEXT NOT NULL,
  mime_type TEXT NOT NULL,
  size_bytes INTEGER NOT NULL,
  sha256 TEXT NOT NULL, -- hex
  visibility TEXT NOT NULL CHECK (visibility IN ('public', 'private')),
  expires_at INTEGER,
  created_at INTEGER NOT NULL
) STRICT;
CREATE INDEX objects_by_project ON objects (project_id, id);
CREATE INDEX objects_by_visibility ON objects (project_id, visibility, id);
CREATE INDEX objects_expiring ON objects (expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX objects_expiring_by_project ON objects (project_id, visibility, expires_at) WHERE expires_at IS NOT NULL;

CREATE TRIGGER objects_count_insert AFTER INSERT ON objects BEGIN
  INSERT INTO row_counts VALUES ('objects', NEW.project_id, NEW.visibility, 1)
    ON CONFLICT DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER objects_count_delete AFTER DELETE ON objects BEGIN
  UPDATE row_counts SET n = n - 1
    WHERE list = 'objects' AND project_id = OLD.project_id AND facet = OLD.visibility;
END;
