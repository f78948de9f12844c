/** SQL of the email log, of the contents and attachments that it still needs, and of what each key sent. */
import {
  and,
  count,
  desc,
  eq,
  getTableColumns,
  gte,
  inArray,
  isNotNull,
  lt,
  or,
  type SQL,
  sql,
} from 'drizzle-orm';
import { statement, type Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { monotonicMs } from '../../platform/host/clock.ts';
import { firstIdOf } from '../../platform/host/ids.ts';
import {
  attachmentPins,
  type EmailRow,
  type EmailStatus,
  emailBodies,
  emails,
  keyUsage,
  type RefusedRecord,
} from './tables.ts';

/* --- Accepting -------------------------------------------------------------------------------------------------- */

export interface Bodies {
  body_html: string | null;
  body_text: string | null;
}

/** In the order of its columns. */
const COLUMNS = Object.keys(getTableColumns(emails)) as (keyof EmailRow)[];
const INSERT = `INSERT INTO emails (${COLUMNS.join(', ')})
  VALUES (${COLUMNS.map(() => '?').join(', ')})`;
const insertRow = rawSql<never, (string | number | null)[]>(INSERT);
const insertBodies = rawSql<never, [string, string | null, string | null]>(
  'INSERT INTO email_bodies (email_id, body_html, body_text) VALUES (?, ?, ?)',
);

function valuesOf(email: EmailRow): (string | number | null)[] {
  return COLUMNS.map((name) => {
    const value = email[name];
    if (typeof value === 'boolean') return Number(value);
    return value !== null && typeof value === 'object' ? JSON.stringify(value) : value;
  });
}

/** Writes an accepted email with its bodies, unless it is rendered as it is sent, and pins its attachments. */
export function insertEmail(tx: Tx, email: EmailRow, bodies: Bodies | null): void {
  insertRow.run(tx, ...valuesOf(email));
  if (bodies) insertBodies.run(tx, email.id, bodies.body_html, bodies.body_text);
  const attached = email.attachments.map((attachment) => attachment.public_id);
  insertPins(tx, email.id, attached);
}

/* --- What each key sent ----------------------------------------------------------------------------------------- */

/** A key's count of a day and the limit it must not pass. */
interface KeyCount {
  n: number;
  email_daily_limit: number | null;
}

const countForKey = rawSql<KeyCount, [string, number]>(`
    INSERT INTO key_usage (api_key_id, day, n) SELECT id, ?, 1 FROM api_keys WHERE id = ?
    ON CONFLICT DO UPDATE SET n = n + 1
    RETURNING n, (SELECT email_daily_limit FROM api_keys WHERE id = api_key_id) AS email_daily_limit`);

/** Counts one more message of a key on a day; null for a key that is gone, such as that of an old schedule. */
export function takeKeyUsage(tx: Tx, api_key_id: number, day: string): KeyCount | null {
  return countForKey.get(tx, day, api_key_id);
}

export function releaseKeyUsage(tx: Tx, api_key_id: number, day: string): void {
  tx.update(keyUsage)
    .set({ n: sql`max(0, ${keyUsage.n} - 1)` })
    .where(and(eq(keyUsage.api_key_id, api_key_id), eq(keyUsage.day, day)))
    .run();
}

export function deleteKeyUsageBefore(tx: Tx, day: string): void {
  tx.delete(keyUsage).where(lt(keyUsage.day, day)).run();
}

/* --- The log ---------------------------------------------------------------------------------------------------- */

const rowOf = rawSql<EmailRow, [string]>('SELECT * FROM emails WHERE id = +?', emails);
const bodiesOf = rawSql<Bodies, [string]>(
  'SELECT body_html, body_text FROM email_bodies WHERE email_id = +?',
);

export function findEmail(tx: Tx, id: string): EmailRow | null {
  return rowOf.get(tx, id);
}

/** Null once they are no longer kept, and for an email that is rendered as it is sent. */
export function findBodies(tx: Tx, id: string): Bodies | null {
  return bodiesOf.get(tx, id);
}

export interface EmailFilter {
  project_id: number;
  status?: EmailStatus | undefined;
  to?: string | undefined;
  template?: string | undefined;
  /** Accepted at or after, and before. */
  from_ms?: number | undefined;
  until_ms?: number | undefined;
}

function conditionOf(filter: EmailFilter): SQL | undefined {
  return and(
    eq(emails.project_id, filter.project_id),
    filter.status === undefined ? undefined : eq(emails.status, filter.status),
    filter.to === undefined ? undefined : sql`${emails.to_email} = ${filter.to} COLLATE NOCASE`,
    filter.template === undefined ? undefined : eq(emails.template, filter.template),
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
    .orderBy(desc(emails.id))
    .limit(limit)
    .offset(offset)
    .all();
}

/** Every mail to an address, and those of which it got a copy: what an index finds, and a walk of mails with copies. */
export function listEmailsOfAddress(read: Tx, project_id: number, email: string): EmailRow[] {
  const is_copied = (copies: typeof emails.cc | typeof emails.bcc): SQL =>
    sql`(${copies} <> '[]' AND EXISTS (SELECT 1 FROM json_each(${copies}) WHERE value = ${email} COLLATE NOCASE))`;
  const to = read
    .select()
    .from(emails)
    .where(and(eq(emails.project_id, project_id), sql`${emails.to_email} = ${email} COLLATE NOCASE`))
    .all();
  const copied = read
    .select()
    .from(emails)
    .where(and(eq(emails.project_id, project_id), or(is_copied(emails.cc), is_copied(emails.bcc))))
    .all();
  const known = new Set(to.map((row) => row.id));
  return [...to, ...copied.filter((row) => !known.has(row.id))];
}

/** Whether its recipient was forgotten. */
export function isEmptied({ to_email }: Pick<EmailRow, 'to_email'>): boolean {
  return to_email === '';
}

/** Leaves of a mail that there was one, when, and what became of it. */
export function emptyEmail(tx: Tx, id: string): void {
  updateEmail(tx, id, {
    ...{
      to_email: '',
      to_name: null,
      cc: [],
      bcc: [],
      reply_to: null,
      subject: '',
      headers: {},
      merge: null,
    },
    ...{ taken: [], refused: [], smtp_response: null, error: null, ip: null, user_agent: null },
  });
  for (const change of [deleteBodies, deleteCaptures, emptyAttempts, emptyJob, deleteReports])
    change.run(tx, id);
}

const deleteBodies = rawSql<object, [string]>('DELETE FROM email_bodies WHERE email_id = ?');
const deleteCaptures = rawSql<object, [string]>('DELETE FROM captured_messages WHERE email_id = ?');
const emptyAttempts = rawSql<object, [string]>(
  'UPDATE email_attempts SET smtp_response = NULL WHERE email_id = ?',
);
/** A relay's refusal repeats the address. */
const emptyJob = rawSql<object, [string]>(
  'UPDATE jobs SET error = NULL WHERE id = (SELECT job_id FROM emails WHERE id = ?)',
);
const deleteReports = rawSql<object, [string]>('DELETE FROM email_reports WHERE email_id = ?');

/** Mails that asked an address for confirmation, accepted at or after a moment: a walk of the recipient's own rows. */
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

export function updateEmail(tx: Tx, id: string, changes: Partial<EmailRow>): void {
  tx.update(emails).set(changes).where(eq(emails.id, id)).run();
}

const waitingFor = rawSql<{ n: number }, [string]>(
  `SELECT count(*) AS n FROM projects p CROSS JOIN emails e INDEXED BY emails_by_status ON e.project_id = p.id
   WHERE e.status IN ('scheduled', 'queued', 'sending') AND e.mailbox_id IN (SELECT value FROM json_each(+?1))`,
);

/** How many mails wait for one of these mailboxes: a walk of the mails that wait. */
export function countWaitingFor(tx: Tx, mailbox_ids: readonly number[]): number {
  return waitingFor.get(tx, JSON.stringify(mailbox_ids))?.n ?? 0;
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

/* --- Attempts --------------------------------------------------------------------------------------------------- */

type Value = string | number | null;

const beginRow = rawSql<never, Value[]>(`
    UPDATE emails SET attempts = ?, mailbox_id = ?, quota_day = ?, from_email = ?, domain = ?,
      status = CASE WHEN status IN ('scheduled', 'queued', 'sending') THEN 'sending' ELSE status END,
      queued_at = coalesce(queued_at, ?)
    WHERE id = ?`);

export interface AttemptBegin {
  attempt: number;
  mailbox_id: number | null;
  quota_day: string | null;
  from_email: string;
  domain: string;
  now_ms: number;
}

/** Notes that an attempt at an email begins, and what it goes out from. */
export function beginAttempt(tx: Tx, id: string, begin: AttemptBegin): void {
  const { attempt, mailbox_id, quota_day, from_email, domain, now_ms } = begin;
  beginRow.run(tx, attempt, mailbox_id, quota_day, from_email, domain, now_ms, id);
}

const endRow = rawSql<{ to_email: string }, Value[]>(`
    UPDATE emails SET
      status = CASE WHEN ?2 IN ('sent', 'queued') AND status IN ('delivered', 'bounced', 'complained')
        THEN status ELSE ?2 END,
      smtp_code = ?3, smtp_response = ?4, bounce_type = coalesce(?5, bounce_type), error = ?6, taken = ?7, refused = ?8,
      sent_at = coalesce(sent_at, ?9), bounced_at = coalesce(bounced_at, ?10),
      complained_at = coalesce(complained_at, ?11), failed_at = ?12
    WHERE id = ?1 RETURNING to_email`);

/** How an email stands after an attempt. */
export interface EmailState {
  status: 'queued' | 'sent' | 'bounced' | 'failed' | 'complained';
  smtp_code: number | null;
  smtp_response: string | null;
  bounce_type: 'permanent' | 'transient' | null;
  error: string | null;
  taken: readonly string[];
  refused: readonly RefusedRecord[];
}

/**
 * Records it; what a report said meanwhile of those whom an earlier attempt reached stands. Of a mail that was emptied
 * meanwhile nothing that names anybody is kept.
 */
export function endAttempt(tx: Tx, id: string, state: EmailState, now_ms: number): void {
  const { status } = state;
  const at = (...statuses: EmailStatus[]): number | null => (statuses.includes(status) ? now_ms : null);
  const row = endRow.get(
    tx,
    id,
    status,
    state.smtp_code,
    state.smtp_response,
    state.bounce_type,
    state.error,
    JSON.stringify(state.taken),
    JSON.stringify(state.refused),
    at('sent', 'complained'),
    at('bounced'),
    at('complained'),
    at('failed'),
  );
  if (row && isEmptied(row)) emptyEmail(tx, id);
}

/* --- Pins ------------------------------------------------------------------------------------------------------- */

const pinOf = statement((tx) =>
  tx
    .select({ email_id: attachmentPins.email_id })
    .from(attachmentPins)
    .where(eq(attachmentPins.object_public_id, sql.placeholder('public_id')))
    .limit(1)
    .prepare(),
);

export function isPinned(tx: Tx, object_public_id: string): boolean {
  return pinOf(tx).get({ public_id: object_public_id }) !== undefined;
}

export function insertPins(tx: Tx, email_id: string, object_public_ids: readonly string[]): void {
  if (object_public_ids.length === 0) return;
  tx.insert(attachmentPins)
    .values(object_public_ids.map((object_public_id) => ({ email_id, object_public_id })))
    .onConflictDoNothing()
    .run();
}

export function deletePins(tx: Tx, email_id: string): void {
  tx.delete(attachmentPins).where(eq(attachmentPins.email_id, email_id)).run();
}

/* --- Sweeps ----------------------------------------------------------------------------------------------------- */

const ENDED: EmailStatus[] = [
  'sent',
  'delivered',
  'bounced',
  'complained',
  'suppressed',
  'failed',
  'canceled',
];
const ended_at = sql<number>`max(${emails.created_at}, coalesce(${emails.sent_at}, 0), coalesce(${emails.failed_at}, 0), coalesce(${emails.bounced_at}, 0), coalesce(${emails.scheduled_at}, 0))`;

const deleteBody = rawSql<never, [string]>('DELETE FROM email_bodies WHERE email_id = ?');

/**
 * Forgets what ended emails held, up to `limit` of those that ended before a moment, and after `step_ms` no more: SQLite
 * takes milliseconds to delete a megabyte. Returns how many; 0 when none is left.
 */
export function deleteOldBodies(tx: Tx, before_ms: number, step: { limit: number; step_ms: number }): number {
  const old = tx
    .select({ id: emails.id })
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
  for (const { id } of old) {
    deleteBody.run(tx, id);
    deleted += 1;
    if (monotonicMs() >= ends_ms) break;
  }
  return deleted;
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
