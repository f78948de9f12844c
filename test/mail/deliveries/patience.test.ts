/** When a mail that no relay took is tried again, as a table. */
import { describe, expect, test } from 'bun:test';
import { nextTry, type Tries } from '../../../src/mail/deliveries/patience.ts';

const FIRST = Date.parse('2030-01-15T12:00:00Z');
const HOUR = 3_600_000;
const RULES = { retry_delays_s: [15, 300] as const, marketing_ms: 24 * HOUR };

const SLOWED = { words: '454 4.7.0 Throttling', asked_ms: null, is_quota: false };
const QUOTA = { ...SLOWED, is_quota: true };

function next(tries: Partial<Tries>, { after_ms = 0, random = 0.5, rules = RULES } = {}) {
  const known: Tries = {
    ...{
      source: 'api',
      counted: 1,
      max_attempts: 3,
      made: 1,
      first_at: FIRST,
      slowdown: null,
      is_free: false,
      unanswered: null,
    },
    ...tries,
  };
  const found = nextTry(known, rules, { now_ms: FIRST + after_ms, random });
  return found && { after_s: (found.run_at - FIRST - after_ms) / 1_000, counts: found.counts };
}

describe('a mail that somebody waits for', () => {
  for (const source of ['api', 'schedule', 'confirmation', 'test'] as const) {
    test(`(${source}) is tried three times, after the delays of the settings`, () => {
      expect(next({ source, counted: 1 })).toEqual({ after_s: 15, counts: true });
      expect(next({ source, counted: 2, made: 2 })).toEqual({ after_s: 300, counts: true });
      expect(next({ source, counted: 3, made: 3 })).toBeNull();
    });
  }

  test('loses no attempt by a relay that asks its mailbox for less, for an hour', () => {
    const slow = { slowdown: SLOWED, counted: 3 };
    expect(next({ ...slow, made: 9 }, { after_ms: HOUR - 1 })).toEqual({ after_s: 80, counts: false });
    expect(next({ ...slow, made: 9 }, { after_ms: HOUR })).toBeNull();
    expect(next({ ...slow, counted: 1 }, { after_ms: HOUR })).toEqual({ after_s: 15, counts: true });
  });

  test('goes again after 5 s where its mailbox was asked for less, and less often where that does not help', () => {
    const delays = [1, 2, 5, 6, 7, 20].map((made) => next({ slowdown: SLOWED, made })?.after_s);
    expect(delays).toEqual([5, 5, 5, 10, 20, 300]);
  });

  test('waits for a day where its mailbox has used up a quota, and then fails', () => {
    const met = { slowdown: QUOTA, counted: 3 };
    expect(next({ ...met, made: 1 })).toEqual({ after_s: 5, counts: false });
    expect(next({ ...met, made: 300 }, { after_ms: 24 * HOUR - 60_000 })).toEqual({
      after_s: 60,
      counts: false,
    });
    expect(next({ ...met, counted: 1, made: 300 }, { after_ms: 24 * HOUR })).toBeNull();
  });

  test('whose client waits has its one attempt', () => {
    expect(next({ max_attempts: 1 })).toBeNull();
    expect(next({ max_attempts: 1, slowdown: QUOTA })).toBeNull();
  });
});

describe('a mail of a sequence', () => {
  const mail = { source: 'sequence' } as const;

  test('is tried after 15 s, 5 and 15 minutes, then half-hourly, however many attempts there were', () => {
    const delays = [1, 2, 3, 4, 5, 40].map((made) => next({ ...mail, made, counted: made })?.after_s);
    expect(delays).toEqual([15, 300, 900, 1_800, 1_800, 1_800]);
  });

  test('is tried up to a quarter earlier or later', () => {
    expect(next({ ...mail, made: 2 }, { random: 0 })?.after_s).toBe(225);
    expect(next({ ...mail, made: 2 }, { random: 1 })?.after_s).toBe(375);
  });

  test('is tried a last time when its patience ends, and then no more', () => {
    expect(next({ ...mail, made: 50 }, { after_ms: 24 * HOUR - 60_000 })?.after_s).toBe(60);
    expect(next({ ...mail, made: 51 }, { after_ms: 24 * HOUR })).toBeNull();
    expect(next({ ...mail, slowdown: SLOWED }, { after_ms: 24 * HOUR })).toBeNull();
  });

  test('goes again after 5 s where its mailbox was asked for less, and waits for a day at least by a quota', () => {
    expect(next({ ...mail, slowdown: SLOWED })?.after_s).toBe(5);
    const short = { retry_delays_s: [15, 300] as const, marketing_ms: HOUR };
    expect(next({ ...mail, slowdown: QUOTA }, { after_ms: 2 * HOUR, rules: short })?.after_s).toBe(5);
    expect(next({ ...mail, slowdown: QUOTA }, { after_ms: 24 * HOUR, rules: short })).toBeNull();
  });
});
