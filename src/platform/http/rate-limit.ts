/** Rates: how many requests a caller may make a minute. Held in memory; a restart starts every window afresh. */
import { AppError } from '../../errors.ts';
import { RATE_WINDOW_MS } from '../../limits.ts';
import type { Clock } from '../host/clock.ts';

export interface RateState {
  limit: number;
  remaining: number;
  /** Whole seconds until the window ends. */
  reset_s: number;
}

/** A 429, with what its RateLimit headers tell. */
export class RateLimitError extends AppError {
  readonly rate: RateState;

  constructor(what: string, rate: RateState) {
    const { limit, reset_s } = rate;
    super('rate_limited', `${what}: at most ${limit} a minute. Try again in ${reset_s} s.`, {
      retry_after_s: reset_s,
    });
    this.rate = rate;
  }
}

interface Window {
  ends_at_ms: number;
  used: number;
}

export class RateLimiter {
  readonly #clock: Clock;
  readonly #windows = new Map<string, Window>();
  #next_sweep_ms = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Uses up one of `limit` in the caller's current minute and tells what is left.
   * Throws RateLimitError with the seconds to wait when none is; `what` names the limit to the reader.
   */
  take(caller: string, limit: number, what: string): RateState {
    const now = this.#clock.now();
    this.#sweep(now);
    let window = this.#windows.get(caller);
    if (!window || !isCurrent(window, now)) {
      window = { ends_at_ms: now + RATE_WINDOW_MS, used: 0 };
      this.#windows.set(caller, window);
    }
    const reset_s = Math.max(1, Math.ceil((window.ends_at_ms - now) / 1000));
    if (window.used >= limit) {
      throw new RateLimitError(what, { limit, remaining: 0, reset_s });
    }
    window.used += 1;
    return { limit, remaining: limit - window.used, reset_s };
  }

  /** What `take` would find, using nothing up. */
  peek(caller: string, limit: number): RateState {
    const now = this.#clock.now();
    const window = this.#windows.get(caller);
    if (!window || !isCurrent(window, now))
      return { limit, remaining: limit, reset_s: RATE_WINDOW_MS / 1000 };
    return {
      limit,
      remaining: Math.max(0, limit - window.used),
      reset_s: Math.max(1, Math.ceil((window.ends_at_ms - now) / 1000)),
    };
  }

  #sweep(now: number): void {
    if (now < this.#next_sweep_ms && this.#next_sweep_ms - now <= RATE_WINDOW_MS) return;
    this.#next_sweep_ms = now + RATE_WINDOW_MS;
    for (const [caller, window] of this.#windows) {
      if (!isCurrent(window, now)) this.#windows.delete(caller);
    }
  }
}

/** A clock that was set back must not leave a caller waiting for a window of the old time. */
function isCurrent(window: Window, now: number): boolean {
  return now < window.ends_at_ms && window.ends_at_ms - now <= RATE_WINDOW_MS;
}
