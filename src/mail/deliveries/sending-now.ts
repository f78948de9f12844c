/** Sending an email while its client waits: one attempt, with a job that never passes through the queue. */

import { AppError, type FieldErrors, messageOf } from '../../errors.ts';
import { DISK_RETRY_AFTER_S, PACE_CLIENT_WAIT_MS, SEND_ANSWER_MS } from '../../limits.ts';
import { type Database, mayPass, type Tx } from '../../platform/database/database.ts';
import type { JobRow } from '../../platform/database/tables.ts';
import { type Clock, monotonicMs, SECOND_MS } from '../../platform/host/clock.ts';
import type { Logger } from '../../platform/host/logger.ts';
import { within } from '../../platform/host/waiting.ts';
import { type ClaimedKey, type KeptAnswer, keptFailure } from '../../platform/http/idempotency.ts';
import { findJob, finishJob, type JobEnd, startJob } from '../../platform/jobs/store.ts';
import { type Accepted, type Emails, emailLife, type NewEmail } from '../emails/service.ts';
import { type Attempts, type Conclusion, outcomeOf } from './attempts.ts';
import type { Attempt } from './beginning.ts';
import type { Verdict } from './verdict.ts';

/**
 * How long a client waits for its mail's end to be recorded while the disk is full or the database busy, and
 * how often that is tried.
 */
export const EMAIL_RECORD_WAIT_MS = 10_000;
export const EMAIL_RECORD_RETRY_MS = 500;

export interface SendingNowDeps {
  database: Database;
  clock: Clock;
  logger: Logger;
  emails: Pick<Emails, 'accept' | 'resultOf'>;
}

/** How it ended; no verdict where Satchel itself broke down. */
interface End {
  outcome: JobEnd & { apply?: (tx: Tx) => void; afterCommit?: () => void };
  verdict: Verdict | null;
}

export class SendingNow {
  /** Attempts under way, until their end is recorded: they may outlast their requests. */
  readonly #under_way = new Set<Promise<unknown>>();

  constructor(
    private readonly deps: SendingNowDeps,
    private readonly attempts: Attempts,
  ) {}

  /**
   * Accepts an email, hands it to its relay and answers 201. Throws AppError as accepting does, and
   * `unavailable` or `invalid` with the email_id and job_id for what became of it. Where the relay has not
   * answered in SEND_ANSWER_MS, or never will, that has the code `outcome_unknown` and is kept for the same
   * request; an attempt under way goes on.
   */
  async send(email: NewEmail, { keep, hold }: ClaimedKey): Promise<KeptAnswer> {
    const answer_by_ms = monotonicMs() + SEND_ANSWER_MS;
    const { accepted, job, attempt } = await this.deps.database.write((tx) => this.#begin(tx, email));
    const ending = this.#run(job, attempt);
    let is_answered = false;
    const recorded = ending.then((end) =>
      this.#record(job, end, (tx) => {
        const is_unknown = end.verdict?.status === 'unknown';
        const sent = end.verdict?.status === 'sent' ? this.#sentAnswer(tx, accepted) : null;
        const given = is_unknown ? keptFailure(outcomeUnknown(accepted)) : sent;
        // Who was told that the outcome is unknown is told that again.
        if (given !== null && !is_answered) keep(tx, given);
        return sent;
      }),
    );
    this.#noteUnderWay(recorded);
    const end = await within(ending, answer_by_ms - monotonicMs());
    if (end === 'not yet') {
      is_answered = true;
      const unknown = outcomeUnknown(accepted);
      if (!(await this.#keep((tx) => keep(tx, keptFailure(unknown))))) hold(recorded);
      throw unknown;
    }
    const wait_ms = Math.min(EMAIL_RECORD_WAIT_MS, answer_by_ms - monotonicMs());
    const answer = await within(recorded, wait_ms);
    if (answer === 'not yet') {
      hold(recorded);
      throw unrecorded(end, accepted);
    }
    if (answer) return answer;
    throw refusalOf(end, accepted);
  }

  /** Waits until what relays have answered is recorded, for at most `deadline_ms`. */
  async drain(deadline_ms: number): Promise<void> {
    await within(Promise.allSettled(this.#under_way), deadline_ms);
  }

  #noteUnderWay(recorded: Promise<unknown>): void {
    this.#under_way.add(recorded);
    const forget = (): boolean => this.#under_way.delete(recorded);
    // It goes on by itself, and logs why if it fails.
    void recorded.then(forget, forget);
  }

  #sentAnswer(tx: Tx, accepted: Accepted): KeptAnswer {
    const row = emailLife.find(tx, accepted.id);
    const value = this.deps.emails.resultOf(row ? { ...accepted, ...pickSender(row) } : accepted, {
      status: row?.status ?? 'sent',
      sent_at: row?.sent_at ?? null,
    });
    return { status: 201, value };
  }

  /** False where the disk is full or the database busy. */
  async #keep(change: (tx: Tx) => void): Promise<boolean> {
    const kept = this.deps.database.write(change).then(
      () => true,
      (error: unknown) => {
        if (mayPass(error)) return false;
        throw error;
      },
    );
    return (await within(kept, SECOND_MS / 2)) === true;
  }

  #begin(tx: Tx, email: NewEmail): { accepted: Accepted; job: JobRow; attempt: Attempt } {
    const accepted = this.deps.emails.accept(tx, email, { is_waited_for: true });
    startJob(tx, accepted.job_id, this.deps.clock.now());
    const job = findJob(tx, accepted.job_id);
    const attempt = job && this.#attemptAt(tx, job);
    if (!job || !attempt) throw new AppError('internal', 'A job that was just begun is over already.');
    return { accepted, job, attempt };
  }

  /**
   * Throws AppError `unavailable` where its mailbox's rate has no turn for it soon; nothing has changed then.
   */
  #attemptAt(tx: Tx, job: JobRow): Attempt | null {
    const now_ms = this.deps.clock.now();
    const beginning = this.attempts.begin(tx, job, now_ms, { any_lane: true });
    if (!beginning.go) return null;
    const wait_ms = beginning.started.not_before - now_ms;
    if (wait_ms > PACE_CLIENT_WAIT_MS) {
      const retry_after_s = Math.ceil(wait_ms / SECOND_MS);
      const message = `The mailbox has sent what its rate allows, and has its next turn in ${retry_after_s} s: try again then, or let the mail be queued.`;
      throw new AppError('unavailable', message, { retry_after_s });
    }
    return beginning.started;
  }

  async #run(job: JobRow, first: Attempt): Promise<End> {
    const { database, logger, clock } = this.deps;
    try {
      let attempt = first;
      for (;;) {
        await Bun.sleep(Math.max(0, attempt.not_before - clock.now()));
        const conclusion = await this.attempts.run(attempt);
        const { next: after, apply, otherwise } = conclusion;
        if (after.kind !== 'elsewhere') return endOf(attempt, conclusion);
        try {
          const next = await database.write((tx) => {
            apply(tx);
            return this.#attemptAt(tx, job);
          });
          if (!next) throw new AppError('internal', 'An attempt could not go on with another mailbox.');
          attempt = next;
        } catch (error) {
          // The disk is full, the database is busy or the next mailbox has no turn: no other mailbox is
          // tried.
          if (otherwise && mayPass(error)) return endOf(attempt, otherwise());
          throw error;
        }
      }
    } catch (error) {
      logger.error('sending failed unexpectedly', { job_id: job.id, error: messageOf(error) });
      const apply = (tx: Tx): void => this.attempts.abandon(tx, first.email.id, clock.now());
      const result = { email_id: first.email.id };
      const reason = 'Something went wrong on the server.';
      return { outcome: { status: 'failed', result, error: reason, apply }, verdict: null };
    }
  }

  /**
   * Records how it ended, however long the disk is full or the database busy: the relay may have the mail,
   * and a job that stayed under way would send it again at the next start.
   */
  async #record(
    job: JobRow,
    { outcome }: End,
    also: (tx: Tx) => KeptAnswer | null,
  ): Promise<KeptAnswer | null> {
    const { database, clock, logger } = this.deps;
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

function endOf(attempt: Attempt, conclusion: Conclusion): End {
  const outcome = outcomeOf(attempt, conclusion);
  if (outcome.status === 'retry' || outcome.status === 'continue')
    throw new AppError('internal', 'A single attempt asked for another.');
  return { outcome, verdict: conclusion.verdict };
}

function pickSender({ from_email, domain }: { from_email: string; domain: string }) {
  return { from_email, domain };
}

/**
 * A stop does not wait for it: what is not recorded by then is sent again at the next start, as after a
 * crash.
 */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/** The answer about a mail whose outcome is known but not on disk. */
function unrecorded(end: End, accepted: Accepted): AppError {
  if (end.verdict?.status !== 'sent') return refusalOf(end, accepted);
  const message =
    'The relay took the message, which the server could not note yet, as its disk is full, failing or busy: sent again, it arrives twice.';
  return new AppError('unavailable', message, {
    details: detailsOf(accepted),
    retry_after_s: DISK_RETRY_AFTER_S,
  });
}

function outcomeUnknown(accepted: Accepted): AppError {
  const message =
    'The relay has not said whether it took the message: sent again, it may arrive twice. The email log tells how it ends.';
  return new AppError('unavailable', message, { code: 'outcome_unknown', details: detailsOf(accepted) });
}

function detailsOf(accepted: Accepted): { email_id: string; job_id: string } {
  return { email_id: accepted.id, job_id: accepted.job_id };
}

/** The answer to a waiting client. The relay's words stand in the log: they often repeat an address. */
function refusalOf({ verdict }: End, accepted: Accepted): AppError {
  const details = detailsOf(accepted);
  if (verdict?.status === 'unknown') return outcomeUnknown(accepted);
  if (!verdict) return new AppError('internal', 'Sending failed unexpectedly.', { details });
  const copies = copiesOf(verdict);
  const is_bounced = verdict.status === 'bounced';
  if (!is_bounced && !verdict.is_permanent)
    return new AppError('unavailable', excuseOf(verdict), { details, retry_after_s: 30, ...copies });
  const message = complaintOf(verdict);
  const errors = { [is_bounced ? 'to' : '_']: [message], ...copies.errors };
  const code = is_bounced && copies.errors ? { code: 'bounced' } : {};
  return new AppError('invalid', message, { details, errors, ...code });
}

/**
 * Recipients of copies who have the mail although its own recipient has not: sent again, they would get it
 * twice.
 */
function copiesOf({ taken }: Verdict): { errors?: FieldErrors } {
  return taken.length > 0 ? { errors: { delivered: [...taken] } } : {};
}

function codeOf(verdict: Verdict): string {
  return verdict.smtp_code === null ? '' : ` with ${verdict.smtp_code}`;
}

function complaintOf(verdict: Verdict): string {
  // It is no relay's reply: the message never got that far.
  if (verdict.smtp_code === null) return 'The message could not be made; the email log says why.';
  const what =
    verdict.status === 'bounced'
      ? 'recipient'
      : verdict.ended === 'unreachable'
        ? 'log-in or the connection'
        : 'message';
  return `The relay refused the ${what}${codeOf(verdict)}; its words are in the email log.`;
}

function excuseOf(verdict: Verdict): string {
  return verdict.ended === 'unreachable'
    ? 'The relay could not be used at present. Try again later.'
    : `The relay did not take the message at present${codeOf(verdict)}. Try again later.`;
}
