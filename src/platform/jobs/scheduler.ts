/**
 * What Satchel does by the clock: named entries with a cron expression in UTC, looked at each minute. Each
 * entry makes sure by its own rows that nothing is done twice.
 */
import { AppError, messageOf } from '../../errors.ts';
import { type Clock, MINUTE_MS } from '../host/clock.ts';
import type { Logger } from '../host/logger.ts';
import { until } from '../host/waiting.ts';
import { type Cron, parseCron } from './cron.ts';

export interface CronEntry {
  /** Unique; what the log calls it. */
  name: string;
  /** Five fields or a preset, in UTC. */
  expression: string;
  /** Runs at the start too: for what a machine that is off at the usual hour would otherwise never do. */
  at_start?: boolean;
  run(): Promise<unknown>;
}

export interface Scheduler {
  /**
   * Runs what is to run at the start, `start_delay_ms` later, then looks at the entries at the beginning of each
   * minute.
   */
  start(start_delay_ms?: number): void;
  /** Runs the entries that fell due since the last look; resolves when they have ended. For tests. */
  tick(): Promise<void>;
  /** Begins nothing more and waits for running entries, for at most `deadline_ms`. */
  stop(deadline_ms: number): Promise<void>;
}

interface SchedulerOptions {
  entries: readonly CronEntry[];
  clock: Clock;
  logger: Logger;
}

export function createScheduler(options: SchedulerOptions): Scheduler {
  return new MinuteScheduler(options);
}

class MinuteScheduler implements Scheduler {
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #entries: readonly CronEntry[];
  /** The expressions, read when they are first asked: no start waits for that. */
  readonly #crons = new Map<CronEntry, Cron>();
  /** Since when each entry runs that does: none of them runs beside itself. */
  readonly #running = new Map<string, number>();
  /** Ticks up to this moment are done. */
  #looked_at: number;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #start_timer: ReturnType<typeof setTimeout> | null = null;
  #is_stopping = false;

  constructor(options: SchedulerOptions) {
    this.#clock = options.clock;
    this.#logger = options.logger;
    this.#entries = options.entries;
    this.#looked_at = options.clock.now();
  }

  start(start_delay_ms = 0): void {
    this.#looked_at = this.#clock.now();
    const runFirst = (): void => {
      for (const entry of this.#entries) if (entry.at_start === true) void this.#run(entry);
    };
    if (start_delay_ms > 0) this.#start_timer = setTimeout(runFirst, start_delay_ms);
    else runFirst();
    this.#sleep();
  }

  async tick(): Promise<void> {
    const now = this.#clock.now();
    // A clock that was set back must not make entries wait for the time it was set back by.
    const since = Math.min(this.#looked_at, now);
    this.#looked_at = now;
    const isDue = (entry: CronEntry) => (this.#cronOf(entry).next(since) ?? Number.POSITIVE_INFINITY) <= now;
    await Promise.all(this.#entries.filter(isDue).map((entry) => this.#run(entry)));
  }

  async stop(deadline_ms: number): Promise<void> {
    this.#is_stopping = true;
    if (this.#timer) clearTimeout(this.#timer);
    if (this.#start_timer) clearTimeout(this.#start_timer);
    await until(() => this.#running.size === 0, deadline_ms);
  }

  /** Throws AppError `internal` where the expression is none, which is a mistake in the code. */
  #cronOf(entry: CronEntry): Cron {
    const known = this.#crons.get(entry);
    if (known) return known;
    const cron = parseCron(entry.expression, 'UTC');
    if (!cron.ok) throw new AppError('internal', `The entry ${entry.name} has no valid cron expression.`);
    this.#crons.set(entry, cron);
    return cron;
  }

  #sleep(): void {
    if (this.#is_stopping) return;
    const sleep_ms = MINUTE_MS - (this.#clock.now() % MINUTE_MS);
    this.#timer = setTimeout(() => {
      void this.tick();
      this.#sleep();
    }, sleep_ms);
  }

  async #run(entry: CronEntry): Promise<void> {
    if (this.#is_stopping) return;
    const [now, began_at] = [this.#clock.now(), this.#running.get(entry.name)];
    if (began_at !== undefined) {
      // One that began at the start, in the last moments of a minute, meets its next tick.
      if (Math.abs(now - began_at) < MINUTE_MS) return;
      this.#logger.warn('a scheduled entry still runs and is not started again', { entry: entry.name });
      return;
    }
    this.#running.set(entry.name, now);
    try {
      await entry.run();
    } catch (error) {
      this.#logger.error('a scheduled entry failed', { entry: entry.name, error: messageOf(error) });
    } finally {
      this.#running.delete(entry.name);
    }
  }
}
