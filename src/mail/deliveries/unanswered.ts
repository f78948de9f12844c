/** Mail of which a relay had everything and never answered: it may have been taken, and is tried again with long breaks. */

import type { AttemptRow } from './tables.ts';

export interface Unanswered {
  /** When its answer was given up. */
  since_ms: number;
  /** Attempts from that one on; what cut one off, or what it waited for, was no attempt. */
  tries: number;
}

type Ended = Pick<AttemptRow, 'attempt' | 'outcome' | 'smtp_code' | 'started_at' | 'finished_at'>;

/**
 * Null unless a relay may have taken the mail at one of these attempts (in their order, of those since it was queued), and none has
 * judged it since.
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
