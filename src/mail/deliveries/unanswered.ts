/**
 * Mail whose relay got everything and never answered. The relay may have taken it, so it is tried again
 * after long breaks.
 */

import type { AttemptRow } from './tables.ts';

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
