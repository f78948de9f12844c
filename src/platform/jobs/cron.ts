/**
 * Cron expressions: five fields or a preset, evaluated in an IANA time zone. Croner knows the calendar, and
 * is asked in UTC about wall-clock times. Daylight saving is decided here: croner drops a job whose whole
 * hour is skipped (`* 2 * * *`), where the contract runs it at the next valid minute.
 */
import { Cron as Calendar } from 'croner';
import { MAX_CRON_CHARS } from '../../limits.ts';

export interface Cron {
  ok: true;
  /** The first run strictly after this moment, epoch ms, or null when there is none. */
  next(after_ms: number): number | null;
}

export interface CronRefusal {
  ok: false;
  /** Which of the two arguments is wrong. */
  field: 'cron_expression' | 'timezone';
  /** What it must be, without the submitted value. */
  message: string;
}

interface FieldRule {
  label: string;
  min: number;
  max: number;
  /** Names for the values from `min` on. */
  names: readonly string[];
}

const FIELDS: readonly FieldRule[] = [
  { label: 'minute', min: 0, max: 59, names: [] },
  { label: 'hour', min: 0, max: 23, names: [] },
  { label: 'day of month', min: 1, max: 31, names: [] },
  {
    label: 'month',
    min: 1,
    max: 12,
    names: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
  },
  { label: 'day of week', min: 0, max: 7, names: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'] },
];
const SUNDAY = 0;
const OTHER_SUNDAY = 7;

const PRESETS: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
};
const FORM =
  'five fields (minute, hour, day of month, month, day of week) or one of @hourly, @daily, @weekly, @monthly';

/** A year from which on every date that exists comes within eight years. */
const PROBE_MS = Date.UTC(2024, 0, 1);

/** Reads an expression for a zone; says what is wrong with either, or that no such moment ever comes. */
export function parseCron(expression: string, timezone = 'UTC'): Cron | CronRefusal {
  if (!isTimeZone(timezone)) {
    return {
      ok: false,
      field: 'timezone',
      message: 'must be an IANA time zone, such as Europe/Berlin or UTC',
    };
  }
  const normal = normalize(expression);
  if ('message' in normal) return { ok: false, field: 'cron_expression', message: normal.message };
  const calendar = new Calendar(normal.pattern, { mode: '5-part', utcOffset: 0, paused: true });
  const nextLocal = (after_ms: number) => calendar.nextRun(new Date(after_ms))?.getTime() ?? null;
  if (nextLocal(PROBE_MS) === null) {
    return {
      ok: false,
      field: 'cron_expression',
      message: 'names a date that never comes, so it would never run',
    };
  }
  const next = normal.runs_in_real_time ? nextInRealTime : nextByWallClock;
  return { ok: true, next: (after_ms) => next({ nextLocal, timezone }, after_ms) };
}

/** Whether a text names an IANA time zone; offsets such as +01:00 are none. */
export function isTimeZone(name: string): boolean {
  // UTC needs no time zone tables, which a start would otherwise load for its own entries.
  if (name === 'UTC') return true;
  if (!/^[a-z][a-z0-9_+/-]*$/i.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/* --- Reading the expression ----------------------------------------------------------------------------------- */

type Normal = { pattern: string; runs_in_real_time: boolean } | { message: string };

function normalize(expression: string): Normal {
  if (expression.length > MAX_CRON_CHARS)
    return { message: `must be at most ${MAX_CRON_CHARS} characters long` };
  const text = expression.trim();
  const expanded = text.startsWith('@') ? PRESETS[text.toLowerCase()] : text;
  if (expanded === undefined) return { message: `must be ${FORM}; there are no other presets` };
  const fields = expanded.split(/\s+/);
  if (fields.length !== FIELDS.length) {
    const hint = fields.length > FIELDS.length ? '; seconds and years are not supported' : '';
    return { message: `must have ${FORM}${hint}` };
  }
  const pattern: string[] = [];
  for (const [index, rule] of FIELDS.entries()) {
    const field = readField(fields[index]?.toUpperCase() ?? '', rule);
    if ('message' in field) return { message: `has a bad ${rule.label}: ${field.message}` };
    pattern.push(field.pattern);
  }
  return { pattern: pattern.join(' '), runs_in_real_time: /[*/]/.test(fields[1] ?? '') };
}

/** `*` where the field restricts nothing, else its values: croner then needs no other syntax. */
function readField(field: string, rule: FieldRule): { pattern: string } | { message: string } {
  const values = new Set<number>();
  let is_free = false;
  for (const item of field.split(',')) {
    const [range = '', step_text, ...rest] = item.split('/');
    const step = step_text === undefined ? 1 : readNumber(step_text);
    const bounds = readRange(range, rule);
    if (bounds === null || step === null || rest.length > 0) {
      const names = rule.names.length > 0 ? ` or ${rule.names[0]} to ${rule.names.at(-1)}` : '';
      return {
        message: `use *, numbers from ${rule.min} to ${rule.max}${names}, ranges, lists and steps (L, W, # and ? are not supported)`,
      };
    }
    if (step_text !== undefined && !bounds.is_range) return { message: 'a step must follow * or a range' };
    if (step < 1 || step > rule.max) return { message: `a step must be from 1 to ${rule.max}` };
    if (bounds.from > bounds.to) return { message: 'a range must run from the lower to the higher value' };
    if (range === '*' && step === 1) is_free = true;
    for (let value = bounds.from; value <= bounds.to; value += step) {
      values.add(rule.max === OTHER_SUNDAY && value === OTHER_SUNDAY ? SUNDAY : value);
    }
  }
  return { pattern: is_free ? '*' : [...values].sort((a, b) => a - b).join(',') };
}

function readRange(text: string, rule: FieldRule): { from: number; to: number; is_range: boolean } | null {
  const is_week = rule.max === OTHER_SUNDAY;
  if (text === '*') return { from: rule.min, to: is_week ? rule.max - 1 : rule.max, is_range: true };
  const [from_text = '', to_text, ...rest] = text.split('-');
  const from = readValue(from_text, rule);
  let to = to_text === undefined ? from : readValue(to_text, rule);
  if (from === null || to === null || rest.length > 0) return null;
  // FRI-SUN runs on into the other name of Sunday.
  if (is_week && to === SUNDAY && from > to) to = OTHER_SUNDAY;
  return { from, to, is_range: to_text !== undefined };
}

function readValue(text: string, rule: FieldRule): number | null {
  const named = rule.names.indexOf(text);
  const value = named >= 0 ? named + rule.min : readNumber(text);
  return value !== null && value >= rule.min && value <= rule.max ? value : null;
}

function readNumber(text: string): number | null {
  return /^\d{1,3}$/.test(text) ? Number(text) : null;
}

/* --- From wall-clock times to moments ------------------------------------------------------------------------- */

interface ZonedCalendar {
  /** The next matching wall-clock time strictly after another, both written as if they were UTC. */
  nextLocal(after_ms: number): number | null;
  timezone: string;
}

function zonedAt(ms: number, timezone: string): Temporal.ZonedDateTime {
  return Temporal.Instant.fromEpochMilliseconds(ms).toZonedDateTimeISO(timezone);
}

function offsetMs(zoned: Temporal.ZonedDateTime): number {
  return zoned.offsetNanoseconds / 1_000_000;
}

/** A wall-clock time runs at its first instant; one that is skipped runs when the clock jumps past it. */
function nextByWallClock({ nextLocal, timezone }: ZonedCalendar, after_ms: number): number | null {
  let local = after_ms + offsetMs(zonedAt(after_ms, timezone));
  for (;;) {
    const candidate = nextLocal(local);
    if (candidate === null) return null;
    const instant = firstInstantOf(candidate, timezone);
    // In an hour that repeats, the times to come have run already.
    if (instant > after_ms) return instant;
    local = candidate;
  }
}

function firstInstantOf(local_ms: number, timezone: string): number {
  const wanted = zonedAt(local_ms, 'UTC').toPlainDateTime();
  const zoned = wanted.toZonedDateTime(timezone, { disambiguation: 'compatible' });
  if (zoned.toPlainDateTime().equals(wanted)) return zoned.epochMilliseconds;
  // The time is skipped; `zoned` lies after the jump by as much as the time lies after the jump's start.
  const jump = zoned.add({ milliseconds: 1 }).getTimeZoneTransition('previous');
  return (jump ?? zoned).epochMilliseconds;
}

/** Every moment with a matching wall-clock time: a repeated hour runs twice, a skipped one never. */
function nextInRealTime({ nextLocal, timezone }: ZonedCalendar, after_ms: number): number | null {
  let zoned = zonedAt(after_ms, timezone);
  let local = after_ms + offsetMs(zoned);
  for (;;) {
    const candidate = nextLocal(local);
    if (candidate === null) return null;
    const instant = candidate - offsetMs(zoned);
    const jump = zoned.getTimeZoneTransition('next');
    if (jump === null || instant < jump.epochMilliseconds) return instant;
    // Go on from the jump itself, which may match, in the offset that holds from there.
    zoned = jump;
    local = jump.epochMilliseconds + offsetMs(jump) - 1;
  }
}
