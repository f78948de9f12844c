/** Sending an email while its client waits: one attempt, with a job that never passes through the queue. */
import { AppError, messageOf } from '../errors.ts';
import { DISK_RETRY_AFTER_S, EMAIL_RECORD_RETRY_MS, EMAIL_RECORD_WAIT_MS } from '../limits.ts';
import { type Database, mayPass, type Tx } from '../platform/database/database.ts';
import type { JobRow } from '../platform/database/tables.ts';
import type { Clock } from '../platform/host/clock.ts';
import type { Logger } from '../platform/host/logger.ts';
import type { ClaimedKey, KeptAnswer } from '../platform/http/idempotency.ts';
import { finishJob, insertJob, startJob } from '../platform/jobs/store.ts';
import { type AcceptanceDeps, type Accepted, acceptEmail, type NewEmail } from './acceptance.ts';
import type { Attempt, Conclusion, Delivery } from './delivery.ts';
import type { Verdict } from './outcomes.ts';
import type { SendResult } from './schemas.ts';
import { findEmail, findJob } from './store.ts';

export interface SendingNowDeps {
  database: Database;
  clock: Clock;
  logger: Logger;
  acceptance: AcceptanceDeps;
  delivery: Delivery;
  resultOf(accepted: Accepted, end: { status: string; sent_at: number | null }): SendResult;
}

/** How it ended; no verdict where Satchel itself broke down. */
interface End {
  outcome: Conclusion['outcome'];
  verdict: Verdict | null;
}

export class SendingNow {
  readonly #deps: SendingNowDeps;

  constructor(deps: SendingNowDeps) {
    this.#deps = deps;
  }

  /**
   * Accepts an email, hands it to its relay and answers 201. Throws AppError as accepting does, and `unavailable` or
   * `invalid` with the email_id and job_id for what became of it.
   */
  async send(email: NewEmail, { keep, hold }: ClaimedKey): Promise<KeptAnswer> {
    const { accepted, job, attempt } = await this.#deps.database.write((tx) => this.#begin(tx, email));
    const end = await this.#run(job, attempt);
    const recorded = this.#record(job, end, (tx) => {
      if (end.verdict?.end !== 'sent') return null;
      const row = findEmail(tx, accepted.id);
      const sent = {
        ...accepted,
        from_email: row?.from_email ?? accepted.from_email,
        domain: row?.domain ?? accepted.domain,
      };
      const value = this.#deps.resultOf(sent, {
        status: row?.status ?? 'sent',
        sent_at: row?.sent_at ?? null,
      });
      const given: KeptAnswer = { status: 201, value };
      keep(tx, given);
      return given;
    });
    const answer = await withinWait(recorded);
    if (answer === 'not yet') {
      hold(recorded);
      throw unrecorded(end, accepted);
    }
    if (answer) return answer;
    throw refusalOf(end, accepted);
  }

  #begin(tx: Tx, email: NewEmail): { accepted: Accepted; job: JobRow; attempt: Attempt } {
    const now_ms = this.#deps.clock.now();
    const deps: AcceptanceDeps = {
      ...this.#deps.acceptance,
      enqueue: (tx, job) => insertJob(tx, job, now_ms),
    };
    const accepted = acceptEmail(tx, email, { deps, now_ms, max_attempts: 1 });
    startJob(tx, accepted.job_id, now_ms);
    const job = findJob(tx, accepted.job_id);
    const beginning = job ? this.#deps.delivery.begin(tx, job, now_ms) : null;
    if (!job || !beginning?.go) throw new AppError('internal', 'A job that was just begun is over already.');
    return { accepted, job, attempt: beginning.started };
  }

  async #run(job: JobRow, attempt: Attempt): Promise<End> {
    const { delivery, logger, clock } = this.#deps;
    try {
      return await delivery.run(job, attempt);
    } catch (error) {
      logger.error('sending failed unexpectedly', { job_id: job.id, error: messageOf(error) });
      const apply = (tx: Tx): void => delivery.abandon(tx, job, clock.now());
      const result = { email_id: attempt.email.id };
      const reason = 'Something went wrong on the server.';
      return { outcome: { status: 'failed', result, error: reason, apply }, verdict: null };
    }
  }

  /**
   * Records how it ended, however long the disk is full or the database busy: the relay may have the mail, and a job that
   * stayed under way would send it again at the next start.
   */
  async #record(
    job: JobRow,
    { outcome }: End,
    also: (tx: Tx) => KeptAnswer | null,
  ): Promise<KeptAnswer | null> {
    if (outcome.status === 'retry') throw new AppError('internal', 'A single attempt asked for another.');
    const { database, clock, logger } = this.#deps;
    for (;;) {
      try {
        const answer = await database.write((tx) => {
          outcome.apply?.(tx);
          finishJob(tx, job.id, outcome, clock.now());
          return also(tx);
        });
        outcome.afterCommit?.();
        return answer;
      } catch (error) {
        if (!mayPass(error)) {
          logger.error('recording a job failed', { job_id: job.id, error: messageOf(error) });
          throw error;
        }
        await pause(EMAIL_RECORD_RETRY_MS);
      }
    }
  }
}

/** What comes of the recording while the client waits for it. */
async function withinWait<T>(recorded: Promise<T>): Promise<T | 'not yet'> {
  const { promise, resolve } = Promise.withResolvers<'not yet'>();
  const give_up = setTimeout(() => resolve('not yet'), EMAIL_RECORD_WAIT_MS);
  // It goes on by itself, and has logged why should it fail.
  recorded.catch(() => {});
  try {
    return await Promise.race([recorded, promise]);
  } finally {
    clearTimeout(give_up);
  }
}

/** Holds up no stop: what is not recorded by then is sent again at the next start, as after a crash. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** What the client is told of a mail whose end is known and not on disk. */
function unrecorded(end: End, accepted: Accepted): AppError {
  if (end.verdict?.end !== 'sent') return refusalOf(end, accepted);
  const message =
    'The relay took the message, which the server could not note yet, as its disk is full, failing or busy: sent again, it arrives twice.';
  return new AppError('unavailable', message, {
    details: detailsOf(accepted),
    retry_after_s: DISK_RETRY_AFTER_S,
  });
}

function detailsOf(accepted: Accepted): { email_id: string; job_id: string } {
  return { email_id: accepted.id, job_id: accepted.job_id };
}

/** What a waiting client is told. The relay's words stand in the log: they often repeat an address. */
function refusalOf({ verdict }: End, accepted: Accepted): AppError {
  const details = detailsOf(accepted);
  if (!verdict) return new AppError('internal', 'Sending failed unexpectedly.', { details });
  const code = verdict.smtp_code === null ? '' : ` with ${verdict.smtp_code}`;
  // No relay has said so: the message never got as far as one.
  if (verdict.is_permanent && verdict.smtp_code === null) {
    const message = 'The message could not be made; the email log says why.';
    return new AppError('invalid', message, { details, errors: { _: [message] } });
  }
  if (verdict.is_permanent || verdict.end === 'bounced') {
    const is_about_mail = verdict.attempt.outcome !== 'unreachable';
    const judged = is_about_mail ? 'message' : 'log-in or the connection';
    const what = verdict.end === 'bounced' ? 'recipient' : judged;
    const message = `The relay refused the ${what}${code}; its words are in the email log.`;
    const field = verdict.end === 'bounced' ? 'to' : '_';
    return new AppError('invalid', message, { details, errors: { [field]: [message] } });
  }
  return new AppError('unavailable', excuseOf(verdict, code), { details, retry_after_s: 30 });
}

function excuseOf(verdict: Verdict, code: string): string {
  if (verdict.may_be_sent)
    return 'Contact to the relay was lost after the message, which it may have taken: sent again, it may arrive twice.';
  return verdict.attempt.outcome === 'unreachable'
    ? 'The relay could not be used at present. Try again later.'
    : `The relay did not take the message at present${code}. Try again later.`;
}
