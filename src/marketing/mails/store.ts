/** SQL of the sources of marketing mail and of where their links lead. */
import type { Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';

const idOfHash = rawSql<{ id: number }, [number, string]>(
  'SELECT id FROM merge_sources WHERE project_id = ? AND hash = ?',
);

export function findSourceId(read: Tx, project_id: number, hash: string): number | null {
  return idOfHash.get(read, project_id, hash)?.id ?? null;
}

const hashOfId = rawSql<{ hash: string }, [number, number]>(
  'SELECT hash FROM merge_sources WHERE id = ? AND project_id = ?',
);

export function findSourceHash(read: Tx, project_id: number, id: number): string | null {
  return hashOfId.get(read, id, project_id)?.hash ?? null;
}

const contentOf = rawSql<{ content: string }, [number, number]>(
  'SELECT content FROM merge_sources WHERE id = ? AND project_id = ?',
);

export function findSource(read: Tx, project_id: number, id: number): string | null {
  return contentOf.get(read, id, project_id)?.content ?? null;
}

const insertRow = rawSql<{ id: number }, [number, string, number, string]>(
  'INSERT INTO merge_sources (project_id, hash, created_at, content) VALUES (?, ?, ?, ?) RETURNING id',
);
const insertLink = rawSql<never, [number, number, string, string | null]>(
  'INSERT INTO merge_links (source_id, position, target, token_hosts) VALUES (?, ?, ?, ?)',
);

/** Stores a source with the targets of its links, from position 1 on; returns its id. */
export function insertSource(
  tx: Tx,
  source: { project_id: number; hash: string; created_at: number; content: string },
  links: readonly { target: string; token_hosts: string | null }[],
): number {
  const { project_id, hash, created_at, content } = source;
  const id = insertRow.get(tx, project_id, hash, created_at, content)?.id ?? 0;
  links.forEach(({ target, token_hosts }, index) => {
    insertLink.run(tx, id, index + 1, target, token_hosts);
  });
  return id;
}

/** A link as it is followed; the columns of the mail are null once its row is gone. */
export interface FollowedRow {
  project_id: number;
  target: string;
  token_hosts: string | null;
  email_source: string | null;
  to_email: string | null;
  merge: string | null;
}

const followed = rawSql<FollowedRow, [string, number, number]>(`
    SELECT s.project_id, l.target, l.token_hosts, e.source AS email_source, e.to_email, e.merge
    FROM merge_links l JOIN merge_sources s ON s.id = l.source_id LEFT JOIN emails e ON e.id = +?
    WHERE l.source_id = +? AND l.position = +?`);

export function findFollowed(
  read: Tx,
  link: { email_id: string; source_id: number; position: number },
): FollowedRow | null {
  return followed.get(read, link.email_id, link.source_id, link.position);
}

/** What stands behind a mail's own token: whose it is, and the source of the mail, null once its row is gone. */
const shown = rawSql<{ project_id: number; email_source: string | null }, [string, number]>(`
    SELECT s.project_id, e.source AS email_source
    FROM merge_sources s LEFT JOIN emails e ON e.id = +? WHERE s.id = +?`);

export function findShown(
  read: Tx,
  picture: { email_id: string; source_id: number },
): { project_id: number; email_source: string | null } | null {
  return shown.get(read, picture.email_id, picture.source_id);
}
