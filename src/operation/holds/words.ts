/** What a restore holds, in words. */
import { counted } from '../../platform/words/phrases.ts';
import type { Held } from './store.ts';

export const RELEASE = 'satchel release --yes';
export const DROP = 'satchel release --drop --yes';

/** Without what there is none of; `nothing` where there is none of all. */
export function describeHeld(held: Partial<Held>): string {
  const { mails = 0, sequences = 0, broadcasts = 0, schedules = 0, deliveries = 0, jobs = 0 } = held;
  const kinds = [
    [mails, counted(mails, 'mail')],
    [sequences, counted(sequences, 'sequence')],
    [broadcasts, counted(broadcasts, 'broadcast')],
    [schedules, counted(schedules, 'schedule')],
    [deliveries, counted(deliveries, 'delivery of a webhook', 'deliveries of webhooks')],
    [jobs, counted(jobs, 'sign-up or run', 'sign-ups and runs')],
  ] as const;
  return kinds.flatMap(([n, words]) => (n > 0 ? [words] : [])).join(', ') || 'nothing';
}
