-- A second DKIM key that waits until its record is seen, the one before, and refusals that are a mailbox's own problem.

ALTER TABLE sending_domains ADD COLUMN next_dkim_selector TEXT;
ALTER TABLE sending_domains ADD COLUMN next_dkim_public_key TEXT;
ALTER TABLE sending_domains ADD COLUMN next_sealed_dkim_private_key TEXT;
ALTER TABLE sending_domains ADD COLUMN old_dkim_selector TEXT;
ALTER TABLE sending_domains ADD COLUMN dkim_rotated_at INTEGER;

ALTER TABLE mailboxes ADD COLUMN refusal TEXT;       -- the relay's words for what it holds against the mailbox
ALTER TABLE mailboxes ADD COLUMN refused_at INTEGER; -- null again with the next mail that it takes
