/**
 * Rates: how often a caller may do something in a minute, a quarter of an hour, an hour or a day. A
 * `RateLimiter` is in memory, and a restart begins its windows anew. `DurableRates` are rows, to protect
 * people from mail that they did not ask for.
 */
import { eq, gt, inArray, lte, or } from 'drizzle-orm';
import { AppError } from '../../errors.ts';
import { SWEEP_BATCH } from '../../limits.ts';
import type { Database, Tx } from '../database/database.ts';
import { rateWindows } from '../database/tables.ts';
import { type Clock, DAY_MS, HOUR_MS, MINUTE_MS } from '../host/clock.ts';

const LENGTH_MS = {
  minute: MINUTE_MS,
  quarter: 15 * MINUTE_MS,
  hour: HOUR_MS,
  day: DAY_MS,
  /** A day ends at midnight UTC; the other windows that long after they began. */
  utc_day: DAY_MS,
} as const;
const SPAN = {
  minute: 'a minute',
  quarter: 'in 15 minutes',
  hour: 'an hour',
  day: 'a day',
  utc_day: 'a UTC day',
} as const;

export interface Rate {
  limit: number;
  per: keyof typeof LENGTH_MS;
  /** What the client is told about: `Uploads of this API key`. */
  what: string;
}

export interface RateState {
  limit: number;
  remaining: number;
  /** Whole seconds until the window ends. */
  reset_s: number;
}

/** A 429, with the numbers for its RateLimit headers. */
export class RateLimitError extends AppError {
  readonly rate: RateState;

  constructor({ what, per }: Rate, state: RateState) {
    const { limit, reset_s } = state;
    super('rate_limited', `${what}: at most ${limit} ${SPAN[per]}. Try again in ${reset_s} s.`, {
      retry_after_s: reset_s,
    });
    this.rate = state;
  }
}

interface Window {
  ends_at: number;
  used: number;
}

/** The current window. One in the future goes: the clock was set back, and nobody should wait. */
function currentOf(window: Window | undefined, rate: Rate, now: number): Window {
  const length_ms = LENGTH_MS[rate.per];
  if (window && now < window.ends_at && window.ends_at - now <= length_ms) return window;
  const began_at = rate.per === 'utc_day' ? now - (now % DAY_MS) : now;
  return { ends_at: began_at + length_ms, used: 0 };
}

function stateOf(window: Window, rate: Rate, now: number): RateState {
  return {
    limit: rate.limit,
    remaining: Math.max(0, rate.limit - window.used),
    reset_s: Math.max(1, Math.ceil((window.ends_at - now) / 1000)),
  };
}

/** The window with one more used. Throws RateLimitError when none is left. */
function useOne(window: Window, rate: Rate, now: number): Window {
  if (window.used < rate.limit) return { ...window, used: window.used + 1 };
  throw new RateLimitError(rate, stateOf(window, rate, now));
}

/** Previews and their like: one that somebody waits for, and one that nobody waits for any more. */
const LONG_AT_ONCE = 2;
const TOO_MANY = `At most ${LONG_AT_ONCE} previews, checks, imports and counts of yours at once: try again when one has answered.`;

export class RateLimiter {
  readonly #windows = new Map<string, Window>();
  /** How many long requests of a caller are in work. */
  readonly #running = new Map<string, number>();
  #next_sweep_ms = 0;

  constructor(private readonly clock: Clock) {}

  /** Uses up one of the rate in the caller's current window and tells what is left. Throws RateLimitError. */
  take(caller: string, rate: Rate): RateState {
    const now = this.clock.now();
    this.#sweep(now);
    const window = useOne(currentOf(this.#windows.get(caller), rate, now), rate, now);
    this.#windows.set(caller, window);
    return stateOf(window, rate, now);
  }

  /** What `take` would find, using nothing up. */
  peek(caller: string, rate: Rate): RateState {
    const now = this.clock.now();
    return stateOf(currentOf(this.#windows.get(caller), rate, now), rate, now);
  }

  /** Does what its caller can make long. Throws AppError `rate_limited` where two of theirs are in work. */
  async atOnce<T>(caller: string, work: () => T | Promise<T>): Promise<T> {
    const running = this.#running.get(caller) ?? 0;
    if (running >= LONG_AT_ONCE) throw new AppError('rate_limited', TOO_MANY, { retry_after_s: 1 });
    this.#running.set(caller, running + 1);
    try {
      return await work();
    } finally {
      const left = (this.#running.get(caller) ?? 1) - 1;
      if (left > 0) this.#running.set(caller, left);
      else this.#running.delete(caller);
    }
  }

  #sweep(now: number): void {
    if (now < this.#next_sweep_ms && this.#next_sweep_ms - now <= MINUTE_MS) return;
    this.#next_sweep_ms = now + MINUTE_MS;
    for (const [caller, { ends_at }] of this.#windows) {
      if (ends_at <= now || ends_at - now > DAY_MS) this.#windows.delete(caller);
    }
  }
}

function windowOf(read: Tx, hashed: string): Window | undefined {
  const { ends_at, used } = rateWindows;
  return read.select({ ends_at, used }).from(rateWindows).where(eq(rateWindows.caller, hashed)).get();
}

/** Callers are stored as hashes: these rows name nobody. */
function hashOf(caller: string, { per }: Rate): string {
  return new Bun.CryptoHasher('sha256').update(`${per} ${caller}`).digest('hex');
}

export class DurableRates {
  constructor(private readonly deps: { database: Database; clock: Clock }) {}

  /**
   * As a RateLimiter's, in the transaction of what is counted, and undone with it. A caller has one count for
   * each kind of window. Throws RateLimitError, and then writes nothing.
   */
  take(tx: Tx, caller: string, rate: Rate): RateState {
    const now = this.deps.clock.now();
    const hashed = hashOf(caller, rate);
    const found = windowOf(tx, hashed);
    const { ends_at, used } = useOne(currentOf(found, rate, now), rate, now);
    tx.insert(rateWindows)
      .values({ caller: hashed, ends_at, used })
      .onConflictDoUpdate({ target: rateWindows.caller, set: { ends_at, used } })
      .run();
    return stateOf({ ends_at, used }, rate, now);
  }

  /** What `take` would find, using nothing up. */
  peek(read: Tx, caller: string, rate: Rate): RateState {
    const now = this.deps.clock.now();
    const found = windowOf(read, hashOf(caller, rate));
    return stateOf(currentOf(found, rate, now), rate, now);
  }

  /** Begins a caller's window afresh. */
  forget(tx: Tx, caller: string, rate: Rate): void {
    tx.delete(rateWindows)
      .where(eq(rateWindows.caller, hashOf(caller, rate)))
      .run();
  }

  /** Forgets windows that are over, and those of a clock that was far ahead. */
  async sweep(): Promise<void> {
    const now = this.deps.clock.now();
    const sweepSome = (tx: Tx): number => {
      const over = tx
        .select({ caller: rateWindows.caller })
        .from(rateWindows)
        .where(or(lte(rateWindows.ends_at, now), gt(rateWindows.ends_at, now + DAY_MS)))
        .limit(SWEEP_BATCH);
      return tx
        .delete(rateWindows)
        .where(inArray(rateWindows.caller, over))
        .returning({ caller: rateWindows.caller })
        .all().length;
    };
    while ((await this.deps.database.writePiece(sweepSome)) === SWEEP_BATCH) {}
  }
}
