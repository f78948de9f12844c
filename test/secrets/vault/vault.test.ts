/** The vault's endpoints: registry, metadata, changes, the overview of projects. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { requireVaultService } from '../../../src/secrets/vault/registry.ts';
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
let reader: string;
let writer: string;

beforeAll(async () => {
  stage = await startManagement();
  reader = await stage.makeToken({ capabilities: ['can_read_vault'] });
  writer = await stage.makeToken({ capabilities: ['can_read_vault', 'can_write_vault'] });
});

const rowsOf = (table: string): unknown[] =>
  stage.app.services.database.read.all(sql.raw(`SELECT * FROM ${table}`));

const put = (service: string, values: unknown, token = writer) =>
  stage.call('PUT', `/projects/mine/vault/${service}`, token, { values });

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('every vault endpoint', () => {
  test('tells an unknown service from a known one, listing those there are', async () => {
    const token = await stage.makeToken({
      capabilities: ['can_read_vault', 'can_write_vault', 'can_reveal_vault'],
    });
    for (const [method, path] of [
      ['GET', '/projects/mine/vault/nonsense'],
      ['PUT', '/projects/mine/vault/nonsense'],
      ['DELETE', '/projects/mine/vault/nonsense'],
      ['POST', '/projects/mine/vault/nonsense/reveal'],
      ['GET', '/projects/mine/vault-files/nonsense.service_account'],
    ] as const) {
      const answer = await stage.call(method, path, token, method === 'PUT' ? { values: {} } : undefined);
      expect([method, answer.status, codeOf(answer)]).toEqual([method, 404, 'NOT_FOUND']);
      expect(detailsOf(answer).services).toContain('app_store_connect');
      expect(answer.text).toContain('captcha, database, firebase');
    }
    const file = await stage.call('GET', '/projects/mine/vault-files/firebase.api_key', token);
    expect(file.status).toBe(404);
    expect(detailsOf(file).files).toEqual([
      'firebase.service_account',
      'firebase.google_services_json',
      'firebase.google_service_info_plist',
    ]);
  });
});

test('any valid token reads the registry, as a plain array', async () => {
  const answer = await stage.call('GET', '/vault/services', stage.scoped);
  expect([answer.status, Object.keys(answer.body)]).toEqual([200, ['data']]);
  const captcha = listOf(answer).find((each) => each.service === 'captcha');
  expect(captcha?.label).toBe('Captcha');
  const { fields } = captcha ?? {};
  expect(Array.isArray(fields) ? fields[1] : null).toEqual({
    field: 'secret_key',
    label: 'Secret key',
    help_text: expect.any(String),
    secret: true,
    client_safe: false,
    env_key: 'CAPTCHA_SECRET_KEY',
    file: false,
  });
});

describe('storing fields', () => {
  test('is no way to read what is there: who may only write is told what is stored, and no value or version', async () => {
    await put('captcha', { site_key: 'site-of-others', secret_key: 'c4n4ry' });
    const blind = await stage.makeToken({ projects: ['mine'], capabilities: ['can_write_vault'] });
    const answer = await put('captcha', { widget_mode: 'managed' }, blind);
    expect([answer.status, dataOf(answer), answer.headers.get('etag')]).toEqual([
      200,
      { present: expect.objectContaining({ site_key: true, secret_key: true, widget_mode: true }) },
      null,
    ]);
    expect(answer.text).not.toContain('site-of-others');
    for (const field of ['site_key', 'secret_key', 'widget_mode']) await put('captcha', { [field]: null });
  });

  test('changes only those sent, removes those that are null, and answers metadata without a secret', async () => {
    const first = await put('captcha', { site_key: 'site-1', secret_key: 'c4n4ry', widget_mode: 'managed' });
    expect([first.status, dataOf(first)]).toEqual([
      200,
      {
        environment: 'production',
        service: 'captcha',
        label: 'Captcha',
        values: { site_key: 'site-1', widget_mode: 'managed' },
        present: {
          site_key: true,
          secret_key: true,
          widget_name: false,
          widget_mode: true,
          hostnames: false,
          expected_action: false,
        },
        inherited: [],
        about: {},
        updated_at: '2030-01-15T12:00:00.000Z',
      },
    ]);
    expect(stage.lastEvent()).toEqual({
      event: 'vault.updated',
      target: `project:${stage.mine.id}`,
      actor_name: 'test token',
      metadata: {
        environment: 'production',
        service: 'captcha',
        set: ['site_key', 'secret_key', 'widget_mode'],
        removed: [],
      },
      changes: { site_key: { secret: true }, secret_key: { secret: true }, widget_mode: { secret: true } },
    });
    stage.app.clock.advance(1_000);
    const second = await put('captcha', { widget_mode: null, hostnames: 'example.com' });
    expect(dataOf(second).values).toEqual({ site_key: 'site-1', hostnames: 'example.com' });
    expect(dataOf(second).updated_at).toBe('2030-01-15T12:00:01.000Z');
    const shown = await stage.call('GET', '/projects/mine/vault/captcha', reader);
    expect(dataOf(shown)).toEqual(dataOf(second));
    expect(shown.text).not.toContain('c4n4ry');
  });

  test('takes a number where text is due, such as a port', async () => {
    expect(dataOf(await put('smtp', { port: 587 })).values).toEqual({ port: '587' });
  });

  test('does nothing for an empty object', async () => {
    const events = rowsOf('audit_events').length;
    expect((await put('sentry', {})).status).toBe(200);
    expect(rowsOf('audit_events').length).toBe(events);
  });

  const BAD: [what: string, service: string, values: unknown, field: string, hint: string][] = [
    [
      'an unknown field',
      'captcha',
      { site_key: 'x', 'no such €': 's3cret-n4me' },
      'no_such__',
      'its fields are: site_key',
    ],
    ['an unknown widget mode', 'captcha', { widget_mode: 'Managed' }, 'widget_mode', 'non-interactive'],
    ['an empty text', 'captcha', { site_key: ' ' }, 'site_key', 'send null to remove'],
    ['another type', 'captcha', { site_key: ['s3cret-n4me'] }, 'site_key', 'must be a string'],
    ['a NUL', 'captcha', { site_key: 'a\0b' }, 'site_key', 'NUL'],
    ['half a character', 'captcha', { site_key: '\ud83d' }, 'site_key', 'well-formed'],
    ['too long a text', 'captcha', { site_key: 'x'.repeat(32_001) }, 'site_key', 'got 32001'],
    ['a name of JavaScript itself', 'captcha', JSON.parse('{"__proto__": "x"}'), '__proto__', 'is no field'],
    ['no values at all', 'captcha', undefined, 'values', 'is required'],
    ['values that are an array', 'captcha', ['s3cret-n4me'], 'values', 'must be an object'],
    ['text for a file', 'google_play', { service_account: '{}' }, 'service_account', 'is a file'],
    [
      'a file name with a path',
      'google_play',
      { service_account: { filename: '../a.json', content_base64: 'e30=' } },
      'service_account',
      'without slashes',
    ],
    [
      'a file whose name is the folder above',
      'google_play',
      { service_account: { filename: '..', content_base64: 'e30=' } },
      'service_account',
      'filename must be a name',
    ],
    [
      'a file that is no base64',
      'google_play',
      { service_account: { filename: 'a.json', content_base64: 's3cret-n4me!' } },
      'service_account',
      'valid base64',
    ],
    [
      'an empty file',
      'google_play',
      { service_account: { filename: 'a.json', content_base64: '' } },
      'service_account',
      'must not be empty',
    ],
    [
      'a file over 1 MiB',
      'google_play',
      { service_account: { filename: 'a.json', content_base64: base64('x'.repeat(1024 * 1024 + 1)) } },
      'service_account',
      'at most 1048576 bytes (got 1048577)',
    ],
  ];
  for (const [what, service, values, field, hint] of BAD) {
    test(`refuses ${what} with 422, stores nothing and repeats nothing`, async () => {
      const before = JSON.stringify([rowsOf('vault_values'), rowsOf('vault_services')]);
      const answer = await put(service, values);
      expect([answer.status, codeOf(answer)]).toEqual([422, 'VALIDATION_FAILED']);
      expect(invalidFieldsOf(answer)).toEqual([field]);
      expect(answer.text).toContain(hint);
      expect(answer.text).not.toContain('s3cret-n4me');
      expect(JSON.stringify([rowsOf('vault_values'), rowsOf('vault_services')])).toBe(before);
    });
  }

  test('takes the three files of 1 MiB of one service in one request', async () => {
    const file = { filename: 'a.json', content_base64: base64('x'.repeat(1024 * 1024)) };
    const answer = await put('firebase', {
      service_account: file,
      google_services_json: file,
      google_service_info_plist: file,
    });
    expect(answer.status).toBe(200);
    expect(dataOf(answer).values).toEqual({});
    expect(dataOf(answer).present).toMatchObject({ service_account: true, google_services_json: true });
  });
});

test('a vault is listed as a plain array with one entry for every service', async () => {
  const answer = await stage.call('GET', '/projects/mine/vault', reader);
  expect(Object.keys(answer.body)).toEqual(['data']);
  const services = listOf(answer);
  expect(services.length).toBe(13);
  expect(services.find((each) => each.service === 's3')).toEqual({
    environment: 'production',
    inherited: [],
    about: {},
    service: 's3',
    label: 'S3 storage',
    values: {},
    present: {
      endpoint: false,
      region: false,
      bucket: false,
      access_key_id: false,
      secret_access_key: false,
    },
    updated_at: null,
  });
});

test('the overview lists visible projects with what their vaults hold, filtered and in pages', async () => {
  const all = await stage.call('GET', '/vault/projects', reader);
  expect(listOf(all).map((each) => each.slug)).toEqual(['other', 'mine']);
  expect(listOf(all)[1]).toMatchObject({ id: stage.mine.id, credentials_count: 4, files_count: 3 });
  expect(listOf(all)[1]?.present).toMatchObject({ captcha: true, firebase: true, stripe: false });
  expect(listOf(all)[0]).toMatchObject({ credentials_count: 0, files_count: 0, updated_at: null });
  const scoped = await stage.makeToken({ projects: ['mine'], capabilities: ['can_read_vault'] });
  expect(listOf(await stage.call('GET', '/vault/projects', scoped)).map((each) => each.slug)).toEqual([
    'mine',
  ]);
  const found = await stage.call('GET', '/vault/projects?q=OTH&status=active&per_page=500', reader);
  expect(listOf(found).map((each) => each.slug)).toEqual(['other']);
  expect(found.body.meta).toMatchObject({ total: 1, per_page: 50 });
  expect((await stage.call('GET', '/vault/projects?status=nonsense', reader)).status).toBe(422);
});

test('removing a service takes everything stored of it, and nothing else', async () => {
  const answer = await stage.call('DELETE', '/projects/mine/vault/firebase', writer);
  expect([answer.status, dataOf(answer)]).toEqual([
    200,
    { deleted: true, cascade: { vault_credentials: 0, vault_files: 3 } },
  ]);
  expect(stage.lastEvent()).toMatchObject({ event: 'vault.deleted', metadata: { service: 'firebase' } });
  const left = await stage.call('GET', '/projects/mine/vault', reader);
  expect(listOf(left).find((each) => each.service === 'firebase')).toMatchObject({ updated_at: null });
  expect(listOf(left).find((each) => each.service === 'captcha')?.values).toEqual({
    site_key: 'site-1',
    hostnames: 'example.com',
  });
});

test('deleting a project counts and takes what its vault holds', async () => {
  const { projects, vault } = stage.app.services;
  const actor = { kind: 'shell', id: '0', name: 'tester', ip: null } as const;
  const doomed = await projects.create(actor, { name: 'Doomed', slug: 'doomed' });
  const token = await stage.makeToken({ capabilities: ['can_write_vault', 'can_reveal_vault'] });
  const store = (service: string, values: unknown) =>
    stage.call('PUT', `/projects/doomed/vault/${service}`, token, { values });
  await store('captcha', { site_key: 'a', secret_key: 'b' });
  await store('google_play', { service_account: { filename: 'a.json', content_base64: 'e30=' } });
  await stage.call('POST', '/projects/doomed/vault/reveal', token);
  const deleted = await stage.call('DELETE', '/projects/doomed', token);
  expect(dataOf(deleted).cascade).toMatchObject({ vault_credentials: 2, vault_files: 1, vault_reveals: 1 });
  const left = (table: string): number =>
    rowsOf(table).filter((row) => JSON.stringify(row).includes(`"project_id":${doomed.id},`)).length;
  expect([left('vault_values'), left('vault_services'), left('vault_reveals')]).toEqual([0, 0, 0]);
  expect(vault.describeService(stage.mine, requireVaultService('captcha')).present.site_key).toBe(true);
});
