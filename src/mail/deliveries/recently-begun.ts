/** How many mails each mailbox began to send of late: what a relay that asks for less was sent. */

import { PACE_LOOKBACK_MS } from '../../limits.ts';
import { SECOND_MS } from '../../platform/host/clock.ts';

/** Counted by the second, in memory: after a restart a relay was sent nothing yet. */
export class RecentlyBegun {
  readonly #counts = new Map<number, Map<number, number>>();

  note(mailbox_id: number, now_ms: number): void {
    const second = Math.floor(now_ms / SECOND_MS);
    const counts = this.#counts.get(mailbox_id) ?? new Map<number, number>();
    this.#counts.set(mailbox_id, counts);
    counts.set(second, (counts.get(second) ?? 0) + 1);
    for (const known of counts.keys()) if (!isRecent(known, now_ms)) counts.delete(known);
  }

  /** Within the last PACE_LOOKBACK_MS. */
  count(mailbox_id: number, now_ms: number): number {
    const counts = [...(this.#counts.get(mailbox_id) ?? [])];
    return counts.reduce((sum, [second, n]) => (isRecent(second, now_ms) ? sum + n : sum), 0);
  }
}

function isRecent(second: number, now_ms: number): boolean {
  return Math.abs(now_ms - second * SECOND_MS) <= PACE_LOOKBACK_MS;
}
