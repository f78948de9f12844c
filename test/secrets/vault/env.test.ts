/** The free-form service `env`: names, kinds, limits, what shadows what, and that nothing makes a secret public. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { parse } from 'dotenv';
import { sql } from 'drizzle-orm';
import { requireVaultService } from '../../../src/secrets/vault/registry.ts';
import { type Answer, actor } from '../../support/helpers.ts';
import {
  codeOf,
  dataOf,
  detailsOf,
  invalidFieldsOf,
  listOf,
  type Management,
  startManagement,
} from '../../support/management.ts';

let stage: Management;
let token: string;

beforeAll(async () => {
  stage = await startManagement();
  token = await stage.makeToken({ capabilities: ['can_read_vault', 'can_write_vault', 'can_reveal_vault'] });
});

beforeEach(async () => {
  await stage.call('DELETE', '/projects/mine/vault/env', token);
  await stage.call('DELETE', '/projects/mine/vault/stripe', token);
});

const put = (values: unknown, plain?: unknown): Promise<Answer> =>
  stage.call('PUT', '/projects/mine/vault/env', token, { values, ...(plain === undefined ? {} : { plain }) });
const show = async (): Promise<Record<string, unknown>> =>
  dataOf(await stage.call('GET', '/projects/mine/vault/env', token));
const reveal = async (): Promise<Record<string, unknown>> =>
  dataOf(await stage.call('POST', '/projects/mine/vault/reveal', token));
const rows = (): string =>
  JSON.stringify(
    stage.app.services.database.read.all(
      sql.raw("SELECT id, field, sealed, is_plain FROM vault_values WHERE service = 'env' ORDER BY field"),
    ),
  );
const run = (statement: string): Promise<unknown> =>
  stage.app.services.database.write((tx) => void tx.run(sql.raw(statement)));
const numbered = (from: number, to: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: to - from }, (_, index) => [`N${from + index}`, 'x']));

test('is in the registry without fields, as the one that takes any name', async () => {
  const services = listOf(await stage.call('GET', '/vault/services', token));
  expect(services.filter((each) => each.free_form === true)).toEqual([
    { service: 'env', label: 'Environment variables', fields: [], free_form: true },
  ]);
});

describe('importing a .env file', () => {
  const send = (body: object, with_token = token): Promise<Answer> =>
    stage.call('POST', '/projects/mine/vault/env/import', with_token, body);

  test('tells what it would replace, and stores it only where it is no dry run', async () => {
    await put({ A: 'old', P: 'old' }, ['P']);
    await stage.call('PUT', '/projects/mine/vault/stripe', token, { values: { secret_key: 'sk' } });
    const text = 'A=1\nSTRIPE_SECRET_KEY="two\nlines"\n';
    const names = [
      { name: 'A', replaces: true, hides: null, plain: false },
      { name: 'STRIPE_SECRET_KEY', replaces: false, hides: 'stripe.secret_key', plain: false },
    ];
    const before = rows();
    const dry = await send({ text, dry_run: true });
    expect([dry.status, dataOf(dry)]).toEqual([200, { stored: false, names }]);
    expect(rows()).toBe(before);
    const [first, ...rest] = names;
    expect(dataOf(await send({ text, plain: ['A', 'P'] }))).toEqual({
      stored: true,
      names: [{ ...first, plain: true }, ...rest],
    });
    expect(stage.lastEvent()).toMatchObject({ event: 'vault.updated', actor_name: 'test token' });
    expect(await show()).toMatchObject({ values: { A: '1', P: 'old' } });
    expect((await reveal()).services).toMatchObject({
      env: { A: '1', P: 'old', STRIPE_SECRET_KEY: 'two\nlines' },
    });
  });

  test('takes new names that are meant for pages for no secrets, unless it is told which are; what is stored keeps its kind', async () => {
    const names = ['NEXT_PUBLIC_A', 'VITE_B', 'EXPO_PUBLIC_C', 'D', 'NEXT_PUBLIC', 'XVITE_E'];
    const text = names.map((name) => `${name}=new`).join('\n');
    await put({ VITE_B: 'old', D: 'old' }, ['D']);
    const kinds = async (body: object) =>
      (dataOf(await send(body)).names as { name: string; plain: boolean }[])
        .filter(({ plain }) => plain)
        .map(({ name }) => name);
    const plain = ['NEXT_PUBLIC_A', 'EXPO_PUBLIC_C', 'D'];
    expect(await kinds({ text, dry_run: true })).toEqual(plain);
    expect(await kinds({ text })).toEqual(plain);
    expect(Object.keys((await show()).values as object).toSorted()).toEqual(plain.toSorted());
    expect(await kinds({ text, plain: ['VITE_B'] })).toEqual(['VITE_B']);
    expect((await show()).values).toEqual({ VITE_B: 'new' });
    // One by one a new name is as secret as ever.
    await put({ VITE_NEW: 'x' });
    expect((await show()).values).not.toHaveProperty('VITE_NEW');
  });

  test('refuses what is wrong, by line or by name, and stores nothing of it', async () => {
    const before = rows();
    for (const [body, fields] of [
      [{}, ['text']],
      [{ text: '' }, ['text']],
      [{ text: 'A=1\ncanary' }, ['text']],
      [{ text: 'A=canary#1' }, ['text']],
      [{ text: 'A=1', plain: ['B'] }, ['plain']],
      [{ text: `A=${'x'.repeat(65_537)}` }, ['A']],
      [
        {
          text: Object.keys(numbered(0, 201))
            .map((name) => `${name}=1`)
            .join('\n'),
        },
        ['values'],
      ],
    ] as const)
      for (const dry_run of [true, false]) {
        const answer = await send({ ...body, dry_run });
        expect([answer.status, invalidFieldsOf(answer)]).toEqual([422, [...fields]]);
        expect(answer.text).not.toContain('canary');
      }
    const reader = await stage.makeToken({ capabilities: ['can_read_vault'] });
    expect((await send({ text: 'A=1' }, reader)).status).toBe(403);
    expect(rows()).toBe(before);
  });
});

describe('storing names', () => {
  test('keeps every value as it came, empty ones too, and shows the plain ones alone', async () => {
    const values = {
      A: '',
      _b9: ' x\n',
      ['N'.repeat(128)]: '$A "q" \'q\' `q` #',
      constructor: 'c',
      toString: 't',
    };
    const answer = await put({ ...values, PUBLIC: 'p' }, ['PUBLIC']);
    expect(answer.status).toBe(200);
    expect(dataOf(answer)).toEqual({
      environment: 'production',
      inherited: [],
      about: {},
      service: 'env',
      label: 'Environment variables',
      values: { PUBLIC: 'p' },
      present: {
        ...{ A: true, ['N'.repeat(128)]: true, PUBLIC: true },
        ...{ _b9: true, constructor: true, toString: true },
      },
      updated_at: '2030-01-15T12:00:00.000Z',
    });
    expect((await reveal()).services).toEqual({ env: { ...values, PUBLIC: 'p' } });
    const listed = listOf(await stage.call('GET', '/projects/mine/vault', token));
    expect(listed.find((each) => each.service === 'env')).toEqual(dataOf(answer));
    const summary = listOf(await stage.call('GET', '/vault/projects', token)).find(
      (each) => each.slug === 'mine',
    );
    expect(summary).toMatchObject({ credentials_count: 6, present: { env: true } });
  });

  test('takes __proto__ for the name that it is, which dotenv alone would lose', async () => {
    const answer = await put(JSON.parse('{"__proto__": "x", "A": "a"}'), ['__proto__']);
    expect(answer.text).toContain('"values":{"__proto__":"x"}');
    const revealed = await stage.call('POST', '/projects/mine/vault/env/reveal', token);
    expect(revealed.text).toContain('"env":{"A":"a","__proto__":"x"}');
    expect(dataOf(revealed).unquotable).toEqual([{ target: 'server', name: '__proto__' }]);
  });

  test('changes what is sent alone; null removes a name', async () => {
    await put({ A: 'a', B: 'b', C: 'c' });
    await put({ A: null, B: 'b2', GONE: null });
    expect((await reveal()).services).toEqual({ env: { B: 'b2', C: 'c' } });
    expect(stage.app.services.audit.listNewest({}, 2)[1]).toMatchObject({
      event: 'vault.updated',
      metadata: { service: 'env', set: ['B'], removed: ['A', 'GONE'] },
    });
  });

  test('keeps the kind of each name without plain, and makes all others that are sent secret with it', async () => {
    await put({ A: '1', B: '2', C: '3' }, ['A', 'B']);
    await put({ A: '4', D: '5' });
    expect((await show()).values).toEqual({ A: '4', B: '2' });
    await put({ A: '6' }, []);
    expect((await show()).values).toEqual({ B: '2' });
    await put({ A: '7', C: '8' }, ['A', 'B']);
    expect((await show()).values).toEqual({ A: '7', B: '2' });
    expect((await reveal()).services).toEqual({ env: { A: '7', B: '2', C: '8', D: '5' } });
    // A name that was removed has no kind any more.
    await put({ A: null });
    await put({ A: 'secret again' });
    expect((await show()).values).toEqual({ B: '2' });
  });

  const BAD: [what: string, values: unknown, plain: unknown, field: string, hint: string][] = [
    ['a name with a dash', { 'A-s3cret': 'x' }, undefined, 'A-s3cret', 'is no name of a variable'],
    ['a name that begins with a digit', { '1A': 'x' }, undefined, '1A', 'is no name of a variable'],
    ['an empty name', { '': 'x' }, undefined, '', 'is no name of a variable'],
    ['a name with a line break', { 'A\n': 'x' }, undefined, 'A_', 'is no name of a variable'],
    ['a name of 129 characters', { ['N'.repeat(129)]: 'x' }, undefined, 'N'.repeat(64), 'at most 128'],
    ['a number', { A: 1 }, undefined, 'A', 'must be a string'],
    ['a boolean', { A: false }, undefined, 'A', 'must be a string'],
    ['an object', { A: { filename: 'a', content_base64: 'eA==' } }, undefined, 'A', 'must be a string'],
    ['a NUL', { A: 'a\0' }, undefined, 'A', 'NUL'],
    ['half a character', { A: 'a\ud83d' }, undefined, 'A', 'well-formed'],
    ['65,537 bytes', { A: `${'é'.repeat(32_768)}x` }, undefined, 'A', 'at most 65536 bytes (got 65537)'],
    ['plain that is no list', { A: 'x' }, 'A', 'plain', 'must be an array'],
    ['plain with what has no value', { A: 'x' }, ['B'], 'plain', 'send its value too'],
    ['a 201st name', numbered(0, 200), undefined, 'values', 'at most 200 names stored (these make it 201)'],
  ];
  for (const [what, values, plain, field, hint] of BAD) {
    test(`refuses ${what} with 422 under its own name, and stores nothing`, async () => {
      await put({ KEPT: 'kept' }, []);
      const before = rows();
      const answer = await put(values, plain);
      expect([answer.status, codeOf(answer)]).toEqual([422, 'VALIDATION_FAILED']);
      expect(invalidFieldsOf(answer)).toEqual([field]);
      expect(answer.text).toContain(hint);
      expect(rows()).toBe(before);
    });
  }

  test('tells everything that is wrong at once', async () => {
    const answer = await put({ A: 1, 'B-': 'x', C: '\0', D: 'good' }, [1]);
    expect(invalidFieldsOf(answer).sort()).toEqual(['A', 'B-', 'C', 'plain.0']);
    expect(rows()).toBe('[]');
  });

  test('takes a value of 65,536 bytes', async () => {
    const value = 'é'.repeat(32_768);
    expect((await put({ A: value })).status).toBe(200);
    expect((await reveal()).services).toEqual({ env: { A: value } });
  });

  test('makes nothing plain whose value was not sent along: that would show it to whoever may not reveal it', async () => {
    await put({ A: 'secret' });
    const writer = await stage.makeToken({ capabilities: ['can_read_vault', 'can_write_vault'] });
    for (const values of [{}, { B: 'b' }]) {
      const answer = await stage.call('PUT', '/projects/mine/vault/env', writer, { values, plain: ['A'] });
      expect([answer.status, invalidFieldsOf(answer)]).toEqual([422, ['plain']]);
    }
    expect((await show()).values).toEqual({});
    expect((await show()).present).toEqual({ A: true });
  });

  test('refuses plain for a service with fields of its own', async () => {
    const body = { values: { org: 'acme' }, plain: ['org'] };
    const answer = await stage.call('PUT', '/projects/mine/vault/sentry', token, body);
    expect([answer.status, invalidFieldsOf(answer)]).toEqual([422, ['plain']]);
  });

  test('never passes 200 names, however many requests come at once', async () => {
    await put(numbered(0, 190));
    const answers = await Promise.all(
      Array.from({ length: 6 }, (_, index) => put(numbered(200 + index * 5, 205 + index * 5))),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 422, 422, 422, 422]);
    expect(JSON.parse(rows())).toHaveLength(200);
    // At the limit a name can still be changed, and swapped for another.
    expect((await put({ N0: 'changed' })).status).toBe(200);
    expect((await put({ N0: null, NEW: 'x' })).status).toBe(200);
    expect((await put({ ONE_MORE: 'x' })).status).toBe(422);
  });

  test('leaves each of two requests at once whole', async () => {
    await Promise.all([put({ A: '1', B: '1' }, ['A', 'B']), put({ A: '2', B: '2' }, [])]);
    const { services } = await reveal();
    const { values } = await show();
    const first = { env: { A: '1', B: '1' } };
    expect([[first, first.env] as unknown, [{ env: { A: '2', B: '2' } }, {}]]).toContainEqual([
      services,
      values,
    ]);
  });
});

describe('a reveal', () => {
  test('has every name in the server block, plain ones at the client they are for, and tells what they hide', async () => {
    await stage.call('PUT', '/projects/mine/vault/stripe', token, {
      values: { publishable_key: 'pk', secret_key: 'sk' },
    });
    await put(
      {
        STRIPE_SECRET_KEY: 'mine',
        NEXT_PUBLIC_STRIPE_PUBLISHABLE_KEY: 'own',
        VITE_HIDDEN: 'h',
        VITE_CR: '\r',
      },
      ['NEXT_PUBLIC_STRIPE_PUBLISHABLE_KEY', 'VITE_CR'],
    );
    const { env, shadowed, unquotable, undecryptable } = await reveal();
    const blocks = Object.entries(env as Record<string, string>);
    expect(Object.fromEntries(blocks.map(([target, text]) => [target, parse(text)]))).toEqual({
      server: {
        STRIPE_PUBLISHABLE_KEY: 'pk',
        STRIPE_SECRET_KEY: 'mine',
        NEXT_PUBLIC_STRIPE_PUBLISHABLE_KEY: 'own',
        VITE_HIDDEN: 'h',
        VITE_CR: '\r',
      },
      nextjs: { NEXT_PUBLIC_STRIPE_PUBLISHABLE_KEY: 'own' },
      vite: { VITE_STRIPE_PUBLISHABLE_KEY: 'pk' },
      expo: { EXPO_PUBLIC_STRIPE_PUBLISHABLE_KEY: 'pk' },
    });
    expect(shadowed).toEqual([
      { service: 'stripe', field: 'secret_key', name: 'STRIPE_SECRET_KEY' },
      { service: 'stripe', field: 'publishable_key', name: 'NEXT_PUBLIC_STRIPE_PUBLISHABLE_KEY' },
    ]);
    expect(unquotable).toEqual([{ target: 'vite', name: 'VITE_CR' }]);
    expect(undecryptable).toEqual([]);
  });

  test('of a captcha secret in env changes nothing for the verification of captchas', async () => {
    await put({ CAPTCHA_SECRET_KEY: '1x0000000000000000000000000000000AA' });
    expect(stage.app.services.captcha.isConfigured(stage.mine)).toBe(false);
    expect(stage.app.services.vault.warnings([stage.mine])).toEqual([]);
  });
});

describe('whoever can write the database', () => {
  test('makes no secret public by calling it plain, nor moves a value to another name', async () => {
    await put({ VITE_A: 'c4n4ry', B: 'b', C: 'c' }, ['C']);
    await run("UPDATE vault_values SET is_plain = 1 WHERE field = 'VITE_A'");
    await run("UPDATE vault_values SET is_plain = 0 WHERE field = 'C'");
    await run(
      "UPDATE vault_values SET sealed = (SELECT sealed FROM vault_values WHERE field = 'C') WHERE field = 'B'",
    );
    expect((await show()).values).toEqual({ VITE_A: null });
    const revealed = await stage.call('POST', '/projects/mine/vault/reveal', token);
    expect(revealed.text).not.toContain('c4n4ry');
    const lost = ['B', 'C', 'VITE_A'].map((field) => ({ service: 'env', field }));
    expect(dataOf(revealed)).toMatchObject({ undecryptable: lost, env: {} });
    expect(stage.app.services.vault.listUndecryptable(stage.mine)).toMatchObject(lost);
    // What is stored again is sound again.
    await put({ VITE_A: 'a', B: 'b', C: 'c' }, []);
    expect(await reveal()).toMatchObject({
      services: { env: { VITE_A: 'a', B: 'b', C: 'c' } },
      undecryptable: [],
    });
  });
});

test('a changed master key opens every name as before', async () => {
  await put({ A: 'secret', B: 'plain' }, ['B']);
  await stage.app.services.key_ring.rotate(null);
  expect((await reveal()).services).toEqual({ env: { A: 'secret', B: 'plain' } });
  expect((await show()).values).toEqual({ B: 'plain' });
});

test('removing env, and the project with it, counts its names', async () => {
  await put({ A: '', B: 'b' });
  const removed = await stage.call('DELETE', '/projects/mine/vault/env', token);
  expect(dataOf(removed)).toEqual({ deleted: true, cascade: { vault_credentials: 2, vault_files: 0 } });
  expect(rows()).toBe('[]');
  const doomed = await stage.app.services.projects.create(actor, { name: 'Doomed', slug: 'doomed' });
  await stage.app.services.vault.set(actor, doomed, requireVaultService('env'), { A: '1', B: '2', C: '3' });
  const deleted = await stage.call('DELETE', '/projects/doomed', token);
  expect(dataOf(deleted).cascade).toMatchObject({ vault_credentials: 3, vault_files: 0 });
  expect(rows()).toBe('[]');
});

test('has no files', async () => {
  await put({ A: 'a' });
  const answer = await stage.call('GET', '/projects/mine/vault-files/env.A', token);
  expect([answer.status, detailsOf(answer).files]).toEqual([404, []]);
});
