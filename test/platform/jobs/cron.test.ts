/** Cron expressions: what is accepted, the calendar, and what daylight saving makes of a wall-clock time. */
import { describe, expect, test } from 'bun:test';
import { type Cron, isTimeZone, parseCron } from '../../../src/platform/jobs/cron.ts';

function cronOf(expression: string, timezone = 'UTC'): Cron {
  const parsed = parseCron(expression, timezone);
  if (!parsed.ok) throw new Error(parsed.message);
  return parsed;
}

/** The first `count` runs after a moment, as UTC minutes. */
function runsOf(expression: string, timezone: string, after: string, count: number): string[] {
  const cron = cronOf(expression, timezone);
  const runs: string[] = [];
  for (let at: number | null = Date.parse(after); runs.length < count; ) {
    at = cron.next(at);
    if (at === null) break;
    runs.push(new Date(at).toISOString().slice(0, 16));
  }
  return runs;
}

function messageOf(expression: string, timezone = 'UTC'): string {
  const parsed = parseCron(expression, timezone);
  return parsed.ok ? 'accepted' : `${parsed.field} ${parsed.message}`;
}

describe('an expression is accepted', () => {
  test.each([
    ['* * * * *', '2026-01-01T00:01'],
    ['  30   4\t* * * ', '2026-01-01T04:30'],
    ['*/15 * * * *', '2026-01-01T00:15'],
    ['59 23 31 12 *', '2026-12-31T23:59'],
    ['0 0 29 2 *', '2028-02-29T00:00'],
    ['0 9-17/4 * * *', '2026-01-01T09:00'],
    ['5,10-12,40-50/5 0 * * *', '2026-01-01T00:05'],
    ['0 0 1 1 *', '2027-01-01T00:00'],
    ['0 0 1 FEB *', '2026-02-01T00:00'],
    ['0 0 1 mar-Apr *', '2026-03-01T00:00'],
    ['0 0 * * SUN', '2026-01-04T00:00'],
    ['0 0 * * 0', '2026-01-04T00:00'],
    ['0 0 * * 7', '2026-01-04T00:00'],
    ['0 0 * * sat-sun', '2026-01-03T00:00'],
    ['0 0 * * 6-7', '2026-01-03T00:00'],
    ['@hourly', '2026-01-01T01:00'],
    ['@daily', '2026-01-02T00:00'],
    ['@weekly', '2026-01-04T00:00'],
    ['@monthly', '2026-02-01T00:00'],
  ])('%p', (expression, first) => {
    expect(runsOf(expression, 'UTC', '2026-01-01T00:00:00Z', 1)).toEqual([first]);
  });

  test('with Sunday as 0, as 7, by name and at the end of a range alike', () => {
    const [first, ...others] = ['0', '7', 'SUN', '0,7'].map((day) =>
      runsOf(`0 0 * * ${day}`, 'UTC', '2026-01-01T00:00:00Z', 5),
    );
    for (const other of others) expect(other).toEqual(first ?? []);
    const weekend = runsOf('0 0 * * FRI-SUN', 'UTC', '2026-01-01T00:00:00Z', 4);
    expect(weekend).toEqual(['2026-01-02T00:00', '2026-01-03T00:00', '2026-01-04T00:00', '2026-01-09T00:00']);
    expect(runsOf('0 0 * * 5-7', 'UTC', '2026-01-01T00:00:00Z', 4)).toEqual(weekend);
  });
});

describe('an expression is refused', () => {
  test.each([
    ['', 'five fields'],
    ['* * * *', 'five fields'],
    ['0 * * * * *', 'seconds and years are not supported'],
    ['* * * * * * *', 'seconds and years are not supported'],
    ['@yearly', 'no other presets'],
    ['@annually', 'no other presets'],
    ['@midnight', 'no other presets'],
    ['@reboot', 'no other presets'],
    ['@constructor', 'no other presets'],
    ['0 0 L * *', 'bad day of month'],
    ['0 0 15W * *', 'bad day of month'],
    ['0 0 LW * *', 'bad day of month'],
    ['0 0 ? * MON', 'bad day of month'],
    ['0 0 * * MON#2', 'bad day of week'],
    ['0 0 * * 5L', 'bad day of week'],
    ['0 0 * * +MON', 'bad day of week'],
    ['60 * * * *', 'bad minute: use *, numbers from 0 to 59'],
    ['* 24 * * *', 'bad hour: use *, numbers from 0 to 23'],
    ['* * 0 * *', 'bad day of month: use *, numbers from 1 to 31'],
    ['* * 32 * *', 'bad day of month'],
    ['* * * 0 *', 'bad month: use *, numbers from 1 to 12 or JAN to DEC'],
    ['* * * 13 *', 'bad month'],
    ['* * * * 8', 'bad day of week: use *, numbers from 0 to 7 or SUN to SAT'],
    ['* * * MON *', 'bad month'],
    ['* JAN * * *', 'bad hour'],
    ['-1 * * * *', 'bad minute'],
    ['1.5 * * * *', 'bad minute'],
    ['1,,2 * * * *', 'bad minute'],
    ['1-2-3 * * * *', 'bad minute'],
    ['*/2/2 * * * *', 'bad minute'],
    ['*/ * * * *', 'bad minute'],
    ['*/0 * * * *', 'a step must be from 1 to 59'],
    ['*/60 * * * *', 'a step must be from 1 to 59'],
    ['5/15 * * * *', 'a step must follow * or a range'],
    ['5,10-12,50/1 * * * *', 'a step must follow * or a range'],
    ['/5 * * * *', 'bad minute'],
    ['50-10 * * * *', 'lower to the higher'],
    ['* 22-2 * * *', 'lower to the higher'],
    ['0 0 30 2 *', 'never comes'],
    ['0 0 31 2,4,6,9,11 *', 'never comes'],
    [`${'1,'.repeat(400)}1 * * * *`, 'at most 500 characters'],
  ])('%p', (expression, reason) => {
    expect(messageOf(expression)).toStartWith('cron_expression ');
    expect(messageOf(expression)).toContain(reason);
  });

  test('without repeating what was submitted', () => {
    expect(messageOf('s3cret * * * *')).not.toContain('s3cret');
    expect(messageOf('* * * * *', 'S3cret/Zone')).not.toContain('S3cret');
  });
});

describe('a time zone', () => {
  test.each([
    'UTC',
    'Europe/Berlin',
    'Asia/Kathmandu',
    'America/Argentina/Buenos_Aires',
    'Etc/GMT+5',
    'europe/berlin',
  ])('%p is one', (name) => {
    expect(isTimeZone(name)).toBe(true);
  });

  test.each([
    '',
    'Mars/Olympus',
    '+01:00',
    'UTC+1',
    ' UTC',
    'Europe/Berlin\n',
    '2026-01-01T00:00Z[Europe/Berlin]',
  ])('%p is none', (name) => {
    expect(isTimeZone(name)).toBe(false);
    expect(messageOf('* * * * *', name)).toContain('timezone must be an IANA time zone');
  });

  test('is UTC unless given, and may be off by minutes', () => {
    expect(runsOf('0 6 * * *', 'Asia/Kathmandu', '2026-05-01T00:00:00Z', 2)).toEqual([
      '2026-05-01T00:15',
      '2026-05-02T00:15',
    ]);
    const parsed = parseCron('0 6 * * *');
    expect(parsed.ok && parsed.next(Date.parse('2026-05-01T00:00:00Z'))).toBe(
      Date.parse('2026-05-01T06:00:00Z'),
    );
  });
});

describe('the next run', () => {
  test('comes strictly after the moment asked about', () => {
    const cron = cronOf('30 4 * * *');
    const at = Date.parse('2026-01-01T04:30:00Z');
    expect(cron.next(at - 1)).toBe(at);
    expect(cron.next(at)).toBe(at + 86_400_000);
    expect(cron.next(at + 1)).toBe(at + 86_400_000);
    expect(cron.next(at + 59_999)).toBe(at + 86_400_000);
  });

  test('falls on a day of the month or of the week when both are given', () => {
    expect(runsOf('0 0 13 * FRI', 'UTC', '2026-01-01T00:00:00Z', 5)).toEqual([
      '2026-01-02T00:00',
      '2026-01-09T00:00',
      '2026-01-13T00:00',
      '2026-01-16T00:00',
      '2026-01-23T00:00',
    ]);
    expect(runsOf('0 0 13 * *', 'UTC', '2026-01-01T00:00:00Z', 2)).toEqual([
      '2026-01-13T00:00',
      '2026-02-13T00:00',
    ]);
  });

  test('is found across years without a leap day', () => {
    expect(runsOf('0 0 29 2 *', 'UTC', '2096-03-01T00:00:00Z', 2)).toEqual([
      '2104-02-29T00:00',
      '2108-02-29T00:00',
    ]);
  });
});

describe('a wall-clock time that daylight saving skips runs at the next valid minute', () => {
  test.each([
    ['30 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', ['2026-03-29T01:00', '2026-03-30T00:30']],
    ['0 2 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', ['2026-03-29T01:00', '2026-03-30T00:00']],
    ['30 2 29 3 *', 'Europe/Berlin', '2026-01-01T00:00:00Z', ['2026-03-29T01:00', '2027-03-29T00:30']],
    // All sixty minutes are skipped, and 03:00 is due anyway: one run.
    [
      '*/20 2-3 * * *',
      'Europe/Berlin',
      '2026-03-29T00:00:00Z',
      ['2026-03-29T01:00', '2026-03-29T01:20', '2026-03-29T01:40', '2026-03-30T00:00'],
    ],
    [
      '* 2 * * *',
      'Europe/Berlin',
      '2026-03-28T12:00:00Z',
      ['2026-03-29T01:00', '2026-03-30T00:00', '2026-03-30T00:01'],
    ],
    ['59 1 * * *', 'Europe/Berlin', '2026-03-28T12:00:00Z', ['2026-03-29T00:59', '2026-03-29T23:59']],
    ['30 2 * * *', 'America/New_York', '2026-03-08T00:00:00Z', ['2026-03-08T07:00', '2026-03-09T06:30']],
    // Half an hour is skipped: 02:00 becomes 02:30.
    ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00:00Z', ['2026-10-03T15:30', '2026-10-04T15:15']],
    ['45 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00:00Z', ['2026-10-03T15:45', '2026-10-04T15:45']],
    // Midnight itself is skipped.
    ['0 0 * * *', 'America/Havana', '2026-03-07T12:00:00Z', ['2026-03-08T05:00', '2026-03-09T04:00']],
    // A whole day was.
    ['0 12 30 12 *', 'Pacific/Apia', '2011-12-01T00:00:00Z', ['2011-12-30T10:00', '2012-12-29T22:00']],
  ])('%s in %s', (expression, zone, after, expected) => {
    expect(runsOf(expression, zone, after, expected.length)).toEqual(expected);
  });
});

describe('a wall-clock time that comes twice runs at its first instant only', () => {
  test.each([
    ['30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00Z', ['2026-10-25T00:30', '2026-10-26T01:30']],
    ['30 1 * * *', 'America/New_York', '2026-11-01T00:00:00Z', ['2026-11-01T05:30', '2026-11-02T06:30']],
    ['45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T00:00:00Z', ['2026-04-04T14:45', '2026-04-05T15:15']],
    [
      '30 1,2,3 * * *',
      'Europe/Berlin',
      '2026-10-24T22:00:00Z',
      ['2026-10-24T23:30', '2026-10-25T00:30', '2026-10-25T02:30'],
    ],
    [
      '30 0-3 * * *',
      'Europe/Berlin',
      '2026-10-25T00:00:00Z',
      ['2026-10-25T00:30', '2026-10-25T02:30', '2026-10-25T23:30'],
    ],
    ['0 0 * * *', 'America/Havana', '2026-10-31T12:00:00Z', ['2026-11-01T04:00', '2026-11-02T05:00']],
  ])('%s in %s', (expression, zone, after, expected) => {
    expect(runsOf(expression, zone, after, expected.length)).toEqual(expected);
  });

  test('also when asked within the repetition', () => {
    const within = '2026-10-25T01:10:00Z';
    expect(runsOf('30 2 * * *', 'Europe/Berlin', within, 1)).toEqual(['2026-10-26T01:30']);
    expect(runsOf('* 2-3 * * *', 'Europe/Berlin', within, 1)).toEqual(['2026-10-25T02:00']);
  });
});

describe('an hour that is a wildcard or a step runs in real time', () => {
  test.each([
    [
      '30 * * * *',
      'Europe/Berlin',
      '2026-10-24T23:00:00Z',
      ['2026-10-24T23:30', '2026-10-25T00:30', '2026-10-25T01:30', '2026-10-25T02:30'],
    ],
    [
      '30 * * * *',
      'Europe/Berlin',
      '2026-03-28T23:00:00Z',
      ['2026-03-28T23:30', '2026-03-29T00:30', '2026-03-29T01:30'],
    ],
    [
      '0 */2 * * *',
      'Europe/Berlin',
      '2026-10-24T21:00:00Z',
      ['2026-10-24T22:00', '2026-10-25T00:00', '2026-10-25T01:00', '2026-10-25T03:00'],
    ],
    [
      '0 */2 * * *',
      'Europe/Berlin',
      '2026-03-28T22:00:00Z',
      ['2026-03-28T23:00', '2026-03-29T02:00', '2026-03-29T04:00'],
    ],
    [
      '@hourly',
      'America/New_York',
      '2026-11-01T04:30:00Z',
      ['2026-11-01T05:00', '2026-11-01T06:00', '2026-11-01T07:00'],
    ],
    // The half hour from 01:30 comes twice.
    [
      '45 * * * *',
      'Australia/Lord_Howe',
      '2026-04-04T14:00:00Z',
      ['2026-04-04T14:45', '2026-04-04T15:15', '2026-04-04T16:15'],
    ],
    ['*/15 * * * *', 'Australia/Lord_Howe', '2026-10-03T15:15:00Z', ['2026-10-03T15:30', '2026-10-03T15:45']],
    // The same wall-clock time of the same day in the next year would hide the repetition.
    ['15 */2 25 10 *', 'Europe/Berlin', '2026-10-25T00:20:00Z', ['2026-10-25T01:15', '2026-10-25T03:15']],
  ])('%s in %s', (expression, zone, after, expected) => {
    expect(runsOf(expression, zone, after, expected.length)).toEqual(expected);
  });
});

/* --- Against minute-by-minute enumeration --------------------------------------------------------------------- */

/** Wall-clock minutes since the epoch, from Intl's formatter. */
function localMinuteReader(timezone: string): (ms: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
  });
  return (ms) => {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0] = (format.format(ms).match(/\d+/g) ?? []).map(
      Number,
    );
    return Date.UTC(year, month - 1, day, hour, minute) / 60_000;
  };
}

/** Runs of minutes and hours alone: a wall-clock minute runs when it, or one past it, is reached for the first time. */
function enumerate(
  cron: { minutes: number[]; hours: number[]; in_real_time: boolean },
  window: { zone: string; from_ms: number; to_ms: number },
): number[] {
  const localMinute = localMinuteReader(window.zone);
  const matches = (local: number) =>
    cron.minutes.includes(local % 60) && cron.hours.includes(Math.floor(local / 60) % 24);
  const runs: number[] = [];
  let reached = localMinute(window.from_ms);
  for (let at = window.from_ms + 60_000; at <= window.to_ms; at += 60_000) {
    const local = localMinute(at);
    let is_due = cron.in_real_time && matches(local);
    for (let fresh = reached + 1; !cron.in_real_time && fresh <= local; fresh += 1) is_due ||= matches(fresh);
    reached = Math.max(reached, local);
    if (is_due) runs.push(at);
  }
  return runs;
}

const ALL_HOURS = Array.from({ length: 24 }, (_, hour) => hour);

describe('the runs around a change of the clock are those found minute by minute', () => {
  const windows = [
    ['Europe/Berlin', '2026-03-28T20:00:00Z'],
    ['Europe/Berlin', '2026-10-24T20:00:00Z'],
    ['America/New_York', '2026-03-08T02:00:00Z'],
    ['America/New_York', '2026-11-01T02:00:00Z'],
    ['Australia/Lord_Howe', '2026-04-04T10:00:00Z'],
    ['Australia/Lord_Howe', '2026-10-03T10:00:00Z'],
    ['America/Havana', '2026-03-08T00:00:00Z'],
    ['America/Havana', '2026-11-01T00:00:00Z'],
    ['Asia/Kathmandu', '2026-03-29T00:00:00Z'],
  ] as const;
  const patterns = [
    { text: '* * * * *', minutes: [...Array(60).keys()], hours: ALL_HOURS, in_real_time: true },
    {
      text: '7,37 */3 * * *',
      minutes: [7, 37],
      hours: ALL_HOURS.filter((hour) => hour % 3 === 0),
      in_real_time: true,
    },
    {
      text: '7,37 */2 * * *',
      minutes: [7, 37],
      hours: ALL_HOURS.filter((hour) => hour % 2 === 0),
      in_real_time: true,
    },
    { text: '*/10 0-3 * * *', minutes: [0, 10, 20, 30, 40, 50], hours: [0, 1, 2, 3], in_real_time: false },
    { text: '* 0,1,2,3 * * *', minutes: [...Array(60).keys()], hours: [0, 1, 2, 3], in_real_time: false },
    { text: '0,59 2 * * *', minutes: [0, 59], hours: [2], in_real_time: false },
    { text: '5 1 * * *', minutes: [5], hours: [1], in_real_time: false },
  ];

  test.each(windows)('in %s from %s', (zone, from) => {
    const window = { zone, from_ms: Date.parse(from), to_ms: Date.parse(from) + 14 * 3_600_000 };
    for (const pattern of patterns) {
      const cron = cronOf(pattern.text, zone);
      const found: number[] = [];
      for (let at = cron.next(window.from_ms); at !== null && at <= window.to_ms; at = cron.next(at))
        found.push(at);
      expect({ pattern: pattern.text, runs: found }).toEqual({
        pattern: pattern.text,
        runs: enumerate(pattern, window),
      });
      // From any moment in between the answer is the same as from the run before it.
      for (let at = window.from_ms; at < window.to_ms; at += 1_013_000) {
        const expected = found.find((run) => run > at);
        if (expected !== undefined) expect(cron.next(at)).toBe(expected);
      }
    }
  });
});
