-- Messages of an inbox that could not be fetched or read, and that its reader passed over.

ALTER TABLE inboxes ADD COLUMN skipped INTEGER NOT NULL DEFAULT 0; -- how many, of the folder as its UIDs are now
ALTER TABLE inboxes ADD COLUMN last_skipped TEXT NOT NULL DEFAULT '[]'; -- the last of them: [{"uid": 7, "at": 1700000000000}]
