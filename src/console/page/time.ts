/** The server's time: it dates everything that is shown, and a browser's clock may be wrong. */

let offset_ms = 0;

/** Takes the Date header of an answer, whose second may be up to one old. */
export function noteServerDate(date: string | null): void {
  const server_ms = Date.parse(date ?? '');
  if (!Number.isFinite(server_ms)) return;
  const off_ms = server_ms - Date.now();
  // Within a few seconds they agree: what is left is the answer's way, and the header's whole seconds.
  offset_ms = Math.abs(off_ms) < 5000 ? 0 : off_ms;
}

/** Milliseconds since 1970, by the server's clock. */
export function serverNow(): number {
  return Date.now() + offset_ms;
}

/** Milliseconds by the browser's own clock, which no answer moves: for how long something takes here. */
export function browserNow(): number {
  return Date.now();
}

const STEPS: readonly [unit: Intl.RelativeTimeFormatUnit, ms: number][] = [
  ['year', 365 * 86_400_000],
  ['month', 30 * 86_400_000],
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
];
// No "tomorrow": in 47 hours it is the day after, and near midnight already in one.
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'long' });

/** "3 minutes ago", "in 2 days", "just now". */
export function tellRelative(at_ms: number): string {
  const off_ms = at_ms - serverNow();
  for (const [unit, ms] of STEPS) {
    if (Math.abs(off_ms) >= ms) return relative.format(Math.round(off_ms / ms), unit);
  }
  return off_ms > 5000 ? 'in a moment' : 'just now';
}

const exact = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'long' });

/** In the reader's own zone, which it names. */
export function tellExact(at_ms: number): string {
  return exact.format(at_ms);
}
