/**
 * Sending bulk mail. The job of a mailbox hands what is due to its relay, a piece at a time: each commit ends
 * what the relay has answered and begins as much as it is likely to take until the next one. What has not
 * begun can still be held or taken back; a crash sends again only what had begun and not been settled.
 */

import { messageOf } from '../../errors.ts';
import { type Database, mayPass, persist, type Tx } from '../../platform/database/database.ts';
import type { Clock } from '../../platform/host/clock.ts';
import type { Logger } from '../../platform/host/logger.ts';
import { sqliteErrorOf } from '../../platform/host/shortages.ts';
import { inTurn } from '../../platform/host/turns.ts';
import { PieceSize } from '../../platform/host/waiting.ts';
import type { Task, TaskOutcome } from '../../platform/jobs/engine.ts';
import { AT_ONCE, HELD, isHeld } from '../../platform/jobs/store.ts';
import { bulkQueues, type EmailRow, type Emails, emailLife } from '../emails/service.ts';
import { type Candidate, type Choice, listCandidates, type Mailboxes } from '../mailboxes/service.ts';
import type { Attempts, Conclusion } from './attempts.ts';
import { type Attempt, interruptAttempts, recipientsLeft, requestOf, triedBefore } from './beginning.ts';
import type { Listeners } from './listeners.ts';
import { endWithheld } from './withholding.ts';

/**
 * Mails that may be in flight at once: few where the relay is slow, so that a pause stops the rest, and
 * enough for a fast one.
 */
export const LEAST_IN_FLIGHT = 10;
const MOST_IN_FLIGHT = 100;
/** Answers settled, and as many mails begun, in one transaction: of a first one, and of any. More would save no more of the disk. */
const FIRST_PIECE = 25;
const MOST_IN_PIECE = 50;
/** An answer is settled with those that come in this time after it. */
const SETTLE_MS = 50;
/** How soon a queue looks for more mail while what is in flight leaves room. */
const LOOK_MS = 200;
/**
 * A queue looks this long after its mailbox has a turn, as mail that somebody waits for goes first. A pace
 * lets mail catch up by more than this.
 */
const BEHIND_TURN_MS = 10;
/**
 * A queue whose mail waits for its pace or window looks again after this, as both may be changed meanwhile.
 */
const LOOK_AGAIN_MS = 60_000;
/** How long a queue pauses after it broke down. */
const BREAK_MS = 60_000;
/**
 * Nothing could be written as this process stopped: the next start finds what is in flight as after a crash.
 */
const CUT_OFF: TaskOutcome = {
  status: 'retry',
  error: 'the server stopped',
  run_at: AT_ONCE,
  is_cut_off: true,
};

export interface BulkSendingDeps {
  database: Database;
  clock: Clock;
  logger: Logger;
  mailboxes: Pick<Mailboxes, 'pace'>;
  emails: Pick<Emails, 'wakeQueue' | 'takeBack'>;
}

/** A mail that was handed over; no conclusion where Satchel itself broke down. */
interface Ended {
  attempt: Attempt;
  conclusion: Conclusion | null;
}

export class BulkSending {
  /** By mailbox, the project that was served last. */
  readonly #served = new Map<number, number>();

  constructor(
    private readonly deps: BulkSendingDeps,
    private readonly attempts: Attempts,
    private readonly listeners: Listeners,
  ) {}

  /** The task of the jobs that send bulk mail, one for each mailbox. */
  task(): Task<number> {
    return {
      type: bulkQueues.type,
      lane_concurrency: 1,
      begin: (_tx, job) => ({ go: true, started: bulkQueues.mailboxOf(job) }),
      run: (_job, mailbox_id, stopping) =>
        this.#run(mailbox_id, stopping).catch((error: unknown) =>
          stopping.aborted && mayPass(error) ? CUT_OFF : this.#breakDown(mailbox_id, error),
        ),
      recover: (tx, job, now_ms) => this.#recover(tx, bulkQueues.mailboxOf(job), now_ms),
    };
  }

  /** Sends what is due until nothing is, or `stopping`. */
  async #run(mailbox_id: number, stopping: AbortSignal): Promise<TaskOutcome> {
    const in_flight = new InFlight();
    const size = new PieceSize(FIRST_PIECE, MOST_IN_PIECE);
    for (;;) {
      const ended = in_flight.takeEnded(size.next);
      const room = stopping.aborted ? 0 : Math.min(in_flight.room, size.next);
      const piece = (tx: Tx): Begun => {
        const now_ms = this.deps.clock.now();
        for (const end of ended) this.#settle(tx, end, { now_ms, is_stopping: stopping.aborted });
        return room === 0
          ? { attempts: [], has_moved: false }
          : this.#begin(tx, mailbox_id, { now_ms, room });
      };
      const begun = await persist(
        () =>
          this.deps.database.writePiece((tx) =>
            size.learn(
              () => piece(tx),
              ({ attempts }) => Math.max(ended.length, attempts.length),
            ),
          ),
        () => stopping.aborted,
      );
      for (const { conclusion } of ended) conclusion?.afterCommit?.();
      for (const attempt of begun.attempts) in_flight.take(this.#send(attempt));
      if (in_flight.is_behind || begun.has_moved) continue;
      if (in_flight.is_empty) return { status: 'continue', run_at: (tx) => this.#nextAt(tx, mailbox_id) };
      do await in_flight.wait(this.#lookIn(mailbox_id, in_flight));
      while (!in_flight.has_ended && !(in_flight.room > 0 && this.#isDue(mailbox_id)));
    }
  }

  /**
   * Ends what is in flight when, by a fault of ours, nothing can be written of it. It fails, as it would be
   * sent time and again. The rest goes on.
   */
  #breakDown(mailbox_id: number, error: unknown): TaskOutcome {
    const { logger, clock } = this.deps;
    logger.error('sending bulk mail failed unexpectedly', { mailbox_id, error: messageOf(error) });
    const now_ms = clock.now();
    const apply = (tx: Tx): void => {
      for (const { id } of bulkQueues.listBegun(tx, mailbox_id)) this.attempts.abandon(tx, id, now_ms);
    };
    return { status: 'continue', run_at: now_ms + BREAK_MS, apply };
  }

  async #send(attempt: Attempt): Promise<Ended> {
    try {
      return { attempt, conclusion: await this.attempts.run(attempt) };
    } catch (error) {
      this.#logFailure(attempt.email, error);
      return { attempt, conclusion: null };
    }
  }

  /* --- Beginning ---------------------------------------------------------------------------------------------------- */

  /**
   * Puts attempts at up to `room` mails on record that are due and whose mailbox's pace lets them go. While
   * that is away, those leave its queue which another mailbox may take.
   */
  #begin(tx: Tx, mailbox_id: number, { now_ms, room }: { now_ms: number; room: number }): Begun {
    const { pace } = this.deps.mailboxes;
    const allowed = pace.roomNow(tx, mailbox_id, { now_ms, most: room })?.room ?? room;
    const is_away = allowed === 0 && pace.isAway(tx, mailbox_id, now_ms);
    const due = this.#deal(tx, mailbox_id, { now_ms, room: is_away ? room : allowed });
    const piece = { mailbox_id, now_ms, candidates: new Map(), choices: new Map(), has_moved: false };
    const attempts = due.flatMap(
      (email) => this.#guarded(tx, email, now_ms, () => this.#beginOne(tx, email, piece)) ?? [],
    );
    return { attempts, has_moved: piece.has_moved };
  }

  /** Mail that is due, its projects in turn. */
  #deal(tx: Tx, mailbox_id: number, { now_ms, room }: { now_ms: number; room: number }): EmailRow[] {
    const waiting = bulkQueues
      .listProjects(tx, mailbox_id)
      .filter(
        ({ project_id, due_at }) => due_at <= now_ms && this.listeners.opensAt(project_id, now_ms) <= now_ms,
      );
    const last = this.#served.get(mailbox_id) ?? 0;
    const order = inTurn(waiting, ({ project_id }) => project_id > last);
    const share = Math.max(1, Math.floor(room / Math.max(order.length, 1)));
    const dealt: EmailRow[] = [];
    for (const { project_id } of order) {
      const limit = Math.min(share, room - dealt.length);
      if (limit <= 0) break;
      dealt.push(...bulkQueues.listDue(tx, mailbox_id, project_id, now_ms, limit));
      this.#served.set(mailbox_id, project_id);
    }
    return dealt;
  }

  /** Null where no attempt begins: the mail is over, held, or goes out from another mailbox. */
  #beginOne(tx: Tx, email: EmailRow, piece: PieceBegun): Attempt | null {
    const { mailbox_id, now_ms } = piece;
    const left = recipientsLeft(tx, email);
    if (left.recipients === null) {
      emailLife.finish(tx, email.id, { status: 'canceled' });
      return null;
    }
    const tried = triedBefore(tx, email);
    // Waiting mail of campaigns is held or taken back at once; mail that was being tried then, and has not left, is asked
    // about here, and so is all that came by another product's API.
    const is_asked = email.attempts > 0 || tried.length > 0 || email.source === 'mailgun_bulk';
    const decision = is_asked ? this.listeners.decideSend(tx, email) : 'send';
    if (decision !== 'send') {
      if (decision === 'hold') emailLife.wait(tx, email.id, HELD);
      else endWithheld(tx, email, { emails: this.deps.emails, listeners: this.listeners, now_ms });
      return null;
    }
    const choice = this.#choose(tx, email, { ...piece, tried });
    if (choice.ok && choice.mailbox_id !== mailbox_id) {
      const quota_day = email.quota_day ?? requestOf(email, tried, now_ms).day;
      emailLife.move(tx, email.id, { mailbox_id: choice.mailbox_id, quota_day });
      this.deps.emails.wakeQueue(tx, choice.mailbox_id, AT_ONCE);
      piece.has_moved = true;
      return null;
    }
    if (choice.ok && choice.is_late) return null;
    const budget = { counted: email.attempts + 1, max_attempts: Number.POSITIVE_INFINITY };
    return this.attempts.start(tx, { email, recipients: left.recipients, choice, tried, now_ms, ...budget });
  }

  /**
   * Chosen once for all mails of a piece that ask for the same and have their place in this mailbox's quota.
   */
  #choose(tx: Tx, email: EmailRow, piece: PieceBegun & { tried: readonly string[] }): Choice {
    const { tried, now_ms, choices, candidates, mailbox_id } = piece;
    const request = requestOf(email, tried, now_ms);
    const key = JSON.stringify(request);
    const known = choices.get(key);
    if (known) return known;
    const { project_id, day } = request;
    const those = `${project_id} ${day}`;
    const all = candidates.get(those) ?? listCandidates(tx, request);
    candidates.set(those, all);
    const choice = this.attempts.take(tx, request, all);
    // Its place moved with it, so that the quotas read before no longer hold.
    if (choice.ok && choice.mailbox_id !== mailbox_id) candidates.clear();
    else choices.set(key, choice);
    return choice;
  }

  /**
   * When the next mail of a mailbox may begin, or is worth a look; null where none waits but what is held.
   */
  #nextAt(tx: Tx, mailbox_id: number): number | null {
    const now_ms = this.deps.clock.now();
    const waiting = bulkQueues.listProjects(tx, mailbox_id).filter(({ due_at }) => !isHeld(due_at));
    if (waiting.length === 0) return null;
    const due_at = Math.min(...waiting.map((first) => first.due_at));
    const open_at = Math.min(
      ...waiting.map((first) => this.listeners.opensAt(first.project_id, Math.max(first.due_at, now_ms))),
    );
    const opening = this.deps.mailboxes.pace.roomNow(tx, mailbox_id, { now_ms, most: 1 });
    const next_at = opening?.room === 0 ? Math.max(open_at, opening.opens_at) : open_at;
    return Math.min(next_at, Math.max(due_at, now_ms + LOOK_AGAIN_MS));
  }

  #isDue(mailbox_id: number): boolean {
    const next_at = this.#nextAt(this.deps.database.read, mailbox_id);
    return next_at !== null && next_at <= this.deps.clock.now();
  }

  /** In how many milliseconds there may be mail to begin with. */
  #lookIn(mailbox_id: number, in_flight: InFlight): number {
    const next_at = in_flight.room > 0 ? this.#nextAt(this.deps.database.read, mailbox_id) : null;
    if (next_at === null) return LOOK_MS;
    return Math.min(Math.max(next_at - this.deps.clock.now(), 0) + BEHIND_TURN_MS, LOOK_MS);
  }

  /* --- Settling ----------------------------------------------------------------------------------------------------- */

  #settle(tx: Tx, { attempt, conclusion }: Ended, at: { now_ms: number; is_stopping: boolean }): void {
    const { email } = attempt;
    if (conclusion === null) {
      this.attempts.abandon(tx, email.id, at.now_ms);
      return;
    }
    const { next, apply } = conclusion;
    if (at.is_stopping && next.kind === 'retry' && next.is_cut_off) {
      putBack(tx, email, at.now_ms);
      return;
    }
    this.#guarded(tx, email, at.now_ms, () => {
      apply(tx);
      if (next.kind === 'retry') emailLife.wait(tx, email.id, next.run_at);
      // It is moved to the queue of the other mailbox as it begins again.
      if (next.kind === 'elsewhere') emailLife.wait(tx, email.id, AT_ONCE);
    });
  }

  /** Fails a mail that can't be dealt with by a fault of ours. It would keep all others from being sent. */
  #guarded<T>(tx: Tx, email: EmailRow, now_ms: number, change: () => T): T | null {
    try {
      return change();
    } catch (error) {
      const code = sqliteErrorOf(error)?.code;
      if (code !== undefined && !code.startsWith('SQLITE_CONSTRAINT')) throw error;
      this.#logFailure(email, error);
      this.attempts.abandon(tx, email.id, now_ms);
      return null;
    }
  }

  #logFailure({ id }: EmailRow, error: unknown): void {
    this.deps.logger.error('sending failed unexpectedly', { email_id: id, error: messageOf(error) });
  }

  /** What had begun when the server was killed waits again; the attempt stays on record. */
  #recover(tx: Tx, mailbox_id: number, now_ms: number): void {
    for (const email of bulkQueues.listBegun(tx, mailbox_id)) putBack(tx, email, now_ms);
  }
}

/**
 * Has a mail wait again whose attempt a crash or a stop cut off. The attempt does not count. Nothing of a mail
 * that is gone, with its project.
 */
function putBack(tx: Tx, email: EmailRow, now_ms: number): void {
  if (!emailLife.find(tx, email.id)) return;
  interruptAttempts(tx, email, now_ms);
  emailLife.wait(tx, email.id, AT_ONCE);
}

/** A piece that has begun: attempts to be made, and whether mail has gone to other queues. */
interface Begun {
  attempts: Attempt[];
  has_moved: boolean;
}

/** The mails of a piece share this as they begin. */
interface PieceBegun extends Pick<Begun, 'has_moved'> {
  mailbox_id: number;
  now_ms: number;
  /** By project and day. */
  candidates: Map<string, Candidate[]>;
  choices: Map<string, Choice>;
}

/**
 * The mails in flight: begun, or answered and not yet settled. It takes more while the relay answers fast.
 */
class InFlight {
  is_behind = false;
  #most = LEAST_IN_FLIGHT;
  #under_way = 0;
  #ended: Ended[] = [];
  #onEnded: () => void = () => {};

  get room(): number {
    return Math.max(0, this.#most - this.#under_way);
  }

  get is_empty(): boolean {
    return this.#under_way === 0 && this.#ended.length === 0;
  }

  get has_ended(): boolean {
    return this.#ended.length > 0;
  }

  take(sending: Promise<Ended>): void {
    this.#under_way += 1;
    void sending.then((end) => {
      this.#under_way -= 1;
      this.#ended.push(end);
      this.#onEnded();
    });
  }

  /** Up to so many of those that have been answered; while more had, it is behind. */
  takeEnded(most: number): Ended[] {
    const taken = this.#ended.splice(0, most);
    this.is_behind = this.#ended.length > 0;
    return taken;
  }

  /**
   * Until half of what may be in flight has been answered, SETTLE_MS after the first answer, or for
   * `look_ms`.
   */
  async wait(look_ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = setTimeout(resolve, look_ms);
    let settle: Timer | undefined;
    const onEnded = (): void => {
      if (this.#ended.length >= this.#most / 2 || this.#under_way === 0) resolve();
      else if (this.has_ended) settle ??= setTimeout(resolve, SETTLE_MS);
    };
    this.#onEnded = onEnded;
    onEnded();
    await promise;
    clearTimeout(look);
    clearTimeout(settle);
    this.#onEnded = () => {};
    const answered = this.#ended.length;
    if (answered >= this.#most / 2) this.#most = Math.min(this.#most * 2, MOST_IN_FLIGHT);
    else if (answered < this.#most / 4) this.#most = Math.max(this.#most / 2, LEAST_IN_FLIGHT);
  }
}
