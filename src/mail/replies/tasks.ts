/** What is done for replies by the clock. */
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import type { Replies } from './service.ts';

export function replyCronEntries(replies: Replies): CronEntry[] {
  return [{ name: 'replies', expression: '47 3 * * *', at_start: true, run: () => replies.sweep() }];
}
