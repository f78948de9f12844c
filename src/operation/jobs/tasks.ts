/** What is done about jobs by the clock. */
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import type { Jobs } from './service.ts';

export function jobCronEntries(jobs: Jobs): CronEntry[] {
  return [{ name: 'job retention', expression: '11 3 * * *', at_start: true, run: () => jobs.sweep() }];
}
