/**
 * What a restore holds, as it may have gone out since the backup was made. Jobs, mails and deliveries keep the time at which they are
 * due, moved behind every date; what runs for long is paused. All of it waits until it is let go, or counts as done.
 */
import { listAudit } from '../database/audit-trail.ts';
import type { Database, Tx } from '../database/database.ts';
import { rawAll } from '../database/raw-sql.ts';
import { readMeta } from '../database/store.ts';
import type { JobRow } from '../database/tables.ts';
import { toIso } from '../host/clock.ts';
import type { Actor } from '../http/callers.ts';
import { isPlainObject } from '../http/schema.ts';
import { findJob, HELD, hastenJob, LAST_DATE_MS } from './store.ts';

/** The name of the value that tells of the restore. */
export const RESTORE_HOLD = 'restore_hold';

/** When what a restore holds is due counts from here. */
export const HELD_FROM = LAST_DATE_MS + 1;
/** As the end of a condition of SQL: of what is due then. */
export const IS_HELD_BY_RESTORE = `BETWEEN ${HELD_FROM} AND ${HELD - 1}`;

export function isHeldByRestore(due_at: number): boolean {
  return due_at >= HELD_FROM && due_at < HELD;
}

export interface RestoreHold {
  since_ms: number;
  backup: {
    /** Null where it came by standard input. */
    file: string | null;
    created_at: string;
  };
}

/** The restore that holds something, or held it until all of it was let go; null where none did. */
export function readRestoreHold(read: Tx): RestoreHold | null {
  return parseRestoreHold(readMeta(read, RESTORE_HOLD));
}

export function parseRestoreHold(value: string | null): RestoreHold | null {
  const said: unknown = value === null ? null : JSON.parse(value);
  if (!isPlainObject(said) || !isPlainObject(said.backup)) return null;
  const { file, created_at } = said.backup;
  return {
    since_ms: Number(said.since_ms),
    backup: { file: typeof file === 'string' ? file : null, created_at: String(created_at) },
  };
}

/** Why what is held waits, and both ways on, as sentences. */
export function explainHold(read: Tx): string {
  const hold = readRestoreHold(read);
  const when = hold === null ? '' : ` at ${toIso(hold.since_ms)}, of the backup of ${hold.backup.created_at}`;
  return `a restore holds it${when}: it may have gone out since that was made. ${WAYS_ON}`;
}

/** Both ways on. */
const WAYS_ON =
  'To let go on all that it holds: satchel release --yes. To have what was due before it count as done: satchel release --drop --yes.';

/** The part of it that is let go. */
export interface Release {
  actor: Actor;
  /** Of this project alone; null for all. */
  project_id: number | null;
  /** What was due until then counts as done; null where all goes on. */
  done_until: number | null;
}

/** The event of a release in the audit trail; `done_until` is of one with --drop. */
export const RESTORE_RELEASED = 'restore.released';

/** Until when what was due in a project counts as done since a restore, as the audit trail has it; 0 where nothing does. */
export function readDoneUntil(read: Tx, project_id: number): number {
  const drops = listAudit(read, { event: RESTORE_RELEASED }, MOST_RELEASES, 0).filter(
    (row) => row.metadata.drop === true && (row.project_id ?? project_id) === project_id,
  );
  return Math.max(0, ...drops.map(({ metadata }) => Date.parse(String(metadata.done_until))));
}
/** More than any Satchel has seen. */
const MOST_RELEASES = 100;

/** Of one kind, how many were let go, and how many count as done. */
export interface Released {
  went_on: number;
  dropped: number;
}

/** Why something ended that counts as done. */
export const COUNTS_AS_DONE =
  'It was due before a restore, and may have gone out since the backup was made: it counts as done.';

/* --- Jobs --------------------------------------------------------------------------------------------------------- */

// The lane says the type, and is in the index.
const heldJobs = rawAll<{ id: string }, [type: string, project_id: number | null]>(
  `SELECT id FROM jobs INDEXED BY jobs_pending
   WHERE status = 'pending' AND run_at ${IS_HELD_BY_RESTORE} AND lane GLOB ?1 || '*' AND (?2 IS NULL OR project_id = ?2)`,
);

/** The jobs of a type that a restore holds. */
export function listHeldJobs(read: Tx, type: string, { project_id }: Pick<Release, 'project_id'>): string[] {
  return heldJobs(read, type, project_id).map(({ id }) => id);
}

/** A job that a restore holds, and when it was due; null for any other. */
export function findHeldJob(read: Tx, id: string): { job: JobRow; due_at: number } | null {
  const job = findJob(read, id);
  return job?.status === 'pending' && isHeldByRestore(job.run_at)
    ? { job, due_at: job.run_at - HELD_FROM }
    : null;
}

/** Has the jobs of a type come when they are due, or were. Returns how many. */
export function releaseJobs(
  database: Pick<Database, 'read' | 'writePiece'>,
  type: string,
  of: Pick<Release, 'project_id'>,
): Promise<number> {
  return inPieces(database, listHeldJobs(database.read, type, of), (tx, id) => {
    const held = findHeldJob(tx, id);
    if (held) hastenJob(tx, id, held.due_at);
    return held !== null;
  });
}

/** What one transaction lets go, or ends: some milliseconds. */
const PIECE = 50;

/** Does it with each, a piece a transaction. Returns how many it said `true` of. */
export async function inPieces(
  database: Pick<Database, 'writePiece'>,
  ids: readonly string[],
  change: (tx: Tx, id: string) => boolean,
): Promise<number> {
  let done = 0;
  for (let from = 0; from < ids.length; from += PIECE)
    done += await database.writePiece(
      (tx) => ids.slice(from, from + PIECE).filter((id) => change(tx, id)).length,
    );
  return done;
}
