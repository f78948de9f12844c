/** Trusts: an OIDC token of an issuer that is trusted, and fits, is changed for an access token; anything else is not. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { fits } from '../../../src/access/tokens/patterns.ts';
import { readManifest } from '../../../src/operation/transfers/manifest-store.ts';
import { atEnd } from '../../support/cleanup.ts';
import { actor, type TestApp } from '../../support/helpers.ts';
import {
  codeOf,
  dataOf,
  invalidFieldsOf,
  listOf,
  type Management,
  startManagement,
} from '../../support/management.ts';

const MINUTE_MS = 60_000;
const AUDIENCE = 'http://satchel.test';
const pairs = {
  RS256: await generateKeyPair('RS256'),
  ES256: await generateKeyPair('ES256'),
  EdDSA: await generateKeyPair('EdDSA'),
  other: await generateKeyPair('RS256'),
};
type Kid = keyof typeof pairs;

/** What it is asked for, and what it tells. */
const issuer = {
  url: '',
  asked: [] as string[],
  told: ['RS256', 'ES256', 'EdDSA'] as Kid[],
  is_away: false,
  claims_to_be: '',
  keys_at: '',
};
const server = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url);
    issuer.asked.push(pathname);
    if (issuer.is_away) return new Response('', { status: 500 });
    if (pathname === '/.well-known/openid-configuration')
      return Response.json({ issuer: issuer.claims_to_be, jwks_uri: issuer.keys_at });
    if (pathname === '/elsewhere') return Response.redirect(`${issuer.url}/keys`);
    const keys = issuer.told.map(async (kid) => ({ ...(await exportJWK(pairs[kid].publicKey)), kid }));
    return Response.json({ keys: await Promise.all(keys) });
  },
});
atEnd(() => server.stop(true));
issuer.url = `http://127.0.0.1:${server.port}`;

let stage: Management;
let app: TestApp;
let admin = '';
beforeEach(async () => {
  Object.assign(issuer, {
    asked: [],
    told: ['RS256', 'ES256', 'EdDSA'],
    is_away: false,
    claims_to_be: issuer.url,
    keys_at: `${issuer.url}/keys`,
  });
  stage = await startManagement({ env: { SATCHEL_WEBHOOK_ALLOW: '127.0.0.1' } });
  app = stage.app;
  admin = await stage.makeToken({ capabilities: ['can_administer', 'can_read_vault', 'can_write_vault'] });
});

const SUBJECT = 'repo:acme/shop:ref:refs/heads/main';

const add = (more: object = {}) =>
  stage.call('POST', '/token-trusts', admin, {
    ...{ name: 'ci', issuer: issuer.url, subject: 'repo:acme/shop:ref:refs/heads/*', projects: ['mine'] },
    ...{ can_read_vault: true, ...more },
  });

async function sign(
  claims: Record<string, unknown> = {},
  kid: Kid = 'RS256',
  alg = kid === 'other' ? 'RS256' : kid,
): Promise<string> {
  const now_s = Math.floor(app.clock.now() / 1_000);
  const payload = { iss: issuer.url, aud: AUDIENCE, sub: SUBJECT, exp: now_s + 300, ...claims };
  return new SignJWT(payload).setProtectedHeader({ alg, kid }).sign(pairs[kid].privateKey);
}

const exchange = (token: string, trust?: string) =>
  stage.call('POST', '/token/exchange', null, { token, ...(trust === undefined ? {} : { trust }) });

const lastRefused = async () =>
  listOf(await stage.call('GET', '/token-trusts', admin)).map((one) => one.last_refused);
const keysAsked = () => issuer.asked.filter((path) => path === '/keys').length;

describe('a token that fits', () => {
  test('is changed for an access token of some minutes, with what the trust gives and no more', async () => {
    const { id } = dataOf(await add({ minutes: 20, environments: ['staging'] }));
    for (const kid of ['RS256', 'ES256', 'EdDSA'] as const) {
      const answer = await exchange(await sign({ aud: ['elsewhere', AUDIENCE] }, kid));
      expect(answer.status).toBe(201);
      const { access_token, expires_at } = dataOf(answer);
      expect(expires_at).toBe(new Date(app.clock.now() + 20 * MINUTE_MS).toISOString());
      const self = dataOf(await stage.call('GET', '/token', String(access_token)));
      expect(self).toMatchObject({
        ...{ name: 'ci', all_projects: false, read_only: true, can_read_vault: true },
        ...{ can_reveal_vault: false, environments: ['staging'], projects: [{ slug: 'mine' }] },
      });
      const change = await stage.call('PATCH', '/projects/mine', String(access_token), { name: 'Other' });
      expect(change.status).toBe(403);
      expect((await stage.call('GET', '/projects/other', String(access_token))).status).toBe(404);
    }
    const tokens = listOf(await stage.call('GET', `/tokens?trust=${id}`, admin));
    expect(tokens.map(({ name, created_by }) => ({ name, created_by }))).toEqual(
      Array(3).fill({ name: 'ci', created_by: { kind: 'trust', id: String(id), name: SUBJECT } }),
    );
    expect((await stage.call('GET', '/tokens', admin)).text).not.toContain('"trust"');
    expect((await stage.call('GET', '/search?q=ci', admin)).text).not.toContain('"name":"ci"');
    expect(listOf(await stage.call('GET', '/token-trusts', admin))[0]?.last_used_at).toBe(
      new Date(app.clock.now()).toISOString(),
    );
  });

  test('ends with its minutes, and is deleted a day later', async () => {
    const { id } = dataOf(await add());
    const { access_token } = dataOf(await exchange(await sign()));
    app.clock.advance(15 * MINUTE_MS);
    expect(codeOf(await stage.call('GET', '/token', String(access_token)))).toBe('TOKEN_EXPIRED');
    app.clock.advance(24 * 60 * MINUTE_MS - 1);
    await app.services.tokens.sweep();
    expect(listOf(await stage.call('GET', `/tokens?trust=${id}`, admin))).toHaveLength(1);
    app.clock.advance(1);
    await app.services.tokens.sweep();
    expect(listOf(await stage.call('GET', `/tokens?trust=${id}`, admin))).toHaveLength(0);
    expect((await stage.call('GET', '/token', admin)).status).toBe(200);
  });

  test('ends at once with its trust', async () => {
    const { id } = dataOf(await add());
    const { access_token } = dataOf(await exchange(await sign()));
    expect((await stage.call('DELETE', `/token-trusts/${id}`, admin)).status).toBe(200);
    expect(codeOf(await stage.call('GET', '/token', String(access_token)))).toBe('TOKEN_REVOKED');
    expect((await exchange(await sign())).status).toBe(401);
    expect((await stage.call('DELETE', `/token-trusts/${id}`, admin)).status).toBe(404);
  });

  test('is of the oldest trust that fits, or of the one that is named', async () => {
    await add();
    await add({ name: 'second', projects: ['other'] });
    const nameOf = async (trust?: string) => {
      const { access_token } = dataOf(await exchange(await sign(), trust));
      return dataOf(await stage.call('GET', '/token', String(access_token))).name;
    };
    expect([await nameOf(), await nameOf('second')]).toEqual(['ci', 'second']);
    expect((await exchange(await sign(), 'third')).status).toBe(401);
  });

  test('is taken with a minute of tolerance, and writes where the trust says so', async () => {
    await add({
      read_only: false,
      can_write_vault: true,
      claims: { environment: 'prod*', run: '7', is_tag: 'true' },
    });
    const now_s = Math.floor(app.clock.now() / 1_000);
    const fitting = { environment: 'production', run: 7, is_tag: true };
    const { access_token } = dataOf(
      await exchange(await sign({ ...fitting, exp: now_s - 50, nbf: now_s + 50 })),
    );
    expect((await stage.call('PATCH', '/projects/mine', String(access_token), { name: 'New' })).status).toBe(
      200,
    );
    for (const claims of [
      {},
      { environment: ['production'] },
      { environment: 'Production' },
      { run: { a: 1 } },
    ])
      expect(
        (await exchange(await sign({ ...(Object.keys(claims).length > 0 && fitting), ...claims }))).status,
      ).toBe(401);
    expect(await lastRefused()).toEqual([
      expect.objectContaining({ reason: 'its claim run does not fit', subject: SUBJECT }),
    ]);
  });
});

describe('anything else', () => {
  test('is 401 in one sentence, whose reason stands on the trail and on the trust', async () => {
    await add();
    const now_s = Math.floor(app.clock.now() / 1_000);
    const good = await sign();
    const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${good.split('.')[1]}.`;
    const by_secret = await new SignJWT({ iss: issuer.url, aud: AUDIENCE, sub: SUBJECT, exp: now_s + 300 })
      .setProtectedHeader({ alg: 'HS256', kid: 'RS256' })
      .sign(new TextEncoder().encode('a secret that somebody knows, of 32 bytes'));
    const subjects: unknown[] = [];
    const cases: [token: string, reason: string, is_known: boolean][] = [
      [
        good.replace(/\.[^.]+$/, `.${(await sign({}, 'other')).split('.')[2]}`),
        'its signature is wrong',
        false,
      ],
      [unsigned, 'its alg is none of RS256, ES256, EdDSA', false],
      [by_secret, 'its alg is none of RS256, ES256, EdDSA', false],
      [await sign({}, 'other'), 'no key of its issuer signed it', false],
      [await sign({ exp: now_s - 61 }), 'it has expired, or says not when', true],
      [await sign({ exp: undefined }), 'it has expired, or says not when', true],
      [await sign({ nbf: now_s + 61 }), 'it is not good yet', true],
      [await sign({ iat: 'now' }), 'its iat is no number', true],
      [await sign({ aud: 'https://elsewhere.example' }), `its audience is not ${AUDIENCE}`, true],
      [await sign({ aud: undefined }), `its audience is not ${AUDIENCE}`, true],
      [await sign({ sub: 'repo:acme/shop:ref:refs/heads/a/b' }), 'its subject does not fit', true],
    ];
    const words = new Set<string>();
    for (const [token, reason, is_known] of cases) {
      const answer = await exchange(token);
      expect({ status: answer.status, code: codeOf(answer) }).toEqual({
        status: 401,
        code: 'INVALID_ACCESS_TOKEN',
      });
      words.add(answer.text.replace(/"request_id":"[^"]*"/, ''));
      const [refused] = await lastRefused();
      expect(refused).toMatchObject({ reason, subject: is_known ? expect.any(String) : null });
      subjects.push(token);
    }
    // A number for a subject is none of whoever's it is as text.
    const numbered = await new SignJWT(
      JSON.parse(JSON.stringify({ iss: issuer.url, aud: AUDIENCE, sub: 7, exp: now_s + 300 })),
    )
      .setProtectedHeader({ alg: 'RS256', kid: 'RS256' })
      .sign(pairs.RS256.privateKey);
    words.add((await exchange(numbered)).text.replace(/"request_id":"[^"]*"/, ''));
    expect(words.size).toBe(1);
    const rows = listOf(await stage.call('GET', '/audit?event=token_trust.refused', admin));
    expect(rows).toHaveLength(1);
    expect(rows[0]).toMatchObject({
      target: 'token_trust:1',
      metadata: { name: 'ci', count: cases.length + 1 },
    });
    for (const token of subjects)
      expect(JSON.stringify(rows)).not.toContain(String(token).split('.')[1] ?? '');
  });

  test('of an issuer that nobody trusts asks nobody, and has the row of its network', async () => {
    await add();
    const big = await sign({ filler: 'x'.repeat(17_000) });
    for (const token of ['x', 'a.b.c', await sign({ iss: `${issuer.url}/` }), big])
      expect((await exchange(token)).status).toBe(401);
    expect(issuer.asked).toEqual([]);
    expect(await lastRefused()).toEqual([null]);
    const [row, ...others] = listOf(await stage.call('GET', '/audit?event=token_trust.refused', admin));
    expect(others).toEqual([]);
    expect(row).toMatchObject({ metadata: { count: 4, reason: 'it is larger than 16 KiB' } });
    expect((await exchange('x'.repeat(40_000))).status).toBe(413);
    expect((await stage.call('POST', '/token/exchange', null, {})).status).toBe(422);
  });

  test('is 429 after 30 of a network in a quarter of an hour, a right one too, and then goes on', async () => {
    await add();
    for (let n = 0; n < 30; n++) expect((await exchange('x')).status, app.logs()).toBe(401);
    expect((await exchange(await sign())).status).toBe(429);
    app.clock.advance(15 * MINUTE_MS + 1);
    expect((await exchange(await sign())).status).toBe(201);
    expect((await exchange('x')).status).toBe(401);
    const rows = listOf(await stage.call('GET', '/audit?event=token_trust.refused', admin));
    expect(rows).toMatchObject([{ metadata: { count: 1 } }, { metadata: { count: 30 } }]);
  });

  test('is 503 while the keys of the issuer can not be had, which counts as nobody’s failure', async () => {
    await add();
    issuer.is_away = true;
    for (let n = 0; n < 31; n++) expect((await exchange(await sign())).status).toBe(503);
    expect(issuer.asked).toHaveLength(1);
    Object.assign(issuer, { is_away: false, claims_to_be: 'https://other.example' });
    app.clock.advance(5_000);
    expect((await exchange(await sign())).status).toBe(503);
    expect((await lastRefused())[0]).toMatchObject({
      reason: expect.stringContaining('names another issuer'),
    });
    issuer.claims_to_be = issuer.url;
    app.clock.advance(5_000);
    expect((await exchange(await sign())).status).toBe(201);
  });
});

test('its bearer reads the environment variables of its project; a file of the project holds neither token nor trust', async () => {
  await app.services.tokens.create(actor, {
    name: 'kept',
    all_projects: false,
    projects: ['mine'],
    capabilities: [],
  });
  const maker = await stage.makeToken({
    capabilities: ['can_administer', 'can_reveal_vault', 'can_read_vault'],
  });
  const given = { name: 'ci', issuer: issuer.url, subject: SUBJECT, projects: ['mine'] };
  await stage.call('POST', '/token-trusts', maker, {
    ...given,
    can_read_vault: true,
    can_reveal_vault: true,
  });
  const { access_token } = dataOf(await exchange(await sign()));
  const read = await app.call('GET', '/v1/secret/data/mine', {
    headers: { 'X-Vault-Token': String(access_token) },
  });
  expect(read.status).toBe(200);
  const { tokens } = readManifest(app.services.database.read.$client, stage.mine.id, []);
  expect(tokens.map(({ name }) => name)).toEqual(['test token', 'kept']);
});

test('keys are kept for ten minutes, and asked for anew when an unknown one signs, each 30 s', async () => {
  await add();
  await exchange(await sign());
  app.clock.advance(10 * MINUTE_MS - 1);
  await Promise.all([exchange(await sign()), exchange(await sign())]);
  expect(keysAsked()).toBe(1);
  app.clock.advance(1);
  await Promise.all([exchange(await sign()), exchange(await sign())]);
  expect(keysAsked()).toBe(2);
  issuer.told = ['RS256', 'other'];
  expect((await exchange(await sign({}, 'other'))).status).toBe(401);
  expect(keysAsked()).toBe(2);
  app.clock.advance(30_000);
  expect((await exchange(await sign({}, 'other'))).status).toBe(201);
  expect(keysAsked()).toBe(3);
});

test('keys that came go on while newer ones can not be had, and while they are looked for', async () => {
  await add();
  await exchange(await sign());
  issuer.is_away = true;
  app.clock.advance(30_000);
  issuer.asked = [];
  for (let n = 0; n < 3; n++) {
    expect((await exchange(await sign({}, 'other'))).status).toBe(503);
    expect((await exchange(await sign())).status).toBe(201);
    app.clock.advance(9_000);
  }
  expect(issuer.asked).toHaveLength(1);
  app.clock.advance(10 * MINUTE_MS);
  expect((await exchange(await sign())).status).toBe(503);
});

test('keys are asked for as webhooks go out: at no address inside, and past no redirect', async () => {
  const { id } = dataOf(await add());
  for (const [keys_at, reason] of [
    ['http://10.0.0.1/keys', 'plain http is for hosts'],
    ['https://10.0.0.1/keys', 'must lead to a public address'],
    ['https://localhost/keys', 'must not lead to this machine'],
    ['file:///etc/passwd', 'must begin with https://'],
    ['keys', 'names no address of keys'],
    [7, 'names no keys'],
    [`${issuer.url}/elsewhere`, 'answered 302'],
  ] as const) {
    Object.assign(issuer, { keys_at });
    app.clock.advance(5_000);
    expect((await exchange(await sign())).status).toBe(503);
    expect(await lastRefused()).toMatchObject([{ reason: expect.stringContaining(reason) }]);
  }
  expect(keysAsked()).toBe(0);
  expect(listOf(await stage.call('GET', `/tokens?trust=${id}`, admin))).toEqual([]);
});

describe('a trust', () => {
  test('needs a subject of somebody, an issuer that may be asked, projects, and what goes together', async () => {
    for (const [more, field] of [
      [{ subject: 'repo:*/shop:ref:refs/heads/main' }, 'subject'],
      [{ subject: 're*:acme' }, 'subject'],
      [{ subject: 'somebody*' }, 'subject'],
      [{ issuer: 'http://issuer.example' }, 'issuer'],
      [{ issuer: 'https://10.0.0.1' }, 'issuer'],
      [{ issuer: `${issuer.url}?a=b` }, 'issuer'],
      [{ projects: [] }, 'projects'],
      [{ projects: ['nowhere'] }, 'projects'],
      [{ minutes: 61 }, 'minutes'],
      [{ minutes: 0 }, 'minutes'],
      [{ can_write_vault: true }, 'read_only'],
      [{ can_administer: true }, 'can_administer'],
    ] as const) {
      const answer = await add(more);
      expect([answer.status, invalidFieldsOf(answer)]).toEqual([422, [field]]);
    }
    expect((await add()).status).toBe(201);
    expect((await add()).status).toBe(409);
  });

  test('gives nothing that its maker lacks, and is for admins alone', async () => {
    expect((await add({ can_reveal_vault: true })).status).toBe(403);
    expect((await stage.call('GET', '/token-trusts', stage.all)).status).toBe(403);
    expect((await stage.call('GET', '/token-trusts', null)).status).toBe(401);
  });

  test('is a person’s: it is read-only as they are, and ends with their tokens', async () => {
    const { id } = await app.services.people
      .add(actor, null, { email: 'ann@example.com', all_projects: true, can_administer: true })
      .then(({ id }) => ({ id }));
    const caller = {
      ...{ kind: 'person' as const, id, name: 'Ann', all_projects: true, project_ids: [], read_only: false },
      capabilities: new Set(['can_administer'] as const),
    };
    const given = { issuer: issuer.url, subject: 'repo:acme/shop', projects: ['mine'], read_only: false };
    await app.services.token_trusts.add(actor, { name: 'hers', ...given }, caller);
    const token = () => sign({ sub: 'repo:acme/shop' });
    const { access_token } = dataOf(await exchange(await token()));
    const person = `/people/${id}`;
    expect(app.services.people.countTokens(app.services.people.require(String(id)))).toBe(1);
    const asRead = { read_only: true, can_administer: false };
    expect((await stage.call('PATCH', person, admin, asRead)).status).toBe(200);
    const later = dataOf(await exchange(await token()));
    for (const each of [access_token, later.access_token])
      expect(dataOf(await stage.call('GET', '/token', String(each))).read_only).toBe(true);
    const ended = await stage.call('PATCH', person, admin, { is_active: false, revoke_tokens: true });
    expect(dataOf(ended).tokens).toBe(0);
    expect(listOf(await stage.call('GET', '/token-trusts', admin))).toEqual([]);
    expect((await stage.call('GET', '/token', String(access_token))).status).toBe(401);
    expect((await exchange(await token())).status).toBe(401);
  });

  test('whose projects are gone gives nothing', async () => {
    await add();
    await app.services.projects.remove(actor, 'mine');
    expect((await exchange(await sign())).status).toBe(401);
    expect((await lastRefused())[0]).toMatchObject({ reason: 'none of its projects is left' });
  });
});

test('patterns fit the whole claim, with case, and no * reaches past : and /', () => {
  const told = (pattern: string, claims: string[]) => claims.filter((claim) => fits(pattern, claim));
  expect(
    told('repo:a/*', ['repo:a/b', 'repo:a/', 'repo:a/b:c', 'repo:a/b/c', 'Repo:a/b', 'xrepo:a/b']),
  ).toEqual(['repo:a/b']);
  expect(told('a*b*c', ['abc', 'axbxc', 'abbbc', 'axxbxxc', 'axbc', 'axbxcx', 'a.b.c'])).toEqual([
    ...['axbxc', 'abbbc', 'axxbxxc', 'a.b.c'],
  ]);
  expect(told('**', ['a', 'ab', 'abc', ''])).toEqual(['ab', 'abc']);
  expect(told('a*a', ['a', 'aa', 'aba'])).toEqual(['aba']);
  expect(told('v.[1]+(x)', ['v.[1]+(x)', 'vx1'])).toEqual(['v.[1]+(x)']);
  expect(fits(`${'a*'.repeat(200)}b`, 'a'.repeat(16_000))).toBe(false);
});
