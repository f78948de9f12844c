/** Environments of a vault: adding them, what they inherit, how they differ, and tokens that know some alone. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import { requireVaultService } from '../../../src/secrets/vault/registry.ts';
import { actor } from '../../support/helpers.ts';
import {
  codeOf,
  dataOf,
  invalidFieldsOf,
  listOf,
  type Management,
  startManagement,
} from '../../support/management.ts';

let stage: Management;
/** Of all capabilities of the vault. */
let token: string;
/** The same, of `staging` alone. */
let bound: string;

const CAPABILITIES = ['can_read_vault', 'can_write_vault', 'can_reveal_vault'] as const;

beforeAll(async () => {
  stage = await startManagement();
  token = await stage.makeToken({ capabilities: [...CAPABILITIES] });
  bound = await tokenOf(['staging']);
  for (const name of ['staging', 'preview']) await add('mine', { name });
  await add('mine', { name: 'heir', inherits: true });
});

const tokenOf = async (environments: string[]): Promise<string> => {
  const { token } = await stage.app.services.tokens.create(actor, {
    ...{ name: 'bound', all_projects: true, projects: [], capabilities: [...CAPABILITIES], environments },
  });
  return token;
};
const add = (project: string, body: object, by = token) =>
  stage.call('POST', `/projects/${project}/environments`, by, body);
const inside = (environment: string | null): string =>
  environment === null ? '' : `?environment=${environment}`;
const put = (environment: string | null, service: string, values: object, by = token, more: object = {}) =>
  stage.call('PUT', `/projects/mine/vault/${service}${inside(environment)}`, by, { values, ...more });
const show = async (environment: string | null, service: string, by = token) =>
  dataOf(await stage.call('GET', `/projects/mine/vault/${service}${inside(environment)}`, by));
const reveal = async (environment: string | null, by = token) =>
  dataOf(await stage.call('POST', `/projects/mine/vault/reveal${inside(environment)}`, by));
const rows = (query: string) => stage.app.services.database.read.all<Record<string, unknown>>(sql.raw(query));
const names = async (project = 'mine', by = token) =>
  listOf(await stage.call('GET', `/projects/${project}/environments`, by)).map(({ name }) => name);
const kv = (path: string, by = token) =>
  stage.app.call('GET', `/v1/secret/${path}`, { headers: { 'X-Vault-Token': by } });
const member = (value: unknown, ...path: string[]): unknown =>
  path.reduce((at: unknown, name) => (isPlainObject(at) ? at[name] : undefined), value);

describe('an environment', () => {
  test('is added, listed after production, changed and removed', async () => {
    expect(await names()).toEqual(['production', 'heir', 'preview', 'staging']);
    expect(await names('other')).toEqual(['production']);
    const added = await add('other', { name: 'a-1' });
    expect([added.status, dataOf(added)]).toEqual([201, { name: 'a-1', inherits: false, updated_at: null }]);
    expect(stage.lastEvent()).toMatchObject({
      event: 'vault.environment_added',
      metadata: { name: 'a-1', inherits: false },
    });
    const path = '/projects/other/environments/a-1';
    expect(dataOf(await stage.call('PATCH', path, token, { inherits: true })).inherits).toBe(true);
    expect(stage.lastEvent()).toMatchObject({ event: 'vault.environment_changed' });
    const content_base64 = Buffer.from('{}').toString('base64');
    for (const [service, values] of [
      ['stripe', { secret_key: 'sk', publishable_key: 'pk' }],
      ['google_play', { service_account: { filename: 'p.json', content_base64 } }],
    ] as const)
      await stage.call('PUT', `/projects/other/vault/${service}?environment=a-1`, token, { values });
    const removed = await stage.call('DELETE', path, token);
    const cascade = { vault_credentials: 2, vault_files: 1 };
    expect([removed.status, dataOf(removed)]).toEqual([200, { deleted: true, cascade }]);
    expect(stage.lastEvent()).toMatchObject({ event: 'vault.environment_removed', metadata: { cascade } });
    for (const table of ['vault_values', 'vault_versions', 'vault_services', 'vault_environments'])
      expect([table, rows(`SELECT * FROM ${table} WHERE project_id = ${stage.other.id}`)]).toEqual([
        table,
        [],
      ]);
    expect((await stage.call('DELETE', path, token)).status).toBe(404);
  });

  test('has a name of its own, that is no other and not production', async () => {
    const again = await add('mine', { name: 'staging' });
    expect([again.status, codeOf(again)]).toEqual([409, 'CONFLICT']);
    for (const name of ['production', '', 'A', '1a', 'a b', 'a'.repeat(33), 'ä', '-a'])
      expect([name, (await add('mine', { name })).status]).toEqual([name, 422]);
    expect((await add('other', { name: 'a'.repeat(32) })).status).toBe(201);
    await stage.call('DELETE', `/projects/other/environments/${'a'.repeat(32)}`, token);
    for (const [method, body] of [
      ['PATCH', { inherits: true }],
      ['DELETE', undefined],
    ] as const)
      expect((await stage.call(method, '/projects/mine/environments/production', token, body)).status).toBe(
        422,
      );
  });

  test('is one of ten beside production, however many are added at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 14 }, (_, index) => add('other', { name: `e${index}` })),
    );
    const statuses = answers.map(({ status }) => status).toSorted();
    expect(statuses).toEqual([...Array(10).fill(201), ...Array(4).fill(422)]);
    const refused = answers.find(({ status }) => status === 422);
    expect(refused && invalidFieldsOf(refused)).toEqual(['name']);
    // Production has a row of its own once it has changed, and counts for none.
    await stage.call('PUT', '/projects/other/vault/stripe', token, { values: { secret_key: 'sk' } });
    expect((await names('other')).length).toBe(11);
    for (const name of await names('other'))
      if (name !== 'production') await stage.call('DELETE', `/projects/other/environments/${name}`, token);
  });

  test("takes the vault's capabilities, and the project to be one's own", async () => {
    const reader = await stage.makeToken({ capabilities: ['can_read_vault'] });
    const stranger = await stage.makeToken({ projects: ['other'], capabilities: [...CAPABILITIES] });
    const path = '/projects/mine/environments';
    expect((await stage.call('GET', path, stage.all)).status).toBe(403);
    expect((await stage.call('POST', path, reader, { name: 'x' })).status).toBe(403);
    for (const [method, at, body] of [
      ['GET', path, undefined],
      ['POST', path, { name: 'x' }],
      ['PATCH', `${path}/staging`, { inherits: true }],
      ['DELETE', `${path}/staging`, undefined],
      ['GET', '/projects/mine/vault/diff?from=staging&to=preview', undefined],
    ] as const)
      expect([method, at, (await stage.call(method, at, stranger, body)).status]).toEqual([method, at, 404]);
    expect(
      (await stage.call('GET', '/projects/mine/vault/diff?from=staging&to=preview', reader)).status,
    ).toBe(403);
  });
});

describe('values', () => {
  test('are of one environment: production unless another is named, 404 where there is none', async () => {
    await put(null, 'stripe', { secret_key: 'of production' });
    await put('staging', 'stripe', { secret_key: 'of staging' });
    expect((await put('production', 'stripe', { publishable_key: 'pk' })).status).toBe(200);
    expect(await show(null, 'stripe')).toMatchObject({
      environment: 'production',
      values: { publishable_key: 'pk' },
      inherited: [],
    });
    expect(await show('staging', 'stripe')).toMatchObject({
      environment: 'staging',
      values: {},
      present: { secret_key: true, publishable_key: false },
    });
    expect(await reveal('staging')).toMatchObject({ services: { stripe: { secret_key: 'of staging' } } });
    expect(stage.lastEvent()).toMatchObject({
      event: 'vault.revealed',
      metadata: { environment: 'staging', how: 'reveal' },
    });
    expect(rows('SELECT environment FROM vault_reveals ORDER BY id DESC LIMIT 1')).toEqual([
      { environment: 'staging' },
    ]);
    expect(await reveal(null)).toMatchObject({ services: { stripe: { secret_key: 'of production' } } });
    for (const [method, path, body] of [
      ['GET', '/vault', undefined],
      ['GET', '/vault/stripe', undefined],
      ['PUT', '/vault/stripe', { values: { secret_key: 'x' } }],
      ['POST', '/vault/env/import', { text: 'A=1' }],
      ['DELETE', '/vault/stripe', undefined],
      ['POST', '/vault/reveal', undefined],
      ['POST', '/vault/stripe/reveal', undefined],
      ['GET', '/vault-files/google_play.service_account', undefined],
      ['GET', '/vault/stripe/versions', undefined],
      ['DELETE', '/vault/stripe/versions', undefined],
    ] as const) {
      const answer = await stage.call(method, `/projects/mine${path}?environment=nothing`, token, body);
      expect([method, path, answer.status]).toEqual([method, path, 404]);
    }
  });

  test('count and sum up apart: a precondition, the overview of projects and captcha are of production', async () => {
    const etag = async (environment: string | null): Promise<string> =>
      (await stage.call('GET', `/projects/mine/vault/stripe${inside(environment)}`, token)).headers.get(
        'etag',
      ) ?? '';
    const [production, staging] = [await etag(null), await etag('staging')];
    expect(production).not.toBe(staging);
    const change = (if_match: string) =>
      stage.app.call('PUT', '/api/public/v1/projects/mine/vault/stripe?environment=staging', {
        token,
        headers: { 'If-Match': if_match },
        body: { values: { secret_key: 'of staging' } },
      });
    expect((await change(production)).status).toBe(409);
    expect((await change(staging)).status).toBe(200);
    await put('staging', 'captcha', { site_key: 's', secret_key: '1x0000000000000000000000000000000AA' });
    const { vault, captcha } = stage.app.services;
    expect([captcha.isConfigured(stage.mine), vault.warnings([stage.mine])]).toEqual([false, []]);
    const overview = listOf(await stage.call('GET', '/vault/projects', token));
    const mine = overview.find(({ slug }) => slug === 'mine');
    expect([member(mine, 'present', 'captcha'), mine?.credentials_count]).toEqual([false, 2]);
  });

  test('are bound to their environment: moved to another they do not decrypt', async () => {
    await put('preview', 'sentry', { auth_token: 'of preview' });
    await put('staging', 'sentry', { auth_token: 'of staging' });
    await put('heir', 'sentry', { auth_token: 'of heir' });
    const sealed = (environment: string): string =>
      `(SELECT sealed FROM vault_values WHERE environment = '${environment}' AND field = 'auth_token')`;
    await stage.app.services.database.write((tx) => {
      tx.run(
        sql.raw(
          `UPDATE vault_values SET sealed = ${sealed('preview')} WHERE environment = 'staging' AND field = 'auth_token'`,
        ),
      );
      tx.run(
        sql.raw(
          `UPDATE vault_values SET environment = 'production' WHERE environment = 'heir' AND field = 'auth_token'`,
        ),
      );
    });
    for (const environment of ['staging', null])
      expect(await reveal(environment)).toMatchObject({
        undecryptable: [{ service: 'sentry', field: 'auth_token' }],
      });
    const lost = stage.app.services.vault.listUndecryptable(stage.mine);
    expect(lost.map(({ environment }) => environment).toSorted()).toEqual(['production', 'staging']);
    for (const environment of ['staging', null]) await put(environment, 'sentry', { auth_token: null });
    await put('preview', 'sentry', { auth_token: null });
  });

  test('inherit nothing unless that is said; then field by field, secret or not, read and not copied', async () => {
    await put(null, 'env', { SHARED: 'p', PLAIN: 'p', OWN: 'p' }, token, { plain: ['PLAIN'] });
    expect(await show('preview', 'env')).toMatchObject({ present: {}, inherited: [] });
    await put('heir', 'env', { OWN: 'h' });
    const stored = rows('SELECT * FROM vault_values').length;
    expect(await show('heir', 'env')).toMatchObject({
      environment: 'heir',
      values: { PLAIN: 'p' },
      present: { SHARED: true, PLAIN: true, OWN: true },
      inherited: ['PLAIN', 'SHARED'],
    });
    const revealed = await reveal('heir');
    expect(revealed.services).toMatchObject({
      env: { SHARED: 'p', PLAIN: 'p', OWN: 'h' },
      stripe: { secret_key: 'of production' },
    });
    expect(revealed.inherited).toEqual([
      { service: 'stripe', field: 'publishable_key' },
      { service: 'stripe', field: 'secret_key' },
      { service: 'env', field: 'PLAIN' },
      { service: 'env', field: 'SHARED' },
    ]);
    // null takes away only what is its own.
    await put('heir', 'env', { OWN: null, SHARED: null });
    expect((await reveal('heir')).services).toMatchObject({ env: { SHARED: 'p', OWN: 'p' } });
    expect((await reveal(null)).services).toMatchObject({ env: { SHARED: 'p', OWN: 'p' } });
    expect(rows('SELECT * FROM vault_values').length).toBe(stored - 1);
    // An own name is secret here, whatever production's is.
    await put('heir', 'env', { PLAIN: 'h' });
    expect(await show('heir', 'env')).toMatchObject({ values: {}, inherited: ['OWN', 'SHARED'] });
    await stage.call('PATCH', '/projects/mine/environments/heir', token, { inherits: false });
    expect((await show('heir', 'env')).present).toEqual({ PLAIN: true });
    await stage.call('PATCH', '/projects/mine/environments/heir', token, { inherits: true });
    await put('heir', 'env', { PLAIN: null });
  });

  test('an inherited file is downloaded', async () => {
    const content_base64 = Buffer.from('{"a":1}').toString('base64');
    await put(null, 'google_play', { service_account: { filename: 'p.json', content_base64 } });
    const path = '/projects/mine/vault-files/google_play.service_account';
    expect((await stage.call('GET', `${path}?environment=heir`, token)).text).toBe('{"a":1}');
    expect((await stage.call('GET', `${path}?environment=staging`, token)).status).toBe(404);
  });
});

describe('the differences of two', () => {
  const diff = async (from: string, to: string, by = token) =>
    stage.call('GET', `/projects/mine/vault/diff?from=${from}&to=${to}`, by);

  test('are fields that one has alone, and that have other values; never a value', async () => {
    await put('preview', 'env', { SAME: 'c4n4ry', OTHER: 'c4n4ry-1', GONE: 'x' });
    await put('staging', 'env', { SAME: 'c4n4ry', OTHER: 'c4n4ry-2' });
    const answer = await diff('preview', 'staging');
    expect([answer.status, dataOf(answer)]).toEqual([
      200,
      {
        only_in_from: [{ service: 'env', field: 'GONE' }],
        only_in_to: [
          { service: 'captcha', field: 'site_key' },
          { service: 'captcha', field: 'secret_key' },
          { service: 'stripe', field: 'secret_key' },
        ],
        differ: [{ service: 'env', field: 'OTHER' }],
      },
    ]);
    expect(answer.text).not.toContain('c4n4ry');
    // What is inherited is what an environment has.
    expect(dataOf(await diff('production', 'heir'))).toEqual({
      only_in_from: [],
      only_in_to: [],
      differ: [],
    });
  });

  test('need both to be named, and to be there', async () => {
    expect((await stage.call('GET', '/projects/mine/vault/diff?from=staging', token)).status).toBe(422);
    expect((await diff('staging', 'nothing')).status).toBe(404);
    expect((await diff('nothing', 'staging')).status).toBe(404);
  });
});

describe('a token of some environments', () => {
  test('is told what it is', async () => {
    expect(dataOf(await stage.call('GET', '/token', bound)).environments).toEqual(['staging']);
    expect(dataOf(await stage.call('GET', '/token', token)).environments).toBeUndefined();
    const admin = await stage.makeToken({ capabilities: ['can_administer', ...CAPABILITIES] });
    const make = (body: object) => stage.call('POST', '/tokens', admin, { name: 'n', ...body });
    const made = await make({ projects: ['mine'], can_read_vault: true, environments: ['a', 'b'] });
    expect([made.status, dataOf(made).environments]).toEqual([201, ['a', 'b']]);
    for (const body of [
      { all_projects: true, can_administer: true, environments: ['a'] },
      { all_projects: true, environments: [] },
      { all_projects: true, environments: ['A'] },
    ])
      expect([body, (await make(body)).status]).toEqual([body, 422]);
  });

  test('knows no other, production neither', async () => {
    expect(await names('mine', bound)).toEqual(['staging']);
    expect((await put('staging', 'env', { BY: 'bound' }, bound)).status).toBe(200);
    expect((await reveal('staging', bound)).services).toMatchObject({ env: { BY: 'bound' } });
    const before = rows('SELECT * FROM vault_reveals').length;
    for (const environment of [null, 'production', 'preview', 'heir'])
      for (const [method, path, body] of [
        ['GET', '/vault', undefined],
        ['GET', '/vault/env', undefined],
        ['PUT', '/vault/env', { values: { X: '1' } }],
        ['POST', '/vault/env/import', { text: 'A=1' }],
        ['DELETE', '/vault/env', undefined],
        ['POST', '/vault/reveal', undefined],
        ['POST', '/vault/env/reveal', undefined],
        ['GET', '/vault-files/google_play.service_account', undefined],
        ['GET', '/vault/env/versions', undefined],
        ['DELETE', '/vault/env/versions', undefined],
      ] as const) {
        const answer = await stage.call(method, `/projects/mine${path}${inside(environment)}`, bound, body);
        expect([environment, method, path, answer.status]).toEqual([environment, method, path, 404]);
      }
    for (const [from, to] of [
      ['staging', 'production'],
      ['production', 'staging'],
    ])
      expect((await stage.call('GET', `/projects/mine/vault/diff?from=${from}&to=${to}`, bound)).status).toBe(
        404,
      );
    expect(listOf(await stage.call('GET', '/vault/projects', bound))).toEqual([]);
    expect(rows('SELECT * FROM vault_reveals').length).toBe(before);
  });

  test('changes none, so that it cannot have its own inherit', async () => {
    for (const [method, path, body] of [
      ['POST', '', { name: 'x' }],
      ['PATCH', '/staging', { inherits: true }],
      ['DELETE', '/staging', undefined],
      ['PATCH', '/preview', { inherits: true }],
    ] as const) {
      const answer = await stage.call(method, `/projects/mine/environments${path}`, bound, body);
      expect([method, path, answer.status, codeOf(answer)]).toEqual([method, path, 403, 'FORBIDDEN']);
    }
  });

  test('loses what it knows while its request is on its way', async () => {
    const { database } = stage.app.services;
    const going = stage.call('PUT', '/projects/mine/vault/env?environment=staging', bound, {
      values: { LATE: 'x' },
    });
    const moved = database.write((tx) => {
      tx.run(sql`UPDATE access_tokens SET environments = '["preview"]' WHERE name = 'bound'`);
    });
    const [answer] = await Promise.all([going, moved]);
    const is_stored = rows("SELECT * FROM vault_values WHERE field = 'LATE'").length === 1;
    expect([answer.status, is_stored]).toEqual(answer.status === 200 ? [200, true] : [404, false]);
    await database.write((tx) => {
      tx.run(sql`UPDATE access_tokens SET environments = '["staging"]' WHERE name = 'bound'`);
    });
  });
});

describe('as KV', () => {
  test('an environment is below its project, with a version of its own', async () => {
    const answer = await kv('data/mine/staging');
    expect(member(answer.body, 'data', 'data')).toMatchObject({ STRIPE_SECRET_KEY: 'of staging' });
    expect(member((await kv('data/mine/production')).body, 'data', 'data')).toEqual(
      member((await kv('data/mine')).body, 'data', 'data'),
    );
    expect((await kv('data/mine/nothing')).status).toBe(404);
    expect((await kv('data/nothing/staging')).status).toBe(404);
  });

  test('a version grows with what an environment reads, inherited or not', async () => {
    const versionOf = async (environment: string): Promise<number> =>
      Number(member((await kv(`data/mine/${environment}`)).body, 'data', 'metadata', 'version'));
    const all = async () => Promise.all(['production', 'heir', 'staging'].map(versionOf));
    const [production = 0, heir = 0, staging = 0] = await all();
    await put(null, 'env', { SHARED: 'changed' });
    expect(await all()).toEqual([production + 1, heir + 1, staging]);
    // Storing what is stored changes nothing.
    await put(null, 'env', { SHARED: 'changed' });
    expect(await all()).toEqual([production + 1, heir + 1, staging]);
    await put('heir', 'env', { SHARED: 'own' });
    await put(null, 'env', { SHARED: 'again' });
    expect(await all()).toEqual([production + 2, heir + 2, staging]);
    await put('heir', 'env', { SHARED: null });
    await stage.call('PATCH', '/projects/mine/environments/heir', token, { inherits: false });
    await stage.call('PATCH', '/projects/mine/environments/heir', token, { inherits: true });
    expect(await versionOf('heir')).toBe(heir + 5);
  });

  test('lists name what a token may read', async () => {
    const keysOf = async (path: string, by = token): Promise<unknown> =>
      member((await kv(`${path}?list=true`, by)).body, 'data', 'keys');
    expect(await keysOf('metadata')).toEqual(expect.arrayContaining(['mine', 'mine/', 'other']));
    expect(await keysOf('metadata')).not.toContain('other/');
    for (const path of ['metadata/mine', 'metadata/mine/'])
      expect(await keysOf(path)).toEqual(['heir', 'preview', 'staging']);
    expect((await kv('metadata/other/?list=true')).status).toBe(404);
    expect((await kv('metadata/mine/')).status).toBe(404);
    expect(await keysOf('metadata', bound)).toEqual(['mine/']);
    expect(await keysOf('metadata/mine/', bound)).toEqual(['staging']);
  });

  test('a token of some environments reads no other', async () => {
    expect((await kv('data/mine/staging', bound)).status).toBe(200);
    for (const path of ['data/mine', 'data/mine/production', 'data/mine/heir', 'data/other'])
      expect([path, (await kv(path, bound)).status]).toEqual([path, 404]);
  });

  test('a minute of one token is a row for each environment', async () => {
    stage.app.clock.advance(120_000);
    const count = () => rows("SELECT * FROM vault_reveals WHERE how = 'kv'").length;
    const before = count();
    for (const path of ['data/mine', 'data/mine/staging', 'data/mine', 'data/mine/staging']) await kv(path);
    expect(count()).toBe(before + 2);
  });
});

test('an environment that goes while values come leaves nothing behind', async () => {
  const { vault, database } = stage.app.services;
  await add('other', { name: 'brief' });
  const at = vault.environments.at(stage.other, 'brief', null);
  const stripe = requireVaultService('stripe');
  const stored = await Promise.allSettled([
    vault.environments.remove(actor, at),
    vault.set(actor, at, stripe, { secret_key: 'x' }),
    vault.remove(actor, at, stripe),
  ]);
  expect(stored.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected']);
  expect(database.read.all(sql`SELECT * FROM vault_values WHERE environment = 'brief'`)).toEqual([]);
});

test("an upgrade's fear: a project goes with all of its environments, and counts their values", async () => {
  const { projects, database } = stage.app.services;
  const gone = await projects.create(actor, { name: 'Gone', slug: 'gone' });
  await add('gone', { name: 'staging' });
  for (const environment of ['', '?environment=staging'])
    await stage.call('PUT', `/projects/gone/vault/stripe${environment}`, token, {
      values: { secret_key: 'x' },
    });
  const manager = await stage.makeToken({});
  const answer = await stage.call('DELETE', '/projects/gone', manager, { confirm: 'gone' });
  expect(member(dataOf(answer), 'cascade', 'vault_credentials') ?? answer.text).toBe(2);
  for (const table of ['vault_values', 'vault_versions', 'vault_environments', 'vault_services'])
    expect(database.read.all(sql.raw(`SELECT * FROM ${table} WHERE project_id = ${gone.id}`))).toEqual([]);
});
