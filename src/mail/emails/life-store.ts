/** SQL of an email's life: what becomes of its row from its first attempt to its end. */
import { eq, sql } from 'drizzle-orm';
import { statement, type Tx } from '../../platform/database/database.ts';
import { rawRun, rawSql } from '../../platform/database/raw-sql.ts';
import { forgetJobError } from '../../platform/jobs/store.ts';
import type { RefusedRecord } from './schemas.ts';
import { attachmentPins, type EmailRow, type EmailStatus, emailBodies, emails } from './tables.ts';

const rowOf = rawSql<EmailRow, [string]>('SELECT * FROM emails WHERE id = +?', emails);

export function findEmail(tx: Tx, id: string): EmailRow | null {
  return rowOf.get(tx, id);
}

/* --- Attempts --------------------------------------------------------------------------------------------------- */

type Value = string | number | null;

const beginRow = rawSql<never, Value[]>(`
    UPDATE emails SET attempts = ?, mailbox_id = ?, quota_day = ?, from_email = ?, domain = ?,
      status = CASE WHEN status IN ('scheduled', 'queued', 'sending') THEN 'sending' ELSE status END,
      queued_at = coalesce(queued_at, ?), due_at = NULL, began_at = ?, choice = ?
    WHERE id = ?`);

export function beginAttempt(tx: Tx, begun: EmailRow, now_ms: number): void {
  const { id, attempts, mailbox_id, quota_day, from_email, domain, began_at, choice } = begun;
  beginRow.run(tx, attempts, mailbox_id, quota_day, from_email, domain, now_ms, began_at, choice, id);
}

const endRow = rawSql<Pick<EmailRow, 'id' | 'job_id' | 'to_email'>, Value[]>(`
    UPDATE emails SET
      status = CASE WHEN ?2 IN ('sent', 'queued') AND status IN ('delivered', 'bounced', 'complained')
        THEN status ELSE ?2 END,
      smtp_code = ?3, smtp_response = ?4, bounce_type = coalesce(?5, bounce_type), error = ?6, taken = ?7, refused = ?8,
      sent_at = coalesce(sent_at, ?9), bounced_at = coalesce(bounced_at, ?10),
      complained_at = coalesce(complained_at, ?11), failed_at = ?12, tls = ?13,
      is_captured = is_captured OR ?14
    WHERE id = ?1 RETURNING id, job_id, to_email`);

/** How an email stands after an attempt. */
export interface EmailState {
  status: 'queued' | 'sent' | 'bounced' | 'failed' | 'unknown' | 'complained';
  /** False: another attempt addresses those whom no relay has taken. */
  is_over: boolean;
  smtp_code: number | null;
  smtp_response: string | null;
  bounce_type: 'permanent' | 'transient' | null;
  error: string | null;
  taken: readonly string[];
  refused: readonly RefusedRecord[];
  /** The TLS version of an attempt that has no row of its own. */
  tls?: string | null;
  /** It was kept in place of being sent. */
  is_captured?: boolean;
}

export function endAttempt(
  tx: Tx,
  id: string,
  state: EmailState,
  now_ms: number,
): { is_emptied: boolean } | null {
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
    at('failed', 'unknown'),
    state.tls ?? null,
    Number(state.is_captured ?? false),
  );
  if (!row) return null;
  const is_emptied = isEmptied(row);
  if (is_emptied) emptyEmail(tx, row);
  return { is_emptied };
}

/* --- Between attempts ------------------------------------------------------------------------------------------- */

function update(tx: Tx, id: string, changes: Partial<EmailRow>): void {
  tx.update(emails).set(changes).where(eq(emails.id, id)).run();
}

/** Has a mail that waits rendered from something else. */
export function mergeAnew(tx: Tx, id: string, merge: Readonly<Record<string, unknown>>): void {
  update(tx, id, { merge: JSON.stringify(merge) });
}

const setDue = rawSql<never, [number | null, string]>(
  "UPDATE emails SET status = 'queued', due_at = ? WHERE id = ?",
);

export function waitUntil(tx: Tx, id: string, due_at: number | null): void {
  setDue.run(tx, due_at, id);
}

export function moveToMailbox(tx: Tx, id: string, to: Pick<EmailRow, 'mailbox_id' | 'quota_day'>): void {
  update(tx, id, to);
}

export const countAttemptOut = rawRun<[id: string]>('UPDATE emails SET attempts = attempts - 1 WHERE id = ?');

/** How an email ends without an attempt. */
export type Ending =
  | { status: 'canceled'; error?: string }
  | { status: 'sent'; sent_at: number; error: string }
  | { status: 'failed'; failed_at: number; error: string };

export function endEmail(tx: Tx, id: string, ending: Ending): void {
  update(tx, id, { ...ending, due_at: null });
}

/** What a report from outside may change. */
export type Reported = Partial<
  Pick<
    EmailRow,
    | 'status'
    | 'delivered_at'
    | 'complained_at'
    | 'bounced_at'
    | 'bounce_type'
    | 'smtp_code'
    | 'smtp_response'
    | 'error'
  >
>;

export function recordReport(tx: Tx, id: string, reported: Reported): void {
  update(tx, id, reported);
}

/**
 * Has an email that failed or came back wait once more, with another job or in its queue; its attachments are
 * pinned again. Its own recipient has not got it, though a relay may have taken it.
 */
export function reopenEmail(
  tx: Tx,
  email: Pick<EmailRow, 'id' | 'attachments' | 'taken' | 'to_email'>,
  to: Pick<EmailRow, 'job_id' | 'due_at' | 'mailbox_id' | 'quota_day'> & { now_ms: number },
): void {
  const { now_ms, ...place } = to;
  insertPins(tx, email);
  update(tx, email.id, {
    ...place,
    status: 'queued',
    queued_at: now_ms,
    taken: email.taken.filter((address) => address !== email.to_email),
    refused: [],
    error: null,
    bounce_type: null,
    failed_at: null,
    bounced_at: null,
    is_captured: false,
  });
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

export function insertPins(tx: Tx, { id, attachments }: Pick<EmailRow, 'id' | 'attachments'>): void {
  if (attachments.length === 0) return;
  tx.insert(attachmentPins)
    .values(attachments.map(({ public_id }) => ({ email_id: id, object_public_id: public_id })))
    .onConflictDoNothing()
    .run();
}

export function deletePins(tx: Tx, email_id: string): void {
  tx.delete(attachmentPins).where(eq(attachmentPins.email_id, email_id)).run();
}

/* --- Forgetting ------------------------------------------------------------------------------------------------- */

/** Whether its recipient was forgotten. */
export function isEmptied({ to_email }: Pick<EmailRow, 'to_email'>): boolean {
  return to_email === '';
}

export function deleteBodies(tx: Tx, email_id: string): void {
  tx.delete(emailBodies).where(eq(emailBodies.email_id, email_id)).run();
}

/**
 * Leaves of a mail that there was one, when, and what became of it. Deliveries forget what they hold of it
 * themselves.
 */
export function emptyEmail(tx: Tx, { id, job_id }: Pick<EmailRow, 'id' | 'job_id'>): void {
  update(tx, id, {
    to_email: '',
    to_name: null,
    cc: [],
    bcc: [],
    reply_to: null,
    subject: '',
    attachments: [],
    headers: {},
    merge: null,
    taken: [],
    refused: [],
    smtp_response: null,
    error: null,
    ip: null,
    user_agent: null,
  });
  deletePins(tx, id);
  deleteBodies(tx, id);
  // A relay's refusal repeats the address.
  if (job_id !== null) forgetJobError(tx, job_id);
}
