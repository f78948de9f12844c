/** When a mail that no relay took is tried again, as a table. */
import { describe, expect, test } from 'bun:test';
import { nextTry, type Tries } from '../../../src/mail/deliveries/patience.ts';

const FIRST = Date.parse('2030-01-15T12:00:00Z');
const HOUR = 3_600_000;
const RULES = { retry_delays_s: [15, 300] as const, marketing_ms: 24 * HOUR };

function next(tries: Partial<Tries>, { after_ms = 0, random = 0.5 } = {}) {
  const known: Tries = {
    ...{
      source: 'api',
      counted: 1,
      max_attempts: 3,
      made: 1,
      first_at: FIRST,
      is_slowed: false,
      is_free: false,
      unanswered: null,
    },
    ...tries,
  };
  const found = nextTry(known, RULES, { now_ms: FIRST + after_ms, random });
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
    const slow = { is_slowed: true, counted: 3 };
    expect(next({ ...slow, made: 1 })).toEqual({ after_s: 15, counts: false });
    expect(next({ ...slow, made: 9 }, { after_ms: HOUR - 1 })).toEqual({ after_s: 300, counts: false });
    expect(next({ ...slow, made: 9 }, { after_ms: HOUR })).toBeNull();
    expect(next({ ...slow, counted: 1 }, { after_ms: HOUR })).toEqual({ after_s: 15, counts: true });
  });

  test('whose client waits has its one attempt', () => {
    expect(next({ max_attempts: 1 })).toBeNull();
    expect(next({ max_attempts: 1, is_slowed: true })).toBeNull();
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
    expect(next({ ...mail, is_slowed: true }, { after_ms: 24 * HOUR })).toBeNull();
  });
});
