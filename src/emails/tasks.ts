/** The job handler of emails, and what is done by the clock. */
import { LANE_CONCURRENCY } from '../limits.ts';
import type { Task } from '../platform/jobs/engine.ts';
import type { CronEntry } from '../platform/jobs/scheduler.ts';
import { EMAIL_SEND } from './acceptance.ts';
import type { Attempt } from './delivery.ts';
import type { Emails } from './service.ts';

/** Sends one email. A lane is a requested domain, or `*`, so that no domain's relay holds up another's mail. */
export function createEmailTask(emails: Emails): Task<Attempt> {
  const { delivery } = emails;
  return {
    type: EMAIL_SEND,
    lane_concurrency: LANE_CONCURRENCY,
    begin: (tx, job, now_ms) => delivery.begin(tx, job, now_ms),
    run: async (job, attempt) => (await delivery.run(job, attempt)).outcome,
    recover: (tx, job, now_ms) => delivery.recover(tx, job, now_ms),
    abandon: (tx, job, _error, now_ms) => delivery.abandon(tx, job, now_ms),
  };
}

export function emailCronEntries(emails: Emails): CronEntry[] {
  return [{ name: 'email retention', expression: '41 3 * * *', at_start: true, run: () => emails.sweep() }];
}
