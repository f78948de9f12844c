-- Files are found by the beginning of their name, ASCII case ignored.
CREATE INDEX objects_by_name ON objects (project_id, original_filename COLLATE NOCASE, id);
