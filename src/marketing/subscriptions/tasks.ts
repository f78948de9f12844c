/** The job that carries a sign-up out. */
import { messageOf } from '../../errors.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { JobRow } from '../../platform/database/tables.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { nullable, parse, t } from '../../platform/http/schema.ts';
import type { Task, TaskOutcome } from '../../platform/jobs/engine.ts';
import { forgetPayload, projectOf } from '../../platform/jobs/store.ts';
import { EMAIL_SUBSCRIBE, type Subscriptions } from './service.ts';
import { mayPassLater } from './sign-ups.ts';

/** The wait after a first try that came to nothing; each later one is longer. */
const SUBSCRIBE_RETRY_MIN_MS = 60_000;

/** Sign-ups carried out at once: most of the time of one is a look-up. */
const SUBSCRIBE_CONCURRENCY = 20;

const sign_up = t.Object({
  list_id: t.Integer(),
  email: t.String(),
  first_name: nullable(t.String()),
  last_name: nullable(t.String()),
  ip: nullable(t.String()),
  origin: nullable(t.String()),
  is_test: t.Boolean(),
  tracking: t.Boolean(),
  is_of_mail: t.Boolean(),
  at: t.Integer(),
});

/** Runs jobs of the type `email.subscribe`. A job that has ended keeps neither the address nor the result. */
export function createSubscribeTask(subscriptions: Subscriptions, clock: Clock): Task<null> {
  return {
    type: EMAIL_SUBSCRIBE,
    lane_concurrency: SUBSCRIBE_CONCURRENCY,
    begin: (_tx, job) =>
      // It was forgotten meanwhile.
      'email' in job.payload ? { go: true, started: null } : { go: false, end: END },
    run: (job) => carryOut(subscriptions, clock, job),
    abandon: (tx, job) => forgetPayload(tx, job.id),
  };
}

const END = { status: 'completed', result: null, error: null } as const;

async function carryOut(subscriptions: Subscriptions, clock: Clock, job: JobRow): Promise<TaskOutcome> {
  // Whoever signed up is nobody's business once that is carried out.
  const forget = { apply: (tx: Tx) => forgetPayload(tx, job.id) };
  const tries = job.attempts - job.interruptions;
  const later = (error: string): TaskOutcome =>
    tries < job.max_attempts
      ? { status: 'retry', error, run_at: clock.now() + SUBSCRIBE_RETRY_MIN_MS * 2 ** (tries - 1) }
      : { status: 'failed', result: null, error, ...forget };
  try {
    const end = await subscriptions.carryOut(projectOf(job), parse(sign_up, job.payload));
    return end === 'waiting'
      ? later('The DNS gave no answer about the domain of the address.')
      : { ...END, ...forget };
  } catch (error) {
    if (mayPassLater(error)) return later(messageOf(error));
    return { status: 'failed', result: null, error: messageOf(error), ...forget };
  }
}
