/** SQL of attempts, reports, captured messages, and of what failed. */
import { and, asc, desc, eq, isNull, sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawSql } from '../../platform/database/raw-sql.ts';
import { type JobRow, jobs } from '../../platform/database/tables.ts';
import { DAY_MS } from '../../platform/host/clock.ts';
import { NEVER } from '../../platform/jobs/store.ts';
import {
  type AttemptOutcome,
  type AttemptRow,
  capturedMessages,
  emailAttempts,
  emailReports,
  NO_MAILBOX,
  type ReportRow,
} from './tables.ts';

/* --- Attempts --------------------------------------------------------------------------------------------------- */

type Value = string | number | null;

// Written out here, where every mail passes.
const insertRow = rawSql<{ id: number }, Value[]>(
  'INSERT INTO email_attempts (email_id, attempt, mailbox, choice, started_at) VALUES (?, ?, ?, ?, ?) RETURNING id',
);

/** Puts an attempt on record before any SMTP and returns the id of its row. */
export function insertAttempt(
  tx: Tx,
  attempt: Pick<AttemptRow, 'email_id' | 'attempt' | 'mailbox' | 'choice' | 'started_at'>,
): number {
  const { email_id, mailbox, choice, started_at } = attempt;
  const row = insertRow.get(tx, email_id, attempt.attempt, mailbox, choice, started_at);
  if (!row) throw new Error('an attempt got no id');
  return row.id;
}

const endRow = rawSql<never, Value[]>(
  `UPDATE email_attempts SET finished_at = ?, outcome = ?, smtp_code = ?, smtp_response = ?, tls = ?, may_be_sent = ?
   WHERE id = ?`,
);

export interface AttemptEnd {
  outcome: AttemptOutcome;
  smtp_code: number | null;
  smtp_response: string;
  tls: string | null;
  may_be_sent: boolean;
}

export function endAttempt(tx: Tx, attempt_id: number, end: AttemptEnd, now_ms: number): void {
  const { outcome, smtp_code, smtp_response, tls, may_be_sent } = end;
  endRow.run(tx, now_ms, outcome, smtp_code, smtp_response, tls, Number(may_be_sent), attempt_id);
}

const maybeSent = rawSql<{ at: number | null }, [string]>(
  'SELECT max(started_at) AS at FROM email_attempts WHERE email_id = ? AND may_be_sent = 1',
);

/** When an attempt began last whose relay may have taken the mail without our knowing; null where there was none. */
export function findMaybeSent(tx: Tx, email_id: string): number | null {
  return maybeSent.get(tx, email_id)?.at ?? null;
}

const mailboxesOf = rawSql<{ mailbox: string }, [string, number]>(
  'SELECT mailbox FROM email_attempts WHERE email_id = ? AND attempt = ?',
);

/** Addresses of the mailboxes that an attempt has tried already. */
export function listTriedMailboxes(tx: Tx, email_id: string, attempt: number): string[] {
  return mailboxesOf.all(tx, email_id, attempt).map(({ mailbox }) => mailbox);
}

const triesSince = rawSql<{ made: number; first_at: number | null }, [string, number]>(`
    SELECT count(DISTINCT attempt) AS made, min(started_at) AS first_at FROM email_attempts
    WHERE email_id = ? AND started_at >= ? AND outcome IS NOT 'interrupted'`);

/** Attempts at an email since a moment, but for those that were cut off, and when the first of them began. */
export function countTries(
  tx: Tx,
  email_id: string,
  since_ms: number,
): { made: number; first_at: number | null } {
  return triesSince.get(tx, email_id, since_ms) ?? { made: 0, first_at: null };
}

const lastAttempts = rawSql<{ n: number }, [number, string, number]>(`
    SELECT count(*) AS n FROM (SELECT mailbox, started_at FROM email_attempts ORDER BY id DESC LIMIT ?)
    WHERE mailbox = ? AND started_at >= ?`);

/** How many attempts were begun with a mailbox since a moment, as far as the last `limit` of all attempts tell. */
export function countBegun(tx: Tx, of: { mailbox: string; since_ms: number; limit: number }): number {
  return lastAttempts.get(tx, of.limit, of.mailbox, of.since_ms)?.n ?? 0;
}

export function listAttempts(tx: Tx, email_id: string): AttemptRow[] {
  return tx
    .select()
    .from(emailAttempts)
    .where(eq(emailAttempts.email_id, email_id))
    .orderBy(asc(emailAttempts.id))
    .all();
}

/** Marks attempts that never ended: nobody knows how far they came, unless the mail was to be captured. */
export function interruptAttempts(tx: Tx, email: { id: string; is_test: boolean }, now_ms: number): void {
  tx.update(emailAttempts)
    .set({
      outcome: 'interrupted',
      finished_at: now_ms,
      may_be_sent: sql`${!email.is_test} AND ${emailAttempts.mailbox} <> ${NO_MAILBOX}`,
    })
    .where(and(eq(emailAttempts.email_id, email.id), isNull(emailAttempts.finished_at)))
    .run();
}

export function findJob(tx: Tx, id: string): JobRow | undefined {
  return tx.select().from(jobs).where(eq(jobs.id, id)).get();
}

/** A mail whose next attempt lies far ahead. */
export interface LateAttempt {
  job_id: string;
  email_id: string;
  run_at: number;
}

const lateAttempts = rawSql<LateAttempt, [string, number, number]>(
  `SELECT j.id AS job_id, e.id AS email_id, j.run_at FROM jobs j JOIN emails e ON e.id = j.payload ->> 'email_id'
   WHERE j.status = 'pending' AND j.type = ? AND j.run_at > ? AND j.run_at < ?
     AND (e.scheduled_at IS NULL OR e.attempts > 0)`,
);

/** Mails that jobs of a type try later than a moment, but for those that are held, and those that were to go out so late. */
export function listLateAttempts(read: Tx, job_type: string, after_ms: number): LateAttempt[] {
  return lateAttempts.all(read, job_type, after_ms, NEVER);
}

/* --- What failed ------------------------------------------------------------------------------------------------ */

/** An email that failed, and what speaks against trying it again unasked. */
export interface FailedEmail {
  id: string;
  is_test: 0 | 1;
  /** It had one attempt while its client waited, and the client was told. */
  was_waited_for: 0 | 1;
}

const failedSince = rawSql<FailedEmail, [number]>(`
    SELECT e.id, e.is_test, coalesce(j.max_attempts = 1, 0) AS was_waited_for
    FROM emails e LEFT JOIN jobs j ON j.id = e.job_id
    WHERE e.status = 'failed' AND e.failed_at >= ? ORDER BY e.failed_at, e.id`);

/** Emails that failed at or after a moment, oldest first. */
export function listFailed(tx: Tx, since_ms: number): FailedEmail[] {
  return failedSince.all(tx, since_ms);
}

/* --- Reports ---------------------------------------------------------------------------------------------------- */

/** Keeps a report; false where the same was told before. */
export function insertReport(tx: Tx, report: Omit<ReportRow, 'id'>): boolean {
  const inserted = tx
    .insert(emailReports)
    .values(report)
    .onConflictDoNothing()
    .returning({ id: emailReports.id });
  return inserted.get() !== undefined;
}

const softDays = rawSql<{ n: number }, [number, string]>(`
    WITH mails AS (SELECT id, opened_at, clicked_at FROM emails WHERE project_id = ?1 AND to_email = ?2 COLLATE NOCASE),
      told AS (SELECT r.kind, r.reported_at FROM email_reports r JOIN emails e ON e.id = r.email_id
        WHERE r.address = ?2 AND e.project_id = ?1)
    SELECT count(DISTINCT reported_at / ${DAY_MS}) AS n FROM told
    WHERE kind = 'soft_bounced' AND reported_at > max(
      coalesce((SELECT max(reported_at) FROM told WHERE kind IN ('delivered', 'bounced')), 0),
      coalesce((SELECT max(max(coalesce(opened_at, 0), coalesce(clicked_at, 0))) FROM mails), 0))`);

/**
 * On how many UTC days a project's mails to an address came back soft, since one was delivered, opened or clicked, or a hard
 * bounce was made of them.
 */
export function countSoftDays(read: Tx, project_id: number, address: string): number {
  return softDays.get(read, project_id, address)?.n ?? 0;
}

/** What others would not take of a mailbox, whoever it was to. */
export interface RefusedMailbox {
  mailbox: string;
  n: number;
  /** Of the last of them. */
  words: string;
  email_id: string;
  last_at: number;
}

// SQLite: beside max(), a bare column is of the row that has the maximum.
const refusedSince = rawSql<RefusedMailbox, [number]>(`
    SELECT e.from_email AS mailbox, count(*) AS n, r.words, r.email_id, max(r.reported_at) AS last_at
    FROM email_reports r JOIN emails e ON e.id = r.email_id
    WHERE r.kind = 'refused' AND r.reported_at >= ? GROUP BY e.from_email ORDER BY e.from_email`);

/** What was reported since a moment of refusals that speak of us: by mailbox, with the last words. */
export function listRefusedSince(read: Tx, since_ms: number): RefusedMailbox[] {
  return refusedSince.all(read, since_ms);
}

/** In the order in which they came. */
export function listReports(tx: Tx, email_id: string): ReportRow[] {
  return tx
    .select()
    .from(emailReports)
    .where(eq(emailReports.email_id, email_id))
    .orderBy(asc(emailReports.id))
    .all();
}

/* --- Captured messages ------------------------------------------------------------------------------------------ */

export type CapturedRow = typeof capturedMessages.$inferSelect;

export function insertCaptured(tx: Tx, message: Omit<CapturedRow, 'id'>): void {
  tx.insert(capturedMessages).values(message).run();
}

/** Without the messages themselves, newest first. */
export function listCaptured(tx: Tx, limit: number): Omit<CapturedRow, 'raw'>[] {
  const { id, email_id, mailbox, envelope, captured_at } = capturedMessages;
  return tx
    .select({ id, email_id, mailbox, envelope, captured_at })
    .from(capturedMessages)
    .orderBy(desc(id))
    .limit(limit)
    .all();
}

/** What was captured last of one email. */
export function findCaptured(tx: Tx, email_id: string): CapturedRow | undefined {
  return tx
    .select()
    .from(capturedMessages)
    .where(eq(capturedMessages.email_id, email_id))
    .orderBy(desc(capturedMessages.id))
    .limit(1)
    .get();
}

/** Forgets up to `limit` of what was captured before a moment; returns how many. Ids grow with time. */
export function deleteCapturedBefore(tx: Tx, before_ms: number, limit: number): number {
  const oldest = tx
    .select({ id: capturedMessages.id, captured_at: capturedMessages.captured_at })
    .from(capturedMessages)
    .orderBy(asc(capturedMessages.id))
    .limit(limit)
    .all();
  const old = oldest.filter(({ captured_at }) => captured_at < before_ms).map(({ id }) => id);
  const last = old.at(-1);
  if (last !== undefined) tx.delete(capturedMessages).where(sql`${capturedMessages.id} <= ${last}`).run();
  return old.length;
}
