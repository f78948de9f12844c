/** The job that moves a sequence's enrollments. */

import type { Projects } from '../../access/projects/service.ts';
import { parse, t } from '../../platform/http/schema.ts';
import type { Task } from '../../platform/jobs/engine.ts';
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import { projectOf } from '../../platform/jobs/store.ts';
import type { SequenceEngine } from './engine.ts';
import type { GoingOn } from './going-on.ts';
import { SEQUENCE_STEP, type SequenceLife } from './lifecycle.ts';

/** A sequence has one job; lanes are by sequence, so this is one at a time each. */
const SEQUENCE_CONCURRENCY = 1;

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

const payload = t.Object({ sequence_id: t.Integer() });
const OVER = { status: 'completed', result: null, error: null } as const;

/** Runs jobs of the type `sequence.step`, one for each active sequence. */
export function createSequenceTask(engine: SequenceEngine, projects: Projects): Task<null> {
  return {
    type: SEQUENCE_STEP,
    lane_concurrency: SEQUENCE_CONCURRENCY,
    begin: () => ({ go: true, started: null }),
    async run(job, _started, stopping) {
      const { sequence_id } = parse(payload, job.payload);
      const owner = projects.findById(projectOf(job));
      if (!owner) return OVER;
      const turn = await engine.turn(owner, { sequence_id, job_id: job.id }, stopping);
      if ('is_over' in turn) return OVER;
      if ('waits_until' in turn) return { status: 'continue', run_at: turn.waits_until };
      return { status: 'continue', run_at: (tx) => engine.nextDue(tx, sequence_id) };
    },
  };
}
