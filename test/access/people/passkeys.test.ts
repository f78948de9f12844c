/** Passkeys: adding and removing them, signing in by them, and all that is no passkey of anybody's here. */
import { beforeAll, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { SettingsService } from '@simplewebauthn/server';
import { sql } from 'drizzle-orm';
import { peopleChecks } from '../../../src/access/people/checks.ts';
import { Authenticator, type Wrong } from '../../support/authenticator.ts';
import { actor } from '../../support/helpers.ts';
import { CLIENT, startIssuer } from '../../support/issuer.ts';
import { type Console, cookieOf, MANAGEMENT, ORIGIN, PASSWORD, startConsole } from './setup.ts';

const SITE = { origin: ORIGIN, rp_id: 'satchel.test' };
const ANN = 'ann@example.com';
const BOB = 'bob@example.com';
let on: Console;
let ann: string;

beforeAll(async () => {
  on = await startConsole();
  await on.addPerson({ email: ANN, name: 'Ann', can_administer: true });
  await on.addPerson({ email: BOB, name: 'Bob', read_only: true });
});

let network = 0;
beforeEach(async () => {
  // Each test has an address of its own, and a session of now.
  network += 1;
  ann = await on.enter(ANN, { ip: ip() });
});
const ip = (): string => `198.51.100.${network}`;

const offer = (cookie: string, body: object = {}, at = on) =>
  at.ask('POST', '/console/passkeys/options', { cookie, body });
const keep = (cookie: string, response: unknown, { name = 'Laptop', at = on } = {}) =>
  at.ask('POST', '/console/passkeys', { cookie, body: { name, response } });
const dataOf = ({ body }: { body: Record<string, unknown> }): Record<string, unknown> =>
  'data' in body ? (body.data as Record<string, unknown>) : body;

const add = async (cookie: string, { name = 'Laptop', at = on } = {}): Promise<[Authenticator, string]> => {
  const authenticator = new Authenticator(SITE);
  const added = await keep(cookie, authenticator.make(dataOf(await offer(cookie, {}, at))), { name, at });
  if (added.status !== 201) throw new Error(added.text);
  return [authenticator, String(dataOf(added).id)];
};
const begin = async (at = on) =>
  dataOf(await at.ask('POST', '/console/session/passkey/options', { ip: ip() }));
const finish = (response: unknown, at = on) =>
  at.ask('POST', '/console/session/passkey', { ip: ip(), body: { response } });
const enter = async (authenticator: Authenticator, wrong: Wrong = {}, at = on) =>
  finish(authenticator.sign(await begin(at), wrong), at);

const failures = () =>
  on.app.services.audit.listNewest({ event: 'person.sign_in_failed' }, 10).map(({ metadata }) => metadata);
const reasonsOf = (email: string | undefined): unknown[] =>
  failures().flatMap((each) => (each.email === email ? [each.reasons].flat() : []));
const warnings = async () =>
  (await Promise.all(peopleChecks(on.app.services).map((each) => each.run())))
    .flat()
    .flatMap(({ check, message }) => (check === 'passkeys' ? [message] : []));

describe('adding', () => {
  test('by the options of the library: for this host alone, verified, and to be found without a name', async () => {
    const [first, id] = await add(ann);
    const answer = await offer(ann);
    expect([answer.status, dataOf(answer)]).toEqual([
      200,
      expect.objectContaining({
        challenge: expect.stringMatching(/^[\w-]{75}$/),
        rp: { name: 'Satchel', id: 'satchel.test' },
        user: { id: first.user_handle, name: ANN, displayName: 'Ann' },
        pubKeyCredParams: [-7, -8, -257].map((alg) => ({ alg, type: 'public-key' })),
        attestation: 'none',
        timeout: 300_000,
        authenticatorSelection: {
          residentKey: 'required',
          requireResidentKey: true,
          userVerification: 'required',
        },
        excludeCredentials: [expect.objectContaining({ id: first.make({}).id, type: 'public-key' })],
      }),
    ]);
    expect(first.user_handle).toMatch(/^[\w-]{43}$/);
    const list = await on.ask('GET', '/console/passkeys', { cookie: ann });
    expect(list.body).toMatchObject({
      data: [{ id, name: 'Laptop', host: 'satchel.test', backed_up: true, last_used_at: null }],
    });
    expect(Object.keys((list.body.data as object[])[0] ?? {})).toEqual([
      'id',
      'name',
      'host',
      'backed_up',
      'created_at',
      'last_used_at',
    ]);
    expect(await on.ask('GET', '/console/session', { cookie: ann })).toMatchObject({ body: { passkeys: 1 } });
    const bob = await on.enter(BOB);
    expect((await on.ask('DELETE', `/console/passkeys/${id}`, { cookie: bob })).status).toBe(404);
    const removed = await on.ask('DELETE', `/console/passkeys/${id}`, { cookie: ann });
    expect(removed.status).toBe(204);
    expect((await on.ask('DELETE', `/console/passkeys/${id}`, { cookie: ann })).status).toBe(404);
    expect((await enter(first)).status).toBe(401);
    const trail = on.app.services.audit.listNewest({}, 5);
    expect(trail.map(({ event, metadata }) => [event, metadata])).toContainEqual([
      'person.passkey_removed',
      { name: 'Laptop', host: 'satchel.test' },
    ]);
  });

  test('wants the password, unless the session began within ten minutes', async () => {
    on.app.clock.advance(599_000);
    expect((await offer(ann)).status).toBe(200);
    on.app.clock.advance(1_000);
    const late = await offer(ann);
    expect([late.status, late.body.code]).toEqual([403, 'confirm_first']);
    const wrong = await offer(ann, { password: 'not it' });
    expect([wrong.status, wrong.body.errors]).toEqual([422, { password: ['is not your password'] }]);
    expect((await offer(ann, { password: PASSWORD })).status).toBe(200);
  });

  test('takes nothing but what was asked of that session, here, once and within five minutes', async () => {
    const other = await on.enter(ANN, { ip: ip() });
    const device = new Authenticator(SITE);
    const asked = dataOf(await offer(ann));
    const of_sign_in = await begin();
    const wrong: [string, unknown][] = [
      ['origin', device.make(asked, { origin: 'https://satchel.test.evil' })],
      ['host', device.make(asked, { rp_id: 'evil.test' })],
      ['type', device.make(asked, { type: 'webauthn.get' })],
      ['unverified', device.make(asked, { flags: 1 })],
      ['of signing in', device.make(asked, { challenge: String(of_sign_in.challenge) })],
      ['of another session', device.make(dataOf(await offer(other)))],
      ['made up', device.make({ ...asked, challenge: `${String(asked.challenge).slice(0, -2)}AA` })],
      // Their certificates would be looked up where they say.
      ['attested', device.make(asked, { fmt: 'packed', statement: new Map([['x5c', new Map()]]) })],
      ['attested within', device.make(asked, { fmt: 'android-safetynet', statement: new Map() })],
      ['nothing', {}],
      ['no object', 'x'],
      ['null', null],
    ];
    const looked = spyOn(SettingsService, 'getRootCertificates');
    for (const [what, response] of wrong) {
      const refused = await keep(ann, response);
      expect([what, refused.status, Object.keys(refused.body.errors ?? {})]).toEqual([
        what,
        422,
        ['response'],
      ]);
    }
    expect(looked).not.toHaveBeenCalled();
    looked.mockRestore();
    const right = device.make(asked);
    expect((await keep(ann, right)).status).toBe(201);
    const again = await keep(ann, right);
    expect(again.body.errors).toEqual({
      response: ['was used before, or came too late: ask for options again'],
    });
    const twice = await keep(ann, device.make(dataOf(await offer(ann))));
    expect(twice.body.errors).toEqual({ response: ['is of a passkey that is here already'] });
    const late = new Authenticator(SITE).make(dataOf(await offer(ann)));
    on.app.clock.advance(300_000);
    expect((await keep(ann, late)).status).toBe(422);
    expect((await on.ask('POST', '/console/passkeys', { cookie: ann, body: {} })).body.errors).toMatchObject({
      name: [expect.anything()],
      response: [expect.anything()],
    });
  });

  test('goes on to twenty; people who only read add theirs too', async () => {
    const bob = await on.enter(BOB);
    for (let i = 0; i < 19; i += 1) await add(bob, { name: `Key ${i}` });
    const last = dataOf(await offer(bob));
    await add(bob);
    expect((await keep(bob, new Authenticator(SITE).make(last))).status).toBe(409);
    expect((await offer(bob)).status).toBe(409);
    const page = await on.ask('GET', '/console/passkeys?per_page=2', { cookie: bob });
    expect([(page.body.data as unknown[]).length, JSON.stringify(page.body)]).toEqual([
      2,
      expect.stringContaining('20'),
    ]);
  });
});

describe('signing in', () => {
  test('stands for both steps, names nobody, and leaves no row before it is done', async () => {
    const [device] = await add(ann);
    const used = () => on.app.services.database.read.all(sql`SELECT * FROM used_challenges`).length;
    const before = used();
    const asked = await on.ask('POST', '/console/session/passkey/options', { ip: ip() });
    expect([asked.status, dataOf(asked)]).toEqual([
      200,
      {
        challenge: expect.stringMatching(/^[\w-]{75}$/),
        rpId: 'satchel.test',
        timeout: 300_000,
        userVerification: 'required',
      },
    ]);
    expect(used()).toBe(before);
    const response = device.sign(dataOf(asked));
    const answer = await finish(response);
    expect([answer.status, answer.text]).toEqual([204, '']);
    const cookie = cookieOf(answer);
    expect(await on.ask('GET', '/console/session', { cookie })).toMatchObject({
      status: 200,
      body: { email: ANN },
    });
    expect(on.app.services.audit.listNewest({ event: 'person.signed_in' }, 1)[0]?.metadata).toEqual({
      by: 'passkey',
    });
    const list = await on.ask('GET', '/console/passkeys', { cookie });
    expect(list.body).toMatchObject({ data: [{ last_used_at: expect.any(String) }, {}] });
    // Once is all.
    expect((await finish(response)).status).toBe(401);
    expect(reasonsOf(ANN)).toContain('the challenge was used before, or has ended');
    // It began this moment, so it stands for the password.
    expect((await offer(cookie)).status).toBe(200);
    on.app.clock.advance(300_000);
    await on.app.services.entry.passkeys.sweep();
    expect(used()).toBe(0);
  });

  test('is refused alike whatever is wrong', async () => {
    const [device] = await add(ann);
    const bob = await on.enter(BOB);
    const listed = await on.ask('GET', '/console/passkeys', { cookie: bob });
    const [{ id } = { id: '' }] = listed.body.data as { id: string }[];
    await on.ask('DELETE', `/console/passkeys/${id}`, { cookie: bob });
    const [of_bob] = await add(bob);
    const stranger = new Authenticator(SITE);
    const of_adding = dataOf(await offer(ann));
    const late = device.sign(await begin());
    on.app.clock.advance(300_000);
    const asked = await begin();
    const signed = device.sign(asked);
    const forged = { ...signed, response: { ...(signed.response as object), signature: 'MEQCIA' } };
    const mixed = { ...signed, id: of_bob.make({}).id, rawId: of_bob.make({}).id };
    const wrong: unknown[] = [
      device.sign(asked, { origin: 'https://127.0.0.1' }),
      device.sign(asked, { rp_id: 'evil.test' }),
      device.sign(asked, { type: 'webauthn.create' }),
      device.sign(asked, { flags: 1 }),
      device.sign(asked, { user_handle: of_bob.user_handle }),
      device.sign(asked, { user_handle: undefined }),
      device.sign(asked, { challenge: String(of_adding.challenge) }),
      device.sign(asked, { challenge: 'AAAA' }),
      ...[late, forged, mixed, stranger.sign(asked), {}, 'x', null, [], { id: 1, response: 2 }],
    ];
    const first = await finish(wrong[0]);
    for (const response of wrong) {
      const { status, body } = await finish(response);
      expect([response, status, { ...body, request_id: null }]).toEqual([
        response,
        401,
        { ...first.body, request_id: null },
      ]);
    }
    expect(reasonsOf(undefined)).toContain('nobody here has the passkey');
    expect(reasonsOf(ANN)).toContain('the user handle is not that of its person');
    // None of them used the challenge up, or locks the account.
    expect((await finish(signed)).status).toBe(204);
  });

  test('counts by network as failed sign-ins do, and locks no account', async () => {
    const [device] = await add(ann);
    for (let i = 0; i < 30; i += 1) expect((await enter(device, { rp_id: 'evil.test' })).status).toBe(401);
    const over = await enter(device);
    expect([over.status, over.headers.get('retry-after')]).toEqual([429, expect.any(String)]);
    network += 100;
    expect((await enter(device)).status).toBe(204);
    expect((await on.signIn(ANN, { ip: ip() })).status).toBe(204);
  });

  test('with a counter that does not go forward is refused, and told', async () => {
    const [device] = await add(ann, { name: 'Old key' });
    device.counter = 5;
    expect((await enter(device)).status).toBe(204);
    expect(await warnings()).toEqual([]);
    for (const counter of [5, 4, 0]) expect((await enter(device, { counter })).status).toBe(401);
    const told = 'the counter of the passkey Old key did not go forward: there may be a copy of it';
    expect(reasonsOf(ANN)).toContain(told);
    expect(await warnings()).toEqual([
      `The counter of the passkey Old key of ${ANN} did not go forward: there may be a copy of it, and its sign-in was refused.`,
    ]);
    device.counter = 6;
    expect((await enter(device)).status).toBe(204);
  });

  test('not by who is inactive; a reset removes them, and the user handle stays', async () => {
    const { people } = on.app.services;
    const [device] = await add(ann);
    const show = async () => (await on.ask('GET', `${MANAGEMENT}/people/1`, { cookie: ann })).text;
    expect(await show()).toMatch(/"passkeys":[1-9]/);
    await people.change(actor, null, people.require(ANN), { is_active: false });
    expect((await enter(device)).status).toBe(401);
    expect(reasonsOf(ANN)).toContain('the person is inactive');
    await people.change(actor, null, people.require(ANN), { is_active: true });
    expect((await enter(device)).status).toBe(204);
    const { link, passkeys } = await people.reset(actor, null, people.require(ANN));
    expect([passkeys, (await enter(device)).status]).toEqual([0, 401]);
    await on.ask('POST', new URL(link).pathname, { body: { password: PASSWORD } });
    const again = await on.enter(ANN, { ip: ip() });
    expect(dataOf(await offer(again))).toMatchObject({
      user: { id: device.user_handle },
      excludeCredentials: [],
    });
  });
});

describe('where they work', () => {
  test('not at an IP address: 409 throughout, and the sign-in page offers none', async () => {
    for (const host of ['127.0.0.1', '[::1]']) {
      const at = await startConsole({ env: { SATCHEL_PUBLIC_URL: `https://${host}` } });
      const headers = { Origin: `https://${host}` };
      const { link } = await at.app.services.people.add(actor, null, { email: ANN, all_projects: true });
      await at.ask('POST', new URL(link).pathname, { headers, body: { password: PASSWORD } });
      const cookie = cookieOf(await at.signIn(ANN, { headers }));
      const answers = [
        await at.ask('POST', '/console/session/passkey/options', { headers }),
        await at.ask('POST', '/console/session/passkey', { headers, body: { response: {} } }),
        await at.ask('POST', '/console/passkeys/options', { cookie, headers, body: {} }),
        await at.ask('POST', '/console/passkeys', { cookie, headers, body: { name: 'a', response: {} } }),
        await at.ask('GET', '/console/passkeys', { cookie, headers }),
        await at.ask('DELETE', '/console/passkeys/x', { cookie, headers }),
      ];
      expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
        answers.map(() => [409, 'passkeys_need_name']),
      );
      expect((await at.ask('GET', '/console/ways')).body).toMatchObject({ passkey: false });
    }
    expect((await on.ask('GET', '/console/ways')).body).toMatchObject({ passkey: true });
  });

  test('at another host they are lost, and doctor says whose', async () => {
    const cookie = await on.enter(ANN, { ip: ip() });
    await add(cookie);
    await on.app.services.database.write((tx) =>
      tx.run(sql`UPDATE person_passkeys SET host = 'old.test' WHERE person_id = 1`),
    );
    expect(await warnings()).toEqual([
      `Passkeys of ${ANN} (old.test) are lost at satchel.test: a passkey works at the host of SATCHEL_PUBLIC_URL that it was made at.`,
    ]);
  });

  test('not where single sign-on is the only way', async () => {
    const issuer = await startIssuer();
    const env = {
      ...{ SATCHEL_OIDC_ISSUER: issuer.url, SATCHEL_OIDC_CLIENT_ID: CLIENT.id, SATCHEL_OIDC_ONLY: 'true' },
      ...{ SATCHEL_OIDC_CLIENT_SECRET: CLIENT.secret, SATCHEL_WEBHOOK_ALLOW: '127.0.0.1' },
    };
    const at = await startConsole({ env });
    await at.addPerson({ email: ANN, can_administer: true });
    const cookie = await at.enter(ANN);
    const [device] = await add(cookie, { at });
    const by_passkey = cookieOf(await enter(device, {}, at));
    const asked = await begin(at);
    await at.app.services.database.write((tx) =>
      tx.run(sql`UPDATE people SET sso_issuer = ${issuer.url.replace(/\/$/, '')}, sso_subject = 'a'`),
    );
    expect(at.app.services.entry.sso.isOnly()).toBe(true);
    const refused = [
      await finish(device.sign(asked), at),
      await at.ask('POST', '/console/session/passkey/options'),
    ];
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(
      refused.map(() => [403, 'oidc_only']),
    );
    expect((await at.ask('GET', '/console/ways')).body).toMatchObject({ passkey: false });
    expect((await at.ask('GET', '/console/session', { cookie: by_passkey })).status).toBe(401);
  });
});
