/** The job that sends a broadcast, and what is mended by the clock. */
import type { Projects } from '../../access/projects/service.ts';
import { parse, t } from '../../platform/http/schema.ts';
import type { Task } from '../../platform/jobs/engine.ts';
import type { CronEntry } from '../../platform/jobs/scheduler.ts';
import { projectOf } from '../../platform/jobs/store.ts';
import type { BroadcastEngine } from './engine.ts';
import { BROADCAST_SEND, type BroadcastLife } from './lifecycle.ts';

/** Lanes are by broadcast, so this is one at a time each. */
const BROADCAST_CONCURRENCY = 1;

/** Ends and wakes what a crash, or a clock that was wrong, left waiting. */
export function broadcastCronEntries({ broadcast_life }: { broadcast_life: BroadcastLife }): CronEntry[] {
  return [
    { name: 'open broadcasts', expression: '31 * * * *', at_start: true, run: () => broadcast_life.mend() },
  ];
}

const payload = t.Object({ broadcast_id: t.Integer() });
const OVER = { status: 'completed', result: null, error: null } as const;

/** Runs jobs of the type `broadcast.send`, one for each broadcast that is scheduled or sending. */
export function createBroadcastTask(engine: BroadcastEngine, projects: Projects): Task<null> {
  return {
    type: BROADCAST_SEND,
    lane_concurrency: BROADCAST_CONCURRENCY,
    begin: () => ({ go: true, started: null }),
    async run(job, _started, stopping) {
      const { broadcast_id } = parse(payload, job.payload);
      const owner = projects.findById(projectOf(job));
      const wait = owner && (await engine.turn(owner, { broadcast_id, job_id: job.id }, stopping));
      return wait ? { status: 'continue', run_at: wait.waits_until } : OVER;
    },
  };
}
