/**
 * How an attempt begins: whom it still addresses, what it asks of its mailbox, and its place on record before
 * any SMTP.
 */

import type { AppError } from '../../errors.ts';
import type { Tx } from '../../platform/database/database.ts';
import { utcDay } from '../../platform/host/clock.ts';
import { type EmailRow, emailLife, isBulk, wishesOf } from '../emails/service.ts';
import type { Choice, ChoiceRequest, ChosenMailbox } from '../mailboxes/service.ts';
import * as store from './store.ts';
import { NO_MAILBOX } from './store.ts';
import type { AttemptRow } from './tables.ts';

/** An attempt that is on record. */
export interface Attempt {
  /**
   * Its row; null for a first attempt, which the email's own row tells of for as long as all goes well.
   */
  id: number | null;
  email: EmailRow;
  recipients: string[];
  started_at: number;
  /**
   * When its mailbox's pace lets it go. Later than now only for a mail that is sent while its client waits.
   */
  not_before: number;
  /** Or why no mailbox will do. */
  mailbox: ChosenMailbox | AppError;
  /** Why this mailbox, for the operator. */
  choice: string;
  /**
   * Attempts so far that count towards the most that there may be, this one included; bulk mail has a period
   * instead.
   */
  counted: number;
  max_attempts: number;
}

/** Those whom an attempt addresses, or why there is none. */
export type Left =
  | { recipients: string[] }
  | { recipients: null; status: 'completed' | 'failed'; error: string | null };

/** Everybody who gets a copy, once: no mailbox in use tells addresses apart by their case. */
export function recipientsOf(email: Pick<EmailRow, 'to_email' | 'cc' | 'bcc'>): string[] {
  if (email.cc.length === 0 && email.bcc.length === 0) return [email.to_email];
  const by_address = new Map<string, string>();
  for (const address of [email.to_email, ...email.cc, ...email.bcc]) {
    const key = address.toLowerCase();
    if (!by_address.has(key)) by_address.set(key, address);
  }
  return [...by_address.values()];
}

/** Whom the next attempt at an email addresses. One whose recipient was forgotten is canceled here. */
export function recipientsLeft(tx: Tx, email: EmailRow): Left {
  if (email.status === 'canceled')
    return { recipients: null, status: 'failed', error: 'Canceled before it was due.' };
  if (emailLife.isEmptied(email)) {
    emailLife.finish(tx, email.id, { status: 'canceled' });
    return { recipients: null, status: 'failed', error: 'Its recipient was forgotten.' };
  }
  const done = new Set([...email.taken, ...email.refused.map((recipient) => recipient.address)]);
  const recipients = recipientsOf(email).filter((address) => !done.has(address));
  return recipients.length === 0 ? { recipients: null, status: 'completed', error: null } : { recipients };
}

/** The mailboxes that the attempt which now begins, or goes on, could not use. */
export function triedBefore(tx: Tx, email: EmailRow): string[] {
  // A mail that never began was tried nowhere.
  const is_new = email.began_at === null && email.attempts === 0;
  return is_new ? [] : store.listTriedMailboxes(tx, email.id, email.attempts + 1);
}

/** An attempt's request for a mailbox. `tried` are those that this attempt could not use. */
export function requestOf(email: EmailRow, tried: readonly string[], now_ms: number): ChoiceRequest {
  return {
    ...wishesOf(email),
    day: email.quota_day ?? utcDay(now_ms),
    now_ms,
    held_mailbox_id: email.mailbox_id,
    ...(tried.length > 0 ? { tried } : {}),
  };
}

/** Puts an attempt on record that goes out from the chosen mailbox, or finds none. */
export function putOnRecord(
  tx: Tx,
  begun: Pick<Attempt, 'email' | 'recipients' | 'not_before' | 'counted' | 'max_attempts'> & {
    choice: Choice;
    /** The mailboxes that this attempt could not use before. */
    tried: readonly string[];
    now_ms: number;
  },
): Attempt {
  const { email, choice, now_ms, recipients, not_before, counted, max_attempts } = begun;
  // One that came from elsewhere may have been cut off there.
  if (email.began_at !== null) interruptAttempts(tx, email, now_ms);
  const { mailbox_id, from_email, domain } = choice.ok ? { ...choice, from_email: choice.address } : email;
  const has_row = email.attempts > 0 || begun.tried.length > 0 || !choice.ok;
  const from = { mailbox_id, from_email, domain, choice: isBulk(email.source) ? null : choice.explanation };
  const started: Omit<Attempt, 'id'> = {
    email: emailLife.begin(tx, email, from, { has_row, now_ms }),
    recipients,
    started_at: now_ms,
    not_before,
    mailbox: choice.ok ? choice : choice.error,
    choice: choice.explanation,
    counted,
    max_attempts,
  };
  return { ...started, id: has_row ? insertRow(tx, started) : null };
}

/** The row of an attempt. A first one gets it only where the relay did not just take the mail. */
export function insertRow(tx: Tx, attempt: Omit<Attempt, 'id'>): number {
  const { email, mailbox, choice, started_at } = attempt;
  return store.insertAttempt(tx, {
    email_id: email.id,
    attempt: email.attempts,
    mailbox: 'address' in mailbox ? mailbox.address : NO_MAILBOX,
    choice,
    started_at,
  });
}

/** In place of why a mailbox was chosen, for bulk mail. */
const CHOSEN_FOR_PIECE = 'it was chosen for all mails of a piece.';

/** Every attempt at an email, a first one without a row of its own too. */
export function attemptsOf(read: Tx, email: EmailRow): AttemptRow[] {
  const rows = store.listAttempts(read, email.id);
  if (rows.length > 0 || email.began_at === null) return rows;
  const is_as_sent = email.status === 'sent' || email.status === 'delivered';
  // One that was cut off elsewhere, before its project arrived here, waits again.
  const is_under_way = email.status === 'sending';
  return [
    {
      id: 0,
      email_id: email.id,
      attempt: 1,
      mailbox: email.from_email,
      choice: email.choice ?? CHOSEN_FOR_PIECE,
      started_at: email.began_at,
      finished_at: email.sent_at,
      outcome: email.sent_at !== null ? 'sent' : is_under_way ? null : 'interrupted',
      smtp_code: email.sent_at === null ? null : 250,
      // A report's words have taken the place of the relay's.
      smtp_response: is_as_sent ? email.smtp_response : null,
      tls: email.tls,
      may_be_sent: email.sent_at === null && !is_under_way && !email.is_test,
    },
  ];
}

/** Gives the first attempt its row where it had none, as another one follows. */
export function keepFirstAttempt(tx: Tx, email: EmailRow): void {
  const [first] = attemptsOf(tx, email);
  if (first?.id !== 0) return;
  const id = store.insertAttempt(tx, first);
  const { outcome, finished_at } = first;
  if (outcome !== null && finished_at !== null) store.endAttempt(tx, id, { ...first, outcome }, finished_at);
}

/** Marks attempts at an email that never ended, the first one too, which gets its row now. */
export function interruptAttempts(tx: Tx, email: EmailRow, now_ms: number): void {
  keepFirstAttempt(tx, email);
  store.interruptRows(tx, email, now_ms);
}
