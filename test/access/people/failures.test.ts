/** Failed sign-ins: when they count, whom they lock out and whom they do not, and what is told of them. */
import { beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { TOTP } from 'otpauth';
import { peopleChecks } from '../../../src/access/people/checks.ts';
import { actor } from '../../support/helpers.ts';
import { until } from '../../support/until.ts';
import { type Console, PASSWORD, startConsole } from './setup.ts';

const EMAIL = 'ann@example.com';
const HOME = '203.0.113.7';
const WRONG = 'wrong horse battery staple';
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let on: Console;
let person = 0;
beforeEach(async () => {
  on = await startConsole();
  person = await on.addPerson({ email: EMAIL, name: 'Ann' });
});

/** The status of a sign-in with another address of a stranger each time, unless told where from. */
let strangers = 0;
const fail = async (email = EMAIL, ip?: string): Promise<number> => {
  strangers += 1;
  const from = ip ?? `198.51.${100 + Math.floor(strangers / 250)}.${strangers % 250}`;
  return (await on.signIn(email, { password: WRONG, ip: from })).status;
};
const failTimes = async (n: number, email = EMAIL, ip?: string): Promise<number[]> => {
  const statuses: number[] = [];
  for (let each = 0; each < n; each += 1) statuses.push(await fail(email, ip));
  return statuses;
};
/** So many tries, of which ten have begun to be looked at and none has ended. */
const failAtOnce = async (n: number) => {
  const { promise, resolve: release } = Promise.withResolvers<boolean>();
  const verify = spyOn(on.app.services.entry.passwords, 'verify').mockReturnValue(promise);
  const tries = Array.from({ length: n }, () => fail());
  await until(() => verify.mock.calls.length === 10);
  return { release, tries };
};
const events = () => on.app.services.audit.listNewest({ event: 'person.sign_in_failed' }, 50);
const windows = () =>
  on.app.services.database.read.all(sql`SELECT caller, used FROM rate_windows ORDER BY caller`);
const findings = async () => {
  const checks = peopleChecks(on.app.services);
  const all = await Promise.all(checks.map((each) => each.run()));
  return all.flat().filter(({ check }) => check === 'failed sign-ins');
};

describe('on the audit trail', () => {
  test('an account has one row a window, with how many and where from', async () => {
    await failTimes(3, EMAIL, '198.51.100.9');
    await fail('Ann@Example.com', '2001:db8:1:2:3::4');
    on.app.clock.advance(14 * MINUTE_MS);
    await fail(EMAIL, '198.51.100.9');
    expect(events()).toMatchObject([
      {
        ...{ target: `person:${person}`, actor_kind: 'system', ip: null, at: '2030-01-15T12:00:00.000Z' },
        metadata: {
          email: EMAIL,
          count: 5,
          networks: ['198.51.100.9', '2001:db8:1:2::/64'],
          locked_out: false,
        },
      },
    ]);
    on.app.clock.advance(MINUTE_MS);
    await fail();
    expect(events().map(({ metadata }) => metadata.count)).toEqual([1, 5]);
  });

  test('names that nobody has share one, and what was typed is kept nowhere', async () => {
    for (const typed of ['nobody@example.com', 'hunter2-typed-here', 'x'.repeat(300)])
      await fail(typed, HOME);
    await fail();
    expect(events().map(({ target, metadata }) => [target, metadata.count])).toEqual([
      [`person:${person}`, 1],
      [null, 3],
    ]);
    const rows = on.app.services.database.read.all(sql`SELECT * FROM audit_events`);
    for (const typed of ['nobody@', 'hunter2'])
      expect(JSON.stringify(rows) + on.app.logs()).not.toContain(typed);
  });

  test('many at once are counted one by one, and the rest of the trail can be changed by nobody', async () => {
    const { release, tries } = await failAtOnce(15);
    release(false);
    await Promise.all(tries);
    expect(events().map(({ metadata }) => metadata.count)).toEqual([10]);
    const change = (what: string) =>
      on.app.services.database.write((tx) => tx.run(sql.raw(`UPDATE audit_events SET ${what}`)));
    for (const what of [
      `metadata = '{"count":3}' WHERE event = 'person.sign_in_failed'`,
      `target = 'person:7', metadata = '{"count":30}' WHERE event = 'person.sign_in_failed'`,
      `metadata = '{"count":1}' WHERE event = 'person.created'`,
    ])
      await expect(change(what)).rejects.toMatchObject({
        cause: { message: expect.stringContaining('append-only') },
      });
  });
});

describe('a letter that Unicode folds into another', () => {
  test.each([
    ['in the name', '\u212Aim@example.com', 'kim@example.com'],
    ['in a name that is none', '\u212A', 'k'],
    ['of Turkish', 'k\u0130m@example.com', 'kim@example.com'],
  ])('%s tells no account from none', async (_, odd, plain) => {
    const outcomes: unknown[] = [];
    for (const is_there of [false, true]) {
      on = await startConsole();
      if (is_there) await on.addPerson({ email: 'kim@example.com' });
      await failTimes(10, plain);
      const verify = spyOn(on.app.services.entry.passwords, 'verify');
      const write = spyOn(on.app.services.database, 'write');
      const { status, text } = await on.signIn(odd, { password: WRONG, ip: HOME });
      outcomes.push([status, text, verify.mock.calls.length, write.mock.calls.length]);
    }
    expect(outcomes[1]).toEqual(outcomes[0]);
    expect(outcomes[0]).toEqual([401, expect.stringContaining('is not right'), 1, 1]);
  });
});

describe('who signed in from there before', () => {
  test('is kept out by no stranger behind the same address, nor keeps them out', async () => {
    await on.enter(EMAIL, { ip: HOME });
    for (let n = 0; n < 30; n += 1) expect(await fail(`n${n}@example.com`, HOME)).toBe(401);
    expect(await fail('other@example.com', HOME)).toBe(429);
    expect((await on.signIn(EMAIL, { ip: HOME })).status).toBe(204);
    on.app.clock.advance(15 * MINUTE_MS);
    expect(await failTimes(11, EMAIL, HOME)).toEqual([...Array(10).fill(401), 429]);
    for (let n = 0; n < 30; n += 1) expect(await fail(`n${n}@example.com`, HOME)).toBe(401);
  });
});

describe('a failure counts when it has failed', () => {
  test('so one that a crash cuts off does not, while as many as may fail are looked at at once', async () => {
    const { release, tries } = await failAtOnce(12);
    const statuses = await Promise.all(tries.slice(10).map(() => fail()));
    expect(statuses).toEqual([429, 429]);
    // What a kill would leave.
    expect(windows()).toEqual([]);
    expect(events()).toEqual([]);
    release(false);
    expect((await Promise.all(tries)).toSorted()).toEqual([...Array(10).fill(401), 429, 429]);
    expect(await fail()).toBe(429);
  });

  test('and what could not be looked at is none', async () => {
    const verify = spyOn(on.app.services.entry.passwords, 'verify').mockRejectedValue(new Error('broken'));
    for (let n = 0; n < 12; n += 1) expect(await fail()).toBe(500);
    verify.mockRestore();
    expect(windows()).toEqual([]);
    expect((await on.signIn(EMAIL)).status).toBe(204);
  });
});

test('a reset lifts the lock, for strangers and for who is known', async () => {
  await on.enter(EMAIL, { ip: HOME });
  await failTimes(10);
  await failTimes(10, EMAIL, HOME);
  expect([await fail(), await fail(EMAIL, HOME)]).toEqual([429, 429]);
  const { people } = on.app.services;
  const { link } = await people.reset(actor, null, people.require(EMAIL));
  expect((await on.ask('POST', new URL(link).pathname, { body: { password: PASSWORD } })).status).toBe(204);
  expect((await on.signIn(EMAIL, { ip: '192.0.2.44' })).status).toBe(204);
  expect((await on.signIn(EMAIL, { ip: HOME })).status).toBe(204);
});

test('doctor tells of lock-outs of the last day, and not of single failures', async () => {
  await failTimes(9);
  expect(await findings()).toMatchObject([{ status: 'ok' }]);
  await fail(EMAIL, '198.51.100.77');
  await failTimes(10, 'nobody@example.com');
  const [told, ...more] = await findings();
  expect([told, more]).toMatchObject([
    {
      status: 'warning',
      message: expect.stringContaining(`${EMAIL} was locked out by 10 failed sign-ins`),
      remedy: expect.stringContaining('satchel person reset ann@example.com'),
    },
    [],
  ]);
  on.app.clock.advance(25 * HOUR_MS);
  expect(await findings()).toMatchObject([{ status: 'ok' }]);
});

describe('wrong codes after a right password', () => {
  let secret = '';
  const codeOf = (steps = 0) =>
    new TOTP({ secret }).generate({ timestamp: on.app.clock.now() + steps * 30_000 });
  const tryCode = (code: string, ip?: string) => {
    strangers += 1;
    return on.signIn(EMAIL, { code, ip: ip ?? `198.18.${Math.floor(strangers / 250)}.${strangers % 250}` });
  };
  /** Ten in each window of fifteen minutes, as more are refused. */
  const guess = async (n: number) => {
    for (let each = 0; each < n; each += 1) {
      if (each % 10 === 0) on.app.clock.advance(15 * MINUTE_MS);
      const { status, body } = await tryCode('000000');
      expect([status, body.second_step]).toEqual([401, true]);
    }
  };
  beforeEach(async () => {
    const cookie = await on.enter(EMAIL, { ip: HOME });
    const { body } = await on.ask('POST', '/console/totp', { cookie, body: { password: PASSWORD } });
    secret = String(body.secret);
    await on.ask('PUT', '/console/totp', { cookie, body: { code: codeOf() } });
  });

  test('from thirty on wait an hour each, doubling to a day, wherever strangers are', async () => {
    await guess(30);
    on.app.clock.advance(15 * MINUTE_MS);
    const early = await tryCode(codeOf());
    expect([early.status, early.headers.get('retry-after')]).toEqual([429, String(45 * 60)]);
    expect((await on.signIn(EMAIL, { password: WRONG, ip: '198.18.9.9' })).status).toBe(401);
    on.app.clock.advance(45 * MINUTE_MS);
    expect((await tryCode('000000')).status).toBe(401);
    for (const hours of [2, 4, 8, 16, 24, 24]) {
      on.app.clock.advance(hours * HOUR_MS - 1_000);
      expect((await tryCode('000000')).status).toBe(429);
      on.app.clock.advance(1_000);
      expect((await tryCode('000000')).status).toBe(401);
    }
    on.app.clock.advance(24 * HOUR_MS);
    expect((await tryCode(codeOf())).status).toBe(204);
    // The right one has ended it.
    await guess(29);
    on.app.clock.advance(15 * MINUTE_MS);
    expect((await tryCode(codeOf())).status).toBe(204);
  });

  test('wait nowhere that the person signed in before, nor after a reset', async () => {
    await guess(30);
    on.app.clock.advance(15 * MINUTE_MS);
    expect((await tryCode(codeOf(), HOME)).status).toBe(204);
    await guess(30);
    on.app.clock.advance(15 * MINUTE_MS);
    const { people } = on.app.services;
    const { link } = await people.reset(actor, null, people.require(EMAIL));
    await on.ask('POST', new URL(link).pathname, { body: { password: PASSWORD } });
    expect((await tryCode(codeOf())).status).toBe(204);
  });

  test('are told by doctor from the third on, and on the trail', async () => {
    await guess(2);
    expect(await findings()).toMatchObject([{ status: 'ok' }]);
    await guess(1);
    expect(await findings()).toMatchObject([
      {
        status: 'warning',
        message: expect.stringContaining('knows the password of ann@example.com gave 3 wrong codes'),
      },
    ]);
    expect(events()[0]?.metadata).toMatchObject({ count: 1, wrong_codes: 1 });
    await tryCode(codeOf());
    expect(await findings()).toMatchObject([{ status: 'ok' }]);
  });
});
