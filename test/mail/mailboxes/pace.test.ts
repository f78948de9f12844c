/** How fast mail may leave a mailbox, as a table of moments: no clock, no database. */
import { describe, expect, test } from 'bun:test';
import { type Answer, type Burst, learn, newBurst, UNPACED } from '../../../src/mail/mailboxes/learning.ts';
import {
  afterMail,
  opensAt,
  parseRate,
  type Rate,
  roomOf,
  tellPace,
} from '../../../src/mail/mailboxes/pace.ts';
import type { Pace } from '../../../src/mail/mailboxes/store.ts';

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
      expect(opensAt(pace, rate, earlier)).toBeLessThanOrEqual(earlier);
    }
  });
});

const NO_TIME = { asked_ms: null, is_quota: false };

/** A mailbox, its burst, and the answers of its relay one after another. */
class Learner {
  pace: Pace = UNPACED;
  now: number;
  readonly burst: Burst;

  constructor(now = NOW) {
    this.now = now;
    this.burst = newBurst(now);
  }

  /** So many mails are taken, evenly within this time. */
  taken(count: number, within_ms: number): this {
    for (let n = 0; n < count; n += 1) this.answer({ after_ms: within_ms / count });
    return this;
  }

  /** So many are refused at once. */
  refused(count = 1, said: Partial<NonNullable<Answer['refusal']>> = {}): this {
    const refusal = { words: '454 4.7.0 Throttling', asked_ms: null, is_quota: false, ...said };
    for (let n = 0; n < count; n += 1) this.answer({ refusal });
    return this;
  }

  answer({ after_ms = 0, refusal = null as Answer['refusal'], started_at = 0, random = 0 }): this {
    this.now += after_ms;
    const answer = { started_at: started_at || this.now, now_ms: this.now, refusal };
    this.pace = learn(this.pace, this.burst, answer, random);
    return this;
  }

  /** Goes on to the end of its wait, where one mail probes and is taken. */
  probed(): this {
    this.now = this.pace.waits_until;
    return this.answer({ after_ms: 100 });
  }

  get told() {
    return tellPace(this.pace, null, this.now);
  }

  get room(): number {
    return roomOf(this.pace, null, { now_ms: this.now, most: 10 });
  }
}

describe('a relay that refuses mail', () => {
  test('slows nothing by five of the last fifty answers, and is told of for ten minutes', () => {
    const on = new Learner().taken(44, 4_000).refused(5);
    expect(on.told).toEqual({
      allowed: null,
      since: on.now,
      words: '454 4.7.0 Throttling',
      waits_until: null,
    });
    expect(on.room).toBe(10);
    const { pace, now } = on;
    expect(tellPace(pace, null, now + 10 * MINUTE)).not.toBeNull();
    expect(tellPace(pace, null, now + 10 * MINUTE + 1)).toBeNull();
    // The first of the five is no longer among the last fifty then.
    expect(on.taken(45, 4_000).refused(1).room).toBe(10);
    expect(new Learner().refused(5).taken(44, 4_000).refused(1).room).toBe(0);
  });

  test('has its mailbox wait by more of them, and then one mail probes', () => {
    const on = new Learner().taken(30, 3_000).refused(6);
    expect(on.told?.waits_until).toBe(on.now + 5_000);
    on.now += 4_999;
    expect(on.room).toBe(0);
    on.now += 1;
    expect(on.room).toBe(1);
    on.pace = afterMail(on.pace, null, on.now);
    expect(on.room).toBe(0);
    // Its answer may never come.
    on.now += MINUTE;
    expect(on.room).toBe(1);
  });

  test('has it wait by one refusal that asks for a time or speaks of a quota', () => {
    expect(new Learner().refused(1, { asked_ms: MINUTE }).told?.waits_until).toBe(NOW + MINUTE);
    expect(new Learner().refused(1, { asked_ms: 10 * HOUR }).told?.waits_until).toBe(NOW + 15 * MINUTE);
    expect(new Learner().refused(1, { is_quota: true }).told?.waits_until).toBe(NOW + 5_000);
  });

  test('is asked after 5 s, twice as long each time up to 5 minutes, up to a quarter less, and no rate changes', () => {
    const on = new Learner().taken(40, 4_000).refused(6);
    const waits: number[] = [];
    for (let n = 0; n < 8; n += 1) {
      waits.push((on.pace.waits_until - on.now) / 1_000);
      on.now = on.pace.waits_until;
      on.refused();
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 160, 300, 300]);
    expect(on.told?.allowed).toBe('540/m');
    const least = new Learner().refused(5).answer({
      refusal: { words: '', asked_ms: null, is_quota: false },
      random: 1,
    });
    expect(least.pace.waits_until - NOW).toBe(3_750);
  });

  test('teaches nine tenths of what it took a second, of ten seconds at most', () => {
    expect(new Learner().taken(40, 4_000).refused(6).told?.allowed).toBe('540/m');
    expect(new Learner().taken(200, 10_000).taken(50, 10_000).refused(6).told?.allowed).toBe('270/m');
  });

  test('teaches nothing within two seconds, after a pause too, nor where it took nothing', () => {
    expect(new Learner().taken(40, 1_900).refused(6).told?.allowed).toBeNull();
    const quiet = new Learner().taken(1, MINUTE).taken(1, MINUTE).taken(2, 100).refused(6);
    expect(quiet.told).toMatchObject({ allowed: null, waits_until: quiet.now + 5_000 });
    expect(new Learner().refused(5).answer({ after_ms: 5_000 }).refused(1).told?.allowed).toBe('11/m');
    const none = new Learner().refused(5);
    none.now += 5_000;
    expect(none.refused(1).told).toMatchObject({ allowed: null });
  });

  test('teaches no less than half of what was known', () => {
    const on = new Learner().taken(100, 10_000).refused(6).probed();
    on.taken(1, 3_000).refused(6);
    expect(on.told?.allowed).toBe('270/m');
  });

  test('teaches nothing by what was under way as the burst ended', () => {
    const on = new Learner().taken(40, 4_000).refused(6);
    const { pace, now } = on;
    for (let n = 0; n < 40; n += 1)
      on.answer({
        after_ms: 10,
        started_at: now - 100,
        refusal: { words: 'late', asked_ms: HOUR, is_quota: false },
      });
    on.answer({ started_at: now - 100 });
    expect(on.pace).toEqual(pace);
  });

  test('has it wait no longer for what was handed over in a wait all the same, and was refused', () => {
    const on = new Learner().refused(6);
    const { waits_until } = on.pace;
    on.pace = afterMail(on.pace, null, on.now + 1);
    for (let n = 0; n < 30; n += 1) on.answer({ after_ms: 100, refusal: { words: 'later', ...NO_TIME } });
    expect(on.pace).toMatchObject({ waits_until, waits: 1, words: 'later' });
    on.now = waits_until;
    expect(on.room).toBe(1);
  });

  test('opens at what is allowed once a probe is taken, or at one a second where nothing is known', () => {
    expect(new Learner().taken(40, 4_000).refused(6).probed().pace).toMatchObject({ speed: 9, waits: 0 });
    const on = new Learner().refused(6).probed();
    expect(on.pace.speed).toBe(1);
    const { times } = goOn(on.pace, null, 4, on.now);
    expect((times.at(-1) ?? 0) - on.now).toBeWithin(2_900, 3_001);
  });

  test('takes more by and by: a twentieth each ten seconds, where nothing is known twice as much each two', () => {
    const known = new Learner().taken(40, 4_000).refused(6).probed();
    expect(known.taken(91, 10_050).pace.speed).toBeCloseTo(9 * 1.05);
    expect(known.taken(96, 10_050).pace.speed).toBeCloseTo(9 * 1.05 ** 2);
    const unknown = new Learner().refused(6).probed();
    for (const speed of [1, 2, 4]) unknown.taken(speed * 2 + 1, 2_010);
    expect(unknown.pace.speed).toBe(8);
    // Unused, it does not grow, and neither does it with more than one refusal in 25 answers.
    expect(unknown.taken(4, 8_000).pace.speed).toBe(8);
    const refusing = new Learner().taken(40, 4_000).refused(6).probed().taken(80, 9_000).refused(4);
    expect(refusing.taken(9, 1_000).pace.speed).toBe(9);
  });

  test('is forgotten after ten minutes without a refusal, but for a wait that it asked for', () => {
    const on = new Learner().taken(40, 4_000).refused(6).probed();
    on.now += 11 * MINUTE;
    expect(on).toMatchObject({ told: null, room: 10 });
    const asked = new Learner().refused(1, { asked_ms: 15 * MINUTE });
    asked.now += 14 * MINUTE;
    expect(asked).toMatchObject({ told: { waits_until: NOW + 15 * MINUTE }, room: 0 });
  });

  test('holds nobody who waits for a mail, whose answer counts as that of a probe', () => {
    const on = new Learner().taken(40, 4_000).refused(6);
    const waited_for = { is_waited_for: true };
    expect(opensAt(on.pace, null, on.now, waited_for)).toBeLessThanOrEqual(on.now);
    expect(opensAt(on.pace, parseRate('1/s'), on.now, waited_for)).toBeLessThanOrEqual(on.now);
    on.answer({ after_ms: 100 });
    expect(on.pace).toMatchObject({ is_probing: false, speed: 9 });
    expect(on.told?.waits_until).toBeNull();
  });

  test('never takes more than the rate, and may take less', () => {
    const { pace, now } = new Learner().taken(40, 4_000).refused(6).probed();
    expect(tellPace(pace, parseRate('2/s'), now)?.allowed).toBe('120/m');
    expect(tellPace(pace, parseRate('100/s'), now)?.allowed).toBe('540/m');
    const gaps = (text: string) => opensAt(afterMail(pace, null, now), parseRate(text), now) - now;
    expect(gaps('2/s')).toBeWithin(480, 530);
    expect(gaps('100/s')).toBeWithin(85, 112);
  });

  test('keeps nobody waiting after the clock was set back', () => {
    const { pace } = new Learner(NOW + 365 * 24 * HOUR).taken(40, 4_000).refused(6);
    expect(opensAt(pace, null, NOW)).toBeLessThanOrEqual(NOW);
    expect(tellPace(pace, null, NOW)).toBeNull();
    const after = learn(pace, newBurst(NOW), { started_at: NOW, now_ms: NOW, refusal: null }, 0);
    expect(after.is_probing).toBe(false);
  });
});
