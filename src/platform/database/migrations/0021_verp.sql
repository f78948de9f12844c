-- Return paths of one mail each.
ALTER TABLE mailboxes ADD COLUMN verp INTEGER CHECK (verp IN (0, 1)); -- null: where the mailbox has an inbox
ALTER TABLE mailboxes ADD COLUMN verp_refusal TEXT; -- the relay's words, until the mailbox is changed
