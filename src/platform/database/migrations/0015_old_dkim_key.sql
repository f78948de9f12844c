-- Mail that was signed with the key before comes back for some days after it was changed.
ALTER TABLE sending_domains ADD COLUMN old_dkim_public_key TEXT;
