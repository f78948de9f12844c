/** The job of a sequence or a broadcast that goes out: each has one, in a lane of its own. */
import type { Projects } from '../access/projects/service.ts';
import { parse, t } from '../platform/http/schema.ts';
import type { Task } from '../platform/jobs/engine.ts';
import { projectOf } from '../platform/jobs/store.ts';
import type { NextTurn } from './campaign-capacity.ts';
import type { MailOwner } from './mails/service.ts';

/** Lanes are by sequence or broadcast, so this is one at a time each. */
const CONCURRENCY = 1;

const payload = t.Record(t.String(), t.Integer());

interface CampaignEngine {
  readonly what: 'sequence' | 'broadcast';
  readonly job_type: string;
  /** Sends what may go now, until everything must wait, or `stopping`. */
  turn(owner: MailOwner, of: { id: number; job_id: string }, stopping: AbortSignal): Promise<NextTurn>;
}

export function createCampaignTask(engine: CampaignEngine, projects: Projects): Task<null> {
  return {
    type: engine.job_type,
    lane_concurrency: CONCURRENCY,
    begin: () => ({ go: true, started: null }),
    async run(job, _started, stopping) {
      const id = parse(payload, job.payload)[`${engine.what}_id`] ?? 0;
      const owner = projects.findById(projectOf(job));
      const run_at = owner && (await engine.turn(owner, { id, job_id: job.id }, stopping));
      return run_at === null
        ? { status: 'completed', result: null, error: null }
        : { status: 'continue', run_at };
    },
  };
}
