-- Whoever calls for a project, by key, token or in person, may send an Idempotency-Key; links that open one file; names of
-- files to search.

CREATE TABLE kept_answers (
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  caller TEXT NOT NULL, -- 'key:12', 'token:3'
  idempotency_key TEXT NOT NULL,
  request_hash TEXT NOT NULL,
  status INTEGER NOT NULL,
  body TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, caller, idempotency_key)
) STRICT, WITHOUT ROWID;
INSERT INTO kept_answers
  SELECT project_id, 'key:' || api_key_id, idempotency_key, request_hash, status, body, idempotent_answers.created_at
  FROM idempotent_answers JOIN api_keys ON api_keys.id = api_key_id;
DROP TABLE idempotent_answers;
ALTER TABLE kept_answers RENAME TO idempotent_answers;
CREATE INDEX idempotent_answers_by_age ON idempotent_answers (created_at);

-- What the links of a project's files are signed with; sealed. A row that goes takes every link with it.
CREATE TABLE object_link_keys (
  project_id INTEGER PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
  sealed_key TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;

-- A search walks names, newest first, without a look into the table.
CREATE INDEX objects_searched ON objects (project_id, id, original_filename, visibility, expires_at);
