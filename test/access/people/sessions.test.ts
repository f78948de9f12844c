/** Sessions: how long they last, whose they are, and where the cookie counts. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { run } from '../../support/command.ts';
import { actor } from '../../support/helpers.ts';
import { makeTempDir } from '../../support/temp.ts';
import { type Console, MANAGEMENT, PASSWORD, startConsole } from './setup.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const ANN = 'ann@example.com';
const BOB = 'bob@example.com';

let on: Console;
beforeAll(async () => {
  on = await startConsole();
  await on.app.services.projects.create(actor, { name: 'Mine', slug: 'mine' });
  await on.app.services.projects.create(actor, { name: 'Other', slug: 'other' });
  await on.addPerson({ email: ANN, name: 'Ann' });
  await on.addPerson({ email: BOB, projects: ['mine'] });
});

const statusOf = async (cookie: string, path = '/console/session') =>
  (await on.ask('GET', path, { cookie })).status;
/** Lets the notes of last use, for which no request waits, reach the disk. */
const settle = () => on.app.services.database.write(() => {});

test('a session ends twelve hours after its last request, and lives on by being used', async () => {
  const cookie = await on.enter(ANN);
  for (let n = 0; n < 3; n += 1) {
    on.app.clock.advance(12 * HOUR_MS - 1);
    expect(await statusOf(cookie)).toBe(200);
    await settle();
  }
  on.app.clock.advance(12 * HOUR_MS);
  expect(await statusOf(cookie)).toBe(401);
});

test('a session ends fourteen days after signing in, however much it is used', async () => {
  const cookie = await on.enter(ANN);
  for (let hours = 10; hours < 14 * 24; hours += 10) {
    on.app.clock.advance(10 * HOUR_MS);
    expect(await statusOf(cookie)).toBe(200);
    await settle();
  }
  on.app.clock.advance(6 * HOUR_MS);
  expect(await statusOf(cookie)).toBe(401);
});

test('what is over is forgotten by the clock', async () => {
  const rows = () => on.app.services.database.read.all(sql`SELECT id FROM person_sessions`).length;
  await on.enter(ANN);
  on.app.clock.advance(DAY_MS);
  const cookie = await on.enter(ANN);
  await on.app.services.entry.sessions.sweep();
  expect(rows()).toBe(1);
  expect(await statusOf(cookie)).toBe(200);
});

test('a person sees and ends their own sessions, and another’s is not there', async () => {
  const here = await on.enter(ANN, { headers: { 'User-Agent': 'Here' } });
  const there = await on.enter(ANN, { headers: { 'User-Agent': 'There' }, ip: '198.51.100.4' });
  const bob = await on.enter(BOB);
  const { body } = await on.ask('GET', '/console/sessions?per_page=2', { cookie: here });
  expect(body).toMatchObject({
    success: true,
    data: [
      { user_agent: 'There', ip: '198.51.100.4', is_current: false },
      { user_agent: 'Here', is_current: true, ip: '192.0.2.1' },
    ],
  });
  const [{ id: there_id }] = body.data as [{ id: string }];
  const refused = await on.ask('DELETE', `/console/sessions/${there_id}`, { cookie: bob });
  const absent = await on.ask('DELETE', '/console/sessions/01ARZ3NDEKTSV4RRFFQ69G5FAV', { cookie: bob });
  expect([refused.status, refused.text]).toEqual([404, absent.text]);
  expect(await statusOf(there)).toBe(200);
  expect((await on.ask('DELETE', `/console/sessions/${there_id}`, { cookie: here })).status).toBe(204);
  expect([await statusOf(there), await statusOf(here), await statusOf(bob)]).toEqual([401, 200, 200]);
  expect((await on.ask('DELETE', `/console/sessions/${there_id}`, { cookie: here })).status).toBe(404);
});

describe('on the management plane the cookie', () => {
  const ask = (headers: Record<string, string | null>, cookie: string, path = '/projects') =>
    on.ask('GET', `${MANAGEMENT}${path}`, { cookie, headers });

  test('counts with the header and our origin, or none', async () => {
    const cookie = await on.enter(ANN);
    expect((await ask({}, cookie)).status).toBe(200);
    expect((await ask({ Origin: null }, cookie)).status).toBe(200);
    for (const headers of [
      { 'X-Satchel-Console': null },
      { 'X-Satchel-Console': '0' },
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: 'http://localhost:1' },
      { Origin: 'https://satchel.test.evil.example' },
    ]) {
      const { status, body } = await ask(headers, cookie);
      expect([headers, status, body]).toMatchObject([
        headers,
        401,
        { error: { code: 'MISSING_ACCESS_TOKEN' } },
      ]);
    }
  });

  test('counts without the header where a link of our own page saves a file, and nowhere else', async () => {
    const cookie = await on.enter(ANN);
    const path = '/projects/mine/emails.csv';
    const link = {
      'X-Satchel-Console': null,
      Origin: null,
      'Sec-Fetch-Site': 'same-origin',
      'Sec-Fetch-Mode': 'navigate',
    };
    expect((await ask(link, cookie, path)).status).toBe(200);
    for (const [headers, other] of [
      [{ ...link, 'Sec-Fetch-Site': 'same-site' }, path],
      [{ ...link, 'Sec-Fetch-Site': 'cross-site' }, path],
      [{ ...link, 'Sec-Fetch-Site': 'none' }, path],
      [{ ...link, 'Sec-Fetch-Site': null }, path],
      [{ ...link, 'Sec-Fetch-Mode': 'no-cors' }, path],
      [{ ...link, Origin: 'https://evil.example' }, path],
      [link, '/projects/mine/emails'],
    ] as const)
      expect([headers, (await ask(headers, cookie, other)).status]).toEqual([headers, 401]);
  });

  test('counts from any loopback name with our port, where the listener is on loopback', async () => {
    const cookie = await on.enter(ANN);
    const { port } = new URL(on.app.url);
    for (const host of ['localhost', '127.0.0.1', '[::1]', 'satchel.localhost'])
      expect((await ask({ Origin: `http://${host}:${port}` }, cookie)).status).toBe(200);
    for (const origin of [`https://localhost:${port}`, 'http://localhost', `http://evil.example:${port}`])
      expect((await ask({ Origin: origin }, cookie)).status).toBe(401);
    // What came through a proxy was not asked of this machine, and a port that is not named is not ours.
    const by_proxy = { Host: 'satchel.test', Origin: 'http://localhost' };
    expect((await ask(by_proxy, cookie)).status).toBe(401);
    const open = await startConsole({ env: { SATCHEL_HOST: '0.0.0.0' } });
    await open.addPerson({ email: ANN });
    const there = await open.enter(ANN);
    const headers = { Origin: `http://localhost:${new URL(open.app.url).port}` };
    expect((await open.ask('GET', `${MANAGEMENT}/projects`, { cookie: there, headers })).status).toBe(401);
    expect((await open.ask('GET', `${MANAGEMENT}/projects`, { cookie: there })).status).toBe(200);
  });

  test('gives way to a bearer token, good or bad, and not to another scheme', async () => {
    const cookie = await on.enter(ANN);
    const { token } = await on.app.services.tokens.create(actor, {
      ...{ name: 't', all_projects: false, projects: ['mine'], capabilities: [], expires_in_days: 1 },
    });
    const slugs = async (authorization: string) => {
      const { status, body } = await ask({ Authorization: authorization }, cookie);
      return [status, Array.isArray(body.data) ? body.data.length : null];
    };
    expect(await slugs(`Bearer ${token}`)).toEqual([200, 1]);
    expect(await slugs('Bearer wrong')).toEqual([401, null]);
    expect(await slugs('Basic dTpw')).toEqual([200, 2]);
  });

  test('is a person of their projects and capabilities, as they are at that request', async () => {
    const { people } = on.app.services;
    const cookie = await on.enter(BOB);
    const vault = () => ask({}, cookie, '/projects/mine/vault');
    expect((await ask({}, cookie, '/projects/other')).status).toBe(404);
    expect(await vault()).toMatchObject({
      status: 403,
      body: {
        error: {
          ...{ code: 'TOKEN_PERMISSION_DENIED', details: { required_scope: 'can_read_vault' } },
          message: 'Your account lacks the capability can_read_vault.',
        },
      },
    });
    const bob = people.require(BOB);
    await people.change(actor, null, bob, { can_read_vault: true });
    expect((await vault()).status).toBe(200);
    await people.change(actor, null, bob, { can_read_vault: false, projects: ['other'] });
    expect((await vault()).status).toBe(403);
    expect((await ask({}, cookie, '/projects/mine')).status).toBe(404);
    expect((await ask({}, cookie, '/projects/other')).status).toBe(200);
    await people.change(actor, null, bob, { projects: ['mine'] });
  });

  test('names the person in the audit trail, and their requests in the log', async () => {
    const cookie = await on.enter(BOB);
    const id = on.app.services.people.require(BOB).id;
    const made = await on.ask('POST', `${MANAGEMENT}/projects/mine/api-keys`, {
      cookie,
      body: { name: 'k' },
    });
    expect(made.status).toBe(201);
    expect(on.app.services.audit.listNewest({ event: 'api_key.created' }, 1)).toMatchObject([
      { actor_kind: 'person', actor_id: String(id), actor_name: BOB, ip: '192.0.2.1' },
    ]);
    expect(on.app.logs()).toContain(`person:${id}`);
    const created = await on.ask('POST', `${MANAGEMENT}/projects`, { cookie, body: { name: 'By Bob' } });
    expect(created.status).toBe(201);
    expect((await ask({}, cookie, '/projects/by-bob')).status).toBe(200);
  });

  test('shows no secret in the log', async () => {
    const { link } = await on.app.services.people.add(actor, null, {
      email: 'log@example.com',
      all_projects: true,
    });
    const path = new URL(link).pathname;
    const secret = path.split('/').at(-1) ?? '';
    await on.ask('GET', path);
    await on.ask('POST', path, { body: { password: 'too short' } });
    const cookie = await on.enter(ANN);
    expect(on.app.logs()).toContain('/console/welcome/…');
    expect(on.app.logs()).not.toContain(secret.slice(0, 12));
    expect(on.app.logs()).not.toContain(cookie.split('=')[1] ?? '');
  });
});

test('who is made inactive or removed is signed out at once', async () => {
  const { people } = on.app.services;
  for (const email of ['one@example.com', 'two@example.com']) {
    await on.addPerson({ email });
    const cookie = await on.enter(email);
    if (email.startsWith('one'))
      await people.change(actor, null, people.require(email), { is_active: false });
    else await people.remove(actor, null, people.require(email));
    expect([await statusOf(cookie), await statusOf(cookie, `${MANAGEMENT}/projects`)]).toEqual([401, 401]);
    const left = sql`SELECT count(*) AS n FROM person_sessions WHERE person_id NOT IN (SELECT id FROM people WHERE is_active)`;
    expect(on.app.services.database.read.all(left)).toEqual([{ n: 0 }]);
  }
  await people.change(actor, null, people.require('one@example.com'), { is_active: true });
  const cookie = await on.enter('one@example.com');
  // As by a command that has not ended the sessions yet.
  await on.app.services.database.write((tx) =>
    tx.run(sql`UPDATE people SET is_active = 0 WHERE email = 'one@example.com'`),
  );
  expect(await statusOf(cookie)).toBe(401);
  await people.change(actor, null, people.require('one@example.com'), { is_active: true });
  expect((await on.signIn('one@example.com')).status).toBe(204);
});

test('sessions survive a restart of the server', async () => {
  const first = await startConsole();
  await first.addPerson({ email: ANN });
  const cookie = await first.enter(ANN);
  await first.app.stop();
  const second = await startConsole({ data_dir: first.app.data_dir });
  expect((await second.ask('GET', '/console/session', { cookie })).status).toBe(200);
});

test('a backup keeps people, and neither their sessions nor links that are open', async () => {
  const first = await startConsole();
  await first.addPerson({ email: ANN });
  const cookie = await first.enter(ANN);
  const { link } = await first.app.services.people.add(actor, null, { email: BOB, all_projects: true });
  const file = join(makeTempDir(), 'a.backup');
  const data_dir = join(makeTempDir(), 'restored');
  expect((await run(first.app.data_dir, 'backup', file)).exit).toBe(0);
  expect((await run(data_dir, 'restore', file)).exit).toBe(0);
  copyFileSync(join(first.app.data_dir, 'master.key'), join(data_dir, 'master.key'));
  const second = await startConsole({ data_dir });
  expect((await second.ask('GET', '/console/session', { cookie })).status).toBe(401);
  const used = await second.ask('POST', new URL(link).pathname, { body: { password: PASSWORD } });
  expect(used.status).toBe(404);
  expect((await second.signIn(ANN)).status).toBe(204);
  expect((await first.ask('GET', '/console/session', { cookie })).status).toBe(200);
});
