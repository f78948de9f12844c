/** What is tidied up of people by the clock: sessions that are over and links that nobody used. */
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import type { Entry } from './entry.ts';
import type { People } from './service.ts';

export function peopleCronEntries({ people, entry }: { people: People; entry: Entry }): CronEntry[] {
  return [
    {
      name: 'sessions',
      expression: '49 * * * *',
      run: () => Promise.all([people.sweepLinks(), entry.sessions.sweep()]),
    },
  ];
}
