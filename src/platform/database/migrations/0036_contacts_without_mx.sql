-- Contacts that were taken while all mailboxes of their project's marketing captured: whether their domain takes mail was not
-- asked, and is before the first mail that a relay gets for them.

ALTER TABLE contacts ADD COLUMN is_mx_unasked INTEGER NOT NULL DEFAULT 0;
CREATE INDEX contacts_mx_unasked ON contacts (project_id, email) WHERE is_mx_unasked = 1;
