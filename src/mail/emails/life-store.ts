/**
 * An email's life, from its first attempt to its end: deliveries say what happened, and what that makes of
 * its row is decided here. Each function writes within the transaction that it is given.
 */
import { eq } from 'drizzle-orm';
import type { Tx } from '../../platform/database/database.ts';
import { rawAll, rawGet, rawHas, rawRun } from '../../platform/database/raw-sql.ts';
import { utcDay } from '../../platform/host/clock.ts';
import { forgetJobError } from '../../platform/jobs/store.ts';
import type { RefusedRecord } from './schemas.ts';
import { attachmentPins, type EmailRow, type EmailStatus, emailBodies, emails } from './tables.ts';

export const find = rawGet<EmailRow, [id: string]>('SELECT * FROM emails WHERE id = +?', emails);

/** The mails of a call of an app, in the order of its recipients. */
export const listOfCall = rawAll<EmailRow, [call_id: string]>(
  'SELECT * FROM emails WHERE call_id = ? ORDER BY id',
  emails,
);

/* --- Attempts --------------------------------------------------------------------------------------------------- */

type Value = string | number | null;

const beginRow = rawRun<Value[]>(`
    UPDATE emails SET attempts = ?, mailbox_id = ?, quota_day = ?, from_email = ?, domain = ?,
      status = CASE WHEN status IN ('scheduled', 'queued', 'sending') THEN 'sending' ELSE status END,
      queued_at = coalesce(queued_at, ?), due_at = NULL, began_at = ?, choice = ?
    WHERE id = ?`);

/**
 * Notes that an attempt begins, what it goes out from and why; returns the email as it is then. Where it has a
 * row of its own (`has_row`), that says why.
 */
export function begin(
  tx: Tx,
  email: EmailRow,
  from: Pick<EmailRow, 'mailbox_id' | 'from_email' | 'domain' | 'choice'>,
  { has_row, now_ms }: { has_row: boolean; now_ms: number },
): EmailRow {
  const begun = {
    ...email,
    ...from,
    ...(has_row ? { began_at: null, choice: null } : { began_at: now_ms }),
    quota_day: email.quota_day ?? utcDay(now_ms),
    attempts: email.attempts + 1,
  };
  const { id, attempts, mailbox_id, quota_day, from_email, domain, began_at, choice } = begun;
  beginRow(tx, attempts, mailbox_id, quota_day, from_email, domain, now_ms, began_at, choice, id);
  return begun;
}

const endRow = rawGet<Pick<EmailRow, 'id' | 'job_id' | 'to_email'>, Value[]>(`
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

/**
 * Records how an email stands after an attempt. What a report has said meanwhile of recipients whom an earlier
 * attempt reached is kept. Where the mail was emptied meanwhile (`is_emptied`), nothing that names anybody is
 * written. Null where it is gone, with its project.
 */
export function end(
  tx: Tx,
  { id, attachments }: EmailRow,
  state: EmailState,
  now_ms: number,
): { is_emptied: boolean } | null {
  if (state.is_over && attachments.length > 0) deletePins(tx, id);
  const { status } = state;
  const at = (...statuses: EmailStatus[]): number | null => (statuses.includes(status) ? now_ms : null);
  const row = endRow(
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
  if (is_emptied) empty(tx, row);
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

/** Has bulk mail wait until a moment or until it is released (HELD), and other mail for its job (null). */
export const wait = rawRun<[id: string, due_at: number | null]>(
  "UPDATE emails SET status = 'queued', due_at = ?2 WHERE id = ?1",
);

/** Has an email wait for another mailbox, in whose quota it has its place, or another moment. */
export function move(
  tx: Tx,
  id: string,
  to: Pick<EmailRow, 'mailbox_id' | 'quota_day'> &
    Partial<Pick<EmailRow, 'from_email' | 'domain' | 'scheduled_at'>>,
): void {
  update(tx, id, to);
}

/**
 * Takes back the count of an attempt that goes on with another mailbox, where it is counted again. Returns 0
 * where the mail is gone.
 */
export const passOn = rawRun<[id: string]>('UPDATE emails SET attempts = attempts - 1 WHERE id = ?');

/** How an email ends without an attempt. */
export type Ending =
  | { status: 'canceled' | 'suppressed'; error?: string }
  | { status: 'sent'; sent_at: number; error: string }
  | { status: 'failed'; failed_at: number; error: string };

/** Ends an email without an attempt. */
export function finish(tx: Tx, id: string, ending: Ending): void {
  update(tx, id, { ...ending, due_at: null });
  deletePins(tx, id);
}

/**
 * Ends an email by a fault of Satchel's own; false where its recipient has it, which it then still says.
 */
export function breakDown(tx: Tx, { id, taken, to_email }: EmailRow, now_ms: number): boolean {
  if (taken.includes(to_email)) {
    deletePins(tx, id);
    return false;
  }
  finish(tx, id, { status: 'failed', failed_at: now_ms, error: 'Something went wrong on the server.' });
  return true;
}

/**
 * Has an email that failed or came back wait once more, with another job or in its queue; its attachments are
 * pinned again. Its own recipient has not got it, though a relay may have taken it.
 */
export function reopen(
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

/* --- Reports ---------------------------------------------------------------------------------------------------- */

/**
 * How much a status says of a mail that a relay has taken, or may have. A report changes the status only to
 * one that says more.
 */
const WEIGHT: Partial<Record<EmailRow['status'], number>> = {
  failed: 0,
  unknown: 0,
  sent: 1,
  delivered: 2,
  bounced: 3,
  complained: 5,
};

/** A report from outside, of a mail's own recipient. */
interface Told {
  kind: 'delivered' | 'bounced' | 'soft_bounced' | 'complained';
  smtp_code: number | null;
  words: string;
  at: number;
}

/** True where a relay has taken an email, or may have: else a report of it is about nothing. */
export function hasLeft({ attempts, status }: EmailRow): boolean {
  return attempts > 0 && WEIGHT[status] !== undefined;
}

/** Has a report of its own recipient change an email. */
export function report(tx: Tx, email: EmailRow, told: Told): void {
  update(tx, email.id, changesOf(email, told));
}

function changesOf(email: EmailRow, { kind, smtp_code, words, at }: Told): Partial<EmailRow> {
  const known = email.status === 'bounced' && email.bounce_type === 'permanent' ? 4 : WEIGHT[email.status];
  const says = (weight: number): boolean => weight > (known ?? 0);
  if (kind === 'delivered')
    return { delivered_at: email.delivered_at ?? at, ...(says(2) ? { status: 'delivered' as const } : {}) };
  if (kind === 'complained')
    return {
      complained_at: email.complained_at ?? at,
      ...(says(5) ? { status: 'complained' as const } : {}),
    };
  const is_hard = kind === 'bounced';
  const bounced_at = email.bounced_at ?? at;
  if (!says(is_hard ? 4 : 3)) return { bounced_at };
  return {
    status: 'bounced',
    bounce_type: is_hard ? 'permanent' : 'transient',
    bounced_at,
    smtp_code,
    smtp_response: words,
    error: `It was returned: ${words}`,
  };
}

/* --- Pins ------------------------------------------------------------------------------------------------------- */

const pinOf = rawGet<{ email_id: string }, [object_public_id: string]>(
  'SELECT email_id FROM attachment_pins WHERE object_public_id = ? LIMIT 1',
);

/** True where an object's bytes must stay, even if it is deleted: a mail with them is not out yet. */
export function isPinned(tx: Tx, object_public_id: string): boolean {
  return pinOf(tx, object_public_id) !== null;
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

/** True where its recipient was forgotten. */
export function isEmptied({ to_email }: Pick<EmailRow, 'to_email'>): boolean {
  return to_email === '';
}

/** True where a mail of a call has not come to its end. */
export const isCallOpen = rawHas<[call_id: string]>(
  "SELECT 1 FROM emails WHERE call_id = ? AND status IN ('scheduled', 'queued', 'sending') LIMIT 1",
);

/** Forgets what the mails of a call were rendered with. */
export const forgetMerges = rawRun<[call_id: string]>('UPDATE emails SET merge = NULL WHERE call_id = ?');

export function deleteBodies(tx: Tx, email_id: string): void {
  tx.delete(emailBodies).where(eq(emailBodies.email_id, email_id)).run();
}

/**
 * Leaves of a mail that there was one, when, and what became of it. Deliveries forget what they hold of it
 * themselves.
 */
export function empty(tx: Tx, { id, job_id }: Pick<EmailRow, 'id' | 'job_id'>): void {
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
