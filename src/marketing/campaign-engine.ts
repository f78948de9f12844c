/** The job of a sequence or a broadcast that goes out: each has one, in a lane of its own. How long it waits that may not go on. */
import type { Projects } from '../access/projects/service.ts';
import { AppError } from '../errors.ts';
import type { Tx } from '../platform/database/database.ts';
import { parse, t } from '../platform/http/schema.ts';
import type { Task } from '../platform/jobs/engine.ts';
import { projectOf } from '../platform/jobs/store.ts';
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

/**
 * Mails of a sequence or broadcast that wait for their relay at most. Whatever is behind them still heeds a
 * pause, the window and who leaves, and another one of the project waits behind no more of them.
 */
export const MAILS_AHEAD = 1_000;
/** How soon one with so many looks again: no two cores send five thousand a second. */
export const MAILS_AHEAD_WAIT_MS = 200;
/**
 * A sequence or broadcast that must wait looks again after this: its window, cap, mailboxes and `enabled` may
 * change.
 */
export const LOOK_AGAIN_MS = 60_000;

/**
 * When to look again, in epoch milliseconds (0 is at once); a function says so in the transaction that
 * records it, where nothing can come in between. Null where nothing is left to do.
 */
export type NextTurn = number | ((tx: Tx) => number) | null;

/** How long all mail must wait after this error, in seconds; null where the error is no lack of capacity. */
export function waitForCapacity(error: unknown): number | null {
  if (!(error instanceof AppError)) return null;
  const is_capacity = error.kind === 'rate_limited' || error.kind === 'unavailable';
  return is_capacity ? Math.max(1, error.retry_after_s ?? 60) : null;
}
