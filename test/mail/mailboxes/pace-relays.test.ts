/**
 * A mailbox's pace against relays that limit, in simulated time: how much of what a limit allows goes out in 20 minutes. Ten
 * connections, each mail 20 to 200 ms, mail always waiting unless said otherwise; the least of two seeds counts.
 */
import { describe, expect, test } from 'bun:test';
import { learn, newBurst, UNPACED } from '../../../src/mail/mailboxes/learning.ts';
import { afterMail, opensAt, parseRate, roomOf } from '../../../src/mail/mailboxes/pace.ts';

const [SECOND, MINUTE] = [1_000, 60_000];
const RUN = 20 * MINUTE;
const START = Date.parse('2030-01-15T12:00:00Z');
const CONNECTIONS = 10;
const SEEDS = [1, 2];

type Random = () => number;
interface Reply {
  is_taken: boolean;
  /** The connection has to be opened anew. */
  closes?: boolean;
  is_quota?: boolean;
}
interface Relay {
  /** When in a mail's time it judges: at MAIL, at DATA or after the dot. */
  stage: 'mail' | 'data' | 'dot';
  ask(at: number, connection: number): Reply;
  isAway?(at: number): boolean;
  /** Mails that the limit allows in the whole run. */
  best(unlimited: number): number;
  rate?: string;
  /** For mails that come one at a time: the time between them. */
  every_ms?: number;
}

function bucket(per_second: number, size: number): (at: number) => Reply {
  let [level, last] = [size, 0];
  return (at) => {
    level = Math.min(size, level + ((at - last) * per_second) / SECOND);
    last = at;
    const is_taken = level >= 1;
    if (is_taken) level -= 1;
    return { is_taken };
  };
}

function windows(count: number, ms: number, is_quota = false): (at: number) => Reply {
  let [taken, window] = [0, -1];
  return (at) => {
    const now = Math.floor(at / ms);
    if (now !== window) [taken, window] = [0, now];
    const is_taken = taken < count;
    if (is_taken) taken += 1;
    return { is_taken, is_quota };
  };
}

function sliding(count: number, ms: number): (at: number) => Reply {
  const took: number[] = [];
  return (at) => {
    while ((took[0] ?? at) <= at - ms) took.shift();
    const is_taken = took.length < count;
    if (is_taken) took.push(at);
    return { is_taken };
  };
}

function eachFiftieth(): () => Reply {
  let n = 0;
  return () => {
    n += 1;
    return { is_taken: n % 50 !== 0, closes: true };
  };
}

function eachConnection(): (at: number, connection: number) => Reply {
  const buckets = Array.from({ length: CONNECTIONS }, () => bucket(2, 2));
  return (at, connection) => buckets[connection]?.(at) ?? { is_taken: false };
}

/** What goes out of a mailbox whose relay is this, and when. */
function send(relay: Relay, random: Random) {
  const rate = relay.rate === undefined ? null : parseRate(relay.rate);
  let pace = UNPACED;
  const burst = newBurst(START);
  const events: { at: number; go: () => void }[] = [];
  const idle = Array.from({ length: CONNECTIONS }, (_, n) => n);
  const due: number[] = [];
  const taken: number[] = [];
  let [now, woken, slowest_ms, refused] = [0, -1, 0, 0];

  const later = (at: number, go: () => void): void => {
    let place = events.length;
    while (place > 0 && (events[place - 1]?.at ?? 0) > at) place -= 1;
    events.splice(place, 0, { at, go });
  };
  const begin = (): void => {
    const now_ms = START + now;
    const ready = relay.every_ms === undefined ? idle.length : Math.min(due.length, idle.length);
    const room = roomOf(pace, rate, { now_ms, most: ready });
    for (let n = 0; n < room; n += 1) {
      pace = afterMail(pace, rate, now_ms);
      handOver(idle.shift() ?? 0, due.shift() ?? now);
    }
    const at = Math.max(opensAt(pace, rate, now_ms) - START, now + 1);
    if (ready <= room || (woken > now && woken <= at)) return;
    woken = at;
    later(at, begin);
  };
  const handOver = (connection: number, made_at: number): void => {
    const started_at = now;
    const whole = 20 + random() * 180;
    const end = (reply: Reply): void => {
      const told = { words: '451 4.7.1 Slow down', asked_ms: null, is_quota: reply.is_quota === true };
      const answer = {
        started_at: START + started_at,
        now_ms: START + now,
        refusal: reply.is_taken ? null : told,
      };
      pace = learn(pace, burst, answer, random());
      if (reply.is_taken) {
        taken.push(now);
        slowest_ms = Math.max(slowest_ms, now - made_at);
      } else {
        refused += 1;
        later(now + 5 * SECOND, () => {
          if (relay.every_ms !== undefined) due.unshift(made_at);
          begin();
        });
      }
      later(now + (reply.closes && !reply.is_taken ? 30 : 0), () => {
        idle.push(connection);
        begin();
      });
    };
    if (relay.isAway?.(now)) {
      later(now + 2, () => end({ is_taken: false }));
      return;
    }
    const judged_after = relay.stage === 'mail' ? 10 : relay.stage === 'data' ? whole / 3 : whole;
    later(now + judged_after, () => {
      const reply = relay.ask(now, connection);
      if (reply.is_taken) later(started_at + whole, () => end(reply));
      else end(reply);
    });
  };

  for (let at = 0; relay.every_ms !== undefined && at < RUN; at += relay.every_ms)
    later(at, () => {
      due.push(now);
      begin();
    });
  later(0, begin);
  for (let next = events.shift(); next && next.at <= RUN; next = events.shift()) {
    now = next.at;
    next.go();
  }
  return { taken, slowest_ms, refused };
}

/** From 0 to 1, the same ones for the same seed (mulberry32). */
function seeded(seed: number): Random {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const UNLIMITED: Relay = { stage: 'mail', ask: () => ({ is_taken: true }), best: (unlimited) => unlimited };
const free = SEEDS.map((seed) => send(UNLIMITED, seeded(seed)).taken.length);

/** The least share of what a limit allows, and the last run. */
function share(make: (random: Random) => Relay) {
  const runs = SEEDS.map((seed, n) => {
    const relay = make(seeded(seed));
    const sent = send(relay, seeded(seed * 7));
    return { ...sent, share: sent.taken.length / relay.best(free[n] ?? 0) };
  });
  return { runs, least: Math.min(...runs.map((one) => one.share)) };
}

/** How long after each of these moments the next mail was taken, at most. */
function openedLate(runs: readonly { taken: number[] }[], moments: readonly number[]): number {
  const late = runs.flatMap(({ taken }) => moments.map((at) => (taken.find((one) => one >= at) ?? RUN) - at));
  return Math.max(...late);
}

describe('of what a relay allows, so much goes out in 20 minutes:', () => {
  const RELAYS: [string, number, (random: Random) => Relay][] = [
    ...[2, 20].map((size): [string, number, () => Relay] => [
      `0.85 of 2/s (a bucket of ${size})`,
      0.85,
      () => ({ stage: 'data', ask: bucket(2, size), best: () => (2 * RUN) / SECOND + size }),
    ]),
    ...[14, 140].map((size): [string, number, () => Relay] => [
      `0.85 of 14/s (a bucket of ${size})`,
      0.85,
      () => ({ stage: 'dot', ask: bucket(14, size), best: () => (14 * RUN) / SECOND + size }),
    ]),
    ...['14/s', '30/s'].map((rate): [string, number, () => Relay] => [
      `0.85 of 14/s, with a rate of ${rate}`,
      0.85,
      () => ({ stage: 'dot', ask: bucket(14, 14), best: () => (14 * RUN) / SECOND, rate }),
    ]),
    [
      '0.6 of 2/s a connection',
      0.6,
      () => ({ stage: 'mail', ask: eachConnection(), best: () => (2 * CONNECTIONS * RUN) / SECOND }),
    ],
    ['0.6 of all, where each fiftieth is a 421', 0.6, () => ({ ...UNLIMITED, ask: eachFiftieth() })],
    [
      '0.6 of all, where one in fifty is a 421 by chance',
      0.6,
      (random) => ({ ...UNLIMITED, ask: () => ({ is_taken: random() > 0.02, closes: true }) }),
    ],
    [
      '0.6 of 600 in any 5 minutes',
      0.6,
      () => ({ stage: 'data', ask: sliding(600, 5 * MINUTE), best: () => (600 * RUN) / (5 * MINUTE) }),
    ],
  ];
  for (const [what, wanted, make] of RELAYS)
    test(what, () => {
      const { least } = share(make);
      expect(least).toBeGreaterThan(wanted);
      expect(least).toBeLessThan(1.01);
    });

  test('0.6 of 600 in windows of 5 minutes, each used from 5 minutes after it opens at the latest', () => {
    const best = () => 600 * 4;
    const { least, runs } = share(() => ({ stage: 'data', ask: windows(600, 5 * MINUTE), best }));
    expect(least).toBeGreaterThan(0.6);
    expect(
      openedLate(
        runs,
        [5, 10].map((at) => at * MINUTE),
      ),
    ).toBeLessThan(5 * MINUTE + 10 * SECOND);
  });

  test('all of a quota, which is used from 5 minutes after it opens at the latest', () => {
    const ask = () => windows(1_000, 10 * MINUTE, true);
    const { least, runs } = share(() => ({ stage: 'mail', ask: ask(), best: () => 2_000 }));
    expect(least).toBeGreaterThan(0.99);
    expect(openedLate(runs, [10 * MINUTE])).toBeLessThan(5 * MINUTE + 10 * SECOND);
    expect(runs.every(({ refused }) => refused < 50)).toBe(true);
  });

  test('0.4 of all, where it is away for ten minutes, and it is asked each 5 minutes', () => {
    const isAway = (at: number): boolean => at > MINUTE && at < 11 * MINUTE;
    const { least, runs } = share(() => ({ ...UNLIMITED, isAway, best: (unlimited) => unlimited / 2 }));
    expect(least).toBeGreaterThan(0.4);
    expect(openedLate(runs, [11 * MINUTE])).toBeLessThan(5 * MINUTE + 10 * SECOND);
  });

  test('each of a mail a minute, the fifth of which is a 421, within a minute', () => {
    const fifth = (): (() => Reply) => {
      let n = 0;
      return () => {
        n += 1;
        return { is_taken: n !== 5, closes: true };
      };
    };
    const best = () => RUN / MINUTE;
    const { least, runs } = share(() => ({ ...UNLIMITED, ask: fifth(), best, every_ms: MINUTE }));
    expect(least).toBe(1);
    expect(runs.every(({ slowest_ms }) => slowest_ms < MINUTE)).toBe(true);
  });
});
