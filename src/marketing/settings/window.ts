/**
 * When marketing mail of a project may go out: what its settings must hold, its daily cap, and its window of
 * hours in a time zone, also over midnight and through daylight saving. Pure functions.
 */
import { DAY_MS, MINUTE_MS } from '../../platform/host/clock.ts';
import type { Settings } from './schemas.ts';

/** What is missing from the settings so that mail has to wait, in words; null where nothing is. */
export function lackOf({ enabled, from_name, postal_address }: Settings): string | null {
  if (!enabled) return 'marketing to be enabled in the settings';
  if (from_name === null) return 'the marketing settings to have a from_name';
  return postal_address === null ? 'the marketing settings to have a postal_address' : null;
}

/** The moment until which no mail may go; null where it may now. For ever while something is missing. */
export function shutUntil(
  settings: Settings,
  /** `used_today` counts towards the daily cap of the UTC day; it is not asked where there is none. */
  of: { now_ms: number; is_test: boolean; have_links_a_place: boolean; usedToday(): number },
): number | null {
  const { now_ms, is_test } = of;
  if (lackOf(settings) !== null) return Number.POSITIVE_INFINITY;
  // A relay may have been added, or the public URL removed: no mail leaves whose unsubscribe link fails.
  if (!is_test && !of.have_links_a_place) return Number.POSITIVE_INFINITY;
  if (!isOpen(settings, now_ms)) return nextOpening(settings, now_ms);
  const is_used_up = settings.daily_cap !== null && !is_test && of.usedToday() >= settings.daily_cap;
  return is_used_up ? now_ms - (now_ms % DAY_MS) + DAY_MS : null;
}

/** `HH:MM` both, in `timezone`; null together: always. A start after the end crosses midnight. */
export interface SendWindow {
  send_window_start: string | null;
  send_window_end: string | null;
  timezone: string;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Minutes since local midnight. */
function localMinutes(at_ms: number, timezone: string): number {
  let format = formats.get(timezone);
  if (!format) {
    format = new Intl.DateTimeFormat('en-GB', {
      timeZone: timezone,
      hourCycle: 'h23',
      hour: '2-digit',
      minute: '2-digit',
    });
    formats.set(timezone, format);
  }
  const [hour = 0, minute = 0] = format.format(at_ms).split(':').map(Number);
  return 60 * hour + minute;
}

function minutesOf(time: string): number {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return 60 * hour + minute;
}

/** Whether something may go out at a moment; the start belongs to the window, the end does not. */
export function isOpen(window: SendWindow, at_ms: number): boolean {
  const { send_window_start, send_window_end, timezone } = window;
  if (send_window_start === null || send_window_end === null) return true;
  const [start, end] = [minutesOf(send_window_start), minutesOf(send_window_end)];
  const local = localMinutes(at_ms, timezone);
  return start < end ? local >= start && local < end : local >= start || local < end;
}

/**
 * The first moment at or after one at which the window is open. Local time may jump by hours and back, so it
 * is looked for by steps of what the local clock says is left, and every minute near a jump.
 */
export function nextOpening(window: SendWindow, from_ms: number): number {
  const { send_window_start, timezone } = window;
  if (send_window_start === null || isOpen(window, from_ms)) return from_ms;
  const start = minutesOf(send_window_start);
  let at_ms = from_ms - (from_ms % MINUTE_MS) + (from_ms % MINUTE_MS === 0 ? 0 : MINUTE_MS);
  // Two days hold every way in which clocks are put forward or back.
  const give_up_ms = from_ms + 2 * DAY_MS;
  while (at_ms < give_up_ms && !isOpen(window, at_ms)) {
    const left = (start - localMinutes(at_ms, timezone) + 24 * 60) % (24 * 60);
    // Up to three hours before it is due the clock is followed minute by minute: no zone jumps by more.
    at_ms += left > 3 * 60 ? (left - 3 * 60) * MINUTE_MS : MINUTE_MS;
  }
  return at_ms;
}
