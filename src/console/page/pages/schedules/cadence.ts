/** Turns a schedule's runs as people say them into the cron expression that the API takes, and back. */

export const CADENCES = [
  ['day', 'Every day'],
  ['week', 'Every week'],
  ['month', 'Every month'],
  ['hour', 'Every hour'],
  ['custom', 'By a cron expression'],
] as const;
export type Every = (typeof CADENCES)[number][0];

export interface Cadence {
  every: Every;
  /** HH:MM. */
  time: string;
  /** 0 is Sunday. */
  weekdays: readonly number[];
  month_day: number;
  /** As it stands, where it is none of the others. */
  custom: string;
}

export const WEEKDAYS = [
  'Sunday',
  'Monday',
  'Tuesday',
  'Wednesday',
  'Thursday',
  'Friday',
  'Saturday',
] as const;
/** As a week is read. */
export const WEEK = [1, 2, 3, 4, 5, 6, 0] as const;

const PRESETS: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
};

const BLANK: Cadence = { every: 'week', time: '09:00', weekdays: [1], month_day: 1, custom: '' };

/** The form's entries for an expression; a new form begins with Mondays at nine. */
export function readCadence(expression: string | undefined): Cadence {
  if (expression === undefined) return BLANK;
  const text = expression.trim();
  const custom: Cadence = { ...BLANK, every: 'custom', custom: text };
  const [minute = '', hour = '', day = '', month = '', weekday = '', ...rest] = (
    PRESETS[text.toLowerCase()] ?? text
  ).split(/\s+/);
  const is_time = /^[0-5]?\d$/.test(minute) && /^([01]?\d|2[0-3]|\*)$/.test(hour);
  if (!is_time || month !== '*' || rest.length > 0) return custom;
  const time = `${hour === '*' ? '00' : hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  const known = { ...custom, time };
  if (day === '*' && weekday === '*') return { ...known, every: hour === '*' ? 'hour' : 'day' };
  if (hour === '*') return custom;
  const weekdays = day === '*' ? readWeekdays(weekday) : null;
  if (weekdays) return { ...known, every: 'week', weekdays };
  const is_month_day = weekday === '*' && /^([1-9]|[12]\d|3[01])$/.test(day);
  return is_month_day ? { ...known, every: 'month', month_day: Number(day) } : custom;
}

/** `1,3` and `1-5`; null for what is said in any other way. */
function readWeekdays(text: string): number[] | null {
  const days = new Set<number>();
  for (const part of text.split(',')) {
    const [, from, to = from] = /^([0-7])(?:-([0-7]))?$/.exec(part) ?? [];
    if (from === undefined || Number(from) > Number(to)) return null;
    for (let day = Number(from); day <= Number(to); day += 1) days.add(day % 7);
  }
  return [...days];
}

/** As the API takes it; empty where something is yet to be said. */
export function expressionOf({ every, time, weekdays, month_day, custom }: Cadence): string {
  if (every === 'custom') return custom.trim();
  const [hour, minute] = time.split(':').map(Number);
  if (hour === undefined || minute === undefined || Number.isNaN(hour + minute)) return '';
  if (every === 'hour') return `${minute} * * * *`;
  if (every === 'day') return `${minute} ${hour} * * *`;
  if (every === 'month') return `${minute} ${hour} ${month_day} * *`;
  return weekdays.length === 0 ? '' : `${minute} ${hour} * * ${weekdays.toSorted((a, b) => a - b).join()}`;
}

/** "Every Monday and Thursday at 09:00"; null for an expression that has no such words. */
export function tellCadence(expression: string): string | null {
  const { every, time, weekdays, month_day } = readCadence(expression);
  const at = time.replace(/^0/, '');
  if (every === 'hour') return time === '00:00' ? 'Every hour' : `Every hour at ${time.slice(2)}`;
  if (every === 'day') return `Every day at ${at}`;
  if (every === 'month') return `On day ${month_day} of every month at ${at}`;
  if (every === 'custom') return null;
  const is_workdays = weekdays.length === 5 && !weekdays.includes(0) && !weekdays.includes(6);
  if (weekdays.length === 7) return `Every day at ${at}`;
  const names = WEEK.filter((day) => weekdays.includes(day)).map((day) => WEEKDAYS[day]);
  const told = is_workdays ? 'weekday' : names.join(', ').replace(/, ([^,]*)$/, ' and $1');
  return `Every ${told} at ${at}`;
}
