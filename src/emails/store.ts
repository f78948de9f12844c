/** SQL of the email log beyond what every email passes through (`hot-store.ts`): lists, stories, captures, sweeps. */
import { and, asc, count, desc, eq, gte, inArray, isNotNull, isNull, lt, type SQL, sql } from 'drizzle-orm';
import { statement, type Tx } from '../platform/database/database.ts';
import { type JobRow, jobs } from '../platform/database/tables.ts';
import { monotonicMs } from '../platform/host/clock.ts';
import { firstIdOf } from '../platform/host/ids.ts';
import {
  type AttemptRow,
  attachmentPins,
  capturedMessages,
  type EmailRow,
  type EmailStatus,
  emailAttempts,
  emailBodies,
  emails,
  keyUsage,
} from './tables.ts';

export function findEmail(tx: Tx, id: string): EmailRow | undefined {
  return tx.select().from(emails).where(eq(emails.id, id)).get();
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

export function listAttempts(tx: Tx, email_id: string): AttemptRow[] {
  return tx
    .select()
    .from(emailAttempts)
    .where(eq(emailAttempts.email_id, email_id))
    .orderBy(asc(emailAttempts.id))
    .all();
}

/** Marks attempts that never ended. */
export function interruptAttempts(tx: Tx, email_id: string, now_ms: number): void {
  tx.update(emailAttempts)
    .set({ outcome: 'interrupted', finished_at: now_ms })
    .where(and(eq(emailAttempts.email_id, email_id), isNull(emailAttempts.finished_at)))
    .run();
}

export function updateEmail(tx: Tx, id: string, changes: Partial<EmailRow>): void {
  tx.update(emails).set(changes).where(eq(emails.id, id)).run();
}

export function hasBody(tx: Tx, email_id: string): boolean {
  const found = tx
    .select({ id: emailBodies.email_id })
    .from(emailBodies)
    .where(eq(emailBodies.email_id, email_id));
  return found.get() !== undefined;
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

export function releaseKeyUsage(tx: Tx, api_key_id: number, day: string): void {
  tx.update(keyUsage)
    .set({ n: sql`max(0, ${keyUsage.n} - 1)` })
    .where(and(eq(keyUsage.api_key_id, api_key_id), eq(keyUsage.day, day)))
    .run();
}

/** An email that failed, and what speaks against trying it again unasked. */
export interface FailedEmail {
  id: string;
  is_test: 0 | 1;
  /** It had one attempt while its client waited, and the client was told. */
  was_waited_for: 0 | 1;
  /** The words with which its relay refused it for good at the last attempt; null when that ended otherwise. */
  refusal: string | null;
}

const failedSince = statement((tx) =>
  tx.$client.query<FailedEmail, [number]>(`
    SELECT e.id, e.is_test, coalesce(j.max_attempts = 1, 0) AS was_waited_for,
      (SELECT a.smtp_response FROM email_attempts a
       WHERE a.id = (SELECT max(id) FROM email_attempts WHERE email_id = e.id)
         AND a.outcome = 'refused' AND a.smtp_code >= 500) AS refusal
    FROM emails e LEFT JOIN jobs j ON j.id = e.job_id
    WHERE e.status = 'failed' AND e.failed_at >= ? ORDER BY e.failed_at, e.id`),
);

/** Emails that failed at or after a moment, oldest first. */
export function listFailed(tx: Tx, since_ms: number): FailedEmail[] {
  return failedSince(tx).all(since_ms);
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

/* --- Captures --------------------------------------------------------------------------------------------------- */

export type NewCapture = Omit<typeof capturedMessages.$inferInsert, 'id'>;
export type CapturedRow = typeof capturedMessages.$inferSelect;

export function insertCaptured(tx: Tx, message: NewCapture): void {
  tx.insert(capturedMessages).values(message).run();
}

/** Newest first. */
export function listCaptured(
  tx: Tx,
  limit: number,
): { message: Omit<CapturedRow, 'raw'>; email: EmailRow }[] {
  const { raw: _raw, ...columns } = {
    id: capturedMessages.id,
    email_id: capturedMessages.email_id,
    mailbox: capturedMessages.mailbox,
    envelope: capturedMessages.envelope,
    captured_at: capturedMessages.captured_at,
    raw: undefined,
  };
  return tx
    .select({ message: columns, email: emails })
    .from(capturedMessages)
    .innerJoin(emails, eq(emails.id, capturedMessages.email_id))
    .orderBy(desc(capturedMessages.id))
    .limit(limit)
    .all();
}

/** What was captured of one email, newest first. */
export function listCapturedOf(tx: Tx, email_id: string): CapturedRow[] {
  return tx
    .select()
    .from(capturedMessages)
    .where(eq(capturedMessages.email_id, email_id))
    .orderBy(desc(capturedMessages.id))
    .all();
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

const deleteCaptured = statement((tx) =>
  tx.$client.query<unknown, [string]>('DELETE FROM captured_messages WHERE email_id = ?'),
);
const deleteBody = statement((tx) =>
  tx.$client.query<unknown, [string]>('DELETE FROM email_bodies WHERE email_id = ?'),
);

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
    deleteCaptured(tx).run(id);
    deleteBody(tx).run(id);
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

export function deleteKeyUsageBefore(tx: Tx, day: string): void {
  tx.delete(keyUsage).where(lt(keyUsage.day, day)).run();
}

/* --- Jobs ------------------------------------------------------------------------------------------------------- */

export function findJob(tx: Tx, id: string): JobRow | undefined {
  return tx.select().from(jobs).where(eq(jobs.id, id)).get();
}
