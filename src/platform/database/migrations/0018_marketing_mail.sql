-- What marketing mail is rendered from, where its links lead, and who followed them.

-- Template, layout and the values of the sequence put together, once for all mails that share them. What is a row here
-- never changes: a mail that names it is shown again as it was.
CREATE TABLE merge_sources (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  project_id INTEGER NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  hash TEXT NOT NULL, -- SHA-256 of the content
  created_at INTEGER NOT NULL,
  content TEXT NOT NULL, -- the last column: a redirect reads those before it and none of its pages
  UNIQUE (project_id, hash)
) STRICT;

-- Where the links of a source lead: the only places that a redirect knows.
CREATE TABLE merge_links (
  source_id INTEGER NOT NULL REFERENCES merge_sources (id) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  target TEXT NOT NULL,  -- text and names of merge fields, as JSON
  token_hosts TEXT,      -- hosts that get the contact_token, as JSON; null where the link leads to none
  PRIMARY KEY (source_id, position)
) STRICT, WITHOUT ROWID;

-- A click waits until it is known whether it was one of a scanner's burst; only then may it count.
CREATE TABLE email_clicks (
  id INTEGER PRIMARY KEY,
  email_id TEXT NOT NULL REFERENCES emails (id) ON DELETE CASCADE,
  position INTEGER NOT NULL, -- of the link
  at INTEGER NOT NULL,
  flag TEXT CHECK (flag IN ('head', 'robot', 'burst')), -- why it drives nothing; null: a person's
  is_settled INTEGER NOT NULL,
  user_agent TEXT
) STRICT;
CREATE INDEX email_clicks_by_email ON email_clicks (email_id, at);
CREATE INDEX email_clicks_unsettled ON email_clicks (at) WHERE is_settled = 0;
