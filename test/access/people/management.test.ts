/** People over the management plane: what an administrator does, and that nobody gives what they lack. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { CAPABILITIES, type Capability } from '../../../src/platform/http/callers.ts';
import { actor } from '../../support/helpers.ts';
import { codeOf, dataOf, detailsOf, invalidFieldsOf, listOf } from '../../support/management.ts';
import {
  type Asking,
  type Console,
  MANAGEMENT,
  ORIGIN,
  PASSWORD,
  PEOPLE_TABLES,
  startConsole,
} from './setup.ts';

const CHIEF = 'chief@example.com';
const HELPER = 'helper@example.com';

let on: Console;
/** Has everything. */
let chief = '';
/** May administer, and read vaults. */
let helper = '';
let weak = '';
let count = 0;

const everything = Object.fromEntries(CAPABILITIES.map((each) => [each, true]));

beforeAll(async () => {
  on = await startConsole();
  const { projects, tokens } = on.app.services;
  await projects.create(actor, { name: 'One', slug: 'one' });
  await projects.create(actor, { name: 'Two', slug: 'two' });
  await on.addPerson({ email: CHIEF, ...everything, can_administer: true });
  await on.addPerson({ email: HELPER, can_administer: true, can_read_vault: true });
  chief = await on.enter(CHIEF);
  helper = await on.enter(HELPER);
  const made = await tokens.create(actor, {
    ...{
      name: 'weak',
      all_projects: true,
      projects: [],
      capabilities: [...CAPABILITIES],
      expires_in_days: 1,
    },
  });
  weak = made.token;
});

const call = (method: string, path: string, cookie: string, body?: unknown) =>
  on.ask(method, `${MANAGEMENT}${path}`, {
    cookie,
    ...(body === undefined ? {} : { body }),
  } satisfies Asking);
const snapshot = () =>
  JSON.stringify(
    [...PEOPLE_TABLES, 'access_token_projects'].map((table) =>
      on.app.services.database.read.all(sql.raw(`SELECT * FROM ${table}`)),
    ),
  );
const newEmail = () => {
  count += 1;
  return `person${count}@example.com`;
};

test('a person is added with a link, read, listed, changed and removed', async () => {
  const email = newEmail();
  const made = await call('POST', '/people', chief, {
    email,
    name: 'Pat',
    projects: ['one'],
    can_read_vault: true,
  });
  expect(made.status).toBe(201);
  const { link, ...record } = dataOf(made);
  expect(record).toEqual({
    ...{ id: expect.any(Number), email, name: 'Pat', totp: false, is_active: true, last_sign_in_at: null },
    sso: false,
    passkeys: 0,
    ...Object.fromEntries(CAPABILITIES.map((each) => [each, each === 'can_read_vault'])),
    ...{
      can_administer: false,
      read_only: false,
      all_projects: false,
      created_at: '2030-01-15T12:00:00.000Z',
    },
    projects: [{ id: 1, public_id: expect.any(String), name: 'One', slug: 'one' }],
  });
  expect(link).toMatch(/^https:\/\/satchel\.test\/console\/welcome\/[\w-]{43}$/);
  expect(dataOf(await call('GET', `/people/${record.id}`, chief))).toEqual(record);
  expect(dataOf(await call('GET', `/people/${email.toUpperCase()}`, chief))).toEqual(record);
  const [first] = listOf(await call('GET', '/people?per_page=1', chief));
  expect(first).toEqual(record);
  const changed = await call('PATCH', `/people/${record.id}`, chief, { name: null, all_projects: true });
  expect(dataOf(changed)).toMatchObject({ name: email, all_projects: true });
  expect(dataOf(changed)).not.toHaveProperty('projects');
  const removed = await call('DELETE', `/people/${record.id}`, chief);
  expect(dataOf(removed)).toEqual({ deleted: true, cascade: { sessions: 0 }, tokens: 0 });
  expect(codeOf(await call('GET', `/people/${record.id}`, chief))).toBe('NOT_FOUND');
  const target = `person:${record.id}`;
  const events = on.app.services.audit.listNewest({}, 50).filter((event) => event.target === target);
  expect(events.map(({ event, actor_kind, actor_name }) => [event, actor_kind, actor_name])).toEqual([
    ['person.removed', 'person', CHIEF],
    ['person.updated', 'person', CHIEF],
    ['person.created', 'person', CHIEF],
  ]);
  expect(events[1]?.changes).toMatchObject({
    name: { from: 'Pat', to: null },
    all_projects: { from: false, to: true },
  });
  expect(JSON.stringify(events)).not.toContain(String(link).slice(-20));
});

test('only who may administer sees or changes people and tokens', async () => {
  const email = newEmail();
  await on.addPerson({ email, ...everything });
  const strong = await on.enter(email);
  const before = snapshot();
  for (const [method, path] of [
    ['GET', '/people'],
    ['POST', '/people'],
    ['GET', `/people/${CHIEF}`],
    ['PATCH', `/people/${CHIEF}`],
    ['DELETE', `/people/${CHIEF}`],
    ['POST', `/people/${CHIEF}/reset`],
    ['GET', '/tokens'],
    ['POST', '/tokens'],
    ['DELETE', '/tokens/1'],
  ] as const) {
    const body = method === 'GET' ? undefined : {};
    const by_person = await call(method, path, strong, body);
    const by_token = await on.app.call(method, `${MANAGEMENT}${path}`, { token: weak, body });
    for (const refused of [by_person, by_token])
      expect([path, refused.status, detailsOf(refused)]).toEqual([
        path,
        403,
        { required_scope: 'can_administer' },
      ]);
  }
  expect(snapshot()).toBe(before);
});

describe('a body is refused whole, and nothing changes', () => {
  test.each([
    ['POST', {}, 422, ['email', 'projects']],
    ['POST', { email: 'nobody', all_projects: 1 }, 422, ['email', 'all_projects']],
    ['POST', { email: 'a@example.com' }, 422, ['projects']],
    ['POST', { email: 'a@example.com', all_projects: true, projects: ['one'] }, 422, ['projects']],
    ['POST', { email: 'a@example.com', projects: ['nowhere'] }, 422, ['projects']],
    ['POST', { email: 'a@example.com', projects: ['one'], can_administer: true }, 422, ['can_administer']],
    ['POST', { email: CHIEF.toUpperCase(), all_projects: true }, 409, ['email']],
    ['PATCH', { email: CHIEF }, 409, ['email']],
    ['PATCH', { is_active: null, can_read_vault: 'yes' }, 422, ['is_active', 'can_read_vault']],
    [
      'POST',
      { email: 'a@example.com', all_projects: true, name: 'Ann\r\nBcc: b@example.com' },
      422,
      ['name'],
    ],
    ['PATCH', { name: 'Ann\n' }, 422, ['name']],
    ['PATCH', { projects: [] }, 422, ['projects']],
    ['PATCH', { all_projects: false }, 422, ['projects']],
    ['PATCH', { projects: ['one'] }, 422, ['can_administer']],
  ] as const)('%s %j', async (method, body, status, fields) => {
    const before = snapshot();
    const refused = await call(method, method === 'POST' ? '/people' : `/people/${HELPER}`, chief, body);
    expect([refused.status, invalidFieldsOf(refused).toSorted()]).toEqual([status, [...fields].toSorted()]);
    expect(snapshot()).toBe(before);
  });
});

describe('nobody', () => {
  let target = '';
  beforeEach(async () => {
    target = newEmail();
    await on.addPerson({ email: target, can_read_vault: true, can_reveal_vault: true });
  });

  const refusesAll = async (tries: readonly (readonly [string, string, object])[], scope: Capability) => {
    const before = snapshot();
    for (const [method, path, body] of tries) {
      const refused = await call(method, path, helper, body);
      expect([path, refused.status, codeOf(refused), detailsOf(refused)]).toEqual([
        ...[path, 403, 'TOKEN_PERMISSION_DENIED'],
        { required_scope: scope },
      ]);
    }
    expect(snapshot()).toBe(before);
  };

  test('gives what they lack, to a person or a token, new or old, or to themselves', async () => {
    const email = newEmail();
    await on.addPerson({ email, can_read_vault: true });
    await refusesAll(
      [
        ['POST', '/people', { email: newEmail(), all_projects: true, can_write_vault: true }],
        ['POST', '/people', { can_write_vault: true }],
        ['PATCH', `/people/${email}`, { can_write_vault: true }],
        ['PATCH', `/people/${HELPER}`, { can_write_vault: true }],
        ['POST', '/tokens', { name: 't', all_projects: true, can_write_vault: true }],
      ],
      'can_write_vault',
    );
    const given = { can_read_vault: true, all_projects: true };
    expect((await call('POST', '/people', helper, { email: newEmail(), ...given })).status).toBe(201);
    expect(
      (await call('POST', '/tokens', helper, { name: 't', ...given, can_administer: true })).status,
    ).toBe(201);
  });

  test('gives what they lack in projects where somebody did not have it', async () => {
    const email = newEmail();
    await on.addPerson({ email, projects: ['one'], can_reveal_vault: true });
    await refusesAll(
      [
        ['PATCH', `/people/${email}`, { all_projects: true }],
        ['PATCH', `/people/${email}`, { projects: ['one', 'two'] }],
        ['PATCH', `/people/${email}`, { projects: ['two'], can_read_vault: true }],
      ],
      'can_reveal_vault',
    );
    const fewer = { projects: ['two'], can_reveal_vault: false };
    expect((await call('PATCH', `/people/${email}`, chief, fewer)).status).toBe(200);
    const wider = { all_projects: true, can_reveal_vault: true };
    expect((await call('PATCH', `/people/${email}`, chief, wider)).status).toBe(200);
  });

  test('resets, moves, lets in again, deactivates, removes or takes anything from somebody who has more', async () => {
    const { people } = on.app.services;
    const inactive = newEmail();
    await on.addPerson({ email: inactive, can_reveal_vault: true });
    await people.change(actor, null, people.require(inactive), { is_active: false });
    await refusesAll(
      [
        ['POST', `/people/${target}/reset`, {}],
        ['PATCH', `/people/${target}`, { email: newEmail() }],
        ['PATCH', `/people/${inactive}`, { is_active: true }],
        ['PATCH', `/people/${inactive}`, { is_active: true, can_read_vault: false }],
        ['PATCH', `/people/${target}`, { can_reveal_vault: false }],
        ['PATCH', `/people/${target}`, { can_read_vault: false }],
        ['PATCH', `/people/${target}`, { projects: ['one'] }],
        ['PATCH', `/people/${target}`, { is_active: false }],
        ['DELETE', `/people/${target}`, {}],
      ],
      'can_reveal_vault',
    );
    // To repeat what is there, or to call them something else, is none of these.
    const same = { can_read_vault: true, can_reveal_vault: true, email: target, name: 'Target' };
    expect((await call('PATCH', `/people/${target}`, helper, same)).status).toBe(200);
    expect((await call('PATCH', `/people/${target}`, chief, { can_reveal_vault: false })).status).toBe(200);
    for (const body of [{ is_active: false }, { is_active: true, can_read_vault: false }])
      expect((await call('PATCH', `/people/${target}`, helper, body)).status).toBe(200);
    expect((await call('POST', `/people/${target}/reset`, helper, {})).status).toBe(200);
    expect((await call('DELETE', `/people/${target}`, helper)).status).toBe(200);
  });

  test('makes somebody greater small and takes them over, in whatever order and all at once', async () => {
    const before = snapshot();
    const steps = [
      ['PATCH', `/people/${target}`, { can_reveal_vault: false }],
      ['PATCH', `/people/${target}`, { is_active: false }],
      ['POST', `/people/${target}/reset`, {}],
      ['DELETE', `/people/${target}`, undefined],
    ] as const;
    const rounds = [...steps, ...steps.toReversed(), ...steps];
    const answers = await Promise.all(rounds.map(([method, path, body]) => call(method, path, helper, body)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([403]));
    expect(snapshot()).toBe(before);
  });
});

test('a reset makes a link, and ends sessions and the password at once', async () => {
  const email = newEmail();
  await on.addPerson({ email });
  const cookie = await on.enter(email);
  const { link, totp } = dataOf(await call('POST', `/people/${email}/reset`, chief, { totp: true }));
  expect(totp).toBe(false);
  expect((await on.ask('GET', '/console/session', { cookie })).status).toBe(401);
  expect((await on.signIn(email)).status).toBe(401);
  await on.ask('POST', new URL(String(link)).pathname, { body: { password: PASSWORD } });
  expect((await on.signIn(email)).status).toBe(204);
});

test('a person who loses a capability loses it with their next request, and so does one who loses all', async () => {
  const email = newEmail();
  await on.addPerson({ email, can_administer: true });
  const cookie = await on.enter(email);
  expect((await call('GET', '/people', cookie)).status).toBe(200);
  await call('PATCH', `/people/${email}`, chief, { can_administer: false });
  expect((await call('GET', '/people', cookie)).status).toBe(403);
  await call('PATCH', `/people/${email}`, chief, { is_active: false });
  expect((await call('GET', '/projects', cookie)).status).toBe(401);
});

describe('whoever is let go while their body is on its way', () => {
  /** The status of a request of which the first half of the body is there before, and the rest after `meanwhile`. */
  const ask = async (method: string, path: string, who: Record<string, string>, meanwhile: () => unknown) => {
    const body = JSON.stringify({ name: 'later', all_projects: true, can_administer: true, slug: 'later' });
    const stream = new ReadableStream(
      {
        // Asked for only once the caller was accepted.
        async pull(controller) {
          await meanwhile();
          controller.enqueue(new TextEncoder().encode(body));
          controller.close();
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { ...who, 'Content-Type': 'application/json' };
    const request = new Request(`http://satchel.test${path}`, { method, headers, body: stream });
    return (await on.app.app.handle(request)).status;
  };
  const page = { 'X-Satchel-Console': '1', Origin: ORIGIN };
  const rows = () =>
    ['access_tokens', 'projects', 'people'].map((table) =>
      on.app.services.database.read.all(sql.raw(`SELECT count(*) AS n FROM ${table}`)),
    );

  test('gets neither a token nor a project by it', async () => {
    const { people, projects, tokens } = on.app.services;
    const email = newEmail();
    await on.addPerson({ email, can_administer: true });
    const made = {
      name: 'ends',
      all_projects: true,
      projects: [],
      capabilities: ['can_administer' as const],
    };
    const { token, record } = await tokens.create(actor, made);
    const enter = async () => ({ ...page, Cookie: await on.enter(email) });
    const change = (changes: object) => people.change(actor, null, people.require(email), changes);
    const before = rows();
    const bearer = { Authorization: `Bearer ${token}` };
    const tries = [
      ['POST', '/tokens', bearer, () => tokens.revoke(actor, record.id)],
      ['POST', '/tokens', await enter(), () => change({ can_administer: false })],
      ['PATCH', '/projects/two', await enter(), () => change({ projects: ['one'] })],
      ['POST', '/projects', await enter(), () => change({ is_active: false })],
    ] as const;
    const statuses: number[] = [];
    for (const [method, path, who, meanwhile] of tries)
      statuses.push(await ask(method, `${MANAGEMENT}${path}`, who, meanwhile));
    expect(statuses).toEqual([401, 403, 404, 401]);
    expect(rows()).toEqual(before);
    expect(projects.require('two').name).toBe('Two');
  });

  test('takes nobody over with what they lose in the very commit before', async () => {
    const { people } = on.app.services;
    const [email, target] = [newEmail(), newEmail()];
    const powers = { can_administer: true, can_reveal_vault: true };
    await on.addPerson({ email, ...powers });
    await on.addPerson({ email: target, can_reveal_vault: true });
    const who = { ...page, Cookie: await on.enter(email) };
    const losing: Promise<unknown>[] = [];
    const loseOne = (lost: object) => {
      losing.push(people.change(actor, null, people.require(email), lost));
    };
    const statuses: number[] = [];
    for (const lost of [{ can_reveal_vault: false }, { can_administer: false }]) {
      const held = { ...powers, is_active: true };
      await people.change(actor, null, people.require(email), held);
      const reset = `${MANAGEMENT}/people/${target}/reset`;
      statuses.push(await ask('POST', reset, who, () => loseOne(lost)));
      await people.change(actor, null, people.require(email), held);
      statuses.push(await ask('POST', `${MANAGEMENT}/tokens`, who, () => loseOne({ can_administer: false })));
    }
    await Promise.all(losing);
    expect(statuses).toEqual([403, 403, 403, 403]);
    expect((await on.signIn(target)).status).toBe(204);
  });

  test('changes nothing of their account', async () => {
    const email = newEmail();
    await on.addPerson({ email });
    const who = { ...page, Cookie: await on.enter(email) };
    const { people } = on.app.services;
    const reset = () => people.reset(actor, null, people.require(email));
    expect(await ask('POST', '/console/totp', who, reset)).toBe(401);
  });
});

test('GET /token answers what a person may do', async () => {
  expect(dataOf(await call('GET', '/token', helper))).toEqual({
    ...{ name: HELPER, token_prefix: null, all_projects: true, expires_at: null, last_used_at: null },
    ...Object.fromEntries(CAPABILITIES.map((each) => [each, each === 'can_read_vault'])),
    can_administer: true,
  });
  const email = newEmail();
  await on.addPerson({ email, name: 'Sam', projects: ['two'] });
  const scoped = dataOf(await call('GET', '/token', await on.enter(email)));
  expect(scoped).toMatchObject({ name: 'Sam', all_projects: false, projects: [{ slug: 'two' }] });
  expect(scoped).not.toHaveProperty('can_administer');
});

test('the rule holds where projects are what is lacking, whoever asks the service', async () => {
  const { people, tokens, projects } = on.app.services;
  const id = projects.require('one').id;
  const giver = { kind: 'person', id: 1, name: 'g', all_projects: false, project_ids: [id] } as const;
  const scoped = { ...giver, read_only: false, capabilities: new Set(['can_read_vault'] as const) };
  const before = snapshot();
  const token = { name: 't', all_projects: false, projects: ['one'], capabilities: [] };
  const refused = [
    tokens.create(actor, { ...token, all_projects: true, projects: [] }, scoped),
    tokens.create(actor, { ...token, capabilities: ['can_write_vault'] }, scoped),
    people.add(actor, scoped, { email: newEmail(), all_projects: true }),
    people.reset(actor, scoped, people.require(CHIEF)),
    people.change(actor, scoped, people.require(HELPER), { email: newEmail() }),
  ];
  for (const each of await Promise.allSettled(refused))
    expect(each).toMatchObject({ status: 'rejected', reason: { kind: 'forbidden' } });
  expect(snapshot()).toBe(before);
  expect(
    (await tokens.create(actor, { ...token, capabilities: ['can_read_vault'] }, scoped)).record.name,
  ).toBe('t');
});

test('a project that is deleted meanwhile is one that somebody had until then', async () => {
  const { people, projects, tokens } = on.app.services;
  await projects.create(actor, { name: 'Brief', slug: 'brief' });
  const input = { projects: ['brief'] };
  const [, person, refusal] = await Promise.all([
    projects.remove(actor, 'brief'),
    people.add(actor, null, { email: newEmail(), ...input }),
    tokens
      .create(actor, { name: 't', all_projects: false, capabilities: [], ...input })
      .catch((error: unknown) => error),
  ]);
  expect(person).toMatchObject({ all_projects: false, projects: [] });
  // Whoever asks for what is gone by then gets nothing that could not be asked for now.
  expect(refusal).toMatchObject({ kind: 'not_found' });
});

describe('tokens over HTTP', () => {
  test('are made, shown once, listed and revoked', async () => {
    const made = await call('POST', '/tokens', chief, {
      name: 'ci',
      projects: ['one'],
      can_write_vault: true,
    });
    expect(made.status).toBe(201);
    const { token, ...record } = dataOf(made);
    expect(record).toMatchObject({
      ...{ name: 'ci', token_prefix: String(token).slice(0, 11), all_projects: false, can_write_vault: true },
      ...{ can_read_vault: false, expires_at: '2030-04-15T12:00:00.000Z', revoked_at: null },
      projects: [{ slug: 'one' }],
    });
    const use = () => on.app.call('GET', `${MANAGEMENT}/projects`, { token: String(token) });
    expect(listOf(await use())).toHaveLength(1);
    const listed = await call('GET', '/tokens?per_page=1', chief);
    expect(listOf(listed)).toMatchObject([{ id: record.id, name: 'ci' }]);
    expect(listed.text).not.toContain(String(token));
    expect(on.app.services.audit.listNewest({ event: 'token.created' }, 1)).toMatchObject([
      { actor_kind: 'person', actor_name: CHIEF, metadata: { projects: [expect.any(String)] } },
    ]);
    expect(dataOf(await call('DELETE', `/tokens/${record.id}`, chief))).toMatchObject({
      ...{ id: record.id, revoked_at: expect.any(String) },
    });
    expect((await use()).status).toBe(401);
    for (const absent of ['999999', 'ci', String(token)])
      expect((await call('DELETE', `/tokens/${absent}`, chief)).status).toBe(404);
  });

  test('end when they are told to', async () => {
    const expires_at = '2030-02-01T00:00:00Z';
    const all = { name: 't', all_projects: true };
    expect(dataOf(await call('POST', '/tokens', chief, { ...all, expires_at }))).toMatchObject({
      expires_at: '2030-02-01T00:00:00.000Z',
    });
    expect(dataOf(await call('POST', '/tokens', chief, { ...all, expires_in_days: 1 }))).toMatchObject({
      expires_at: '2030-01-16T12:00:00.000Z',
    });
    const before = snapshot();
    for (const [body, fields] of [
      [{ ...all, expires_at: '2030-01-15T12:00:00Z' }, ['expires_at']],
      [{ ...all, expires_at: '2099-01-15T12:00:00Z' }, ['expires_at']],
      [{ ...all, expires_at, expires_in_days: 3 }, ['expires_at']],
      [{ ...all, expires_in_days: 0 }, ['expires_in_days']],
      [{ all_projects: false, expires_at: '2000-01-01T00:00:00Z' }, ['name', 'expires_at', 'projects']],
      [{ name: 't', projects: ['one'], can_administer: true }, ['can_administer']],
    ] as const) {
      const refused = await call('POST', '/tokens', chief, body);
      expect([refused.status, invalidFieldsOf(refused).toSorted()]).toEqual([422, [...fields].toSorted()]);
    }
    expect(snapshot()).toBe(before);
  });
});
