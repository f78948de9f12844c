/**
 * The job engine: claims due jobs, runs their tasks, records how they ended. It sleeps until the next
 * `run_at`. An enqueue, a task that ended or another process that wrote wakes it; it never polls.
 */
import { messageOf } from '../../errors.ts';
import { DATABASE_RETRY_MS, type Database, mayPass, persist, type Tx } from '../database/database.ts';
import type { JobRow } from '../database/tables.ts';
import { type Clock, monotonicMs } from '../host/clock.ts';
import type { EventLoopWatch } from '../host/event-loop.ts';
import type { Logger } from '../host/logger.ts';
import { sqliteErrorOf } from '../host/shortages.ts';
import { inTurn } from '../host/turns.ts';
import { until } from '../host/waiting.ts';
import {
  AT_ONCE,
  continueJob,
  finishJob,
  insertJob,
  type JobEnd,
  laneOf,
  listDueJobs,
  listInterruptedJobs,
  listPendingGroups,
  type NewJob,
  type PendingGroup,
  postponeJob,
  requeueInterruptedJob,
  shiftRetries,
  startJob,
} from './store.ts';

/**
 * How many jobs one claim takes from all lanes together. One commit carries many attempts, and requests wait
 * no longer for it than for other changes.
 */
export const JOB_CLAIM_BATCH = 20;
/** setTimeout overflows past 2^31 ms. Sleeping in pieces of at most this also notices a clock that jumped. */
const JOB_MAX_SLEEP_MS = 60_000;

/**
 * How one attempt ended. `apply` runs in the transaction that records it. `afterCommit` runs once that is on
 * disk, for what is no row, such as files.
 */
export type TaskOutcome =
  | (JobEnd & { apply?: (tx: Tx) => void; afterCommit?: () => void })
  | {
      status: 'retry';
      error: string;
      run_at: number;
      apply?: (tx: Tx) => void;
      /** False: the attempt is none of those after which it fails. */
      counts?: boolean;
      /** The attempt was cut off by the stop of this process, so that it came to nothing. */
      is_cut_off?: boolean;
    }
  /**
   * Continues later (at once unless told), in another lane where one is named. The attempt is not counted. A
   * function decides when, in the transaction that records it, so that nothing comes in between. It returns
   * null where nothing is left to do, and the job is completed.
   */
  | {
      status: 'continue';
      run_at?: number | ((tx: Tx) => number | null);
      lane?: string;
      apply?: (tx: Tx) => void;
    };

/** The decision of `begin` within the claim: run with this, end already, or wait, which costs no attempt. */
export type Beginning<Started> =
  | { go: true; started: Started }
  | { go: false; end: JobEnd }
  | { go: false; wait: { lane?: string; run_at?: number } };

/** How many jobs of a lane may begin now, however many may run at once, and when the next one may. */
export interface Opening {
  room: number;
  opens_at: number;
}

/** The function that runs jobs of one type. */
export interface Task<Started = unknown> {
  type: string;
  /** How many jobs of one lane may run at once. */
  lane_concurrency: number;
  /** For lanes with a pace; null for one that goes as fast as it can. Asked in the claim's transaction. */
  gate?(tx: Tx, lane: string, asked: { now_ms: number; most: number }): Opening | null;
  /** Runs in the claim's transaction; `job.attempts` counts this attempt already. A throw ends the job. */
  begin(tx: Tx, job: JobRow, now_ms: number): Beginning<Started>;
  /**
   * Does the work. A throw ends the job, as an unexpected failure. After a full disk or a busy database it
   * runs again, as after a crash. `stopping` is aborted when this process is to stop: a long task then ends
   * soon with `continue`, or runs anew at the next start.
   */
  run(job: JobRow, started: Started, stopping: AbortSignal): Promise<TaskOutcome>;
  /** Mends what an attempt cut off by a crash left behind; runs in the transaction that puts the job back. */
  recover?(tx: Tx, job: JobRow, now_ms: number): void;
  /** Records an unexpected failure of `run` in the noun's own rows. */
  abandon?(tx: Tx, job: JobRow, error: string, now_ms: number): void;
}

/** Where nouns put work without knowing who does it. */
export interface JobQueue {
  enqueue(tx: Tx, job: NewJob): string;
  /** Has a job that waits come earlier. */
  hasten(tx: Tx, job_id: string, run_at: number): void;
}

export interface JobEngine {
  /** Adds a job in the given transaction and wakes the engine once it has committed. Returns the job's id. */
  enqueue(tx: Tx, job: NewJob): string;
  /** Requeues what a crash interrupted, then starts claiming. */
  start(): Promise<void>;
  wake(): void;
  /** Resolves when nothing is due and nothing runs; for tests and for commands that wait. */
  whenIdle(): Promise<void>;
  /** Claims nothing more, tells running tasks to stop and waits for them, for at most `deadline_ms`. */
  stop(deadline_ms: number): Promise<void>;
}

interface Claimed {
  job: JobRow;
  task: Task;
  started: unknown;
}

interface JobEngineOptions {
  database: Database;
  clock: Clock;
  logger: Logger;
  tasks: readonly Task[];
  /** Whether jobs of a project may begin. Others wait until a wake finds that they may. Default: all may. */
  mayBegin?: (tx: Tx, project_id: number) => boolean;
  event_loop?: Pick<EventLoopWatch, 'enter' | 'leave'>;
}

export function createJobEngine(options: JobEngineOptions): JobEngine {
  return new Engine(options);
}

class Engine implements JobEngine {
  readonly #database: Database;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #tasks: ReadonlyMap<string, Task>;
  readonly #mayBegin: (tx: Tx, project_id: number) => boolean;
  readonly #running_by_lane = new Map<string, number>();
  /** The project served last in each lane: the next claim starts after it. */
  readonly #last_project = new Map<string, number>();
  /** The lane served last, of each priority. */
  readonly #last_lane = new Map<number, string>();
  #running = 0;
  #is_started = false;
  readonly #stopping = new AbortController();
  #is_claiming = false;
  #wake_again = false;
  #has_wake_planned = false;
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** When the next claim comes by itself. */
  #planned_at = Number.POSITIVE_INFINITY;
  #idle_waiters: (() => void)[] = [];
  #clock_offset_ms = 0;

  constructor(private readonly options: JobEngineOptions) {
    this.#database = options.database;
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#tasks = new Map(options.tasks.map((task) => [task.type, task]));
    this.#mayBegin = options.mayBegin ?? (() => true);
  }

  enqueue(tx: Tx, job: NewJob): string {
    const id = insertJob(tx, job, this.#clock.now());
    if (!this.#isForeseen(job)) this.wake();
    return id;
  }

  /** Whether a claim that could take the job follows anyhow: at its time, or when its full lane gets room. */
  #isForeseen(job: NewJob): boolean {
    if (this.#is_claiming) return false;
    if ((job.run_at ?? AT_ONCE) >= this.#planned_at) return true;
    return this.#roomOf(laneOf(job), this.#running_by_lane) <= 0;
  }

  async start(): Promise<void> {
    this.#clock_offset_ms = this.#clockOffset();
    const now = this.#clock.now();
    const interrupted = listInterruptedJobs(this.#database.read);
    // After an orderly stop there are none, and no commit to wait for before the first request.
    if (interrupted.length > 0) {
      await this.#database.write((tx) => {
        for (const job of interrupted) {
          requeueInterruptedJob(tx, job.id);
          this.#tasks.get(job.type)?.recover?.(tx, job, now);
        }
      });
      this.#logger.warn('jobs interrupted by the last stop run again', { count: interrupted.length });
    }
    this.#is_started = true;
    this.wake();
  }

  wake(): void {
    if (!this.#is_started || this.#stopping.signal.aborted || this.#has_wake_planned) return;
    this.#has_wake_planned = true;
    // One turn later the transaction that enqueued has committed, and several wakes have become one.
    setTimeout(() => {
      this.#has_wake_planned = false;
      void this.#claim();
    }, 0);
  }

  whenIdle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idle_waiters.push(resolve);
      this.wake();
    });
  }

  async stop(deadline_ms: number): Promise<void> {
    this.#stopping.abort();
    if (this.#timer) clearTimeout(this.#timer);
    await until(() => this.#running === 0 && !this.#is_claiming, deadline_ms);
  }

  async #claim(): Promise<void> {
    if (this.#is_claiming) {
      this.#wake_again = true;
      return;
    }
    if (this.#stopping.signal.aborted) return;
    this.#is_claiming = true;
    try {
      await this.#followClock();
      const { claimed, next_run_at, has_more } = await this.#database.write((tx) => this.#claimDue(tx));
      for (const entry of claimed) void this.#run(entry);
      this.#plan(next_run_at);
      if (has_more) this.#wake_again = true;
      if (claimed.length === 0 && !has_more && this.#running === 0) this.#notifyIdle();
    } catch (error) {
      await this.#afterFailedClaim(error);
    } finally {
      this.#is_claiming = false;
      if (this.#wake_again) {
        this.#wake_again = false;
        this.wake();
      }
    }
  }

  /** Nothing was claimed. A job that can't begin is ended, else it would hold up all others. */
  async #afterFailedClaim(error: unknown): Promise<void> {
    try {
      if (!(error instanceof UnfitJob)) throw error;
      const { job, task } = error;
      await this.#record(job, this.#brokenDown(job, task, error.cause));
      this.#wake_again = true;
    } catch (cause) {
      // A full disk, most likely: the jobs are safe where they are, and the next try may find room.
      this.#logger.error('claiming jobs failed', { error: messageOf(cause) });
      this.#plan(this.#clock.now() + DATABASE_RETRY_MS);
    }
  }

  #claimDue(tx: Tx): { claimed: Claimed[]; next_run_at: number | null; has_more: boolean } {
    const now = this.#clock.now();
    const groups = listPendingGroups(tx, (lane) => this.#roomOf(lane, this.#running_by_lane) <= 0).filter(
      ({ project_id }) => project_id === null || this.#mayBegin(tx, project_id),
    );
    const waiting = groups.filter((group) => group.first_run_at > now).map((group) => group.first_run_at);
    const due = groups.filter((group) => group.first_run_at <= now);
    // A copy: if this transaction fails, nothing was claimed and no lane is busier than before.
    const busy = new Map(this.#running_by_lane);
    const claimed: Claimed[] = [];
    let has_more = false;
    let left = JOB_CLAIM_BATCH;
    for (const rivals of this.#byPriorityAndLane(due)) {
      const lane = rivals[0]?.lane ?? '';
      const opening = this.#openingOf(tx, lane, { now_ms: now, most: left });
      const jobs = this.#takeTurns(tx, rivals, { busy, left: opening?.room ?? left, now });
      left -= jobs.length;
      for (const job of jobs) {
        const entry = this.#begin(tx, job, now);
        if (entry) {
          claimed.push(entry);
          busy.set(job.lane, (busy.get(job.lane) ?? 0) + 1);
        } else {
          has_more = true;
        }
      }
      const after = opening && this.#openingOf(tx, lane, { now_ms: now, most: 1 });
      if (after?.room === 0) waiting.push(after.opens_at);
    }
    if (left === 0) has_more = true;
    return { claimed, next_run_at: waiting.length > 0 ? Math.min(...waiting) : null, has_more };
  }

  /** As much as a lane's pace lets begin now; null where it has none. */
  #openingOf(tx: Tx, lane: string, asked: { now_ms: number; most: number }): Opening | null {
    return this.#taskOf(lane)?.gate?.(tx, lane, asked) ?? null;
  }

  /** Due jobs of one priority and lane that the lane and the claim have room for, its projects in turn. */
  #takeTurns(
    tx: Tx,
    rivals: PendingGroup[],
    claim: { busy: ReadonlyMap<string, number>; left: number; now: number },
  ): JobRow[] {
    const { busy, left, now } = claim;
    const lane = rivals[0]?.lane ?? '';
    const room = Math.min(this.#roomOf(lane, busy), left);
    if (room <= 0) return [];
    const last = this.#last_project.get(lane) ?? 0;
    const order = inTurn(rivals, (group) => (group.project_id ?? 0) > last);
    // Every group has a due job, so more groups than there is room for can't all have their turn now.
    const hands = order.slice(0, room).map((group) => listDueJobs(tx, group, now, room));
    const taken: JobRow[] = [];
    for (let round = 0; taken.length < room; round += 1) {
      const dealt = hands.flatMap((hand) => hand[round] ?? []);
      if (dealt.length === 0) break;
      taken.push(...dealt.slice(0, room - taken.length));
    }
    const served = taken.at(-1);
    if (served) {
      this.#last_project.set(lane, served.project_id ?? 0);
      this.#last_lane.set(served.priority, lane);
    }
    return taken;
  }

  /**
   * Groups that compete for a lane, most urgent first. Lanes of one priority take turns at being first: one
   * that fills every claim would starve the others.
   */
  #byPriorityAndLane(groups: readonly PendingGroup[]): PendingGroup[][] {
    const ranks = new Map<string, PendingGroup[]>();
    for (const group of groups) {
      const rank = `${group.priority} ${group.lane}`;
      const rivals = ranks.get(rank);
      if (rivals) rivals.push(group);
      else ranks.set(rank, [group]);
    }
    const priorityOf = ([group]: PendingGroup[]): number => group?.priority ?? 0;
    const turnOf = (rivals: PendingGroup[]): number =>
      Number((rivals[0]?.lane ?? '') <= (this.#last_lane.get(priorityOf(rivals)) ?? ''));
    return [...ranks.values()].sort((a, b) => priorityOf(a) - priorityOf(b) || turnOf(a) - turnOf(b));
  }

  #roomOf(lane: string, busy: ReadonlyMap<string, number>): number {
    return (this.#taskOf(lane)?.lane_concurrency ?? 1) - (busy.get(lane) ?? 0);
  }

  /** A lane is named by its job type. */
  #taskOf(lane: string): Task | undefined {
    const [type = ''] = lane.split(':');
    return this.#tasks.get(type);
  }

  /** Starts one attempt in the claim's transaction; null when the job does not run now. */
  #begin(tx: Tx, job: JobRow, now: number): Claimed | null {
    const task = this.#tasks.get(job.type);
    if (!task) {
      finishJob(
        tx,
        job.id,
        { status: 'failed', result: null, error: `This version of Satchel has no task '${job.type}'.` },
        now,
      );
      return null;
    }
    startJob(tx, job.id, now);
    const begun = { ...job, status: 'processing' as const, attempts: job.attempts + 1, started_at: now };
    let beginning: Beginning<unknown>;
    try {
      beginning = task.begin(tx, begun, now);
    } catch (error) {
      throw new UnfitJob(begun, task, error);
    }
    if (beginning.go) return { job: begun, task, started: beginning.started };
    if ('end' in beginning) finishJob(tx, job.id, beginning.end, now);
    else continueJob(tx, job.id, beginning.wait);
    return null;
  }

  #leaveLane(lane: string): void {
    const left = (this.#running_by_lane.get(lane) ?? 1) - 1;
    if (left > 0) this.#running_by_lane.set(lane, left);
    else this.#running_by_lane.delete(lane);
  }

  async #run({ job, task, started }: Claimed): Promise<void> {
    this.#running += 1;
    this.options.event_loop?.enter();
    this.#running_by_lane.set(job.lane, (this.#running_by_lane.get(job.lane) ?? 0) + 1);
    try {
      const outcome = await this.#attempt(job, task, started);
      await this.#record(job, outcome);
    } catch (error) {
      // Nothing could be recorded; the next start finds the job processing and runs it again.
      this.#logger.error('recording a job failed', { job_id: job.id, error: messageOf(error) });
    } finally {
      this.#running -= 1;
      this.options.event_loop?.leave();
      this.#leaveLane(job.lane);
      this.wake();
    }
  }

  async #attempt(job: JobRow, task: Task, started: unknown): Promise<TaskOutcome> {
    try {
      return await task.run(job, started, this.#stopping.signal);
    } catch (error) {
      // It is the task's own trouble where it says that something is unavailable.
      const is_database = mayPass(error) && sqliteErrorOf(error) !== null;
      return is_database ? this.#stopped(job, task, error) : this.#brokenDown(job, task, error);
    }
  }

  /** By a full disk or a busy database: it is run anew, as after a crash. */
  #stopped(job: JobRow, task: Task, error: unknown): TaskOutcome {
    const { id: job_id, type } = job;
    this.#logger.error('a task could not write and runs again', { job_id, type, error: messageOf(error) });
    const apply = (tx: Tx): void => task.recover?.(tx, job, this.#clock.now());
    return { status: 'continue', run_at: this.#clock.now() + DATABASE_RETRY_MS, apply };
  }

  #brokenDown(job: JobRow, task: Task, error: unknown): TaskOutcome {
    const reason = messageOf(error);
    this.#logger.error('a task failed unexpectedly', { job_id: job.id, type: job.type, error: reason });
    const apply = (tx: Tx): void => task.abandon?.(tx, job, reason, this.#clock.now());
    return { status: 'failed', result: null, error: 'Something went wrong on the server.', apply };
  }

  /** Records an outcome, and waits out a full disk or a busy database: nothing must be done twice. */
  async #record(job: JobRow, outcome: TaskOutcome): Promise<void> {
    // A stop cuts attempts off; they are put back at the next start, as after a crash, and cost nothing.
    if (this.#stopping.signal.aborted && outcome.status === 'retry' && outcome.is_cut_off) return;
    const end = (tx: Tx): void => {
      outcome.apply?.(tx);
      if (outcome.status === 'retry') postponeJob(tx, job.id, { ...outcome, counts: outcome.counts ?? true });
      else if (outcome.status === 'continue') {
        const { run_at = AT_ONCE, lane } = outcome;
        const at = typeof run_at === 'function' ? run_at(tx) : run_at;
        if (at === null)
          finishJob(tx, job.id, { status: 'completed', result: null, error: null }, this.#clock.now());
        else continueJob(tx, job.id, { run_at: at, ...(lane === undefined ? {} : { lane }) });
      } else finishJob(tx, job.id, outcome, this.#clock.now());
    };
    await persist(
      () => this.#database.write(end),
      () => this.#stopping.signal.aborted,
    );
    if ('afterCommit' in outcome) outcome.afterCommit?.();
  }

  #plan(next_run_at: number | null): void {
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#stopping.signal.aborted) return;
    const sleep_ms = Math.min(
      Math.max((next_run_at ?? Number.POSITIVE_INFINITY) - this.#clock.now(), 1),
      JOB_MAX_SLEEP_MS,
    );
    this.#planned_at = this.#clock.now() + sleep_ms;
    this.#timer = setTimeout(() => void this.#claim(), sleep_ms);
  }

  #clockOffset(): number {
    return this.#clock.now() - (this.#clock.steady?.() ?? monotonicMs());
  }

  /** A clock that was set back must not make retries wait for the time it was set back by. */
  async #followClock(): Promise<void> {
    const offset = this.#clockOffset();
    const set_back_ms = this.#clock_offset_ms - offset;
    if (Math.abs(set_back_ms) < 2_000) return;
    this.#logger.warn('the clock jumped', { by_ms: Math.round(-set_back_ms) });
    if (set_back_ms > 0) await this.#database.write((tx) => shiftRetries(tx, Math.round(set_back_ms)));
    // Only now: had that failed, the next claim would have to do it.
    this.#clock_offset_ms = offset;
  }

  #notifyIdle(): void {
    const waiters = this.#idle_waiters;
    this.#idle_waiters = [];
    for (const resolve of waiters) resolve();
  }
}

/** A job whose `begin` threw, which undoes the whole claim. */
class UnfitJob extends Error {
  constructor(
    readonly job: JobRow,
    readonly task: Task,
    cause: unknown,
  ) {
    super(messageOf(cause), { cause });
  }
}
