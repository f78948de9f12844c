/** Moments that a verb is given: `--since`. */
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../host/clock.ts';
import { parseDateTime } from '../http/schema.ts';
import { UsageError } from './cli.ts';

const UNITS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };

/** What `--since` says: a moment, or how long ago it was. Wrong usage otherwise. */
export function momentSince(text: string, now_ms: number): number {
  const ago = /^(\d{1,6})([mhd])$/.exec(text);
  if (ago) return now_ms - Number(ago[1]) * (UNITS[ago[2] ?? ''] ?? 0);
  const at = parseDateTime(text);
  if (at === null)
    throw new UsageError('--since takes a time such as 2030-01-31T09:00:00Z, or how long ago: 90m, 6h, 2d.');
  return at;
}

/** The seconds of a span such as `90s`, `30m`, `6h` or `7d`. Wrong usage otherwise. */
export function secondsOf(text: string, option: string): number {
  const [, count, unit = ''] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  if (count === undefined) throw new UsageError(`${option} takes a span of time: 90s, 30m, 6h, 7d.`);
  return Number(count) * ((UNITS[unit] ?? 1_000) / 1_000);
}
