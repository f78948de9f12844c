/** SQL of the email log, of the contents and attachments that it still needs, and of what each key sent. */
import type { Database as Sqlite } from 'bun:sqlite';
import {
  and,
  count,
  desc,
  eq,
  getTableColumns,
  gt,
  gte,
  inArray,
  isNotNull,
  lt,
  type SQL,
  sql,
} from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import { monotonicMs } from '../../platform/host/clock.ts';
import { firstIdOf } from '../../platform/host/ids.ts';
import { insertPins } from './life-store.ts';
import { type EmailRow, type EmailStatus, emailBodies, emailHours, emails, keyUsage } from './tables.ts';

/** How these mails stand, and why in the log's words. */
export function listStandings(read: Tx, ids: readonly string[]): Pick<EmailRow, 'id' | 'status' | 'error'>[] {
  const { id, status, error } = emails;
  return read
    .select({ id, status, error })
    .from(emails)
    .where(inArray(id, [...ids]))
    .all();
}

/* --- Accepting -------------------------------------------------------------------------------------------------- */

export interface Bodies {
  body_html: string | null;
  body_text: string | null;
}

/** In the order of its columns. */
const COLUMNS = Object.keys(getTableColumns(emails)) as (keyof EmailRow)[];
const INSERT = `INSERT INTO emails (${COLUMNS.join(', ')})
  VALUES (${COLUMNS.map(() => '?').join(', ')})`;
const insertRow = rawRun<(string | number | null)[]>(INSERT);
const insertBodies = rawRun<[string, string | null, string | null, string | null]>(
  'INSERT INTO email_bodies (email_id, body_html, body_text, message) VALUES (?, ?, ?, ?)',
);

function valuesOf(email: EmailRow): (string | number | null)[] {
  return COLUMNS.map((name) => {
    const value = email[name];
    if (typeof value === 'boolean') return Number(value);
    return value !== null && typeof value === 'object' ? JSON.stringify(value) : value;
  });
}

/**
 * Writes an accepted email with its bodies, unless it is rendered as it is sent, and pins its attachments.
 */
export function insertEmail(tx: Tx, email: EmailRow, bodies: (Bodies & { message?: string }) | null): void {
  insertRow(tx, ...valuesOf(email));
  if (bodies) insertBodies(tx, email.id, bodies.body_html, bodies.body_text, bodies.message ?? null);
  insertPins(tx, email);
}

/* --- What each key sent ----------------------------------------------------------------------------------------- */

const countForKey = rawGet<{ n: number }, [number, string, number]>(`
    INSERT INTO key_usage (api_key_id, day, n) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n RETURNING n`);

/** Counts so many more messages of a key on a day; returns how many that makes. */
export function takeKeyUsage(tx: Tx, api_key_id: number, day: string, count: number): number {
  return countForKey(tx, api_key_id, day, count)?.n ?? 0;
}

export function releaseKeyUsage(tx: Tx, api_key_id: number, day: string, count = 1): void {
  tx.update(keyUsage)
    .set({ n: sql`max(0, ${keyUsage.n} - ${count})` })
    .where(and(eq(keyUsage.api_key_id, api_key_id), eq(keyUsage.day, day)))
    .run();
}

export function deleteKeyUsageBefore(tx: Tx, day: string): void {
  tx.delete(keyUsage).where(lt(keyUsage.day, day)).run();
}

/** Forgets what became of mails in hours before this one, counted from 1970; triggers count them. */
export function deleteHoursBefore(tx: Tx, hour: number): void {
  tx.delete(emailHours).where(lt(emailHours.hour, hour)).run();
}

/* --- The log ---------------------------------------------------------------------------------------------------- */

/** Null once they are no longer kept, and for an email that is rendered as it is sent. */
export const findBodies = rawGet<Bodies, [id: string]>(
  'SELECT body_html, body_text FROM email_bodies WHERE email_id = +?',
);

const messageOf = rawGet<{ message: string | null }, [id: string]>(
  'SELECT message FROM email_bodies WHERE email_id = +?',
);

/**
 * The object that has the message of a mail that came whole; null for another, and once it is no longer kept.
 */
export function findMessage(tx: Tx, id: string): string | null {
  return messageOf(tx, id)?.message ?? null;
}

/** The mails of a message that came whole, one for each recipient. */
export const listOfMessage = rawAll<EmailRow, [message: string]>(
  'SELECT * FROM emails WHERE id IN (SELECT email_id FROM email_bodies WHERE message = ?)',
  emails,
);

export interface EmailFilter {
  project_id: number;
  status?: EmailStatus | undefined;
  /** How the recipient's address begins, in whatever case. */
  to?: string | undefined;
  template?: string | undefined;
  /** Accepted at or after, and before. */
  from_ms?: number | undefined;
  until_ms?: number | undefined;
}

function conditionOf(filter: EmailFilter): SQL | undefined {
  const { to } = filter;
  // With an address its index serves alone: SQLite, which knows no numbers, would rather walk all mails of a
  // status.
  const ofRow = (column: typeof emails.status | typeof emails.template): SQL =>
    to === undefined ? sql`${column}` : sql`+${column}`;
  return and(
    eq(emails.project_id, filter.project_id),
    filter.status === undefined ? undefined : sql`${ofRow(emails.status)} = ${filter.status}`,
    to === undefined
      ? undefined
      : sql`${emails.to_email} >= ${to} COLLATE NOCASE AND ${emails.to_email} < ${`${to}\u{10ffff}`} COLLATE NOCASE`,
    filter.template === undefined ? undefined : sql`${ofRow(emails.template)} = ${filter.template}`,
    filter.from_ms === undefined ? undefined : gte(emails.id, firstIdOf(filter.from_ms)),
    filter.from_ms === undefined ? undefined : gte(emails.created_at, filter.from_ms),
    filter.until_ms === undefined ? undefined : lt(emails.created_at, filter.until_ms),
  );
}

export function countEmails(tx: Tx, filter: EmailFilter): number {
  return tx.select({ n: count() }).from(emails).where(conditionOf(filter)).get()?.n ?? 0;
}

/** Newest first. */
export function listEmails(tx: Tx, filter: EmailFilter, limit: number, offset: number): EmailRow[] {
  return tx
    .select()
    .from(emails)
    .where(conditionOf(filter))
    .orderBy(newestFirst(filter))
    .limit(limit)
    .offset(offset)
    .all();
}

/** Those to addresses are found by these, and then put in order. */
function newestFirst({ to }: EmailFilter): SQL {
  return to === undefined ? desc(emails.id) : sql`+${emails.id} DESC`;
}

/**
 * Up to `limit` ids behind one, newest first: by the index of the recipient, else the template, else the
 * status. All that a filter fits are among them, so that each piece of an export looks at no more. The
 * beginning of an address may fit most mails, which each piece would look through anew: only from the @ on,
 * where it fits few, it is walked by.
 */
export function listIdsBehind(
  read: Tx,
  { project_id, to, template, status, from_ms }: EmailFilter,
  { behind, limit }: { behind: string | null; limit: number },
): string[] {
  const walked: EmailFilter = to?.includes('@')
    ? { project_id, to, from_ms }
    : template !== undefined
      ? { project_id, template, from_ms }
      : { project_id, status, from_ms };
  const rows = read
    .select({ id: emails.id })
    .from(emails)
    .where(and(conditionOf(walked), behind === null ? undefined : lt(emails.id, behind)))
    .orderBy(newestFirst(walked))
    .limit(limit)
    .all();
  return rows.map(({ id }) => id);
}

/** The ids of up to `limit` failed emails of a project behind one, oldest first. */
export function listFailedIdsAfter(
  read: Tx,
  project_id: number,
  { after, limit }: { after: string; limit: number },
): string[] {
  const of = and(eq(emails.project_id, project_id), eq(emails.status, 'failed'), gt(emails.id, after));
  const rows = read.select({ id: emails.id }).from(emails).where(of).orderBy(emails.id).limit(limit).all();
  return rows.map(({ id }) => id);
}

/** Those of these that a filter fits, newest first. */
export function listThese(read: Tx, filter: EmailFilter, ids: readonly string[]): EmailRow[] {
  const is_one = sql`${emails.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`;
  return read
    .select()
    .from(emails)
    .where(and(is_one, conditionOf(filter)))
    .orderBy(desc(emails.id))
    .all();
}

/**
 * Mails that asked an address for confirmation, accepted at or after a moment: a walk of the recipient's own
 * rows.
 */
export function countConfirmations(
  read: Tx,
  of: { project_id: number; email: string; since_ms: number },
): number {
  const found = read
    .select({ n: count() })
    .from(emails)
    .where(
      and(
        eq(emails.project_id, of.project_id),
        eq(emails.to_email, of.email),
        gte(emails.id, firstIdOf(of.since_ms)),
        // After a clock was set back, ids go on from where they were.
        gte(emails.created_at, of.since_ms),
        eq(emails.source, 'confirmation'),
      ),
    )
    .get();
  return found?.n ?? 0;
}

// Project by project, each found by a seek in the index that its mails are then counted in.
const waitingFor = rawGet<{ n: number }, [string]>(
  `WITH RECURSIVE p (id) AS (SELECT min(project_id) FROM emails
     UNION ALL SELECT (SELECT min(project_id) FROM emails WHERE project_id > p.id) FROM p WHERE p.id IS NOT NULL)
   SELECT count(*) AS n FROM p CROSS JOIN emails e INDEXED BY emails_by_status ON e.project_id = p.id
   WHERE e.status IN ('scheduled', 'queued', 'sending') AND e.mailbox_id IN (SELECT value FROM json_each(+?1))`,
);

/** How many mails wait for one of these mailboxes: a walk of the mails that wait. */
export function countWaitingFor(tx: Tx, mailbox_ids: readonly number[]): number {
  return waitingFor(tx, JSON.stringify(mailbox_ids))?.n ?? 0;
}

/** The places in mailboxes' quotas that a project's scheduled emails hold, one for each. */
export function listScheduledPlaces(tx: Tx, project_id: number): { mailbox_id: number; day: string }[] {
  return tx
    .select({ mailbox_id: sql<number>`${emails.mailbox_id}`, day: sql<string>`${emails.quota_day}` })
    .from(emails)
    .where(
      and(
        eq(emails.project_id, project_id),
        eq(emails.status, 'scheduled'),
        eq(emails.is_test, false),
        isNotNull(emails.mailbox_id),
        isNotNull(emails.quota_day),
      ),
    )
    .all();
}

/**
 * Emails of all projects that failed, or of which nobody knows whether they were sent, at or after a moment,
 * oldest first.
 */
export function listFailed(
  tx: Tx,
  since_ms: number,
): Pick<EmailRow, 'id' | 'project_id' | 'source' | 'is_test' | 'job_id' | 'status'>[] {
  const { id, project_id, source, is_test, job_id, status } = emails;
  return tx
    .select({ id, project_id, source, is_test, job_id, status })
    .from(emails)
    .where(and(sql`${emails.status} IN ('failed', 'unknown')`, gte(emails.failed_at, since_ms)))
    .orderBy(emails.failed_at, emails.id)
    .all();
}

/** The jobs of those for a health check, but for those of test keys, for which nobody waits. */
export function listFailedJobs(
  sqlite: Sqlite,
  since_ms: number,
): { job_id: string; project_id: number; status: 'failed' | 'unknown' }[] {
  return sqlite
    .query<{ job_id: string; project_id: number; status: 'failed' | 'unknown' }, [number]>(
      `SELECT coalesce(job_id, '') AS job_id, project_id, status FROM emails
       WHERE status IN ('failed', 'unknown') AND failed_at >= ? AND is_test = 0`,
    )
    .all(since_ms);
}

/* --- Sweeps ----------------------------------------------------------------------------------------------------- */

const ENDED: EmailStatus[] = [
  'sent',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'failed',
  'unknown',
  'canceled',
];
const ended_at = sql<number>`max(${emails.created_at}, coalesce(${emails.sent_at}, 0), coalesce(${emails.failed_at}, 0), coalesce(${emails.bounced_at}, 0), coalesce(${emails.scheduled_at}, 0))`;

/**
 * Forgets what ended emails held, up to `limit` of those that ended before a moment, and after `step_ms` no
 * more: SQLite takes milliseconds to delete a megabyte. Returns how many, 0 when none is left, and the
 * messages that they let go of.
 */
export function deleteOldBodies(
  tx: Tx,
  before_ms: number,
  step: { limit: number; step_ms: number },
): { deleted: number; messages: string[] } {
  const old = tx
    .select({ id: emails.id, message: emailBodies.message })
    .from(emailBodies)
    .innerJoin(emails, eq(emails.id, emailBodies.email_id))
    .where(
      and(
        lt(emailBodies.email_id, firstIdOf(before_ms)),
        inArray(emails.status, ENDED),
        lt(ended_at, before_ms),
      ),
    )
    .limit(step.limit)
    .all();
  const ends_ms = monotonicMs() + step.step_ms;
  let deleted = 0;
  const messages: string[] = [];
  for (const { id, message } of old) {
    if (message !== null) messages.push(message);
    tx.delete(emailBodies).where(eq(emailBodies.email_id, id)).run();
    deleted += 1;
    if (monotonicMs() >= ends_ms) break;
  }
  return { deleted, messages };
}

/** Deletes log rows whose body is gone, up to `limit` of those accepted before a moment; returns how many. */
export function deleteOldEmails(tx: Tx, before_ms: number, limit: number): number {
  const old = tx
    .select({ id: emails.id })
    .from(emails)
    .where(and(lt(emails.id, firstIdOf(before_ms)), inArray(emails.status, ENDED), lt(ended_at, before_ms)))
    .limit(limit);
  return tx.delete(emails).where(inArray(emails.id, old)).returning({ id: emails.id }).all().length;
}
