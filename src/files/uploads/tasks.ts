/** What is done about resumable uploads by the clock. */
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import type { Uploads } from './service.ts';

export function uploadCronEntries(uploads: Uploads): CronEntry[] {
  return [
    { name: 'whole uploads', expression: '* * * * *', at_start: true, run: () => uploads.finishWhole() },
    { name: 'expired uploads', expression: '37 * * * *', at_start: true, run: () => uploads.sweep() },
  ];
}
