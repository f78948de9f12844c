/** The endpoints of API keys: what each takes, answers, refuses and leaves alone. */
import { describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { hashToken, parseToken } from '../../../src/platform/secrets/token-format.ts';
import { actor } from '../../support/helpers.ts';
import {
  beforeEachOnStage,
  codeOf,
  dataOf,
  detailsOf,
  invalidFieldsOf,
  type Management,
} from '../../support/management.ts';

let stage: Management;
let secret: string;
/** Key 1 is of `mine`, key 2 of `other`. */
beforeEachOnStage(async (given) => {
  stage = given;
  const made = await stage.call('POST', '/projects/mine/api-keys', stage.all, {
    name: 'first',
    can_read: true,
  });
  secret = String(dataOf(made).plaintext_key);
  await stage.call('POST', '/projects/other/api-keys', stage.all, { name: 'foreign' });
});

const call = (...args: Parameters<Management['call']>) => stage.call(...args);
const KEY = '/projects/mine/api-keys/1';

/** Whether the data plane takes a key. */
function isAccepted(api_key: unknown): boolean {
  const credentials = { origin: null, app_id: null, android_package: null, android_cert: null };
  try {
    stage.app.services.keys.authenticate({ api_key: String(api_key), ...credentials });
    return true;
  } catch {
    return false;
  }
}

const OTHERS_KEY = '/projects/other/api-keys/2';
const ENDPOINTS = [
  { method: 'GET', path: OTHERS_KEY },
  { method: 'PATCH', path: OTHERS_KEY, body: { name: 'changed' } },
  { method: 'DELETE', path: OTHERS_KEY },
  { method: 'POST', path: `${OTHERS_KEY}/rotate` },
  { method: 'POST', path: `${OTHERS_KEY}/reveal` },
];

test.each(ENDPOINTS)(
  '$method $path finds no key of another project, nor one that is no number',
  async ({ method, path, body }) => {
    const before = stage.snapshot();
    for (const [from, to] of [
      ['/other/', '/mine/'],
      ['api-keys/2', 'api-keys/99'],
      ['api-keys/2', 'api-keys/first'],
      ['api-keys/2', `api-keys/${'9'.repeat(30)}`],
    ] as const) {
      const answer = await call(method, path.replace(from, to), stage.all, body);
      expect({ status: answer.status, code: codeOf(answer) }).toEqual({ status: 404, code: 'NOT_FOUND' });
    }
    expect(stage.snapshot()).toBe(before);
  },
);

describe('making a key', () => {
  test('answers its fields flat with the plaintext; what was left out is false', async () => {
    const answer = await call('POST', '/projects/mine/api-keys', stage.scoped, { name: 'Web' });
    expect(answer.status).toBe(201);
    const data = dataOf(answer);
    expect(data).toEqual({
      id: 3,
      name: 'Web',
      key_prefix: expect.stringMatching(/^sat_live_.{6}$/),
      can_read: false,
      can_write: false,
      can_send_emails: false,
      can_manage_email_marketing: false,
      restricted: false,
      allow_no_origin: false,
      email_daily_limit: null,
      rate_limit_per_minute: null,
      permissions: {},
      is_test: false,
      is_active: true,
      origins_count: 0,
      purpose: 'May do nothing',
      last_used_at: null,
      plaintext_key: expect.stringMatching(/^sat_live_[0-9A-Za-z]{49}$/),
    });
    expect(String(data.plaintext_key)).toStartWith(String(data.key_prefix));
    expect(parseToken(String(data.plaintext_key))).toEqual({ kind: 'live' });
    expect(isAccepted(data.plaintext_key)).toBe(true);
  });

  test('keeps everything that is asked for', async () => {
    const wanted = {
      name: 'All',
      can_read: true,
      can_write: true,
      can_send_emails: true,
      can_manage_email_marketing: true,
      restricted: true,
      allow_no_origin: true,
      email_daily_limit: 100,
      rate_limit_per_minute: 30,
      permissions: { email_template: true, captcha: false },
      is_test: true,
    };
    const data = dataOf(await call('POST', '/projects/mine/api-keys', stage.all, wanted));
    expect(data).toMatchObject(wanted);
    expect(String(data.plaintext_key)).toStartWith('sat_test_');
    expect(dataOf(await call('GET', '/projects/mine/api-keys/3', stage.all))).toMatchObject(wanted);
  });

  test.each([
    ['name', {}],
    ['name', { name: ' ' }],
    ['name', { name: 'x'.repeat(256) }],
    ['can_read', { name: 'k', can_read: 'true' }],
    ['can_manage_email_marketing', { name: 'k', can_manage_email_marketing: 1 }],
    ['is_test', { name: 'k', is_test: 0 }],
    ['email_daily_limit', { name: 'k', email_daily_limit: -1 }],
    ['rate_limit_per_minute', { name: 'k', rate_limit_per_minute: 0 }],
    ['rate_limit_per_minute', { name: 'k', rate_limit_per_minute: 1.5 }],
    ['rate_limit_per_minute', { name: 'k', rate_limit_per_minute: '60' }],
    ['permissions', { name: 'k', permissions: ['captcha'] }],
    ['permissions', { name: 'k', permissions: { captcha: 'yes' } }],
    [
      'permissions',
      { name: 'k', permissions: Object.fromEntries(Array.from({ length: 51 }, (_, n) => [n, true])) },
    ],
  ])('refuses a bad %s: %j', async (field, body) => {
    const before = stage.snapshot();
    const answer = await call('POST', '/projects/mine/api-keys', stage.all, body);
    expect({ status: answer.status, code: codeOf(answer) }).toEqual({
      status: 422,
      code: 'VALIDATION_FAILED',
    });
    expect(invalidFieldsOf(answer)).toEqual([field]);
    expect(stage.snapshot()).toBe(before);
  });

  test('neither the key nor its hash is in the database in the clear, in the audit trail or in the log', async () => {
    const rows = stage.snapshot();
    expect(rows).toContain(hashToken(secret));
    expect(rows).not.toContain(secret);
    expect(stage.app.logs()).not.toContain(secret);
    const events = JSON.stringify(stage.app.services.audit.listNewest({}, 100));
    expect(events).toContain('api_key.created');
    expect(events).not.toContain(hashToken(secret));
  });
});

describe('listing and reading', () => {
  test('no list or read holds a secret or a hash', async () => {
    for (const path of ['/projects/mine/api-keys', KEY, '/projects/mine', '/projects']) {
      const { text } = await call('GET', path, stage.all);
      expect(text).not.toContain(secret);
      expect(text).not.toContain(hashToken(secret));
      expect(text).not.toContain('sealed');
    }
  });
});

describe('changing a key', () => {
  test('sets only what is sent and replaces permissions', async () => {
    await call('PATCH', KEY, stage.all, { permissions: { captcha: true }, rate_limit_per_minute: 9 });
    const answer = await call('PATCH', KEY, stage.scoped, {
      name: 'New',
      permissions: { email_template: true },
    });
    expect(answer.status).toBe(200);
    expect(dataOf(answer)).toMatchObject({
      name: 'New',
      can_read: true,
      rate_limit_per_minute: 9,
      permissions: { email_template: true },
    });
    expect(stage.lastEvent()).toEqual({
      event: 'api_key.updated',
      target: 'api_key:1',
      actor_name: 'test token',
      metadata: { name: 'New' },
      changes: {
        name: { from: expect.any(String), to: 'New' },
        permissions: { from: { captcha: true }, to: { email_template: true } },
      },
    });
  });

  test('null clears limits and permissions', async () => {
    await call('PATCH', KEY, stage.all, {
      email_daily_limit: 5,
      rate_limit_per_minute: 5,
      permissions: { a: true },
    });
    const cleared = { email_daily_limit: null, rate_limit_per_minute: null, permissions: null };
    expect(dataOf(await call('PATCH', KEY, stage.all, cleared))).toMatchObject({
      email_daily_limit: null,
      rate_limit_per_minute: null,
      permissions: {},
    });
  });

  test('is_active false stops the key at once and true lets it in again', async () => {
    expect(isAccepted(secret)).toBe(true);
    await call('PATCH', KEY, stage.all, { is_active: false });
    expect(isAccepted(secret)).toBe(false);
    await call('PATCH', KEY, stage.all, { is_active: true });
    expect(isAccepted(secret)).toBe(true);
  });

  test('nothing sent, or nothing that may change, changes nothing and is fine', async () => {
    const before = stage.snapshot();
    for (const body of [{}, { is_test: true, key_hash: 'x', plaintext_key: 'y', id: 9 }]) {
      expect((await call('PATCH', KEY, stage.all, body)).status).toBe(200);
    }
    expect(stage.snapshot()).toBe(before);
  });

  test.each([
    ['name', { name: null }],
    ['name', { name: '' }],
    ['can_read', { can_read: null }],
    ['restricted', { restricted: null }],
    ['is_active', { is_active: 'no' }],
    ['email_daily_limit', { email_daily_limit: 'many' }],
    ['permissions', { permissions: { captcha: null } }],
    ['permissions', { permissions: { ['x'.repeat(256)]: true } }],
  ])('refuses a bad %s: %j', async (field, body) => {
    const before = stage.snapshot();
    const answer = await call('PATCH', KEY, stage.all, body);
    expect(answer.status).toBe(422);
    expect(invalidFieldsOf(answer)).toEqual([field]);
    expect(stage.snapshot()).toBe(before);
  });
});

describe('the secret of a key', () => {
  test('is revealed, and that is on record', async () => {
    const answer = await call('POST', `${KEY}/reveal`, stage.scoped);
    expect(answer.status).toBe(200);
    expect(dataOf(answer)).toEqual({ plaintext_key: secret });
    expect(stage.lastEvent()).toMatchObject({ event: 'api_key.revealed', target: 'api_key:1' });
  });

  test('changes with a rotation, and the old one stops at once', async () => {
    const answer = await call('POST', `${KEY}/rotate`, stage.scoped);
    expect(answer.status).toBe(200);
    const { plaintext_key, ...rest } = dataOf(answer);
    expect(rest).toMatchObject({ id: 1, name: 'first', can_read: true, is_active: true });
    expect(String(plaintext_key)).toStartWith(String(rest.key_prefix));
    expect(isAccepted(secret)).toBe(false);
    expect(isAccepted(plaintext_key)).toBe(true);
    expect(dataOf(await call('POST', `${KEY}/reveal`, stage.all))).toEqual({ plaintext_key });
  });

  test('a test key stays one when it is rotated', async () => {
    await call('POST', '/projects/mine/api-keys', stage.all, { name: 't', is_test: true });
    const rotated = dataOf(await call('POST', '/projects/mine/api-keys/3/rotate', stage.all));
    expect(String(rotated.plaintext_key)).toStartWith('sat_test_');
  });

  test('that was not retained is 409 not_retained, before and after a rotation', async () => {
    const { keys } = stage.app.services;
    await keys.create(actor, stage.mine, { name: 'k' }, { retain: false });
    const path = '/projects/mine/api-keys/3';
    const before = stage.snapshot();
    const answer = await call('POST', `${path}/reveal`, stage.all);
    expect({ status: answer.status, code: codeOf(answer) }).toEqual({
      status: 409,
      code: 'PLAINTEXT_UNAVAILABLE',
    });
    expect(detailsOf(answer)).toEqual({ reason: 'not_retained' });
    expect(stage.snapshot()).toBe(before);
    expect(isAccepted(dataOf(await call('POST', `${path}/rotate`, stage.all)).plaintext_key)).toBe(true);
    expect(detailsOf(await call('POST', `${path}/reveal`, stage.all))).toEqual({ reason: 'not_retained' });
  });

  test('whose copy is of another key is 409 undecryptable, and a rotation mends it', async () => {
    await stage.app.services.database.write((tx) => {
      tx.run(
        sql`UPDATE api_keys SET sealed_key = (SELECT sealed_key FROM api_keys WHERE id = 2) WHERE id = 1`,
      );
    });
    const answer = await call('POST', `${KEY}/reveal`, stage.all);
    expect({ status: answer.status, code: codeOf(answer) }).toEqual({
      status: 409,
      code: 'PLAINTEXT_UNAVAILABLE',
    });
    expect(detailsOf(answer)).toEqual({ reason: 'undecryptable' });
    expect(isAccepted(secret)).toBe(true);
    const { plaintext_key } = dataOf(await call('POST', `${KEY}/rotate`, stage.all));
    expect(dataOf(await call('POST', `${KEY}/reveal`, stage.all))).toEqual({ plaintext_key });
  });
});

describe('deleting a key', () => {
  test('answers how many origins went with it, and stops it at once', async () => {
    for (const value of ['a.example.com', 'b.example.com']) {
      await call('POST', `${KEY}/origins`, stage.all, { type: 'domain', value });
    }
    const answer = await call('DELETE', KEY, stage.scoped);
    expect(answer.status).toBe(200);
    expect(dataOf(answer)).toEqual({ deleted: true, cascade: { origins: 2 } });
    expect(isAccepted(secret)).toBe(false);
    expect(stage.lastEvent()).toMatchObject({
      event: 'api_key.deleted',
      metadata: { name: 'first', cascade: { origins: 2 } },
    });
    expect((await call('GET', KEY, stage.all)).status).toBe(404);
    expect((await call('GET', '/projects/mine/api-keys', stage.all)).body.meta).toMatchObject({ total: 0 });
    expect((await call('GET', OTHERS_KEY, stage.all)).status).toBe(200);
  });
});

describe('looking a key up', () => {
  test('answers project, key and origins', async () => {
    await call('POST', `${KEY}/origins`, stage.all, { type: 'domain', value: 'a.example.com' });
    const answer = await call('POST', '/api-keys/lookup', stage.scoped, { api_key: secret });
    expect(answer.status).toBe(200);
    expect(dataOf(answer)).toMatchObject({
      project: { id: 1, slug: 'mine', public_id: stage.mine.public_id },
      api_key: { id: 1, name: 'first', origins_count: 1 },
      origins: [{ id: 1, type: 'domain', value: 'https://a.example.com' }],
    });
    expect(Object.keys(dataOf(answer)).sort()).toEqual(['api_key', 'origins', 'project']);
    expect(answer.text).not.toContain(secret);
  });

  test('an unknown key, one out of scope, a cut one and an access token are all the same 404', async () => {
    const foreign = dataOf(await call('POST', `${OTHERS_KEY}/reveal`, stage.all)).plaintext_key;
    const texts = new Set<string>();
    for (const api_key of [foreign, 'sat_live_unknown', secret.slice(0, -1), stage.all, `${secret} `]) {
      const answer = await call('POST', '/api-keys/lookup', stage.scoped, { api_key });
      expect({ status: answer.status, code: codeOf(answer) }).toEqual({ status: 404, code: 'NOT_FOUND' });
      texts.add(answer.text);
    }
    expect(texts.size).toBe(1);
    expect((await call('POST', '/api-keys/lookup', stage.all, { api_key: foreign })).status).toBe(200);
  });

  test.each([{}, { api_key: '' }, { api_key: 7 }, { api_key: ['a'] }])('%j is 422', async (body) => {
    const answer = await call('POST', '/api-keys/lookup', stage.all, body);
    expect(answer.status).toBe(422);
    expect(invalidFieldsOf(answer)).toEqual(['api_key']);
  });
});

test.each(['revoke', 'deprecate', 'restrictions'])('there is no endpoint to %s a key', async (verb) => {
  const answer = await call('POST', `${KEY}/${verb}`, stage.all);
  expect({ status: answer.status, code: codeOf(answer) }).toEqual({ status: 404, code: 'NOT_FOUND' });
});
