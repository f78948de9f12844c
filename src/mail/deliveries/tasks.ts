/** The job that is one email to deliver. */

import type { Task } from '../../platform/jobs/engine.ts';
import { emailJobs } from '../emails/service.ts';
import { outcomeOf } from './attempts.ts';
import type { Attempt } from './beginning.ts';
import type { Deliveries } from './service.ts';

/** Jobs of one lane, such as a mailbox, that run at once. A hanging relay holds no more than these. */
export const LANE_CONCURRENCY = 40;

/** Sends one email. */
export function createEmailTask({ attempts }: Pick<Deliveries, 'attempts'>): Task<Attempt> {
  return {
    type: emailJobs.type,
    lane_concurrency: LANE_CONCURRENCY,
    gate: (tx, lane, asked) => attempts.gate(tx, lane, asked),
    begin: (tx, job, now_ms) => attempts.begin(tx, job, now_ms),
    run: async (_job, attempt) => outcomeOf(attempt, await attempts.run(attempt)),
    recover: (tx, job, now_ms) => attempts.recover(tx, job, now_ms),
    abandon: (tx, job, _error, now_ms) => attempts.abandon(tx, emailJobs.emailOf(job), now_ms),
  };
}
