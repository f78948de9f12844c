/**
 * The health of each mailbox's relay, as attempts find it: successes, failures to connect, refusals because
 * of us.
 */
import type { Tx } from '../../platform/database/database.ts';
import { MINUTE_MS } from '../../platform/host/clock.ts';
import type { DeliveryOutcome, UnsentOutcome } from '../../platform/mail/types.ts';
import * as store from './store.ts';

/**
 * A mailbox whose relay could not be used this many times in a row is left alone for a while, which doubles
 * each time.
 */
export const MAILBOX_REST_AFTER_FAILURES = 3;
const MAILBOX_REST_MIN_MS = 30_000;
const MAILBOX_REST_MAX_MS = 15 * 60_000;

/** Notes what an attempt came to: how its relay does. */
export function recordOutcome(
  tx: Tx,
  mailbox_id: number,
  outcome: DeliveryOutcome,
  { started_at, now_ms }: { started_at: number; now_ms: number },
): void {
  const refusal = refusalOfMailbox(outcome);
  if (outcome.return_path_refusal !== undefined)
    recordVerpRefusal(tx, mailbox_id, outcome.return_path_refusal);
  if (hasFailedToConnect(outcome)) {
    recordFailure(tx, mailbox_id, { started_at, now_ms, reason: outcome.response });
    if (refusal !== null) recordRefusal(tx, mailbox_id, { words: refusal, now_ms });
  } else if (outcome.outcome === 'sent') recordSuccess(tx, mailbox_id, now_ms);
  else if (hasBeenJudged(outcome)) recordAnswer(tx, mailbox_id, { refusal, now_ms });
}

/** The relay neither judged the mail nor got it. */
export function hasFailedToConnect(outcome: DeliveryOutcome): boolean {
  return outcome.outcome === 'unreachable' && !outcome.may_be_sent;
}

/** The relay judged the mail and did not take it. */
export function hasBeenJudged(outcome: UnsentOutcome): boolean {
  return (outcome.outcome === 'refused' || outcome.outcome === 'deferred') && outcome.stage !== 'compose';
}

/** The relay's words against the mailbox that the mail came from, or null. */
function refusalOfMailbox(outcome: DeliveryOutcome): string | null {
  if (outcome.outcome !== 'sent' && outcome.about === 'mailbox') return outcome.response;
  return outcome.rejected.find(({ about }) => about === 'mailbox')?.response ?? null;
}

/**
 * Notes that a relay took a mail: at once after trouble, else once a minute, as a busy mailbox needs no row a
 * mail.
 */
export function recordSuccess(tx: Tx, mailbox_id: number, now_ms: number): void {
  const mailbox = store.findMailboxById(tx, mailbox_id);
  if (!mailbox) return;
  const { failures, refusal, last_success_at } = mailbox;
  const is_noted = last_success_at !== null && Math.abs(now_ms - last_success_at) < MINUTE_MS;
  if (is_noted && failures === 0 && refusal === null) return;
  const untroubled = { refusal: null, refused_at: null };
  const connected = { failures: 0, resting_until: null };
  store.updateMailbox(tx, mailbox_id, { ...connected, ...untroubled, last_success_at: now_ms });
}

/** Notes that a relay judged a mail and did not take it; `refusal` where the reason was the mailbox. */
function recordAnswer(tx: Tx, mailbox_id: number, answer: { refusal: string | null; now_ms: number }): void {
  const mailbox = store.findMailboxById(tx, mailbox_id);
  if (!mailbox) return;
  if (mailbox.failures > 0) store.updateMailbox(tx, mailbox_id, { failures: 0, resting_until: null });
  if (answer.refusal !== null)
    recordRefusal(tx, mailbox_id, { words: answer.refusal, now_ms: answer.now_ms });
}

/**
 * Notes a refusal that is about the mailbox, whoever the mail is to: its host is blocked, its sender is not
 * allowed.
 */
export function recordRefusal(
  tx: Tx,
  mailbox_id: number,
  { words, now_ms }: { words: string; now_ms: number },
): void {
  store.updateMailbox(tx, mailbox_id, { refusal: words, refused_at: now_ms });
}

/** Notes that a relay refuses a return path for each mail, so that further mails get none. */
function recordVerpRefusal(tx: Tx, mailbox_id: number, words: string): void {
  const mailbox = store.findMailboxById(tx, mailbox_id);
  if (!mailbox || mailbox.verp_refusal !== null) return;
  store.updateMailbox(tx, mailbox_id, { verp_refusal: words, revision: mailbox.revision + 1 });
}

/**
 * Notes that a relay could not be used. Attempts that were under way at once count as one failure: a burst of
 * mails tells no more than one mail.
 */
export function recordFailure(
  tx: Tx,
  mailbox_id: number,
  failure: { started_at: number; now_ms: number; reason: string },
): void {
  const mailbox = store.findMailboxById(tx, mailbox_id);
  if (!mailbox || (mailbox.last_failure_at ?? -1) >= failure.started_at) return;
  const failures = mailbox.failures + 1;
  const doublings = failures - MAILBOX_REST_AFTER_FAILURES;
  const rest_ms = Math.min(MAILBOX_REST_MIN_MS * 2 ** Math.min(doublings, 30), MAILBOX_REST_MAX_MS);
  store.updateMailbox(tx, mailbox_id, {
    failures,
    resting_until: doublings >= 0 ? failure.now_ms + rest_ms : null,
    last_error: failure.reason,
    last_failure_at: failure.now_ms,
  });
}
