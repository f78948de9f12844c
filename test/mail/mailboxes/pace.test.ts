/** How fast mail may leave a mailbox, as a table of moments: no clock, no database. */
import { describe, expect, test } from 'bun:test';
import {
  afterMail,
  grow,
  opensAt,
  parseRate,
  type Rate,
  roomOf,
  slow,
  tellPace,
  UNPACED,
  unslowed,
} from '../../../src/mail/mailboxes/pace.ts';
import type { Pace } from '../../../src/mail/mailboxes/tables.ts';

const NOW = Date.parse('2030-01-15T12:00:00Z');
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];

describe('a rate', () => {
  const GOOD: [string, Rate][] = [
    ['14/s', { count: 14, unit_ms: SECOND }],
    ['1/m', { count: 1, unit_ms: MINUTE }],
    ['10000/h', { count: 10_000, unit_ms: HOUR }],
  ];
  for (const [text, rate] of GOOD) test(`${text} is read`, () => expect(parseRate(text)).toEqual(rate));
  for (const text of ['', '0/s', '10001/s', '1.5/s', '-1/s', '14', '14/d', '14 / s', '014/s', '14/S'])
    test(`'${text}' is none`, () => expect(parseRate(text)).toBeNull());
});

/** When each of so many mails went, each as soon as it might, looked at each millisecond at most. */
function goOn(from: Pace, rate: Rate | null, count: number, start = NOW): { times: number[]; pace: Pace } {
  const times: number[] = [];
  let [pace, now] = [from, start];
  while (times.length < count) {
    now = Math.max(now, opensAt(pace, rate, now));
    pace = afterMail(pace, rate, now);
    times.push(now);
  }
  return { times, pace };
}

/** The most that went in any span. */
function most(times: readonly number[], unit_ms: number): number {
  return Math.max(...times.map((from) => times.filter((at) => at >= from && at < from + unit_ms).length));
}

describe('of a rate', () => {
  for (const text of ['1/s', '2/s', '14/s', '333/s', '3/m', '60/m', '500/m', '1/h', '100/h']) {
    test(`${text}, no more go in any such time, and hardly fewer`, () => {
      const rate = parseRate(text);
      if (!rate) throw new Error(text);
      const { times } = goOn(UNPACED, rate, rate.count * 5 + 1);
      expect(most(times, rate.unit_ms)).toBeWithin(Math.ceil(rate.count * 0.95), rate.count + 1);
      expect((times.at(-1) ?? 0) - NOW).toBeLessThan(5 * 1.06 * rate.unit_ms);
    });
  }

  test('seconds are spaced evenly, and minutes go as they come', () => {
    const { times } = goOn(UNPACED, parseRate('10/s'), 11);
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThan(80);
    expect(goOn(UNPACED, parseRate('10/m'), 10).times.at(-1)).toBe(NOW);
  });

  test('what a late timer missed is caught up with, and no more than that', () => {
    const rate = parseRate('500/s');
    const { pace } = goOn(UNPACED, rate, 50);
    expect(roomOf(pace, rate, { now_ms: NOW + 10 * MINUTE, most: 100 })).toBeLessThanOrEqual(11);
    expect(roomOf(pace, rate, { now_ms: NOW + 10 * MINUTE, most: 3 })).toBe(3);
  });

  test('a clock that was set back by a year keeps nothing waiting', () => {
    for (const text of ['2/s', '3/m', '100/h']) {
      const rate = parseRate(text);
      const { pace } = goOn(UNPACED, rate, 100);
      const earlier = NOW - 365 * 24 * HOUR;
      expect(opensAt(pace, rate, earlier) - earlier).toBeLessThan(6_000);
    }
  });
});

/** The relay asks for less, over an attempt that has just begun unless told. */
function slowed(pace: Pace, rate: Rate | null = null, said: Partial<Parameters<typeof slow>[2]> = {}): Pace {
  const now_ms = said.now_ms ?? NOW;
  return slow(pace, rate, {
    ...{ started_at: now_ms, now_ms, words: '454 4.7.0 Throttling', asked_ms: null, random: 0 },
    sentOf: () => 120,
    ...said,
  });
}

describe('a relay that asks for less', () => {
  const ALLOWED: [string, Pace, string | null, string][] = [
    ['half of what went out of late, where nothing is set', UNPACED, null, '60/m'],
    ['half of the rate', UNPACED, '100/s', '50/s'],
    ['half of a rate by the hour', UNPACED, '1200/h', '10/m'],
    ['half of what it was slowed to before', slowed(UNPACED), null, '30/m'],
    ['half of what it was slowed to, where the rate is more', slowed(UNPACED), '14/s', '30/m'],
    ['half of the rate, where that is less by now', slowed(UNPACED), '20/m', '10/m'],
    ['at least one mail a minute', { ...slowed(UNPACED), allowed: 1.2 }, null, '1/m'],
    ['and no more than the rate, where that is less than one a minute', UNPACED, '20/h', '20/h'],
  ];
  for (const [what, before, text, allowed] of ALLOWED) {
    test(`allows ${what}`, () => {
      const rate = text === null ? null : parseRate(text);
      const after = slowed(before, rate, { now_ms: NOW + HOUR });
      expect(tellPace(after, rate)).toMatchObject({ allowed, words: '454 4.7.0 Throttling' });
    });
  }

  test('waits 5 s, twice as long each time up to 5 minutes, with up to a quarter more', () => {
    const waits: number[] = [];
    let [pace, now_ms] = [UNPACED, NOW];
    for (let n = 0; n < 8; n += 1) {
      pace = slowed(pace, null, { now_ms });
      waits.push((opensAt(pace, null, now_ms) - now_ms) / 1_000);
      now_ms = pace.waits_until + 1;
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 300, 300]);
    expect(slowed(UNPACED, null, { random: 1 }).waits_until - NOW).toBe(6_250);
  });

  test('waits as long as it asks for, 15 minutes at most', () => {
    expect(slowed(UNPACED, null, { asked_ms: 60_000, random: 1 }).waits_until - NOW).toBe(60_000);
    expect(slowed(UNPACED, null, { asked_ms: 10 * HOUR }).waits_until - NOW).toBe(15 * MINUTE);
  });

  test('halves once, however many mails were in flight, and a longer wait that one of them is asked for holds', () => {
    const once = slowed(UNPACED, null, { started_at: NOW - 10 });
    let pace = once;
    for (let n = 0; n < 40; n += 1) pace = slowed(pace, null, { started_at: NOW - 5, now_ms: NOW + n });
    expect(pace).toEqual(once);
    const longer = slowed(pace, null, { started_at: NOW - 5, now_ms: NOW + 40, asked_ms: MINUTE });
    expect(longer).toEqual({ ...once, waits_until: NOW + 40 + MINUTE });
  });

  test('tells since when, by its last words', () => {
    const first = slowed(UNPACED);
    const later = slowed(first, null, { now_ms: NOW + MINUTE, words: '421 4.7.0 slower' });
    expect(tellPace(later, null)).toEqual({ allowed: '30/m', since: NOW, words: '421 4.7.0 slower' });
  });

  test('has mails go evenly, at what is allowed', () => {
    const pace = slowed(UNPACED);
    const { times } = goOn(pace, null, 61);
    expect(times[0]).toBe(NOW + 5_000);
    expect(times.slice(1).every((at, index) => at - (times[index] ?? 0) >= 980)).toBe(true);
    expect(Math.round(((times.at(-1) ?? 0) - NOW - 5_000) / 1_000)).toBe(60);
  });
});

describe('a mailbox that is slowed', () => {
  const taken = (pace: Pace, at: number, rate: Rate | null = null): Pace =>
    grow(pace, rate, { started_at: at, now_ms: at });

  test('is allowed a tenth more for each minute in which mail is taken, from the end of its wait', () => {
    let pace = slowed(UNPACED);
    const from = pace.waits_until;
    pace = taken(pace, from + MINUTE - 1);
    expect(pace.allowed).toBe(60);
    for (const minutes of [1, 1.5, 2, 3]) pace = taken(pace, from + minutes * MINUTE);
    expect(pace.allowed).toBeCloseTo(60 * 1.1 ** 3);
    // Hours without mail are no minutes of success.
    pace = taken(pace, from + 10 * HOUR);
    expect(pace.allowed).toBeCloseTo(60 * 1.1 ** 4);
  });

  test('gets nothing back for what was in flight when the relay asked', () => {
    const pace = slowed(UNPACED);
    expect(grow(pace, null, { started_at: NOW - 1, now_ms: NOW + 2 * MINUTE })).toBe(pace);
  });

  test('waits 5 s again after mail was taken between', () => {
    let pace = slowed(slowed(UNPACED), null, { now_ms: NOW + MINUTE });
    pace = taken(pace, NOW + 2 * MINUTE);
    const again = slowed(pace, null, { now_ms: NOW + 3 * MINUTE });
    expect(again.waits_until - (NOW + 3 * MINUTE)).toBe(5_000);
  });

  test('is slowed no more once it is allowed what it had, or its rate', () => {
    for (const [rate, minutes] of [
      [null, 8],
      [parseRate('80/m'), 8],
      [parseRate('2/s'), 8],
    ] as const) {
      let pace = slowed(UNPACED, rate);
      for (let n = 1; n < minutes; n += 1) pace = taken(pace, pace.waits_until + n * MINUTE, rate);
      expect(tellPace(pace, rate)).not.toBeNull();
      pace = taken(pace, pace.waits_until + minutes * MINUTE, rate);
      expect(tellPace(pace, rate)).toBeNull();
      expect(opensAt(pace, null, NOW + HOUR)).toBeLessThanOrEqual(NOW + HOUR);
    }
  });

  test('goes on where it was after its clock was set back', () => {
    const pace = slowed(UNPACED, null, { now_ms: NOW + 365 * 24 * HOUR });
    expect(opensAt(pace, null, NOW) - NOW).toBeLessThanOrEqual(15 * MINUTE);
    expect(taken(pace, NOW).allowed).toBeCloseTo(66);
    expect(slowed(pace, null, { started_at: NOW - 1 }).allowed).toBe(30);
  });

  test('keeps its rate when what the relay taught is forgotten', () => {
    const rate = parseRate('2/m');
    const { pace } = goOn(UNPACED, rate, 2);
    const after = unslowed(slowed(pace, rate));
    expect(tellPace(after, rate)).toBeNull();
    expect(opensAt(after, rate, NOW + 10_000)).toBeGreaterThan(NOW + MINUTE);
  });
});
