/** Time comes from here alone, so that tests can move it. */

export interface Clock {
  /** Milliseconds since the epoch, UTC. */
  now(): number;
  /** Milliseconds that only go forward, whatever `now` is set to; the host's own where a clock has none. */
  steady?(): number;
}

export const systemClock: Clock = { now: () => Date.now() };

/** Monotonic milliseconds for measuring durations; unaffected by a clock that jumps. */
export function monotonicMs(): number {
  return performance.now();
}

export const SECOND_MS = 1_000;
export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** Epoch milliseconds as ISO 8601 with `Z`, the API's form of every timestamp. */
export function toIso(ms: number): string;
export function toIso(ms: number | null): string | null;
export function toIso(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

/** The UTC day of a moment as `YYYY-MM-DD`; quotas are counted by it. */
export function utcDay(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Whole seconds, at least one, from `now` to the next UTC midnight: when daily quotas start afresh. */
export function secondsToUtcMidnight(now_ms: number): number {
  return Math.max(1, Math.ceil((DAY_MS - (now_ms % DAY_MS)) / SECOND_MS));
}
