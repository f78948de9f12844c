/** What is done about backups by the clock. */
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import type { Backups } from './collection.ts';

export function backupCronEntries(backups: Backups): CronEntry[] {
  return [{ name: 'jobs of backups', expression: '14 3 * * *', at_start: true, run: () => backups.sweep() }];
}
