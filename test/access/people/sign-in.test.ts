/** Signing in and out: what it takes, how it is slowed, and that no stranger can keep anybody out. */
import { beforeAll, describe, expect, spyOn, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { hashToken } from '../../../src/platform/secrets/token-format.ts';
import { actor } from '../../support/helpers.ts';
import { type Console, cookieOf, MANAGEMENT, PASSWORD, startConsole } from './setup.ts';

let on: Console;
let person = 0;
const EMAIL = 'ann@example.com';

beforeAll(async () => {
  on = await startConsole();
  person = await on.addPerson({ email: EMAIL, name: 'Ann' });
});

const WRONG = 'wrong horse battery staple';
const QUARTER_MS = 15 * 60_000;

test('a person signs in whatever the case of the address, and is told who they are', async () => {
  const answer = await on.signIn('Ann@Example.COM');
  expect([answer.status, answer.text]).toEqual([204, '']);
  const [cookie, ...attributes] = answer.headers.get('set-cookie')?.split('; ') ?? [];
  expect(cookie).toMatch(/^__Host-satchel=[\w-]{43}$/);
  expect(attributes).toEqual(['Path=/', 'Max-Age=1209600', 'HttpOnly', 'SameSite=Strict', 'Secure']);
  const { status, body } = await on.ask('GET', '/console/session', { cookie: cookie ?? '' });
  expect([status, body]).toMatchObject([
    200,
    {
      ...{ id: person, email: EMAIL, name: 'Ann', all_projects: true, totp: false, is_active: true },
      ...{ can_read_vault: false, can_administer: false, last_sign_in_at: '2030-01-15T12:00:00.000Z' },
    },
  ]);
  expect(body).not.toHaveProperty('password_hash');
  const rows = JSON.stringify(on.app.services.database.read.all(sql`SELECT * FROM person_sessions`));
  const secret = (cookie ?? '').split('=')[1] ?? '';
  expect(rows).toContain(hashToken(secret));
  expect(rows).not.toContain(secret);
  expect(on.app.services.audit.listNewest({ event: 'person.signed_in' }, 1)).toMatchObject([
    { actor_kind: 'person', actor_id: String(person), actor_name: 'Ann', ip: '192.0.2.1' },
  ]);
});

test('unknown, wrong, inactive and without a password are one refusal, after the same work', async () => {
  const { people, entry, database } = on.app.services;
  await on.addPerson({ email: 'gone@example.com' });
  await people.change(actor, null, people.require('gone@example.com'), { is_active: false });
  await people.add(actor, null, { email: 'new@example.com', all_projects: true });
  const answers: unknown[] = [];
  for (const [email, password] of [
    ['nobody@example.com', PASSWORD],
    ['no address at all', PASSWORD],
    [EMAIL, WRONG],
    ['gone@example.com', PASSWORD],
    ['new@example.com', PASSWORD],
  ]) {
    const verify = spyOn(entry.passwords, 'verify');
    const write = spyOn(database, 'write');
    const { status, text, headers } = await on.signIn(email ?? '', {
      password: password ?? '',
      ip: '192.0.2.9',
    });
    answers.push([
      status,
      text,
      headers.get('set-cookie'),
      verify.mock.calls.length,
      write.mock.calls.length,
    ]);
    verify.mockRestore();
    write.mockRestore();
  }
  const [first] = answers;
  expect(first).toEqual([
    401,
    expect.stringContaining('The address or the password is not right.'),
    null,
    1,
    1,
  ]);
  expect(answers).toEqual(answers.map(() => first));
});

describe('signing in is slowed', () => {
  test('for an account after ten failures, before the password is looked at, and alike for one that nobody has', async () => {
    for (const email of ['nobody-else@example.com', 'slow@example.com']) {
      if (email.startsWith('slow')) await on.addPerson({ email });
      for (let n = 0; n < 10; n += 1)
        expect((await on.signIn(email, { password: WRONG, ip: `198.51.100.${n}` })).status).toBe(401);
      const verify = spyOn(on.app.services.entry.passwords, 'verify');
      const refused = await on.signIn(email, { ip: '198.51.100.99' });
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '900']);
      expect(verify).not.toHaveBeenCalled();
      verify.mockRestore();
    }
    on.app.clock.advance(QUARTER_MS);
    expect((await on.signIn('slow@example.com', { ip: '198.51.100.99' })).status).toBe(204);
  });

  test('for an address after thirty failures, over all accounts, and for the whole of an IPv6 network', async () => {
    for (let n = 0; n < 30; n += 1)
      expect((await on.signIn(`n${n}@example.com`, { ip: `2001:db8:1:2::${n}` })).status).toBe(401);
    expect((await on.signIn(EMAIL, { ip: '2001:db8:1:2:ffff::1' })).status).toBe(429);
    expect((await on.signIn(EMAIL, { ip: '2001:db8:1:3::1' })).status).toBe(204);
  });

  test('never for who signed in from there before, whatever strangers try', async () => {
    const email = 'target@example.com';
    const id = await on.addPerson({ email });
    expect((await on.signIn(email, { ip: '203.0.113.7' })).status).toBe(204);
    for (let n = 0; n < 40; n += 1) {
      await on.signIn(email, { password: WRONG, ip: `203.0.113.${100 + n}` });
      // A name made up to be the account's own counter.
      await on.signIn(`${id} from 203.0.113.7`, { password: WRONG, ip: `203.0.113.${160 + n}` });
    }
    expect((await on.signIn(email, { ip: '203.0.113.100' })).status).toBe(429);
    expect((await on.signIn(email, { ip: '203.0.113.7' })).status).toBe(204);
    for (let n = 0; n < 10; n += 1)
      expect((await on.signIn(email, { password: WRONG, ip: '203.0.113.7' })).status).toBe(401);
    expect((await on.signIn(email, { ip: '203.0.113.7' })).status).toBe(429);
  });

  test('by no success', async () => {
    for (let n = 0; n < 35; n += 1) expect((await on.signIn(EMAIL, { ip: '203.0.113.50' })).status).toBe(204);
  });

  test('across a restart', async () => {
    const first = await startConsole();
    await first.addPerson({ email: EMAIL });
    for (let n = 0; n < 10; n += 1) await first.signIn(EMAIL, { password: WRONG });
    await first.app.stop();
    const second = await startConsole({ data_dir: first.app.data_dir });
    expect((await second.signIn(EMAIL)).status).toBe(429);
    expect((await second.signIn(EMAIL, { headers: { 'X-Forwarded-For': '192.0.2.77' } })).status).toBe(429);
  });
});

test('a body that is no JSON, or another shape, is 422 and counts as no failure', async () => {
  const before = on.app.services.database.read.all(sql`SELECT * FROM rate_windows`);
  for (const body of [
    'no JSON',
    {},
    { email: EMAIL },
    { email: 1, password: 2 },
    { email: EMAIL, password: 'x'.repeat(2_000) },
  ])
    expect((await on.ask('POST', '/console/session', { body })).status).toBe(422);
  const large = await on.ask('POST', '/console/session', {
    body: { email: EMAIL, password: 'x'.repeat(20_000) },
  });
  expect(large.status).toBe(413);
  expect(on.app.services.database.read.all(sql`SELECT * FROM rate_windows`)).toEqual(before);
});

describe('a page of another site signs nobody in', () => {
  const body = { email: EMAIL, password: PASSWORD };
  test.each([
    ['without the header', { 'X-Satchel-Console': null }, 403],
    ['with another value of it', { 'X-Satchel-Console': 'true' }, 403],
    ['from a foreign origin', { Origin: 'https://evil.example' }, 403],
    ['from an opaque origin', { Origin: 'null' }, 403],
    ['from our host over plain http', { Origin: 'http://satchel.test' }, 403],
    ['as a form', { 'Content-Type': 'application/x-www-form-urlencoded' }, 422],
    ['as a form without a type', { 'Content-Type': 'text/plain' }, 422],
  ])('%s', async (_, headers, status) => {
    const answer = await on.ask('POST', '/console/session', { body, headers });
    expect([answer.status, answer.headers.get('set-cookie')]).toEqual([status, null]);
  });

  test('but one of ours does, with or without an Origin', async () => {
    const headers = { Origin: null, 'Content-Type': 'Application/JSON; charset=utf-8' };
    expect((await on.ask('POST', '/console/session', { body, headers })).status).toBe(204);
  });
});

describe('over plain http', () => {
  test.each([
    ['a public address', 'http://satchel.test', '127.0.0.1', '127.0.0.1', 403],
    ['another machine', 'http://localhost:8420', '127.0.0.1', '192.0.2.1', 403],
    ['another machine by a proxy that is not trusted', 'http://localhost:8420', '', '192.0.2.1', 403],
    ['this machine', 'http://localhost:8420', '127.0.0.1', '127.0.0.1', 204],
    ['this machine by IPv6', 'http://[::1]:8420', '127.0.0.1', '::1', 204],
  ])('from %s', async (_, public_url, proxies, ip, status) => {
    const plain = await startConsole({
      env: { SATCHEL_PUBLIC_URL: public_url, SATCHEL_TRUSTED_PROXIES: proxies },
    });
    const { link } = await plain.app.services.people.add(actor, null, { email: EMAIL, all_projects: true });
    const headers = { Origin: null };
    const path = new URL(link).pathname;
    const welcome = await plain.ask('POST', path, { body: { password: PASSWORD }, headers, ip });
    const entered = await plain.signIn(EMAIL, { headers, ip });
    expect([welcome.status, entered.status]).toEqual([status, status]);
    if (status === 403) {
      expect(entered.text).toContain('SATCHEL_PUBLIC_URL');
      expect(
        (await plain.ask('POST', path, { body: { password: PASSWORD }, headers, ip: '::1' })).status,
      ).toBe(public_url.includes('localhost') ? 204 : 403);
    } else
      expect(entered.headers.get('set-cookie')).toMatch(
        /^satchel=[\w-]{43}; Path=\/; Max-Age=1209600; HttpOnly; SameSite=Strict$/,
      );
  });
});

test('signing out ends this session, clears the cookie, and is on record', async () => {
  const cookie = await on.enter(EMAIL);
  const other = await on.enter(EMAIL);
  const out = await on.ask('DELETE', '/console/session', { cookie });
  expect([out.status, out.headers.get('set-cookie')]).toEqual([204, expect.stringContaining('Max-Age=0')]);
  expect((await on.ask('GET', '/console/session', { cookie })).status).toBe(401);
  expect((await on.ask('GET', `${MANAGEMENT}/projects`, { cookie })).status).toBe(401);
  expect((await on.ask('GET', '/console/session', { cookie: other })).status).toBe(200);
  expect(on.app.services.audit.listNewest({ event: 'person.signed_out' }, 1)).toMatchObject([
    { actor_name: 'Ann' },
  ]);
  expect(cookieOf(out)).toBe('__Host-satchel=');
});
