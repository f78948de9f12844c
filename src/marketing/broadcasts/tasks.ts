/** What is mended of broadcasts by the clock. */
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import type { BroadcastLife } from './lifecycle.ts';

/** Ends and wakes what a crash, or a clock that was wrong, left waiting. */
export function broadcastCronEntries({ broadcast_life }: { broadcast_life: BroadcastLife }): CronEntry[] {
  return [
    { name: 'open broadcasts', expression: '31 * * * *', at_start: true, run: () => broadcast_life.mend() },
  ];
}
