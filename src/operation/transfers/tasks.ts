/** What is tidied by the clock: what an import of a project left that was cut off. */
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import type { Transfers } from './service.ts';

export function transferCronEntries({ transfers }: { transfers: Transfers }): CronEntry[] {
  return [
    { name: 'imports cut off', expression: '41 * * * *', at_start: true, run: () => transfers.sweep() },
    {
      name: 'project files',
      expression: '43 * * * *',
      at_start: true,
      run: async () => transfers.files.sweep(),
    },
  ];
}
