/** Reveals: what leaves the vault, what is on record before it does, and what damaged or swapped ciphertext does. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'dotenv';
import { sql } from 'drizzle-orm';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import { VAULT_SERVICES } from '../../../src/secrets/vault/registry.ts';
import type { Answer } from '../../support/helpers.ts';
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

const put = async (project: string, service: string, values: unknown): Promise<void> => {
  const answer = await stage.call('PUT', `/projects/${project}/vault/${service}`, token, { values });
  expect(answer.status).toBe(200);
};
const revealVault = (project: string): Promise<Answer> =>
  stage.call('POST', `/projects/${project}/vault/reveal`, token);
const run = (statement: string): Promise<unknown> =>
  stage.app.services.database.write((tx) => void tx.run(sql.raw(statement)));
const reveals = (): unknown[] =>
  stage.app.services.database.read.all(sql.raw('SELECT how, service, field, actor_name FROM vault_reveals'));
const envOf = (answer: Answer): Record<string, unknown> => {
  const { env } = dataOf(answer);
  return isPlainObject(env) ? env : {};
};
const file = (filename: string, content: string | Uint8Array) => ({
  filename,
  content_base64: Buffer.from(content).toString('base64'),
});

describe('a reveal', () => {
  test('gives every credential, env blocks for four targets, and is on record', async () => {
    await put('mine', 'captcha', { site_key: 'site', secret_key: "it's $ecret" });
    await put('mine', 'stripe', { publishable_key: 'pk_1', webhook_secret: 'line 1\nline "2"' });
    await put('mine', 'google_play', { service_account: file('play.json', '{"a":1}') });
    const answer = await revealVault('mine');
    expect(answer.status).toBe(200);
    const { services, undecryptable } = dataOf(answer);
    expect(services).toEqual({
      captcha: { site_key: 'site', secret_key: "it's $ecret" },
      google_play: { service_account: file('play.json', '{"a":1}') },
      stripe: { publishable_key: 'pk_1', webhook_secret: 'line 1\nline "2"' },
    });
    expect(undecryptable).toEqual([]);
    const env = envOf(answer);
    expect(Object.keys(env)).toEqual(['server', 'nextjs', 'vite', 'expo']);
    expect(parse(String(env.server))).toEqual({
      CAPTCHA_SITE_KEY: 'site',
      CAPTCHA_SECRET_KEY: "it's $ecret",
      STRIPE_PUBLISHABLE_KEY: 'pk_1',
      STRIPE_WEBHOOK_SECRET: 'line 1\nline "2"',
    });
    expect(parse(String(env.expo))).toEqual({
      EXPO_PUBLIC_CAPTCHA_SITE_KEY: 'site',
      EXPO_PUBLIC_STRIPE_PUBLISHABLE_KEY: 'pk_1',
    });
    expect(reveals()).toEqual([{ how: 'reveal', service: null, field: null, actor_name: 'test token' }]);
    expect(stage.lastEvent()).toEqual({
      event: 'vault.revealed',
      target: `project:${stage.mine.id}`,
      actor_name: 'test token',
      metadata: { environment: 'production', how: 'reveal', service: null, field: null },
    });
  });

  test('of one service gives that one alone', async () => {
    const answer = await stage.call('POST', '/projects/mine/vault/stripe/reveal', token);
    expect(dataOf(answer).services).toEqual({
      stripe: { publishable_key: 'pk_1', webhook_secret: 'line 1\nline "2"' },
    });
    expect(parse(String(envOf(answer).nextjs))).toEqual({ NEXT_PUBLIC_STRIPE_PUBLISHABLE_KEY: 'pk_1' });
    expect(reveals().at(-1)).toMatchObject({ how: 'reveal', service: 'stripe' });
  });

  test('of one field gives that one alone, names it on record, and needs one that can be', async () => {
    const reveal = (service: string, field: string): Promise<Answer> =>
      stage.call('POST', `/projects/mine/vault/${service}/reveal?field=${field}`, token);
    const answer = await reveal('captcha', 'secret_key');
    expect(dataOf(answer).services).toEqual({ captcha: { secret_key: "it's $ecret" } });
    expect(JSON.stringify(answer.body)).not.toContain('SITE_KEY');
    expect(reveals().at(-1)).toMatchObject({ how: 'reveal', service: 'captcha', field: 'secret_key' });
    await put('mine', 'env', { FIRST: '1', constructor: '2' });
    expect(dataOf(await reveal('env', 'constructor')).services).toEqual({ env: { constructor: '2' } });
    expect(dataOf(await reveal('env', 'MISSING')).services).toEqual({ env: {} });
    await put('mine', 'env', { FIRST: null, constructor: null });

    const before = reveals().length;
    for (const [service, field] of [
      ['captcha', 'webhook_secret'],
      ['captcha', ''],
      ['env', '1ST'],
    ] as const) {
      const refused = await reveal(service, field);
      expect(refused.status).toBe(422);
      expect(invalidFieldsOf(refused)).toEqual(['field']);
    }
    expect(reveals().length).toBe(before);
  });

  test('of what is empty has no env block, and counts all the same', async () => {
    const before = reveals().length;
    const empty = { env: {}, inherited: [], undecryptable: [], shadowed: [], unquotable: [] };
    expect(dataOf(await revealVault('other'))).toEqual({ services: {}, ...empty });
    const smtp = await stage.call('POST', '/projects/other/vault/smtp/reveal', token);
    expect(dataOf(smtp)).toEqual({ services: { smtp: {} }, ...empty });
    expect(reveals().length).toBe(before + 2);
  });

  test('gives nothing away when it cannot be recorded', async () => {
    for (const table of ['vault_reveals', 'audit_events']) {
      await run(
        `CREATE TRIGGER no_record BEFORE INSERT ON ${table} BEGIN SELECT RAISE(ABORT, 'no record'); END`,
      );
      for (const [method, path] of [
        ['POST', 'vault/reveal'],
        ['POST', 'vault/captcha/reveal'],
        ['GET', 'vault-files/google_play.service_account'],
      ] as const) {
        const answer = await stage.call(method, `/projects/mine/${path}`, token);
        expect([path, answer.status]).toEqual([path, 500]);
        expect(answer.text).not.toContain('ecret');
        expect(answer.text).not.toContain('{"a":1}');
      }
      await run('DROP TRIGGER no_record');
    }
  });
});

describe('a stored file', () => {
  test('is downloaded as it is, with its name, length and checksum, and is on record', async () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256);
    await put('mine', 'android_signing', { keystore: file('schlüssel "1".jks', bytes) });
    const url = 'http://satchel.test/api/public/v1/projects/mine/vault-files/android_signing.keystore';
    const response = await stage.app.app.handle(
      new Request(url, { headers: { Authorization: `Bearer ${token}` } }),
    );
    expect(response.status).toBe(200);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
    expect(response.headers.get('content-disposition')).toBe(
      `attachment; filename="schl?ssel \\"1\\".jks"; filename*=UTF-8''schl%C3%BCssel%20%221%22.jks`,
    );
    expect(response.headers.get('content-length')).toBe('70000');
    expect(response.headers.get('x-checksum-sha256')).toBe(createHash('sha256').update(bytes).digest('hex'));
    expect(response.headers.get('cache-control')).toBe('private, no-store');
    expect(reveals().at(-1)).toMatchObject({ how: 'file', service: 'android_signing', field: 'keystore' });
  });

  test('that is not stored is 404 and leaves no record', async () => {
    const before = reveals().length;
    for (const name of ['app_store_connect.private_key_p8', 'google_play', 'google_play.']) {
      const answer = await stage.call('GET', `/projects/mine/vault-files/${name}`, token);
      expect([name, answer.status, codeOf(answer)]).toEqual([name, 404, 'NOT_FOUND']);
    }
    expect(reveals().length).toBe(before);
  });
});

describe('ciphertext that was tampered with', () => {
  test('moved to another field, service or project is listed as undecryptable, and the rest still comes', async () => {
    await put('other', 'sentry', { auth_token: 'sentry-token', dsn: 'https://k@sentry.test/1', org: 'acme' });
    await put('other', 'smtp', { host: 'smtp.test', password: 'smtp-password' });
    await put('mine', 'smtp', { password: 'password-of-mine' });
    await put('other', 'stripe', { secret_key: 'stripe-key' });
    await put('other', 'revenuecat', { secret_key: 'revenuecat-key' });
    const sealed = (project: number, service: string, field: string): string =>
      `(SELECT sealed FROM vault_values WHERE project_id = ${project} AND service = '${service}' AND field = '${field}')`;
    const replace = (service: string, field: string, by: string): Promise<unknown> =>
      run(
        `UPDATE vault_values SET sealed = ${by} WHERE project_id = ${stage.other.id} AND service = '${service}' AND field = '${field}'`,
      );
    await replace('sentry', 'auth_token', sealed(stage.other.id, 'sentry', 'dsn'));
    await replace('smtp', 'password', sealed(stage.mine.id, 'smtp', 'password'));
    await replace('stripe', 'secret_key', sealed(stage.other.id, 'revenuecat', 'secret_key'));
    await replace('sentry', 'org', `substr(sealed, 1, length(sealed) - 4) || 'AAAA'`);
    const answer = await revealVault('other');
    expect(dataOf(answer)).toMatchObject({
      services: {
        sentry: { dsn: 'https://k@sentry.test/1' },
        smtp: { host: 'smtp.test' },
        revenuecat: { secret_key: 'revenuecat-key' },
        stripe: {},
      },
      undecryptable: [
        { service: 'stripe', field: 'secret_key' },
        { service: 'sentry', field: 'auth_token' },
        { service: 'sentry', field: 'org' },
        { service: 'smtp', field: 'password' },
      ],
    });
    expect(parse(String(envOf(answer).server))).toEqual({
      REVENUECAT_SECRET_KEY: 'revenuecat-key',
      SENTRY_DSN: 'https://k@sentry.test/1',
      SMTP_HOST: 'smtp.test',
    });
    const metadata = await stage.call('GET', '/projects/other/vault/sentry', token);
    expect(dataOf(metadata)).toMatchObject({
      values: { dsn: 'https://k@sentry.test/1', org: null },
      present: { auth_token: true, org: true },
    });
  });

  test('makes a file 409 PLAINTEXT_UNAVAILABLE, and storing it again mends it', async () => {
    await put('other', 'google_play', { service_account: file('a.json', '{}') });
    await run(
      `UPDATE vault_values SET sealed = 'v1.1.AAAA' WHERE service = 'google_play' AND filename = 'a.json'`,
    );
    const path = '/projects/other/vault-files/google_play.service_account';
    const answer = await stage.call('GET', path, token);
    expect([answer.status, codeOf(answer), detailsOf(answer).reason]).toEqual([
      409,
      'PLAINTEXT_UNAVAILABLE',
      'undecryptable',
    ]);
    await put('other', 'google_play', { service_account: file('a.json', '{}') });
    expect((await stage.call('GET', path, token)).text).toBe('{}');
  });
});

test('captcha secrets that providers publish for tests are warned of, and others are not', async () => {
  const { vault } = stage.app.services;
  const both = [stage.mine, stage.other];
  expect(vault.warnings(both)).toEqual([]);
  await put('mine', 'captcha', { secret_key: '1x0000000000000000000000000000000AA' });
  expect(vault.warnings(both)).toEqual([
    {
      slug: 'mine',
      message:
        'The captcha secret of project mine is the Turnstile test secret that passes every visitor: it protects nothing.',
    },
  ]);
  expect(vault.warnings([stage.other])).toEqual([]);
  for (const secret of [
    '0x0000000000000000000000000000000000000000',
    '6LeIxAcTAAAAAGG-vFI1TnRWxMZNFuojJ4WifJWe',
  ]) {
    await put('mine', 'captcha', { secret_key: secret });
    expect(vault.warnings(both).length).toBe(1);
  }
});

test('no value of any field is in the data directory, in the log, or in an answer other than a reveal', async () => {
  const canary = 'c4n4ry-of-the-vault';
  const answers: string[] = [];
  for (const { service, fields } of VAULT_SERVICES) {
    const values = Object.fromEntries(
      fields
        .filter((field) => field.secret)
        .map((field) => [
          field.field,
          field.file ? file('a.bin', `${canary} ${field.env_key}`) : `${canary} ${field.env_key}`,
        ]),
    );
    const answer = await stage.call('PUT', `/projects/mine/vault/${service}`, token, { values });
    expect(answer.status).toBe(200);
    answers.push(answer.text);
  }
  for (const path of ['/projects/mine/vault', '/vault/projects', '/projects/mine/audit']) {
    answers.push((await stage.call('GET', path, token)).text);
  }
  expect((await revealVault('mine')).text.split(canary).length).toBeGreaterThan(20);
  const { data_dir } = stage.app;
  const files = readdirSync(data_dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name)).toString('latin1'));
  expect(files.some((content) => content.includes('vault.revealed'))).toBe(true);
  const places = [...files, ...answers, stage.app.logs()];
  const needles = [
    canary,
    Buffer.from(canary).toString('base64').slice(0, -4),
    Buffer.from(canary).toString('hex'),
  ];
  expect(places.filter((place) => needles.some((needle) => place.includes(needle)))).toEqual([]);
  expect(listOf(await stage.call('GET', '/projects/mine/vault', token)).length).toBe(13);
});
