/** Tidying up after deleted projects by the clock. */
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import type { Contacts } from './service.ts';

export function contactCronEntries(contacts: Contacts): CronEntry[] {
  return [
    {
      name: 'contacts of deleted projects',
      expression: '*/10 * * * *',
      at_start: true,
      run: () => contacts.sweep(),
    },
  ];
}
