/** What is done for the overview by the clock. */
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import type { Overviews } from './service.ts';

export function overviewCronEntries(overviews: Overviews): CronEntry[] {
  return [{ name: 'hours of mail', expression: '41 3 * * *', at_start: true, run: () => overviews.sweep() }];
}
