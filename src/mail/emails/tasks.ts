/** What is done for emails by the clock. */
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import type { Emails } from './service.ts';

export function emailCronEntries(emails: Emails): CronEntry[] {
  return [{ name: 'email retention', expression: '41 3 * * *', at_start: true, run: () => emails.sweep() }];
}
