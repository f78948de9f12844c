/** Single sign-on: the way to an issuer and back, who comes in by it, who does not, and that nobody is locked out. */
import { beforeAll, beforeEach, describe, expect, spyOn, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { peopleChecks } from '../../../src/access/people/checks.ts';
import { AppError } from '../../../src/errors.ts';
import { actor } from '../../support/helpers.ts';
import { CLIENT, startIssuer, type TestIssuer } from '../../support/issuer.ts';
import { type Asking, type Console, MANAGEMENT, PASSWORD, startConsole } from './setup.ts';

let issuer: TestIssuer;
let on: Console;
const ANN = 'ann@example.com';

const settings = (extra: Record<string, string> = {}) => ({
  ...{ SATCHEL_OIDC_ISSUER: issuer.url, SATCHEL_OIDC_CLIENT_ID: CLIENT.id },
  ...{ SATCHEL_OIDC_CLIENT_SECRET: CLIENT.secret, SATCHEL_WEBHOOK_ALLOW: '127.0.0.1', ...extra },
});

beforeAll(async () => {
  issuer = await startIssuer();
  on = await startConsole({ env: settings() });
  await on.addPerson({ email: ANN, name: 'Ann', can_administer: true });
});

let network = 0;
beforeEach(() => {
  const honest = {
    claims: {},
    metadata: {},
    userinfo: {},
    signs_with: 'first',
    tells_keys: ['first'],
  } as const;
  Object.assign(issuer, honest, { inPlace: () => null, tells_keys: ['first'], asked: [] });
  issuer.account = { sub: 'ann-1', email: ANN, email_verified: true };
  // What discovery says is kept for a minute, and each test has an address of its own.
  on.app.clock.advance(61_000);
  network += 1;
});

/** As a browser follows links: with the host of SATCHEL_PUBLIC_URL, and no header of ours. */
const follow = async (to: string, asking: Asking = {}, at = on) => {
  const path = to.replace(/^https:\/\/satchel\.test/, '');
  const headers = { Host: 'satchel.test', 'X-Satchel-Console': null, Origin: null, ...asking.headers };
  const response = await fetch(`${at.app.url}${path}`, {
    redirect: 'manual',
    headers: Object.entries({
      'X-Forwarded-For': asking.ip ?? `198.51.100.${network}`,
      ...(asking.cookie === undefined ? {} : { Cookie: asking.cookie }),
      ...headers,
    }).filter((each): each is [string, string] => each[1] !== null),
  });
  return {
    status: response.status,
    to: response.headers.get('location') ?? '',
    cookies: response.headers.getSetCookie(),
    text: await response.text(),
  };
};
type Answer = Awaited<ReturnType<typeof follow>>;
const keptOf = ({ cookies }: Answer): string =>
  cookies.find((each) => each.startsWith('__Host-satchel-sso='))?.split(';')[0] ?? '';
const sessionOf = ({ cookies }: Answer): string =>
  cookies.find((each) => each.startsWith('__Host-satchel='))?.split(';')[0] ?? '';

/** The whole way; `alter` changes the address of the way back. */
const walk = async (at = on, alter: (address: string) => string = (address) => address) => {
  const began = await follow('/console/oidc/start', {}, at);
  if (!began.to.startsWith(issuer.url)) return began;
  return follow(alter(issuer.approve(began.to)), { cookie: keptOf(began) }, at);
};
const reasons = (at = on) =>
  at.app.services.audit
    .listNewest({ event: 'person.sign_in_failed' }, 5)
    .flatMap(({ metadata }) => [metadata.reasons].flat());

describe('the way', () => {
  test('leads to the issuer with what is remembered in a cookie, and back with a session', async () => {
    const rows = () => on.app.services.database.read.all(sql`SELECT count(*) FROM person_sessions`);
    const before = rows();
    const began = await follow('/console/oidc/start');
    expect(began.status).toBe(303);
    const { origin, pathname, searchParams: asked } = new URL(began.to);
    expect(origin + pathname).toBe(`${issuer.url}/authorize`);
    expect(Object.fromEntries(asked)).toEqual({
      response_type: 'code',
      client_id: CLIENT.id,
      redirect_uri: 'https://satchel.test/console/oidc/callback',
      scope: 'openid email profile',
      code_challenge: expect.stringMatching(/^[\w-]{43}$/),
      code_challenge_method: 'S256',
      state: expect.stringMatching(/^[\w-]{43}$/),
      nonce: expect.stringMatching(/^[\w-]{43}$/),
    });
    const [cookie = '', ...attributes] = began.cookies[0]?.split('; ') ?? [];
    expect(attributes).toEqual(['Path=/', 'Max-Age=600', 'HttpOnly', 'SameSite=Lax', 'Secure']);
    expect(cookie).not.toContain(asked.get('state') ?? '');
    expect(rows()).toEqual(before);
    const back = await follow(issuer.approve(began.to), { cookie });
    expect([back.status, back.to]).toEqual([303, '/console']);
    expect(back.cookies.find((each) => each.startsWith('__Host-satchel-sso='))).toContain(
      '=; Path=/; Max-Age=0;',
    );
    expect(back.cookies.find((each) => each.startsWith('__Host-satchel='))).toContain('SameSite=Strict');
    const me = await on.ask('GET', '/console/session', { cookie: sessionOf(back) });
    expect(me.body).toMatchObject({ email: ANN, sso: true });
    const trail = on.app.services.audit.listNewest({}, 2).map(({ event, metadata }) => [event, metadata]);
    expect(trail).toMatchObject([
      ['person.signed_in', { by: 'sso' }],
      ['person.sso_linked', { email: ANN, sso_issuer: issuer.url, sso_subject: 'ann-1' }],
    ]);
  });

  test('what is kept is good for ten minutes, in that browser, and for that state', async () => {
    const began = await follow('/console/oidc/start');
    const back = issuer.approve(began.to);
    const cookie = keptOf(began);
    const other = keptOf(await follow('/console/oidc/start'));
    issuer.asked = [];
    for (const asking of [
      {},
      { cookie: other },
      { cookie: `${cookie}x` },
      { cookie: '__Host-satchel-sso=x' },
    ]) {
      const refused = await follow(back, asking);
      expect([refused.status, refused.to, sessionOf(refused)]).toEqual([303, '/console?sso=failed', '']);
    }
    on.app.clock.advance(600_000);
    expect((await follow(back, { cookie })).to).toBe('/console?sso=failed');
    // A wrong state never comes as far as the issuer's token endpoint.
    expect(issuer.asked).not.toContain('/token');
    expect(reasons()).toContain('it took more than ten minutes');
  });

  test('a server that another has taken over lets nobody in any more', async () => {
    const began = await follow('/console/oidc/start');
    const { ownership } = on.app.services;
    const refuse = spyOn(ownership, 'refuseChanges').mockImplementation(() => {
      throw new AppError('unavailable', 'Another Satchel has taken over.');
    });
    const back = await follow(issuer.approve(began.to), { cookie: keptOf(began) });
    refuse.mockRestore();
    expect([back.status, sessionOf(back)]).toEqual([503, '']);
  });

  test('repeats no word of the query, and an error of the issuer is a failure', async () => {
    const began = await follow('/console/oidc/start');
    const state = new URL(began.to).searchParams.get('state') ?? '';
    const refused = await follow(
      `/console/oidc/callback?error=access_denied&error_description=evil&state=${state}`,
      { cookie: keptOf(began) },
    );
    expect([refused.to, refused.text]).toEqual(['/console?sso=failed', '']);
    expect(reasons().join()).toContain('access_denied');
  });

  test('begins at the host of SATCHEL_PUBLIC_URL, and makes no circle where a proxy hides that', async () => {
    const headers = { Host: 'other.test' };
    const led = await follow('/console/oidc/start', { headers });
    expect([led.status, led.to]).toEqual([303, 'https://satchel.test/console/oidc/start']);
    const again = await follow('/console/oidc/start', { headers, cookie: keptOf(led) });
    expect(again.to).toStartWith(`${issuer.url}/authorize`);
  });

  test('is not there without an issuer, and refused where a password would be', async () => {
    const without = await startConsole();
    const open = await startConsole({ env: settings({ SATCHEL_PUBLIC_URL: 'http://satchel.test' }) });
    for (const path of ['/console/oidc/start', '/console/oidc/callback?code=1&state=2']) {
      expect((await follow(path, {}, without)).status).toBe(404);
      expect((await follow(path, {}, open)).status).toBe(403);
    }
    expect((await without.ask('GET', '/console/ways')).body).toEqual({
      password: true,
      passkey: true,
      sso: null,
    });
    expect((await on.ask('GET', '/console/ways', { headers: { 'X-Satchel-Console': null } })).body).toEqual({
      password: true,
      passkey: true,
      sso: { label: 'Single sign-on' },
    });
  });

  test('the page of the way back asks who is signed in: its request has no strict cookie', async () => {
    const page = (site: string) => follow('/console', { headers: { 'Sec-Fetch-Site': site } });
    expect((await page('cross-site')).text).not.toContain('satchel-nobody-signed-in');
    expect((await page('none')).text).toContain('satchel-nobody-signed-in');
  });
});

describe('what is checked', () => {
  const failing: [string, () => void][] = [
    ['another key under a known kid', () => (issuer.signs_with = 'other')],
    ['a key that it does not tell of', () => (issuer.signs_with = 'second')],
    ['another audience', () => (issuer.claims = { aud: 'somebody' })],
    ['another issuer', () => (issuer.claims = { iss: 'https://evil.example.com' })],
    ['another nonce', () => (issuer.claims = { nonce: 'x' })],
    ['a token that ended', () => (issuer.claims = { exp: 1 })],
    ['no sub', () => (issuer.claims = { sub: undefined })],
    ['a sub that is no text', () => (issuer.claims = { sub: 7 })],
    ['a sub without an end', () => (issuer.claims = { sub: 'x'.repeat(256) })],
    ['discovery of another issuer', () => (issuer.metadata = { issuer: 'https://evil.example.com' })],
    [
      'an endpoint that is no web address',
      () => (issuer.metadata = { authorization_endpoint: 'javascript:alert(1)' }),
    ],
    [
      'a redirect',
      () => (issuer.inPlace = (path) => (path === '/token' ? Response.redirect(`${issuer.url}/keys`) : null)),
    ],
    ['no JSON', () => (issuer.inPlace = (path) => (path === '/token' ? new Response('<p>Hello</p>') : null))],
    [
      'a huge answer',
      () =>
        (issuer.inPlace = (path) =>
          path === '/keys' ? Response.json({ keys: [], more: 'x'.repeat(300_000) }) : null),
    ],
  ];
  test.each(failing)('%s lets nobody in', async (_name, alter) => {
    alter();
    const back = await walk();
    expect([back.status, back.to, sessionOf(back)]).toEqual([303, '/console?sso=failed', '']);
    const [latest] = on.app.services.audit.listNewest({ event: 'person.sign_in_failed' }, 1);
    expect(latest?.metadata).toMatchObject({ reasons: expect.arrayContaining([expect.any(String)]) });
    expect(issuer.asked.filter((path) => path === '/keys').length).toBeLessThan(2);
  });

  test('what is large, but no larger than may be, is read whole', async () => {
    issuer.metadata = { more: 'x'.repeat(200_000) };
    expect((await walk()).to).toBe('/console');
  });

  test('a new key counts at once, and discovery is kept for a minute', async () => {
    expect((await walk()).to).toBe('/console');
    Object.assign(issuer, { signs_with: 'second', tells_keys: ['second'] });
    expect((await walk()).to).toBe('/console');
    const discoveries = () => issuer.asked.filter((path) => path.includes('well-known')).length;
    expect(discoveries()).toBe(1);
    on.app.clock.advance(60_000);
    expect((await walk()).to).toBe('/console');
    expect(discoveries()).toBe(2);
  });

  test('the secret is shown by basic, and by post where discovery names methods and not that one', async () => {
    expect((await walk()).to).toBe('/console');
    expect(issuer.shown).toMatchObject({
      authorization: expect.stringMatching(/^Basic /),
      client_secret: null,
    });
    on.app.clock.advance(60_000);
    issuer.metadata = { token_endpoint_auth_methods_supported: ['client_secret_post', 'private_key_jwt'] };
    expect((await walk()).to).toBe('/console');
    expect(issuer.shown).toEqual({ authorization: null, client_secret: CLIENT.secret });
  });

  test('a slash at the end of the address does not matter', async () => {
    const other = await startConsole({ env: settings({ SATCHEL_OIDC_ISSUER: `${issuer.url}/realm/` }) });
    await other.addPerson({ email: ANN });
    issuer.metadata = { issuer: `${issuer.url}/realm` };
    issuer.claims = { iss: `${issuer.url}/realm` };
    const paths = ['/realm/.well-known/openid-configuration'];
    issuer.inPlace = (path) =>
      paths.includes(path) ? fetch(`${issuer.url}/.well-known/openid-configuration`) : null;
    expect((await walk(other)).to).toBe('/console');
  });

  test('an issuer that is away, says 5xx or does not end its answer is away, which counts for nobody', async () => {
    issuer.inPlace = () => new Response('down', { status: 503 });
    for (let n = 0; n < 31; n++) expect((await walk()).to).toBe('/console?sso=away');
    issuer.inPlace = (path) => (path === '/token' ? new Response(null, { status: 500 }) : null);
    expect((await walk()).to).toBe('/console?sso=away');
    const away = await startConsole({ env: settings({ SATCHEL_OIDC_ISSUER: 'http://127.0.0.1:9' }) });
    await away.addPerson({ email: ANN });
    expect((await follow('/console/oidc/start', {}, away)).to).toBe('/console?sso=away');
    expect(reasons(away).join()).toContain('the connection was refused');
    expect((await away.signIn(ANN)).status).toBe(204);
    const inside = await startConsole({ env: settings({ SATCHEL_WEBHOOK_ALLOW: '' }) });
    issuer.asked = [];
    expect((await follow('/console/oidc/start', {}, inside)).to).toBe('/console?sso=away');
    expect(issuer.asked).toEqual([]);
  });

  test('failures count by network as those of passwords do, and past them the issuer is not asked', async () => {
    const ip = '203.0.113.77';
    for (let n = 0; n < 29; n++)
      expect((await follow('/console/oidc/callback', { ip })).to).toEndWith('failed');
    expect((await on.signIn('nobody@example.com', { ip, password: 'wrong' })).status).toBe(401);
    issuer.asked = [];
    expect((await follow('/console/oidc/start', { ip })).to).toBe('/console?sso=failed');
    expect(issuer.asked).toEqual([]);
    expect((await on.signIn('nobody@example.com', { ip, password: 'wrong' })).status).toBe(429);
    expect((await walk()).to).toBe('/console');
    const rows = on.app.services.audit.listNewest({ event: 'person.sign_in_failed' }, 100);
    expect(rows.length).toBeLessThan(29);
  });
});

describe('who it is', () => {
  const personOf = (email: string) => on.app.services.people.present(on.app.services.people.require(email));

  test('is whoever has the account, whatever either calls the address by now', async () => {
    await walk();
    issuer.account = { sub: 'ann-1', email: 'elsewhere@example.com', email_verified: false };
    const back = await walk();
    expect((await on.ask('GET', '/console/session', { cookie: sessionOf(back) })).body.email).toBe(ANN);
  });

  test('is, once, who has the verified address and no account yet; a reset forgets the account', async () => {
    const { people } = on.app.services;
    await on.addPerson({ email: 'bob@example.com' });
    issuer.userinfo = { sub: 'bob-1' };
    const email = 'Bob@Example.com';
    for (const account of [
      { sub: 'bob-1', email },
      { sub: 'bob-1', email, email_verified: false },
      { sub: 'bob-1', email, email_verified: 'yes' },
      { sub: 'bob-1', email, email_verified: false, xms_edov: true },
      { sub: 'bob-1', email_verified: true },
      { sub: 'bob-1', email: ['bob@example.com'], email_verified: true },
      { sub: 'bob-1', email: 'nobody@example.com', email_verified: true },
      { sub: 'bob-1', email: ANN, email_verified: true },
    ]) {
      issuer.account = account;
      expect([account, (await walk()).to]).toEqual([account, '/console?sso=refused']);
    }
    expect(personOf('bob@example.com').sso).toBe(false);
    expect(reasons().join()).toContain('nobody here has the address nobody@example.com');
    issuer.account = { sub: 'bob-1', email, email_verified: 'true' };
    expect((await walk()).to).toBe('/console');
    issuer.account = { sub: 'bob-2', email, email_verified: true };
    expect((await walk()).to).toBe('/console?sso=refused');
    await people.reset(actor, null, people.require('bob@example.com'));
    expect(personOf('bob@example.com').sso).toBe(false);
    expect((await walk()).to).toBe('/console');
    issuer.account = { sub: 'bob-1', email, email_verified: true };
    expect((await walk()).to).toBe('/console?sso=refused');
    const back = await follow('/console/oidc/start');
    await people.change(actor, null, people.require('bob@example.com'), { is_active: false });
    issuer.account = { sub: 'bob-2' };
    expect((await follow(issuer.approve(back.to), { cookie: keptOf(back) })).to).toBe('/console?sso=refused');
    expect(reasons().join()).toContain('the person is inactive');
  });

  test('userinfo says both where the ID token has no address, and Entra ID has a word of its own', async () => {
    await on.addPerson({ email: 'cid@example.com' });
    issuer.account = { sub: 'cid-1', email_verified: true };
    issuer.userinfo = { sub: 'cid-1', email: 'cid@example.com' };
    expect((await walk()).to).toBe('/console?sso=refused');
    issuer.userinfo = { sub: 'another', email: 'cid@example.com', email_verified: true };
    expect((await walk()).to).toBe('/console?sso=failed');
    issuer.userinfo = { sub: 'cid-1', email: 'cid@example.com', email_verified: true };
    expect((await walk()).to).toBe('/console');
    issuer.asked = [];
    expect((await walk()).to).toBe('/console');
    expect(issuer.asked).not.toContain('/userinfo');
    await on.addPerson({ email: 'eve@example.com' });
    issuer.account = { sub: 'eve-1', email: 'eve@example.com', xms_edov: '1' };
    expect((await walk()).to).toBe('/console');
  });

  test('stands for both steps, and leaves what guards the second one as it is', async () => {
    const { database, people } = on.app.services;
    const { id } = people.require(ANN);
    await database.write((tx) =>
      tx.run(sql`UPDATE people SET sealed_totp = 'x', wrong_codes = 40 WHERE id = ${id}`),
    );
    expect((await walk()).to).toBe('/console');
    expect(people.require(ANN).wrong_codes).toBe(40);
    await database.write((tx) =>
      tx.run(sql`UPDATE people SET sealed_totp = NULL, wrong_codes = 0 WHERE id = ${id}`),
    );
  });

  test('of another issuer it is somebody else: the address tells once more', async () => {
    const { database } = on.app.services;
    await walk();
    const set = (url: string) =>
      database.write((tx) => tx.run(sql`UPDATE people SET sso_issuer = ${url} WHERE email = ${ANN}`));
    await set('https://old.example.com');
    issuer.account = { sub: 'ann-1', email: ANN, email_verified: false };
    expect((await walk()).to).toBe('/console?sso=refused');
    issuer.account = { sub: 'ann-new', email: ANN, email_verified: true };
    expect((await walk()).to).toBe('/console');
    await database.write((tx) => tx.run(sql`UPDATE people SET sso_subject = 'ann-1' WHERE email = ${ANN}`));
  });
});

describe('invited by their domain', () => {
  test('comes in read-only, without a project, which waits on the home page of who may administer', async () => {
    const at = await startConsole({ env: settings({ SATCHEL_OIDC_INVITES: 'example.org, EXAMPLE.com' }) });
    const { people } = at.app.services;
    issuer.account = { sub: 'new-1', email: 'new@example.com', email_verified: true, name: 'New One' };
    expect((await walk(at)).to).toBe('/console?sso=refused');
    expect(people.listAll()).toEqual([]);
    await at.addPerson({ email: ANN, can_administer: true });
    for (const email of ['new@sub.example.com', 'new@example.net']) {
      issuer.account = { sub: 'new-0', email, email_verified: true };
      expect([email, (await walk(at)).to]).toEqual([email, '/console?sso=refused']);
    }
    issuer.account = { sub: 'new-1', email: 'new@example.com', email_verified: false };
    expect((await walk(at)).to).toBe('/console?sso=refused');
    issuer.account = { sub: 'new-1', email: 'new@example.com', email_verified: true, name: 'New One' };
    expect((await walk(at)).to).toBe('/console');
    expect(people.present(people.require('new@example.com'))).toMatchObject({
      ...{ name: 'New One', read_only: true, all_projects: false, projects: [], sso: true },
      ...{ can_administer: false, can_read_vault: false },
    });
    const events = at.app.services.audit.listNewest({}, 3).map(({ event }) => event);
    expect(events).toEqual(['person.signed_in', 'person.sso_linked', 'person.created']);
    const cookie = await at.enter(ANN);
    const todo = async () => {
      const { body } = await at.ask('GET', `${MANAGEMENT}/overview`, { cookie });
      return (body.data as { todo: unknown[] }).todo;
    };
    const waits = { kind: 'new_person', count: 1, where: '/console/people' };
    expect(await todo()).toContainEqual(waits);
    await people.change(actor, null, people.require('new@example.com'), { all_projects: true });
    expect(await todo()).not.toContainEqual(waits);
  });
});

describe('only so', () => {
  test('holds once somebody who may administer has an account, and nothing else lets anybody in then', async () => {
    const at = await startConsole({ env: settings({ SATCHEL_OIDC_ONLY: 'true' }) });
    const { people, entry } = at.app.services;
    await at.addPerson({ email: 'bob@example.com' });
    await at.addPerson({ email: ANN, can_administer: true });
    issuer.account = { sub: 'bob-1', email: 'bob@example.com', email_verified: true };
    expect((await walk(at)).to).toBe('/console');
    const by_password = await at.enter(ANN);
    expect((await at.ask('GET', '/console/ways')).body).toMatchObject({ password: true });
    issuer.account = { sub: 'ann-1', email: ANN, email_verified: true };
    const back = await walk(at);
    expect(back.to).toBe('/console');
    expect((await at.ask('GET', '/console/ways')).body).toEqual({
      ...{ password: false, passkey: false, sso: { label: 'Single sign-on' } },
    });
    const cookie = sessionOf(back);
    expect((await at.ask('GET', '/console/session', { cookie })).status).toBe(200);
    expect((await at.ask('GET', '/console/session', { cookie: by_password })).status).toBe(401);
    const { link } = await people.reset(actor, null, people.require('bob@example.com'));
    const only = [
      await at.signIn(ANN),
      await at.ask('GET', `${new URL(link).pathname}/person`),
      await at.ask('POST', new URL(link).pathname, { body: { password: PASSWORD } }),
      await at.ask('POST', '/console/password', {
        cookie,
        body: { current_password: 'x', password: PASSWORD },
      }),
      ...[
        await at.ask('GET', '/console/passkeys', { cookie }),
        await at.ask('POST', '/console/session/passkey/options'),
      ],
      await at.ask('POST', '/console/totp', { cookie, body: { password: PASSWORD } }),
      await at.ask('PUT', '/console/totp', { cookie, body: { code: '123456' } }),
      await at.ask('DELETE', '/console/totp', { cookie, body: { password: PASSWORD, code: '123456' } }),
    ];
    expect(only.map(({ status, body }) => [status, body.code])).toEqual(only.map(() => [403, 'oidc_only']));
    // Nobody is left who may administer: it stops holding, and the link is good.
    await people.reset(actor, null, people.require(ANN));
    expect(entry.sso.isOnly()).toBe(false);
    expect((await at.ask('POST', new URL(link).pathname, { body: { password: PASSWORD } })).status).toBe(204);
  });
});

describe('doctor', () => {
  const findings = async (at: Console) => {
    const all = await Promise.all(peopleChecks(at.app.services).map((each) => each.run()));
    return all.flat().filter(({ check }) => check === 'single sign-on');
  };

  test('tries discovery, and warns while SATCHEL_OIDC_ONLY does not hold', async () => {
    expect(await findings(await startConsole())).toEqual([]);
    expect(await findings(on)).toMatchObject([
      { status: 'ok', message: `${issuer.url}/ tells how to sign in.` },
    ]);
    const at = await startConsole({ env: settings({ SATCHEL_OIDC_ONLY: 'true' }) });
    await at.addPerson({ email: ANN, can_administer: true });
    expect(await findings(at)).toMatchObject([
      { status: 'ok' },
      { status: 'warning', message: expect.stringContaining('SATCHEL_OIDC_ONLY does not hold yet') },
    ]);
    expect((await walk(at)).to).toBe('/console');
    issuer.inPlace = () => new Response(null, { status: 502 });
    expect(await findings(at)).toMatchObject([
      { status: 'problem', message: expect.stringContaining('answered 502') },
    ]);
    expect(await findings(on)).toMatchObject([
      { status: 'warning', message: expect.stringContaining('answered 502') },
    ]);
  });
});
