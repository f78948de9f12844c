/** Attempts at an email: one each from choosing the mailbox to recording what its relay said. */

import { AppError } from '../../errors.ts';
import { PACE_CLIENT_WAIT_MS } from '../../limits.ts';
import type { Tx } from '../../platform/database/database.ts';
import type { JobRow } from '../../platform/database/tables.ts';
import type { Clock } from '../../platform/host/clock.ts';
import { Tally } from '../../platform/host/measures.ts';
import type { Beginning, Opening, Task, TaskOutcome } from '../../platform/jobs/engine.ts';
import type { DeliveryOutcome } from '../../platform/mail/types.ts';
import { type EmailRow, emailJobs, emailLife, isBulk } from '../emails/service.ts';
import {
  type Candidate,
  type Choice,
  type ChoiceRequest,
  type ChosenMailbox,
  chooseMailbox,
  listCandidates,
  type Mailboxes,
  takeMailbox,
} from '../mailboxes/service.ts';
import {
  type Attempt,
  insertRow,
  interruptAttempts,
  putOnRecord,
  recipientsLeft,
  requestOf,
  triedBefore,
} from './beginning.ts';
import { isComplaintAddress } from './capture.ts';
import { attemptOutcomeOf, type Handed, Handing, type HandingDeps } from './handing.ts';
import type { Listeners } from './listeners.ts';
import { type NextTry, nextTry, type Patience, type Tries, unansweredOf } from './patience.ts';
import { report } from './reports.ts';
import * as store from './store.ts';
import type { AttemptOutcome } from './tables.ts';
import { isOfOurs, judge, type Verdict } from './verdict.ts';

/** Jobs of one lane, such as a mailbox, that run at once. A hanging relay holds no more than these. */
export const LANE_CONCURRENCY = 40;

export interface AttemptsDeps extends HandingDeps {
  clock: Clock;
  mailboxes: Mailboxes;
  patience: Patience;
}

/** How an attempt ended, and what comes next; `apply` records it within a transaction. */
export interface Conclusion {
  verdict: Verdict;
  /** Over; tried again; or the same attempt goes on with another mailbox. */
  next:
    | { kind: 'over' }
    | ({ kind: 'retry'; is_cut_off: boolean } & NextTry)
    | { kind: 'elsewhere'; mailbox_id: number };
  apply(tx: Tx): void;
  /** Once that is on disk. */
  afterCommit?: () => void;
}

export class Attempts {
  readonly #handing: Handing;
  /** How this server's attempts ended, since its start. */
  readonly outcomes = new Tally<AttemptOutcome>(['sent', 'captured']);

  constructor(
    private readonly deps: AttemptsDeps,
    private readonly listeners: Listeners,
  ) {
    this.#handing = new Handing(deps, listeners);
  }

  /** The task of the jobs that are one email each. */
  task(): Task<Attempt> {
    return {
      type: emailJobs.type,
      lane_concurrency: LANE_CONCURRENCY,
      gate: (tx, lane, asked) => this.#gate(tx, lane, asked),
      begin: (tx, job, now_ms) => this.begin(tx, job, now_ms),
      run: async (_job, attempt) => outcomeOf(attempt, await this.run(attempt)),
      recover: (tx, job, now_ms) => this.#recover(tx, job, now_ms),
      abandon: (tx, job, _error, now_ms) => this.abandon(tx, emailJobs.emailOf(job), now_ms),
    };
  }

  /**
   * Chooses the mailbox and puts the attempt on record, within the transaction that takes the job up. Where
   * that is not the mailbox whose lane the job waits in, the job goes into that one's lane instead, unless it
   * is in `any_lane`. Where its mailbox is away and no other one may take the mail, it goes into a lane where
   * it is left alone until its mailbox may be tried.
   */
  begin(tx: Tx, job: JobRow, now_ms: number, options = { any_lane: false }): Beginning<Attempt> {
    const email = emailLife.find(tx, emailJobs.emailOf(job));
    if (!email) return over({ status: 'failed', error: 'The email was deleted.' }, null);
    const left = recipientsLeft(tx, email);
    if (left.recipients === null) return over(left, email.id);
    const tried = triedBefore(tx, email);
    const asked = requestOf(email, tried, now_ms);
    const candidates = listCandidates(tx, asked);
    const choice = options.any_lane
      ? takeMailbox(tx, asked, candidates, (id) => this.#isLate(tx, id, now_ms))
      : this.take(tx, asked, candidates);
    if (choice.ok && !options.any_lane) {
      const lane = emailJobs.laneOf(email, choice.mailbox_id, { is_left_alone: choice.is_late });
      if (lane !== job.lane) {
        emailLife.move(tx, email.id, { mailbox_id: choice.mailbox_id, quota_day: asked.day });
        return { go: false, wait: { lane } };
      }
    }
    // Attempts that a crash cut off don't count towards the most that there may be.
    const budget = { counted: job.attempts - job.interruptions, max_attempts: job.max_attempts };
    const begun = { email, recipients: left.recipients, choice, tried, now_ms, ...budget };
    return { go: true, started: this.start(tx, begun, { is_waited_for: options.any_lane }) };
  }

  /** Counts one mail more in the pace of its mailbox, and puts the attempt at it on record. */
  start(
    tx: Tx,
    begun: Omit<Parameters<typeof putOnRecord>[1], 'not_before'>,
    options = { is_waited_for: false },
  ): Attempt {
    const { email, choice, now_ms } = begun;
    const has_pace = choice.ok && !email.is_test;
    const not_before = has_pace
      ? this.deps.mailboxes.pace.take(tx, choice.mailbox_id, now_ms, options)
      : now_ms;
    return putOnRecord(tx, { ...begun, not_before });
  }

  /**
   * How many mails of a lane may begin now, by the pace of its mailbox, and when the next one may. While that
   * is away, all may, so that those leave its lane which another mailbox may take.
   */
  #gate(tx: Tx, lane: string, asked: { now_ms: number; most: number }): Opening | null {
    const { pace } = this.deps.mailboxes;
    const mailbox_id = emailJobs.mailboxOf(lane);
    const opening = pace.roomNow(tx, mailbox_id, asked);
    const is_shut = opening?.room === 0 && !emailJobs.isLeftAlone(lane);
    return is_shut && pace.isAway(tx, mailbox_id, asked.now_ms) ? { ...opening, room: asked.most } : opening;
  }

  /** The mailbox of a mail: one that is away only where there is no other. */
  take(tx: Tx, asked: ChoiceRequest, candidates: readonly Candidate[]): Choice {
    return takeMailbox(tx, asked, candidates, (id) => this.deps.mailboxes.pace.isAway(tx, id, asked.now_ms));
  }

  /** For a client that waits: whether a mailbox has no turn soon. */
  #isLate(tx: Tx, mailbox_id: number, now_ms: number): boolean {
    const opening = this.deps.mailboxes.pace.roomNow(tx, mailbox_id, { now_ms, most: 1 });
    return opening !== null && opening.opens_at - now_ms > PACE_CLIENT_WAIT_MS;
  }

  /**
   * Hands the mail to its relay. Never throws for what that does. What comes back is yet to be recorded.
   * Where the relay could not be used and another mailbox fits, the same attempt goes on with that one.
   */
  async run(attempt: Attempt): Promise<Conclusion & { otherwise?: () => Conclusion }> {
    const handed = await this.#handing.hand(attempt);
    const { health } = this.deps.mailboxes;
    const has_failed = health.hasFailedToConnect(handed.outcome) && !(attempt.mailbox instanceof AppError);
    const next = has_failed ? this.#nextAfter(attempt) : null;
    const conclude = (): Conclusion => this.#conclude(attempt, handed);
    if (!next?.ok) return conclude();
    return { ...this.#passOn(attempt, { handed, next }), otherwise: conclude };
  }

  /**
   * The mailbox with which an attempt goes on, as things stand now: it is chosen for good when the attempt is
   * taken up.
   */
  #nextAfter({ id, email }: Attempt): Choice {
    const { read } = this.deps.database;
    const tried = id === null ? [email.from_email] : store.listTriedMailboxes(read, email.id, email.attempts);
    const request = requestOf(email, tried, this.deps.clock.now());
    return chooseMailbox(listCandidates(read, request), request);
  }

  /** The attempt goes on with another mailbox, where it counts as the same one. */
  #passOn(attempt: Attempt, to: { handed: Handed; next: ChosenMailbox }): Conclusion {
    const { email } = attempt;
    const { outcome } = to.handed;
    const { next: _none, ...verdict } = this.#judge(attempt, to.handed);
    const apply = (tx: Tx): void => {
      if (emailLife.passOn(tx, email.id) === 0) return;
      const now_ms = this.deps.clock.now();
      recordEnd(tx, attempt, { outcome: 'unreachable', verdict, now_ms });
      this.outcomes.add('unreachable');
      this.#tellMailbox(tx, attempt, outcome, now_ms);
    };
    return { verdict, next: { kind: 'elsewhere', mailbox_id: to.next.mailbox_id }, apply };
  }

  #judge(attempt: Attempt, handed: Handed): Verdict & { next: NextTry | null } {
    const { outcome } = handed;
    const { email, recipients } = attempt;
    const { to_email, taken, refused } = email;
    const is_done = outcome.outcome === 'sent' && outcome.rejected.length === 0;
    // Where everybody has the mail, nothing is left to decide.
    const tries = is_done ? null : this.#triesOf(attempt, handed);
    const at = { now_ms: this.deps.clock.now(), random: Math.random() };
    const next = tries && nextTry(tries, this.deps.patience, at);
    const may_retry = next !== null;
    const is_unanswered = (tries?.unanswered ?? null) !== null;
    const given = {
      to_email,
      recipients,
      taken,
      refused,
      may_retry,
      is_unanswered,
      tries: tries?.counted ?? 1,
    };
    return { ...judge(outcome, given), next };
  }

  #triesOf(attempt: Attempt, handed: Handed): Tries {
    const { outcome } = handed;
    const { id, email, started_at, counted, max_attempts } = attempt;
    const { read } = this.deps.database;
    const since_ms = email.queued_at ?? started_at;
    const known = store.countTries(read, email.id, since_ms);
    const all = email.attempts > 1 ? store.listAttempts(read, email.id) : [];
    const earlier = all.filter((one) => one.id !== id);
    const last = {
      attempt: email.attempts,
      outcome: attemptOutcomeOf(handed),
      smtp_code: outcome.smtp_code,
      started_at,
      finished_at: this.deps.clock.now(),
    };
    // One without a row is not among them.
    const made = known.made + (id === null ? 1 : 0);
    return {
      source: email.source,
      counted: isBulk(email.source) ? made : counted,
      max_attempts,
      made,
      first_at: Math.min(known.first_at ?? started_at, started_at),
      slowdown: outcome.slowdown ?? null,
      is_free: last.outcome === 'postponed',
      unanswered: unansweredOf([...earlier, last], since_ms),
    };
  }

  #conclude(attempt: Attempt, handed: Handed): Conclusion {
    const { email } = attempt;
    const { next, ...verdict } = this.#judge(attempt, handed);
    const apply = (tx: Tx): void => this.#record(tx, attempt, { ...handed, verdict });
    if (!verdict.is_over && next) {
      const is_cut_off = handed.outcome.outcome === 'interrupted';
      return { verdict, next: { kind: 'retry', is_cut_off, ...next }, apply };
    }
    const released = email.attachments.map((attachment) => attachment.public_id);
    const release = (): void => void this.deps.objects.releaseBytes(released).catch(() => {});
    return {
      verdict,
      next: { kind: 'over' },
      apply,
      ...(released.length > 0 ? { afterCommit: release } : {}),
    };
  }

  /**
   * Writes what an attempt came to: the log, its own row, the mailbox's health, captures and pins. Nothing of a
   * mail that is gone, with its project.
   */
  #record(tx: Tx, attempt: Attempt, end: Handed & { verdict: Verdict }): void {
    const { email, mailbox } = attempt;
    const { outcome, verdict, captured } = end;
    const now_ms = this.deps.clock.now();
    const ended = attemptOutcomeOf(end);
    const complainer = captured?.envelope.to.find(isComplaintAddress);
    const status = complainer === undefined ? verdict.status : 'complained';
    const has_row = attempt.id !== null || ended !== 'sent' || verdict.refused.length > 0;
    const tls = has_row ? null : outcome.tls;
    const state = { ...verdict, status, tls, is_captured: captured !== null } as const;
    const after = emailLife.end(tx, email, state, now_ms);
    if (!after) return;
    if (has_row) recordEnd(tx, attempt, { outcome: ended, verdict, now_ms });
    this.outcomes.add(ended);
    this.#tellMailbox(tx, attempt, outcome, now_ms);
    if (captured && !(mailbox instanceof AppError)) {
      const { raw, envelope } = captured;
      store.insertCaptured(tx, {
        email_id: email.id,
        mailbox: mailbox.address,
        envelope,
        raw: Buffer.from(raw),
        captured_at: now_ms,
      });
    }
    if (after.is_emptied) store.emptyDelivery(tx, email.id);
    const is_captured = email.is_test || end.is_simulated === true;
    this.#announce(tx, email, { verdict, complainer, is_captured, at: now_ms });
    // One that was cut off, or that nobody was asked about, was not refused.
    if (verdict.status === 'queued' && ended !== 'interrupted' && ended !== 'postponed')
      this.listeners.tell(tx, email, { kind: 'deferred', address: email.to_email, is_captured, at: now_ms });
  }

  /** Notes what its mailbox is to know. */
  #tellMailbox(
    tx: Tx,
    { mailbox, started_at, email }: Attempt,
    outcome: DeliveryOutcome,
    now_ms: number,
  ): void {
    if (mailbox instanceof AppError || email.is_test) return;
    const { mailbox_id } = mailbox;
    const { health, pace } = this.deps.mailboxes;
    health.recordOutcome(tx, mailbox_id, outcome, { started_at, now_ms });
    pace.record(tx, mailbox_id, outcome, { started_at, now_ms });
  }

  #announce(
    tx: Tx,
    email: EmailRow,
    end: { verdict: Verdict; complainer: string | undefined; is_captured: boolean; at: number },
  ): void {
    const { verdict, is_captured, at } = end;
    const { to_email } = email;
    if (verdict.status === 'sent' && !email.taken.includes(to_email))
      this.listeners.tell(tx, email, { kind: 'sent', address: to_email, is_captured, at });
    const refused = verdict.refused.slice(email.refused.length);
    if (verdict.status === 'failed' || verdict.status === 'unknown') {
      const is_refused = refused.some((one) => one.address === to_email && isOfOurs(one));
      const failed = { kind: verdict.status, address: to_email, at, is_refused, is_captured };
      this.listeners.tell(tx, email, failed);
    }
    if (end.complainer !== undefined)
      this.listeners.tell(tx, email, { kind: 'complained', address: end.complainer, is_captured, at });
    for (const { address, about, smtp_code, response } of refused) {
      if (about === 'recipient')
        this.listeners.tell(tx, email, { kind: 'bounced', address, is_captured, at });
      // Counts among the soft bounces of its address, as a report of one does.
      const told = { kind: 'soft_bounced', evidence: { address, smtp_code, words: response } } as const;
      if (about === 'full') report(tx, { email_id: email.id, ...told, is_captured, at }, this.listeners);
    }
  }

  /** Mends what a crash cut off: the attempt stays on record, and the email waits again. */
  #recover(tx: Tx, job: JobRow, now_ms: number): void {
    const email = emailLife.find(tx, emailJobs.emailOf(job));
    if (!email) return;
    interruptAttempts(tx, email, now_ms);
    if (email.status === 'sending') emailLife.wait(tx, email.id, null);
  }

  /** Records a failure of Satchel's own making, of an email or of a job's. */
  abandon(tx: Tx, id: string, now_ms: number): void {
    const email = emailLife.find(tx, id);
    if (!email) return;
    interruptAttempts(tx, email, now_ms);
    if (emailLife.breakDown(tx, email, now_ms))
      this.listeners.tell(tx, email, { kind: 'failed', address: email.to_email, at: now_ms });
  }
}

/** Ends an attempt's row, which it gets now where it had none. */
function recordEnd(
  tx: Tx,
  attempt: Attempt,
  { outcome, verdict, now_ms }: { outcome: AttemptOutcome; verdict: Verdict; now_ms: number },
): void {
  const { said, may_be_sent } = verdict;
  store.endAttempt(tx, attempt.id ?? insertRow(tx, attempt), { outcome, ...said, may_be_sent }, now_ms);
}

/** An attempt's end, as its job's. */
export function outcomeOf(
  { email }: Attempt,
  { verdict, next, apply, afterCommit }: Conclusion,
): TaskOutcome {
  if (next.kind === 'elsewhere')
    return { status: 'continue', lane: emailJobs.laneOf(email, next.mailbox_id), apply };
  if (next.kind === 'retry') return { status: 'retry', error: verdict.error ?? 'deferred', ...next, apply };
  const is_sent = verdict.status === 'sent';
  return {
    status: is_sent ? 'completed' : 'failed',
    result: { email_id: email.id },
    error: is_sent ? null : verdict.error,
    apply,
    ...(afterCommit ? { afterCommit } : {}),
  };
}

function over(
  { status, error }: { status: 'completed' | 'failed'; error: string | null },
  email_id: string | null,
): Beginning<Attempt> {
  return { go: false, end: { status, result: email_id === null ? null : { email_id }, error } };
}
