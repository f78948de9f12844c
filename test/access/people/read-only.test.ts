/** Who is read-only: a person, their tokens, a token of its own. They see what the rest allows, and change nothing. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import type { Route } from '../../../src/platform/http/routes.ts';
import { run, runJson, runRecord } from '../../support/command.ts';
import { actor } from '../../support/helpers.ts';
import { codeOf, dataOf, detailsOf, invalidFieldsOf, listOf } from '../../support/management.ts';
import { makeDataDir } from '../../support/temp.ts';
import { type Console, MANAGEMENT, PASSWORD, startConsole } from './setup.ts';

const CHIEF = 'chief@example.com';
const EVE = 'eve@example.com';
const REFUSED = { code: 'TOKEN_PERMISSION_DENIED', details: { required_scope: 'write' } };

let on: Console;
let chief = '';
let token = '';

beforeAll(async () => {
  on = await startConsole();
  await on.app.services.projects.create(actor, { name: 'Shop', slug: 'shop' });
  await on.addPerson({ email: CHIEF, can_administer: true, can_write_vault: true, can_reveal_vault: true });
  chief = await on.enter(CHIEF);
  await on.addPerson({ email: EVE, read_only: true, can_reveal_vault: true });
  const made = await call('POST', '/tokens', chief, {
    ...{ name: 'dashboard', all_projects: true, read_only: true, can_reveal_vault: true },
  });
  token = String(dataOf(made).token);
});

const call = (method: string, path: string, cookie: string, body?: unknown) =>
  on.ask(method, `${MANAGEMENT}${path}`, { cookie, ...(body === undefined ? {} : { body }) });
const byToken = (method: string, path: string, of = token, body?: unknown) =>
  on.app.call(method, `${MANAGEMENT}${path}`, { token: of, ...(body === undefined ? {} : { body }) });
const stored = () =>
  on.app.services.database.read.all(sql`SELECT id, read_only, can_administer, can_write_vault FROM people`);

describe('what they may ask', () => {
  const managed = (): Route[] => on.app.app.routes.filter(({ plane }) => plane === 'management');

  test('every endpoint that is no GET is refused, but for those that change nothing', async () => {
    const eve = await on.enter(EVE);
    const allowed: string[] = [];
    for (const { method, path } of managed()) {
      if (method === 'GET') continue;
      const of = path.replace(':project', 'shop').replaceAll(/:\w+/g, '1');
      const answers = [await byToken(method, of), await call(method, of, eve)];
      const refusals = answers.map((each) => ({ code: codeOf(each), details: detailsOf(each) }));
      if (refusals.every(({ details }) => JSON.stringify(details) === JSON.stringify(REFUSED.details))) {
        expect(refusals).toEqual([REFUSED, REFUSED]);
        expect(answers.map(({ status }) => status)).toEqual([403, 403]);
      } else allowed.push(`${method} ${path}`);
    }
    expect(allowed.toSorted()).toEqual([
      'POST /ai-accounts/:account/reveal',
      'POST /api-keys/lookup',
      'POST /database-accounts/:account/reveal',
      'POST /database-projects/:database/reveal',
      'POST /global-origins/check',
      'POST /projects/:project/api-keys/:apiKey/why',
      'POST /projects/:project/email-addresses/held',
      'POST /projects/:project/email-lists/:list/matching',
      'POST /projects/:project/email-marketing/pages/preview',
      'POST /projects/:project/email-sequences/:sequence/preview',
      'POST /projects/:project/email-templates/:slug/preview',
      'POST /projects/:project/email-templates/preview',
      'POST /projects/:project/vault/:service/reveal',
      'POST /projects/:project/vault/:service/versions/:version/reveal',
      'POST /projects/:project/vault/reveal',
      // Whoever asks it needs no credential.
      'POST /token/exchange',
    ]);
  });

  test('a reveal takes the capability still, and one that is held is put on record', async () => {
    const plain = await on.app.services.tokens.create(actor, {
      ...{ name: 'plain', all_projects: true, projects: [], capabilities: [], read_only: true },
    });
    const lacking = await byToken('POST', '/projects/shop/vault/reveal', plain.token);
    expect([lacking.status, detailsOf(lacking)]).toEqual([403, { required_scope: 'can_reveal_vault' }]);
    expect((await byToken('POST', '/projects/shop/vault/reveal')).status).toBe(200);
  });

  test('they read, HEAD too, and keep their own password, second step and session', async () => {
    const eve = await on.enter(EVE);
    expect((await call('GET', '/projects/shop', eve)).status).toBe(200);
    expect((await call('HEAD', '/projects/shop', eve)).status).toBe(200);
    const password = { current_password: PASSWORD, password: 'another horse battery staple' };
    expect((await on.ask('POST', '/console/password', { cookie: eve, body: password })).status).toBe(204);
    const back = { current_password: password.password, password: PASSWORD };
    expect((await on.ask('POST', '/console/password', { cookie: eve, body: back })).status).toBe(204);
    const totp = await on.ask('POST', '/console/totp', { cookie: eve, body: { password: PASSWORD } });
    expect(totp.status).toBe(200);
    expect((await on.ask('DELETE', '/console/session', { cookie: eve })).status).toBe(204);
  });

  test('they are told of it', async () => {
    const eve = await on.enter(EVE);
    expect(dataOf(await call('GET', '/token', eve)).read_only).toBe(true);
    expect(dataOf(await byToken('GET', '/token')).read_only).toBe(true);
    expect(dataOf(await call('GET', '/token', chief))).not.toHaveProperty('read_only');
    expect(
      listOf(await call('GET', '/tokens', chief)).find(({ name }) => name === 'dashboard'),
    ).toMatchObject({
      read_only: true,
    });
  });
});

describe('what does not go with it', () => {
  for (const capability of ['can_manage_database', 'can_write_vault', 'can_administer']) {
    test(`${capability} is 422, of persons and of tokens`, async () => {
      const before = stored();
      const all = await on.enter(CHIEF);
      await on.app.services.people.change(actor, null, on.app.services.people.require(CHIEF), {
        can_manage_database: true,
      });
      const powers = { read_only: true, all_projects: true, [capability]: true };
      const person = await call('POST', '/people', all, { email: 'no@example.com', ...powers });
      const made = await call('POST', '/tokens', all, { name: 'no', ...powers });
      expect([person.status, invalidFieldsOf(person)]).toEqual([422, ['read_only']]);
      expect([made.status, invalidFieldsOf(made)]).toEqual([422, ['read_only']]);
      const given = await call('PATCH', `/people/${EVE}`, all, { [capability]: true });
      expect([given.status, invalidFieldsOf(given)]).toEqual([422, ['read_only']]);
      expect(stored()).toEqual(before);
    });
  }
});

describe('tokens of who becomes read-only', () => {
  test('change nothing while their person does not, and nothing after that person is gone', async () => {
    const { people } = on.app.services;
    const email = 'tom@example.com';
    await on.addPerson({ email, can_administer: true });
    const body = { name: 'of tom', all_projects: true, can_administer: true };
    const own = String(dataOf(await call('POST', '/tokens', await on.enter(email), body)).token);
    const status = async () => (await byToken('PATCH', '/projects/shop', own, { name: 'Shop' })).status;
    expect(await status()).toBe(200);
    const changes = { can_administer: false, read_only: true };
    await people.change(actor, null, people.require(email), changes);
    expect([await status(), (await byToken('GET', '/projects/shop', own)).status]).toEqual([403, 200]);
    await people.change(actor, null, people.require(email), { read_only: false });
    expect(await status()).toBe(200);
    await people.change(actor, null, people.require(email), { read_only: true });
    await people.remove(actor, null, people.require(email));
    expect(await status()).toBe(403);
  });
});

test('the command line gives and takes it', async () => {
  const dir = makeDataDir();
  const email = 'sam@example.com';
  const added = await runRecord(
    dir,
    'person',
    'add',
    email,
    '--all-projects',
    '--read-only',
    '--can',
    'read_vault',
  );
  expect(added).toMatchObject({ read_only: true, can_read_vault: true });
  expect(await runRecord(dir, 'person', 'change', email, '--can', 'none')).toMatchObject({ read_only: true });
  expect((await run(dir, 'person', 'list')).stdout).toContain('read_only');
  const both = await run(dir, 'person', 'change', email, '--read-only', '--read-write');
  expect([both.exit, both.stderr]).toEqual([
    2,
    expect.stringContaining('either --read-only or --read-write'),
  ]);
  const refused = await run(dir, 'person', 'change', email, '--can', 'write_vault');
  expect([refused.exit, refused.stderr]).toEqual([
    1,
    expect.stringContaining('--read-only does not go with can_write_vault'),
  ]);
  expect(await runRecord(dir, 'person', 'change', email, '--read-write')).toMatchObject({ read_only: false });
  await run(dir, 'token', 'create', '--name', 'dashboard', '--all-projects', '--read-only');
  expect(await runJson(dir, 'token', 'list')).toMatchObject([{ name: 'dashboard', read_only: true }]);
});
