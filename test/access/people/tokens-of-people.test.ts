import { beforeEach, describe, expect, test } from 'bun:test';
import { run, runJson, runRecord } from '../../support/command.ts';
import { actor } from '../../support/helpers.ts';
import { dataOf, invalidFieldsOf, listOf } from '../../support/management.ts';
import { type Console, MANAGEMENT, startConsole } from './setup.ts';

const ANN = 'ann@example.com';
const BOB = 'bob@example.com';
const DAY_MS = 86_400_000;

let on: Console;
let ann = '';
let bob = 0;
/** Of Bob: one of his own, and one that this one made. */
let own = '';
let made = '';
beforeEach(async () => {
  on = await startConsole();
  await on.addPerson({ email: ANN, name: 'Ann', can_administer: true });
  bob = await on.addPerson({ email: BOB, name: 'Bob', can_administer: true });
  ann = await on.enter(ANN);
  const body = { name: 'own', all_projects: true, can_administer: true };
  own = String(dataOf(await call('POST', '/tokens', await on.enter(BOB), body)).token);
  const by_token = await on.app.call('POST', `${MANAGEMENT}/tokens`, {
    token: own,
    body: { name: 'made', all_projects: true, can_administer: true },
  });
  made = String(dataOf(by_token).token);
  await on.app.services.tokens.create(actor, {
    name: 'shell',
    all_projects: true,
    projects: [],
    capabilities: [],
  });
});

const call = (method: string, path: string, cookie: string, body?: unknown) =>
  on.ask(method, `${MANAGEMENT}${path}`, { cookie, ...(body === undefined ? {} : { body }) });
const statuses = () =>
  Promise.all(
    [own, made].map(async (token) => (await on.app.call('GET', `${MANAGEMENT}/token`, { token })).status),
  );

test('a token tells who made it, after they are gone too', async () => {
  const makers = async () =>
    listOf(await call('GET', '/tokens', ann)).map(({ name, created_by }) => [name, created_by]);
  const expected = [
    ['shell', { kind: 'shell', id: '0', name: 'tester' }],
    ['made', { kind: 'token', id: '1', name: 'own' }],
    ['own', { kind: 'person', id: String(bob), name: 'Bob' }],
  ];
  expect(await makers()).toEqual(expected);
  await call('DELETE', `/people/${BOB}`, ann);
  expect(await makers()).toEqual(expected);
});

describe('who goes', () => {
  test('leaves their tokens good, and it is told how many', async () => {
    const out = await call('PATCH', `/people/${BOB}`, ann, { is_active: false });
    expect([out.status, dataOf(out).tokens]).toEqual([200, 2]);
    // What is told of a moment is no part of the record.
    const shown = await call('GET', `/people/${BOB}`, ann);
    expect(dataOf(shown)).not.toHaveProperty('tokens');
    expect(shown.headers.get('etag')).toBe(out.headers.get('etag'));
    expect(dataOf(await call('PATCH', `/people/${BOB}`, ann, { is_active: true }))).not.toHaveProperty(
      'tokens',
    );
    expect(dataOf(await call('DELETE', `/people/${BOB}`, ann))).toMatchObject({ deleted: true, tokens: 2 });
    expect(await statuses()).toEqual([200, 200]);
  });

  test.each([
    ['PATCH', { is_active: false, revoke_tokens: true }],
    ['DELETE', { revoke_tokens: true }],
  ])('takes them along where that is asked for: %s', async (method, body) => {
    const gone = await call(method, `/people/${BOB}`, ann, body);
    expect([gone.status, dataOf(gone).tokens]).toEqual([200, 0]);
    expect(await statuses()).toEqual([401, 401]);
    const events = on.app.services.audit.listNewest({ event: 'token.revoked' }, 9);
    expect(events.map(({ actor_name, metadata }) => [actor_name, metadata.name]).toSorted()).toEqual([
      ['Ann', 'made'],
      ['Ann', 'own'],
    ]);
    expect(
      listOf(await call('GET', '/tokens', ann)).filter(({ revoked_at }) => revoked_at === null),
    ).toMatchObject([{ name: 'shell' }]);
  });

  test('counts no token that is over', async () => {
    on.app.clock.advance(91 * DAY_MS);
    const { people } = on.app.services;
    expect(await people.remove(actor, null, people.require(BOB))).toMatchObject({ tokens: 0 });
  });
});

test('nobody loses tokens who stays', async () => {
  for (const body of [{ revoke_tokens: true }, { is_active: true, revoke_tokens: true }]) {
    const refused = await call('PATCH', `/people/${BOB}`, ann, body);
    expect([refused.status, invalidFieldsOf(refused)]).toEqual([422, ['revoke_tokens']]);
  }
  expect(await statuses()).toEqual([200, 200]);
});

describe('a token lives', () => {
  const days = (n: number) => new Date(on.app.clock.now() + n * DAY_MS).toISOString();
  test('366 days at most', async () => {
    const make = (expiry: object) =>
      call('POST', '/tokens', ann, { name: 't', all_projects: true, ...expiry });
    for (const expiry of [{ expires_in_days: 367 }, { expires_at: days(367) }])
      expect(invalidFieldsOf(await make(expiry))).toEqual(Object.keys(expiry));
    for (const expiry of [{ expires_in_days: 366 }, { expires_at: days(366) }])
      expect((await make(expiry)).status).toBe(201);
  });

  test('longer where the shell makes it', async () => {
    const { record } = await on.app.services.tokens.create(actor, {
      ...{ name: 't', all_projects: true, projects: [], capabilities: [], expires_at: days(3_000) },
    });
    expect(record.expires_at).toBe(days(3_000));
  });
});

test('the shell tells of them, and ends them where it is told to', async () => {
  const dir = on.app.data_dir;
  const asked = await run(dir, 'person', 'remove', BOB);
  expect([asked.exit, asked.stderr]).toEqual([
    1,
    expect.stringContaining('of theirs 2 tokens would stay good'),
  ]);
  expect((await run(dir, 'token', 'list')).stdout).toContain('Bob');
  const out = await run(dir, 'person', 'change', BOB, '--inactive');
  expect(out.stderr).toContain('Still good: 2 tokens of theirs');
  const usage = await run(dir, 'person', 'change', BOB, '--revoke-tokens');
  expect([usage.exit, usage.stderr]).toEqual([
    1,
    expect.stringContaining('--revoke-tokens goes with --inactive only'),
  ]);
  expect(await runRecord(dir, 'person', 'change', BOB, '--inactive', '--revoke-tokens')).toMatchObject({
    tokens: 0,
  });
  expect(await runRecord(dir, 'person', 'remove', BOB, '--revoke-tokens', '--yes')).toMatchObject({
    tokens: 0,
  });
  expect(await statuses()).toEqual([401, 401]);
  expect(await runJson(dir, 'token', 'list')).toMatchObject([{ revoked_at: null }, {}, {}]);
});
