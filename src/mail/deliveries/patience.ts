/** Retries: how long a mail that no relay takes at present is tried, and when it is tried next. */

import { MARKETING_RETRY_DELAYS_S, PACE_FORGIVEN_MS, UNANSWERED_RETRIES_MS } from '../../limits.ts';
import { SECOND_MS } from '../../platform/host/clock.ts';
import { type EmailSource, isBulk } from '../emails/service.ts';
import type { Unanswered } from './unanswered.ts';

export interface Patience {
  /** Between the three attempts of a mail that somebody waits for. */
  retry_delays_s: readonly [number, number];
  /** How long bulk mail is tried from its first attempt. */
  marketing_ms: number;
}

/** What is known of a mail whose attempt has just ended. */
export interface Tries {
  source: EmailSource;
  /** Attempts so far that count towards the most there may be, including the last one. */
  counted: number;
  max_attempts: number;
  /** All attempts since it was queued that were any, and when the first of them began. */
  made: number;
  first_at: number;
  /** At the last attempt the relay asked its mailbox for less mail, which says nothing of this one. */
  is_slowed: boolean;
  /** The last attempt waits for what is the server's own, such as room on its disk: it costs none, however long that lasts. */
  is_free: boolean;
  /** A relay may have taken it; null where none may, or one has judged it since. */
  unanswered: Unanswered | null;
}

/** When the next attempt comes, and whether the last one counts. */
export interface NextTry {
  run_at: number;
  counts: boolean;
}

/** Null where none follows. `random` is from 0 to 1. */
export function nextTry(
  tries: Tries,
  patience: Patience,
  at: { now_ms: number; random: number },
): NextTry | null {
  const { counted, max_attempts, made, first_at, is_slowed, is_free, unanswered } = tries;
  const { now_ms, random } = at;
  // Its client was told that there is one attempt.
  if (max_attempts <= 1) return null;
  const [first, later] = patience.retry_delays_s;
  if (is_free) return { run_at: now_ms + (made <= 1 ? first : later) * SECOND_MS, counts: false };
  if (unanswered) {
    const delay_ms = UNANSWERED_RETRIES_MS[unanswered.tries - 1];
    if (delay_ms === undefined) return null;
    return { run_at: Math.max(unanswered.since_ms + delay_ms, now_ms), counts: false };
  }
  if (isBulk(tries.source)) {
    const ends_at = first_at + patience.marketing_ms;
    if (now_ms >= ends_at) return null;
    const delay_s = MARKETING_RETRY_DELAYS_S[made - 1] ?? MARKETING_RETRY_DELAYS_S.at(-1) ?? 0;
    const delay_ms = delay_s * SECOND_MS * (0.75 + random / 2);
    return { run_at: Math.min(Math.round(now_ms + delay_ms), ends_at), counts: true };
  }
  const counts = !is_slowed || now_ms - first_at >= PACE_FORGIVEN_MS;
  if (counts && counted >= max_attempts) return null;
  const is_first = counts ? counted <= 1 : made <= 1;
  return { run_at: now_ms + (is_first ? first : later) * SECOND_MS, counts };
}

/** How far from now the next attempt of a mail lies at most. */
export function longestWait(
  of: { source: EmailSource; is_unanswered: boolean },
  { retry_delays_s }: Patience,
): number {
  const { source, is_unanswered } = of;
  if (is_unanswered) return Math.max(...UNANSWERED_RETRIES_MS);
  return isBulk(source)
    ? Math.max(...MARKETING_RETRY_DELAYS_S) * SECOND_MS * 1.25
    : Math.max(...retry_delays_s) * SECOND_MS;
}
