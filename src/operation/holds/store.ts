/** SQL of what a restore holds: how it is stopped in a restored database, and how much of it is left. It looks at every noun. */
import type { Database as Sqlite } from 'bun:sqlite';
import type { Tx } from '../../platform/database/database.ts';
import { rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { newId } from '../../platform/host/ids.ts';
import type { Actor } from '../../platform/http/callers.ts';
import {
  HELD_FROM,
  IS_HELD_BY_RESTORE,
  RESTORE_HOLD,
  type RestoreHold,
} from '../../platform/jobs/restore-hold.ts';
import { LAST_DATE_MS } from '../../platform/jobs/store.ts';
import type { ReleasedRecord } from './schemas.ts';

/** Jobs that lead to mail; imports lead to none. */
const MAIL_JOB = 'email.send';
export const OTHER_JOBS = { sign_up: 'email.subscribe', run: 'schedule.run' } as const;

/* --- Holding ------------------------------------------------------------------------------------------------------ */

// By project, so that the index of statuses finds them.
const UNDER_WAY = "project_id IN (SELECT id FROM projects) AND status = 'sending'";

/** An attempt that was under way may have reached its relay. A first one may be told by the mail's own row. */
const INTERRUPT = [
  `INSERT INTO email_attempts (email_id, attempt, mailbox, choice, started_at)
   SELECT id, 1, from_email, coalesce(choice, 'it was chosen before the backup was made.'), began_at FROM emails
   WHERE ${UNDER_WAY} AND began_at IS NOT NULL AND NOT EXISTS (SELECT 1 FROM email_attempts WHERE email_id = emails.id)`,
  `UPDATE email_attempts SET outcome = 'interrupted', finished_at = ?,
     may_be_sent = mailbox <> 'none' AND NOT (SELECT is_test FROM emails WHERE id = email_id)
   WHERE finished_at IS NULL AND email_id IN (SELECT id FROM emails WHERE ${UNDER_WAY})`,
] as const;

const HOLD = [
  `UPDATE emails SET due_at = ${HELD_FROM} + coalesce(due_at, 0)
   WHERE job_id IS NULL AND source IN ('sequence', 'broadcast', 'mailgun_bulk') AND project_id IN (SELECT id FROM projects)
     AND status IN ('scheduled', 'queued', 'sending') AND coalesce(due_at, 0) <= ${LAST_DATE_MS}`,
  `UPDATE emails SET status = 'queued' WHERE ${UNDER_WAY}`,
  `UPDATE jobs SET run_at = ${HELD_FROM} + iif(status = 'processing', 0, run_at),
     interruptions = interruptions + (status = 'processing'), status = 'pending'
   WHERE status IN ('pending', 'processing') AND type IN ('${MAIL_JOB}', '${OTHER_JOBS.sign_up}', '${OTHER_JOBS.run}')
     AND run_at <= ${LAST_DATE_MS}`,
  "UPDATE sequences SET status = 'paused', pause_reason = 'restored' WHERE status = 'active'",
  `UPDATE broadcasts SET status = 'paused', pause_reason = 'restored' WHERE status IN ('scheduled', 'sending', 'testing')`,
  'UPDATE email_schedules SET is_active = 0, is_held = 1, next_run_at = NULL WHERE is_active = 1',
  `UPDATE webhook_deliveries SET next_at = ${HELD_FROM} + coalesce(next_at, 0)
   WHERE status = 'waiting' AND coalesce(next_at, 0) <= ${LAST_DATE_MS}`,
];

const UNTOLD = `SELECT e.id, e.type, e.created_at, w.id AS webhook_id FROM webhook_events e JOIN webhooks w USING (project_id)
  WHERE e.is_fanned_out = 0 AND w.is_active = 1 AND e.id > w.after_event
    AND (w.types IS NULL OR EXISTS (SELECT 1 FROM json_each(w.types) WHERE value = e.type))`;

/** Holds what would go on by itself. */
export function holdAll(sqlite: Sqlite, now_ms: number): void {
  // The last events have no deliveries yet.
  const untold = sqlite
    .query<{ id: number; type: string; created_at: number; webhook_id: number }, []>(UNTOLD)
    .all();
  const deliver = sqlite.query(
    `INSERT INTO webhook_deliveries (id, webhook_id, event_id, type, status, attempts, next_at, created_at)
     VALUES (?, ?, ?, ?, 'waiting', 0, ?5, ?5)`,
  );
  for (const { id, type, created_at, webhook_id } of untold)
    deliver.run(newId(now_ms), webhook_id, id, type, created_at);
  sqlite.run('UPDATE webhook_events SET is_fanned_out = 1 WHERE is_fanned_out = 0');
  const [keep, interrupt] = INTERRUPT;
  if (sqlite.query(`SELECT 1 FROM emails WHERE ${UNDER_WAY} LIMIT 1`).get() !== null) {
    sqlite.run(keep);
    sqlite.query(interrupt).run(now_ms);
  }
  for (const change of HOLD) sqlite.run(change);
}

/** Notes what holds it, and who restored what. */
export function noteHold(
  sqlite: Sqlite,
  { since_ms, backup }: RestoreHold,
  { actor, held }: { actor: Actor; held: Held },
): void {
  const value = JSON.stringify({ since_ms, backup });
  sqlite.query('INSERT OR REPLACE INTO meta (name, value) VALUES (?, ?)').run(RESTORE_HOLD, value);
  sqlite
    .query(
      `INSERT INTO audit_events (id, at, actor_kind, actor_id, actor_name, event, target, metadata)
       VALUES (?, ?, ?, ?, ?, 'backup.restored', ?, ?)`,
    )
    .run(
      newId(since_ms),
      since_ms,
      actor.kind,
      actor.id,
      actor.name,
      backup.file === null ? null : `backup:${backup.file}`,
      JSON.stringify({ made_at: backup.created_at, ...held }),
    );
}

/** Nothing is held any more. */
export const forgetHold = rawRun(`DELETE FROM meta WHERE name = '${RESTORE_HOLD}'`);

/* --- What is held ------------------------------------------------------------------------------------------------- */

/** How much is held, of each kind. */
export type Held = ReleasedRecord['went_on'];

/** `?1` is a JSON array of project ids, or null for all. */
const IN_SCOPE = '(?1 IS NULL OR project_id IN (SELECT value FROM json_each(?1)))';
const heldJobs = (lanes: string): string =>
  `FROM jobs INDEXED BY jobs_pending WHERE status = 'pending' AND run_at ${IS_HELD_BY_RESTORE} AND (${lanes}) AND ${IN_SCOPE}`;
const MAIL_JOBS = heldJobs(`lane GLOB '${MAIL_JOB}*'`);
const BULK = `FROM emails INDEXED BY emails_bulk WHERE due_at IS NOT NULL AND due_at ${IS_HELD_BY_RESTORE} AND ${IN_SCOPE}`;
const paused = (table: string): string =>
  `FROM ${table} INDEXED BY ${table}_braked
   WHERE status = 'paused' AND pause_reason <> 'manual' AND pause_reason = 'restored' AND ${IN_SCOPE}`;

const COUNTS = `SELECT (SELECT count(*) ${MAIL_JOBS}) + (SELECT count(*) ${BULK}) AS mails,
  (SELECT count(*) ${paused('sequences')}) AS sequences, (SELECT count(*) ${paused('broadcasts')}) AS broadcasts,
  (SELECT count(*) FROM email_schedules WHERE is_held = 1 AND ${IN_SCOPE}) AS schedules,
  (SELECT count(*) FROM webhook_deliveries INDEXED BY webhook_deliveries_waiting
    WHERE status = 'waiting' AND next_at ${IS_HELD_BY_RESTORE}
      AND (?1 IS NULL OR webhook_id IN (SELECT id FROM webhooks WHERE ${IN_SCOPE}))) AS deliveries,
  (SELECT count(*) ${heldJobs(`lane GLOB '${OTHER_JOBS.sign_up}*' OR lane GLOB '${OTHER_JOBS.run}*'`)}) AS jobs`;

const NONE: Held = { mails: 0, sequences: 0, broadcasts: 0, schedules: 0, deliveries: 0, jobs: 0 };

const counts = rawGet<Held, [scope: string | null]>(COUNTS);

/** Counts what is held, of these projects or of all. */
export function countHeld(read: Tx, project_ids: readonly number[] | null): Held {
  return counts(read, scopeOf(project_ids)) ?? NONE;
}

/** Counts all that is held, in a database that nothing else is asked of. */
export function countHeldIn(sqlite: Sqlite): Held {
  return sqlite.query<Held, [null]>(COUNTS).get(null) ?? NONE;
}

function scopeOf(project_ids: readonly number[] | null): string | null {
  return project_ids === null ? null : JSON.stringify(project_ids);
}

/** How much of it counts as done where it was due until a moment, `?2`. */
export interface Done {
  mails: number;
  broadcasts: number;
  /** Of sequences: whose steps are skipped. */
  enrollments: number;
}

const done = rawGet<
  Done,
  [scope: string | null, until_ms: number]
>(`SELECT (SELECT count(*) ${MAIL_JOBS} AND (attempts > 0 OR run_at - ${HELD_FROM} <= ?2))
    + (SELECT count(*) ${BULK} AND (attempts > 0 OR due_at - ${HELD_FROM} <= ?2)) AS mails,
  (SELECT count(*) ${paused('broadcasts')} AND (started_at IS NOT NULL OR coalesce(send_at, 0) <= ?2)) AS broadcasts,
  (SELECT count(*) FROM (SELECT id AS held_id ${paused('sequences')})
     CROSS JOIN enrollments INDEXED BY enrollments_due ON sequence_id = held_id
     WHERE state = 'active' AND next_at <= ?2) AS enrollments`);

export function countDone(read: Tx, project_ids: readonly number[] | null, until_ms: number): Done {
  return done(read, scopeOf(project_ids), until_ms) ?? { mails: 0, broadcasts: 0, enrollments: 0 };
}
