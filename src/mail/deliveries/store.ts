/** SQL of attempts, reports and captured messages. */
import { and, asc, count, desc, eq, inArray, isNull, lt, max, sql } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawRun } from '../../platform/database/raw-sql.ts';
import {
  type AttemptOutcome,
  type AttemptRow,
  capturedMessages,
  emailAttempts,
  emailReports,
  type ReportRow,
} from './tables.ts';

/** In place of a mailbox, for an attempt that found none. */
export const NO_MAILBOX = 'none';

/* --- Attempts --------------------------------------------------------------------------------------------------- */

type Value = string | number | null;

// Written out here, where every mail passes.
const insertRow = rawGet<{ id: number }, Value[]>(
  'INSERT INTO email_attempts (email_id, attempt, mailbox, choice, started_at) VALUES (?, ?, ?, ?, ?) RETURNING id',
);

/** Puts an attempt on record before any SMTP and returns the id of its row. */
export function insertAttempt(
  tx: Tx,
  attempt: Pick<AttemptRow, 'email_id' | 'attempt' | 'mailbox' | 'choice' | 'started_at'>,
): number {
  const { email_id, mailbox, choice, started_at } = attempt;
  const row = insertRow(tx, email_id, attempt.attempt, mailbox, choice, started_at);
  if (!row) throw new Error('an attempt got no id');
  return row.id;
}

const endRow = rawRun<Value[]>(
  `UPDATE email_attempts SET finished_at = ?, outcome = ?, smtp_code = ?, smtp_response = ?, tls = ?, may_be_sent = ?
   WHERE id = ?`,
);

interface AttemptEnd {
  outcome: AttemptOutcome;
  smtp_code: number | null;
  smtp_response: string | null;
  tls: string | null;
  may_be_sent: boolean;
}

export function endAttempt(tx: Tx, attempt_id: number, end: AttemptEnd, now_ms: number): void {
  const { outcome, smtp_code, smtp_response, tls, may_be_sent } = end;
  endRow(tx, now_ms, outcome, smtp_code, smtp_response, tls, Number(may_be_sent), attempt_id);
}

/**
 * When an attempt began last whose relay may have taken the mail without our knowing; null where there was
 * none.
 */
export function findMaybeSent(tx: Tx, email_id: string): number | null {
  const found = tx
    .select({ at: max(emailAttempts.started_at) })
    .from(emailAttempts)
    .where(and(eq(emailAttempts.email_id, email_id), eq(emailAttempts.may_be_sent, true)))
    .get();
  return found?.at ?? null;
}

const mailboxesOf = rawAll<Pick<AttemptRow, 'mailbox'>, [email_id: string, attempt: number]>(
  'SELECT mailbox FROM email_attempts WHERE email_id = ? AND attempt = ?',
);

/** Addresses of the mailboxes that an attempt has tried already. */
export function listTriedMailboxes(tx: Tx, email_id: string, attempt: number): string[] {
  return mailboxesOf(tx, email_id, attempt).map(({ mailbox }) => mailbox);
}

interface Tries {
  made: number;
  first_at: number | null;
}

const triesSince = rawGet<Tries, [email_id: string, since_ms: number]>(`
    SELECT count(DISTINCT attempt) AS made, min(started_at) AS first_at FROM email_attempts
    WHERE email_id = ? AND started_at >= ? AND coalesce(outcome, '') NOT IN ('interrupted', 'postponed')`);

/**
 * Counts the attempts at an email since a moment, and says when the first of them began. Interrupted and
 * postponed ones do not count.
 */
export function countTries(tx: Tx, email_id: string, since_ms: number): Tries {
  return triesSince(tx, email_id, since_ms) ?? { made: 0, first_at: null };
}

export function listAttempts(tx: Tx, email_id: string): AttemptRow[] {
  return tx
    .select()
    .from(emailAttempts)
    .where(eq(emailAttempts.email_id, email_id))
    .orderBy(asc(emailAttempts.id))
    .all();
}

/**
 * Marks the rows of attempts that never ended: nobody knows how far they came, unless the mail was to be
 * captured.
 */
export function interruptRows(tx: Tx, email: { id: string; is_test: boolean }, now_ms: number): void {
  tx.update(emailAttempts)
    .set({
      outcome: 'interrupted',
      finished_at: now_ms,
      may_be_sent: sql`${!email.is_test} AND ${emailAttempts.mailbox} <> ${NO_MAILBOX}`,
    })
    .where(and(eq(emailAttempts.email_id, email.id), isNull(emailAttempts.finished_at)))
    .run();
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

/** All reports of an address, by any project's mails. */
export function listReportsOf(
  read: Tx,
  address: string,
): Pick<ReportRow, 'email_id' | 'kind' | 'reported_at'>[] {
  const { email_id, kind, reported_at } = emailReports;
  return read
    .select({ email_id, kind, reported_at })
    .from(emailReports)
    .where(eq(emailReports.address, address))
    .all();
}

/** Refusals of mail from a mailbox, whoever the mail was to. */
export interface RefusedMailbox {
  mailbox: string;
  n: number;
  /** Of the last of them. */
  words: string;
  email_id: string;
  last_at: number;
}

/**
 * Refusals because of us that were reported since a moment: by mailbox, with the words of the last one, as beside max() SQLite has a
 * bare column be of the row that has the maximum.
 */
export const listRefusedSince = rawAll<RefusedMailbox, [since_ms: number]>(`
    SELECT mailbox, count(*) AS n, words, email_id, max(reported_at) AS last_at
    FROM email_reports WHERE kind = 'refused' AND reported_at >= ? GROUP BY mailbox ORDER BY mailbox`);

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
export function listCaptured(tx: Tx, limit: number, offset: number): Omit<CapturedRow, 'raw'>[] {
  const { id, email_id, mailbox, envelope, captured_at } = capturedMessages;
  return tx
    .select({ id, email_id, mailbox, envelope, captured_at })
    .from(capturedMessages)
    .orderBy(desc(id))
    .limit(limit)
    .offset(offset)
    .all();
}

/** For the shell alone: it counts them all. */
export function countCaptured(tx: Tx): number {
  return tx.select({ n: count() }).from(capturedMessages).get()?.n ?? 0;
}

/** The last captured message of one email. */
export function findCaptured(tx: Tx, email_id: string): CapturedRow | undefined {
  return tx
    .select()
    .from(capturedMessages)
    .where(eq(capturedMessages.email_id, email_id))
    .orderBy(desc(capturedMessages.id))
    .limit(1)
    .get();
}

/** Forgets up to `limit` of what was captured before a moment; returns how many. */
export function deleteCapturedBefore(tx: Tx, before_ms: number, limit: number): number {
  const { id, captured_at } = capturedMessages;
  const old = tx.select({ id }).from(capturedMessages).where(lt(captured_at, before_ms)).limit(limit);
  return tx.delete(capturedMessages).where(inArray(id, old)).returning({ id }).all().length;
}

/** Forgets what was said and captured of an email. Its attempts stay, without what the relay said. */
export function emptyDelivery(tx: Tx, email_id: string): void {
  tx.update(emailAttempts).set({ smtp_response: null }).where(eq(emailAttempts.email_id, email_id)).run();
  tx.delete(emailReports).where(eq(emailReports.email_id, email_id)).run();
  tx.delete(capturedMessages).where(eq(capturedMessages.email_id, email_id)).run();
}
