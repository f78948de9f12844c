/** The endpoints of the origins of keys and of global origins. Which value matches what is in origins.test.ts. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { actor } from '../../support/helpers.ts';
import {
  beforeEachOnStage,
  codeOf,
  dataOf,
  detailsOf,
  invalidFieldsOf,
  listOf,
  type Management,
} from '../../support/management.ts';

const SHA256 = Array(32).fill('ab').join(':');
const SHA1 = 'cd'.repeat(20);
const ORIGINS = '/projects/mine/api-keys/1/origins';

let stage: Management;
/** Keys 1 and 2 are of `mine`, key 3 of `other`; each has one origin with the key's number as id. */
beforeEachOnStage(async (given) => {
  stage = given;
  const { keys, origins } = stage.app.services;
  for (const project of [stage.mine, stage.mine, stage.other]) {
    const { id } = await keys.create(actor, project, { name: 'k', restricted: true });
    await origins.add(actor, keys.require(String(id)), { type: 'domain', value: 'app.example.com' });
  }
});

const call = (...args: Parameters<Management['call']>) => stage.call(...args);

test.each([
  ['PATCH', `${ORIGINS}/2`],
  ['DELETE', `${ORIGINS}/2`],
  ['DELETE', `${ORIGINS}/99`],
  ['DELETE', `${ORIGINS}/one`],
  ['GET', '/projects/mine/api-keys/3/origins'],
])('%s %s finds nothing of another key', async (method, path) => {
  const before = stage.snapshot();
  expect((await call(method, path, stage.all, { value: 'c.example.com' })).status).toBe(404);
  expect(stage.snapshot()).toBe(before);
});

describe('origins of a key', () => {
  test('are a plain array, newest first; only android ones show fingerprints', async () => {
    await call('POST', ORIGINS, stage.all, {
      type: 'android',
      value: 'com.example.app',
      sha1_fingerprints: [SHA1],
    });
    const answer = await call('GET', ORIGINS, stage.scoped);
    expect(answer.body).toEqual({
      data: [
        {
          id: 4,
          type: 'android',
          value: 'com.example.app',
          sha256_fingerprints: [],
          sha1_fingerprints: [SHA1.toUpperCase()],
        },
        { id: 1, type: 'domain', value: 'https://app.example.com' },
      ],
    });
    expect(dataOf(await call('GET', '/projects/mine/api-keys/1', stage.all)).origins_count).toBe(2);
  });

  test.each([
    [{ type: 'domain', value: 'Shop.Example.com/' }, 'https://shop.example.com'],
    [{ type: 'domain', value: '*.example.org' }, 'https://*.example.org'],
    [{ type: 'domain', value: 'http://localhost:*' }, 'http://localhost:*'],
    [
      { type: 'domain', value: 'chrome-extension://abcdefghijklmnopabcdefghijklmnop' },
      'chrome-extension://abcdefghijklmnopabcdefghijklmnop',
    ],
    [{ type: 'domain', value: 'Capacitor://localhost/' }, 'capacitor://localhost'],
    [{ type: 'ios', value: 'com.example.App' }, 'com.example.App'],
  ])('%j is stored as %s', async (body, value) => {
    const answer = await call('POST', ORIGINS, stage.scoped, body);
    expect(answer.status).toBe(201);
    expect(dataOf(answer)).toEqual({ id: 4, type: body.type, value });
    expect(stage.lastEvent()).toMatchObject({
      event: 'api_key.origin_added',
      target: 'api_key:1',
      metadata: { origin: { id: 4, value } },
    });
  });

  test('fingerprints are stored as upper-case hex, each once', async () => {
    const fingerprints = [SHA256, SHA256.replaceAll(':', '').toUpperCase()];
    const body = { type: 'android', value: 'com.example.app', sha256_fingerprints: fingerprints };
    expect(dataOf(await call('POST', ORIGINS, stage.all, body)).sha256_fingerprints).toEqual([
      'AB'.repeat(32),
    ]);
  });

  test.each([
    ['type', { value: 'a.example.com' }],
    ['type', { type: 'web', value: 'a.example.com' }],
    ['value', { type: 'domain' }],
    ['value', { type: 'domain', value: '' }],
    ['value', { type: 'domain', value: 'http://shop.example.com' }],
    ['value', { type: 'domain', value: 'https://a.example.com/path' }],
    ['value', { type: 'domain', value: 'a.*.example.com' }],
    ['value', { type: 'domain', value: 'ionic://localhost:8100' }],
    ['value', { type: 'android', value: 'not a package' }],
    [
      'sha256_fingerprints.1',
      { type: 'android', value: 'com.example.app', sha256_fingerprints: [SHA256, 'zz'] },
    ],
    ['sha1_fingerprints.0', { type: 'android', value: 'com.example.app', sha1_fingerprints: [SHA256] }],
    ['sha1_fingerprints', { type: 'ios', value: 'com.example.app', sha1_fingerprints: [SHA1] }],
    ['sha256_fingerprints', { type: 'domain', value: 'a.example.com', sha256_fingerprints: [SHA256] }],
    ['sha256_fingerprints', { type: 'android', value: 'com.example.app', sha256_fingerprints: 'AB' }],
  ])('a bad %s is refused: %j', async (field, body) => {
    const before = stage.snapshot();
    const answer = await call('POST', ORIGINS, stage.all, body);
    expect({ status: answer.status, code: codeOf(answer) }).toEqual({
      status: 422,
      code: 'VALIDATION_FAILED',
    });
    expect(invalidFieldsOf(answer)).toEqual([field]);
    expect(stage.snapshot()).toBe(before);
  });

  test('the same one again, in whatever form, is 409; another key and another type may have it', async () => {
    const before = stage.snapshot();
    for (const value of ['app.example.com', 'HTTPS://APP.example.com:443/']) {
      const answer = await call('POST', ORIGINS, stage.all, { type: 'domain', value });
      expect({ status: answer.status, code: codeOf(answer) }).toEqual({
        status: 409,
        code: 'ORIGIN_ALREADY_EXISTS',
      });
    }
    expect(stage.snapshot()).toBe(before);
    expect((await call('POST', ORIGINS, stage.all, { type: 'ios', value: 'com.example.app' })).status).toBe(
      201,
    );
    expect(
      (await call('POST', ORIGINS, stage.all, { type: 'android', value: 'com.example.app' })).status,
    ).toBe(201);
  });

  test('the same one twice at once is stored once', async () => {
    const body = { type: 'domain', value: 'new.example.com' };
    const answers = await Promise.all([1, 2].map(() => call('POST', ORIGINS, stage.all, body)));
    expect(answers.map((answer) => answer.status).sort()).toEqual([201, 409]);
  });
});

describe('changing an origin', () => {
  test('sets the value in canonical form', async () => {
    const answer = await call('PATCH', `${ORIGINS}/1`, stage.scoped, { value: 'New.example.com' });
    expect(answer.status).toBe(200);
    expect(dataOf(answer)).toEqual({ id: 1, type: 'domain', value: 'https://new.example.com' });
    expect(stage.lastEvent()).toMatchObject({ event: 'api_key.origin_updated', target: 'api_key:1' });
  });

  test('replaces one list of fingerprints and leaves the other; null empties it', async () => {
    const pins = { sha256_fingerprints: [SHA256], sha1_fingerprints: [SHA1] };
    await call('POST', ORIGINS, stage.all, { type: 'android', value: 'com.example.app', ...pins });
    const changed = await call('PATCH', `${ORIGINS}/4`, stage.all, { sha256_fingerprints: null });
    expect(dataOf(changed)).toMatchObject({
      value: 'com.example.app',
      sha256_fingerprints: [],
      sha1_fingerprints: [SHA1.toUpperCase()],
    });
  });

  test('nothing sent, or its own type, changes no value', async () => {
    const before = stage.snapshot();
    expect((await call('PATCH', `${ORIGINS}/1`, stage.all, {})).status).toBe(200);
    expect(stage.snapshot()).toBe(before);
    expect((await call('PATCH', `${ORIGINS}/1`, stage.all, { type: 'domain' })).status).toBe(200);
  });

  test.each([
    ['type', { type: 'ios' }],
    ['value', { value: null }],
    ['value', { value: 'https://a.example.com?q' }],
    ['sha1_fingerprints', { sha1_fingerprints: [SHA1] }],
  ])('a bad %s is refused: %j', async (field, body) => {
    const before = stage.snapshot();
    const answer = await call('PATCH', `${ORIGINS}/1`, stage.all, body);
    expect(answer.status).toBe(422);
    expect(invalidFieldsOf(answer)).toEqual([field]);
    expect(stage.snapshot()).toBe(before);
  });

  test('to one that the key has already is 409', async () => {
    await call('POST', ORIGINS, stage.all, { type: 'domain', value: 'b.example.com' });
    const answer = await call('PATCH', `${ORIGINS}/4`, stage.all, { value: 'app.example.com' });
    expect({ status: answer.status, code: codeOf(answer) }).toEqual({
      status: 409,
      code: 'ORIGIN_ALREADY_EXISTS',
    });
  });
});

test('removing an origin takes it from the key alone', async () => {
  const answer = await call('DELETE', `${ORIGINS}/1`, stage.scoped);
  expect(answer.status).toBe(200);
  expect(dataOf(answer)).toEqual({ deleted: true });
  expect(listOf(await call('GET', ORIGINS, stage.all))).toEqual([]);
  expect(listOf(await call('GET', '/projects/mine/api-keys/2/origins', stage.all))).toHaveLength(1);
  expect(stage.lastEvent()).toMatchObject({ event: 'api_key.origin_removed' });
});

describe('global origins', () => {
  test('are a plain array that a scoped token may read, too', async () => {
    const { origins } = stage.app.services;
    await origins.addGlobal(actor, { type: 'domain', value: '*.example.com', note: 'ours' });
    await origins.addGlobal(actor, { type: 'android', value: 'com.example.app', sha1_fingerprints: [SHA1] });
    const created_at = '2030-01-15T12:00:00.000Z';
    expect((await call('GET', '/global-origins', stage.scoped)).body).toEqual({
      data: [
        {
          id: 2,
          type: 'android',
          value: 'com.example.app',
          sha256_fingerprints: [],
          sha1_fingerprints: [SHA1.toUpperCase()],
          note: null,
          created_at,
        },
        {
          id: 1,
          type: 'domain',
          value: 'https://*.example.com',
          sha256_fingerprints: [],
          sha1_fingerprints: [],
          note: 'ours',
          created_at,
        },
      ],
    });
  });

  test('the check gives one verdict each, in order, and changes nothing', async () => {
    const { origins } = stage.app.services;
    await origins.addGlobal(actor, { type: 'domain', value: '*.example.com', note: 'ours' });
    await origins.addGlobal(actor, { type: 'android', value: 'com.example.app', sha1_fingerprints: [SHA1] });
    const before = stage.snapshot();
    const answer = await call('POST', '/global-origins/check', stage.scoped, {
      origins: [
        { type: 'domain', value: 'shop.example.com' },
        { type: 'domain', value: 'https://example.org' },
        { type: 'domain', value: 'http://example.com' },
        { type: 'android', value: 'com.example.app' },
        { type: 'android', value: 'com.example.app', cert_fingerprint: SHA256 },
        { type: 'android', value: 'com.example.app', cert_fingerprint: SHA1 },
      ],
    });
    expect(answer.status).toBe(200);
    const verdicts = listOf(answer);
    expect(verdicts[0]).toEqual({
      type: 'domain',
      value: 'shop.example.com',
      canonical_value: 'https://shop.example.com',
      covered: true,
      matched_by: { id: 1, value: 'https://*.example.com', note: 'ours' },
    });
    expect(verdicts.map((verdict) => [verdict.covered, verdict.reason])).toEqual([
      [true, undefined],
      [false, undefined],
      [false, { code: 'INVALID_ORIGIN', message: expect.any(String) }],
      [false, { code: 'CERT_FINGERPRINT_REQUIRED', message: expect.any(String) }],
      [false, { code: 'CERT_FINGERPRINT_NOT_ALLOWED', message: expect.any(String) }],
      [true, undefined],
    ]);
    expect(stage.snapshot()).toBe(before);
  });

  test('the check takes 50 candidates and no more, and says nothing of none', async () => {
    const candidate = { type: 'domain', value: 'a.example.com' };
    const check = (origins: unknown) => call('POST', '/global-origins/check', stage.all, { origins });
    expect(listOf(await check(Array(50).fill(candidate)))).toHaveLength(50);
    expect(invalidFieldsOf(await check(Array(51).fill(candidate)))).toEqual(['origins']);
    expect(listOf(await check([]))).toEqual([]);
  });

  test.each([
    ['origins', {}],
    ['origins', { origins: 'a.example.com' }],
    ['origins.0', { origins: ['a.example.com'] }],
    ['origins.0.type', { origins: [{ type: 'web', value: 'a' }] }],
    ['origins.1.value', { origins: [{ type: 'ios', value: 'a' }, { type: 'ios' }] }],
    ['origins.0.cert_fingerprint', { origins: [{ type: 'ios', value: 'a', cert_fingerprint: 7 }] }],
  ])('the check refuses a bad %s: %j', async (field, body) => {
    const answer = await call('POST', '/global-origins/check', stage.all, body);
    expect(answer.status).toBe(422);
    expect(invalidFieldsOf(answer)).toEqual([field]);
  });
});

describe('global origins of an administrator', () => {
  let admin = '';
  beforeEach(async () => {
    admin = await stage.makeToken({ capabilities: ['can_administer'] });
  });

  test('are added in canonical form, and removed with the number of keys that may have relied on them', async () => {
    // Besides three that are restricted.
    await stage.app.services.keys.create(actor, stage.other, { name: 'server' });
    const answer = await call('POST', '/global-origins', admin, {
      ...{ type: 'domain', value: 'App.Example.com/', note: 'ours' },
    });
    expect([answer.status, dataOf(answer)]).toMatchObject([
      201,
      { type: 'domain', value: 'https://app.example.com', note: 'ours' },
    ]);
    expect(stage.lastEvent()).toMatchObject({ event: 'global_origin.added', actor_name: 'test token' });
    const { id } = dataOf(answer);
    expect(listOf(await call('GET', '/global-origins', stage.scoped))).toMatchObject([{ id }]);
    expect(dataOf(await call('DELETE', `/global-origins/${id}`, admin))).toEqual({
      ...{ deleted: true, restricted_keys: 3 },
    });
    expect(stage.lastEvent()).toMatchObject({ event: 'global_origin.removed' });
    expect(listOf(await call('GET', '/global-origins', stage.all))).toEqual([]);
  });

  test('that are there already, are none, or are gone are refused', async () => {
    const origin = { type: 'domain', value: 'https://app.example.com' };
    await call('POST', '/global-origins', admin, origin);
    const before = stage.snapshot();
    expect(codeOf(await call('POST', '/global-origins', admin, origin))).toBe('ORIGIN_ALREADY_EXISTS');
    const bad = { type: 'ios', value: 'no bundle', sha1_fingerprints: ['x'], note: 7 };
    const refusal = await call('POST', '/global-origins', admin, bad);
    expect([refusal.status, invalidFieldsOf(refusal)]).toMatchObject([
      422,
      expect.arrayContaining(['value', 'note']),
    ]);
    for (const id of ['99', 'x', '01'])
      expect((await call('DELETE', `/global-origins/${id}`, admin)).status).toBe(404);
    expect(stage.snapshot()).toBe(before);
  });

  test('are for administrators alone', async () => {
    const before = stage.snapshot();
    for (const [method, path] of [
      ['POST', ''],
      ['DELETE', '/1'],
    ]) {
      const answer = await call(method ?? '', `/global-origins${path}`, stage.all, {});
      expect([answer.status, detailsOf(answer)]).toEqual([403, { required_scope: 'can_administer' }]);
    }
    expect(stage.snapshot()).toBe(before);
  });
});
