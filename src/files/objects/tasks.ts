/** What is done about stored objects by the clock. */
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import type { ObjectBytes, Objects } from './service.ts';

/** Bytes without a row are looked for at each start too, in `App.start`. */
export function objectCronEntries({ objects, bytes }: { objects: Objects; bytes: ObjectBytes }): CronEntry[] {
  return [
    { name: 'expired objects', expression: '11 3 * * *', at_start: true, run: () => objects.sweepExpired() },
    { name: 'days of uploads', expression: '17 3 * * *', at_start: true, run: () => objects.sweepDays() },
    { name: 'orphaned bytes', expression: '21 3 * * *', run: () => objects.sweepOrphans() },
    { name: 'object store', expression: '* * * * *', at_start: true, run: () => bytes.tend() },
    {
      name: 'keys of no object',
      expression: '41 3 * * *',
      at_start: true,
      run: () => bytes.sweepStoreDaily(),
    },
  ];
}
