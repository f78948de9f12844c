/** The queues of bulk mail, one for each mailbox: rows of the log with a time of their own instead of a job. */
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet } from '../../platform/database/raw-sql.ts';
import type { JobRow } from '../../platform/database/tables.ts';
import { isPlainObject } from '../../platform/http/schema.ts';
import { IS_HELD_BY_RESTORE } from '../../platform/jobs/restore-hold.ts';
import { LAST_DATE_MS } from '../../platform/jobs/store.ts';
import { type EmailRow, emails } from './tables.ts';

/** Of the jobs that send them. */
export const type = 'email.bulk';

/** The mailbox whose queue a job sends. */
export function mailboxOf({ payload }: JobRow): number {
  return isPlainObject(payload) ? Number(payload.mailbox_id) : 0;
}

// The builder can't say a walk from project to project, which costs a seek for each, however much mail waits.
const firstOfNext = rawGet<{ project_id: number; due_at: number }, [mailbox_id: number, project_id: number]>(
  `SELECT project_id, due_at FROM emails INDEXED BY emails_bulk
   WHERE mailbox_id = ? AND project_id > ? AND due_at IS NOT NULL ORDER BY project_id, due_at LIMIT 1`,
);

/** The projects whose bulk mail waits for a mailbox, each with the time of its first, be it held. */
export function listProjects(read: Tx, mailbox_id: number): { project_id: number; due_at: number }[] {
  const found: { project_id: number; due_at: number }[] = [];
  for (let next = firstOfNext(read, mailbox_id, 0); next; ) {
    found.push(next);
    next = firstOfNext(read, mailbox_id, next.project_id);
  }
  return found;
}

/** A project's bulk mail that is due, longest due first. */
export const listDue = rawAll<
  EmailRow,
  [mailbox_id: number, project_id: number, now_ms: number, limit: number]
>(
  `SELECT * FROM emails INDEXED BY emails_bulk
   WHERE mailbox_id = ? AND project_id = ? AND due_at <= ? ORDER BY due_at, id LIMIT ?`,
  emails,
);

/** Bulk mail that waits for a time after a moment, but for what is held. */
export const listDueAfter = rawAll<
  Pick<EmailRow, 'id' | 'project_id' | 'source' | 'mailbox_id' | 'due_at' | 'queued_at'>,
  [after_ms: number]
>(
  `SELECT id, project_id, source, mailbox_id, due_at, queued_at FROM emails INDEXED BY emails_bulk
   WHERE due_at > ? AND due_at < ${LAST_DATE_MS}`,
);

const held = rawAll<{ id: string }, [project_id: number | null]>(
  `SELECT id FROM emails INDEXED BY emails_bulk
   WHERE due_at IS NOT NULL AND due_at ${IS_HELD_BY_RESTORE} AND (?1 IS NULL OR project_id = ?1)`,
);

/** The bulk mail that a restore holds, of one project or of all. */
export function listHeld(read: Tx, { project_id }: { project_id: number | null }): string[] {
  return held(read, project_id).map(({ id }) => id);
}

/** The bulk mail of a mailbox that was being sent when the server was killed: project by project, by an index. */
export const listBegun = rawAll<EmailRow, [mailbox_id: number]>(
  `WITH RECURSIVE p (id) AS (SELECT min(project_id) FROM emails
     UNION ALL SELECT (SELECT min(project_id) FROM emails WHERE project_id > p.id) FROM p WHERE p.id IS NOT NULL)
   SELECT e.* FROM p CROSS JOIN emails e INDEXED BY emails_by_status ON e.project_id = p.id
   WHERE e.status = 'sending' AND e.job_id IS NULL AND e.mailbox_id = ?`,
  emails,
);
