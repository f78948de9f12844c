/** SQL of bulk mail that waits: rows of the log with a time of their own instead of a job. */
import type { Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { IS_HELD_BY_RESTORE } from '../../platform/jobs/restore-hold.ts';
import { LAST_DATE_MS } from '../../platform/jobs/store.ts';
import { type EmailRow, emails } from './tables.ts';

// The builder can't say a walk from project to project, which costs a seek for each, however much mail waits.
const firstOfNext = rawSql<{ project_id: number; due_at: number }, [number, number]>(
  `SELECT project_id, due_at FROM emails INDEXED BY emails_bulk
   WHERE mailbox_id = ? AND project_id > ? AND due_at IS NOT NULL ORDER BY project_id, due_at LIMIT 1`,
);

/** The projects whose bulk mail waits for a mailbox, each with the time of its first, be it held. */
export function listProjects(read: Tx, mailbox_id: number): { project_id: number; due_at: number }[] {
  const found: { project_id: number; due_at: number }[] = [];
  for (let next = firstOfNext.get(read, mailbox_id, 0); next; ) {
    found.push(next);
    next = firstOfNext.get(read, mailbox_id, next.project_id);
  }
  return found;
}

// Written out here and below, where every mail of a newsletter passes.
const dueOf = rawSql<EmailRow, [number, number, number, number]>(
  `SELECT * FROM emails INDEXED BY emails_bulk
   WHERE mailbox_id = ? AND project_id = ? AND due_at <= ? ORDER BY due_at, id LIMIT ?`,
  emails,
);

/** What is due of a project's bulk mail, longest due first. */
export function listDue(
  read: Tx,
  of: { mailbox_id: number; project_id: number; now_ms: number; limit: number },
): EmailRow[] {
  return dueOf.all(read, of.mailbox_id, of.project_id, of.now_ms, of.limit);
}

const dueAfter = rawSql<
  Pick<EmailRow, 'id' | 'project_id' | 'source' | 'mailbox_id' | 'due_at' | 'queued_at'>,
  [number, number]
>(
  `SELECT id, project_id, source, mailbox_id, due_at, queued_at FROM emails INDEXED BY emails_bulk
   WHERE due_at > ? AND due_at < ?`,
);

/** Bulk mail that waits for a time after a moment, but for what is held. */
export function listDueAfter(
  read: Tx,
  after_ms: number,
): Pick<EmailRow, 'id' | 'project_id' | 'source' | 'mailbox_id' | 'due_at' | 'queued_at'>[] {
  return dueAfter.all(read, after_ms, LAST_DATE_MS);
}

const held = rawSql<{ id: string }, [number | null]>(
  `SELECT id FROM emails INDEXED BY emails_bulk
   WHERE due_at IS NOT NULL AND due_at ${IS_HELD_BY_RESTORE} AND (?1 IS NULL OR project_id = ?1)`,
);

/** The bulk mail that a restore holds, of one project or of all. */
export function listHeld(read: Tx, { project_id }: { project_id: number | null }): string[] {
  return held.all(read, project_id).map(({ id }) => id);
}

// Project by project, each found by a seek in the index that its mails are then found in.
const begunOf = rawSql<EmailRow, [number]>(
  `WITH RECURSIVE p (id) AS (SELECT min(project_id) FROM emails
     UNION ALL SELECT (SELECT min(project_id) FROM emails WHERE project_id > p.id) FROM p WHERE p.id IS NOT NULL)
   SELECT e.* FROM p CROSS JOIN emails e INDEXED BY emails_by_status ON e.project_id = p.id
   WHERE e.status = 'sending' AND e.job_id IS NULL AND e.mailbox_id = ?`,
  emails,
);

/** The bulk mail of a mailbox that was being sent when the server was killed. */
export function listBegun(read: Tx, mailbox_id: number): EmailRow[] {
  return begunOf.all(read, mailbox_id);
}
