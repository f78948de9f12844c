-- The log is searched for a recipient without regard to case, as people write addresses.
DROP INDEX emails_by_recipient;
CREATE INDEX emails_by_recipient ON emails (project_id, to_email COLLATE NOCASE, id);
