-- Failed sign-ins are one row for an account and window, whose count grows; wrong codes slow the second step; and a token
-- knows who made it, and the person whom it came from.

DROP TRIGGER audit_is_append_only;
CREATE TRIGGER audit_is_append_only BEFORE UPDATE ON audit_events
  WHEN OLD.event <> 'person.sign_in_failed' OR NEW.id <> OLD.id OR NEW.at <> OLD.at OR NEW.event <> OLD.event
    OR NEW.actor_kind <> OLD.actor_kind OR NEW.actor_id IS NOT OLD.actor_id OR NEW.actor_name <> OLD.actor_name
    OR NEW.ip IS NOT OLD.ip OR NEW.target IS NOT OLD.target
    OR NEW.project_id IS NOT OLD.project_id OR NEW.project_public_id IS NOT OLD.project_public_id
    OR NEW.metadata ->> 'count' <= OLD.metadata ->> 'count'
BEGIN
  SELECT RAISE(ABORT, 'the audit trail is append-only');
END;

ALTER TABLE people ADD COLUMN wrong_codes INTEGER NOT NULL DEFAULT 0; -- of the second step, since the last right one
ALTER TABLE people ADD COLUMN wrong_code_at INTEGER;                  -- the last of them

ALTER TABLE access_tokens ADD COLUMN created_by_kind TEXT;
ALTER TABLE access_tokens ADD COLUMN created_by_id TEXT;
ALTER TABLE access_tokens ADD COLUMN created_by_name TEXT;
ALTER TABLE access_tokens ADD COLUMN person_id INTEGER; -- also where a token of theirs made it; the person may be gone
UPDATE access_tokens SET (created_by_kind, created_by_id, created_by_name) = (
  SELECT actor_kind, actor_id, actor_name FROM audit_events
    WHERE event = 'token.created' AND target = 'token:' || access_tokens.id ORDER BY audit_events.id LIMIT 1);
WITH RECURSIVE of_people (id, person_id) AS (
  SELECT id, CAST(created_by_id AS INTEGER) FROM access_tokens WHERE created_by_kind = 'person'
  UNION
  SELECT made.id, of_people.person_id FROM of_people
    JOIN access_tokens made ON made.created_by_kind = 'token' AND made.created_by_id = CAST(of_people.id AS TEXT)
) UPDATE access_tokens SET person_id = (SELECT person_id FROM of_people WHERE of_people.id = access_tokens.id);
CREATE INDEX access_tokens_by_person ON access_tokens (person_id) WHERE person_id IS NOT NULL;
