/** What is mended of sequences by the clock. */
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import type { GoingOn } from './going-on.ts';
import type { SequenceLife } from './lifecycle.ts';

/** Mends what a crash in the middle of a finish, or a clock that was wrong, has left. */
export function sequenceCronEntries({
  sequence_life,
  going_on,
}: {
  sequence_life: SequenceLife;
  going_on: GoingOn;
}): CronEntry[] {
  return [
    {
      name: 'finished sequences',
      expression: '37 * * * *',
      at_start: true,
      run: () => sequence_life.sweep(),
    },
    { name: 'late enrollments', expression: '29 * * * *', at_start: true, run: () => going_on.mendTimes() },
  ];
}
