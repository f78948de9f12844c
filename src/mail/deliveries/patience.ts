/** Retries: how long a mail that no relay takes at present is tried, and when it is tried next. */

import { PACE_WAIT_MAX_MS, PACE_WAIT_MIN_MS } from '../../limits.ts';
import { SECOND_MS } from '../../platform/host/clock.ts';
import type { Slowdown } from '../../platform/mail/types.ts';
import { type EmailSource, isBulk } from '../emails/service.ts';
import type { AttemptRow } from './tables.ts';

/** Decision: seconds between attempts at a campaign's mail; the last for all that follow. */
const MARKETING_RETRY_DELAYS_S: readonly number[] = [15, 300, 900, 1_800];
/** Decision: when a mail that a relay may have taken is tried again, since its answer was given up. */
export const UNANSWERED_RETRIES_MS: readonly number[] = [30 * 60_000, 4 * 3_600_000];
/** Decision: how long relays that ask to slow down, or speak of a quota, cost a mail no attempt. */
const PACE_FORGIVEN_MS = 3_600_000;
const QUOTA_FORGIVEN_MS = 86_400_000;

export interface Patience {
  /** Between the three attempts of a mail that somebody waits for. */
  retry_delays_s: readonly [number, number];
  /** How long bulk mail is tried from its first attempt. */
  marketing_ms: number;
}

/** The facts of a mail whose attempt has just ended. */
export interface Tries {
  source: EmailSource;
  /** Attempts so far that count towards the most there may be, including the last one. */
  counted: number;
  max_attempts: number;
  /** All attempts since it was queued that were any, and when the first of them began. */
  made: number;
  first_at: number;
  /** At the last attempt the relay asked its mailbox for less mail, which says nothing of this one. */
  slowdown: Slowdown | null;
  /**
   * The last attempt waits for what is the server's own, such as room on its disk: it costs none, however
   * long that lasts.
   */
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
  const { counted, max_attempts, made, first_at, slowdown, is_free, unanswered } = tries;
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
  const again_at = now_ms + delayOfSlowed(made);
  const quota_ends_at = slowdown?.is_quota ? first_at + QUOTA_FORGIVEN_MS : 0;
  if (now_ms < quota_ends_at) return { run_at: Math.min(again_at, quota_ends_at), counts: false };
  if (isBulk(tries.source)) {
    const ends_at = first_at + patience.marketing_ms;
    if (now_ms >= ends_at) return null;
    const delay_s = MARKETING_RETRY_DELAYS_S[made - 1] ?? MARKETING_RETRY_DELAYS_S.at(-1) ?? 0;
    const delay_ms = delay_s * SECOND_MS * (0.75 + random / 2);
    const run_at = slowdown ? again_at : Math.round(now_ms + delay_ms);
    return { run_at: Math.min(run_at, ends_at), counts: true };
  }
  if (slowdown?.is_quota) return null;
  if (slowdown && now_ms - first_at < PACE_FORGIVEN_MS) return { run_at: again_at, counts: false };
  if (counted >= max_attempts) return null;
  return { run_at: now_ms + (counted <= 1 ? first : later) * SECOND_MS, counts: true };
}

/**
 * Decision: a mail that was tried more often may itself be what its relay refuses, and waits twice as long
 * each time.
 */
const SOON_TRIES = 5;

/** Milliseconds until a mail goes again whose mailbox was asked for less: its pace decides beyond that. */
function delayOfSlowed(made: number): number {
  return Math.min(PACE_WAIT_MIN_MS * 2 ** Math.max(0, Math.min(made, 30) - SOON_TRIES), PACE_WAIT_MAX_MS);
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

/* --- Mail whose relay got everything and never answered: it may have it, so it is tried again after long breaks ------ */

export interface Unanswered {
  /** When its answer was given up. */
  since_ms: number;
  /** Attempts from that one on. Interrupted and postponed ones do not count. */
  tries: number;
}

type Ended = Pick<AttemptRow, 'attempt' | 'outcome' | 'smtp_code' | 'started_at' | 'finished_at'>;

/**
 * Since when a mail is unanswered; null where it is not. A relay may have taken it at one of these attempts,
 * and none has judged it since. Attempts come in their order; those from before it was queued are left out.
 */
export function unansweredOf(attempts: readonly Ended[], queued_at: number | null): Unanswered | null {
  const own = attempts.filter(({ started_at }) => started_at >= (queued_at ?? 0));
  const since = own.slice(own.findLastIndex(isJudged) + 1);
  const first = since.findIndex(({ outcome }) => outcome === 'unanswered');
  const since_ms = since[first]?.finished_at ?? null;
  if (since_ms === null) return null;
  const made = since
    .slice(first)
    .filter(({ outcome }) => outcome !== 'interrupted' && outcome !== 'postponed');
  return { since_ms, tries: new Set(made.map(({ attempt }) => attempt)).size };
}

/** Where there is no code, no relay was asked. */
function isJudged({ outcome, smtp_code }: Ended): boolean {
  if (outcome === 'sent' || outcome === 'captured') return true;
  return (outcome === 'refused' || outcome === 'deferred') && smtp_code !== null;
}
