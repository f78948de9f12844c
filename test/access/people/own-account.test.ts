/** The password and the second step, as their owner changes and uses them. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { Secret, TOTP } from 'otpauth';
import { run, runRecord, runWith } from '../../support/command.ts';
import { actor } from '../../support/helpers.ts';
import { type Console, PASSWORD, PEOPLE_TABLES, startConsole } from './setup.ts';

const EMAIL = 'ann@example.com';
const OTHER = 'another horse battery staple';
const STEP_MS = 30_000;

let on: Console;
let cookie = '';
beforeEach(async () => {
  on = await startConsole();
  await on.addPerson({ email: EMAIL, name: 'Ann' });
  cookie = await on.enter(EMAIL);
});

const change = (method: string, path: string, body: unknown, headers = {}) =>
  on.ask(method, path, { cookie, body, headers });
const snapshot = (...left_out: string[]) =>
  JSON.stringify(
    PEOPLE_TABLES.filter((table) => !left_out.includes(table)).map((table) =>
      on.app.services.database.read.all(sql.raw(`SELECT * FROM ${table}`)),
    ),
  );

/** What the authenticator app shows, so many steps from now. */
function codeOf(secret: string, steps = 0): string {
  const app = new TOTP({ secret: Secret.fromBase32(secret) });
  return app.generate({ timestamp: on.app.clock.now() + steps * STEP_MS });
}

/** Turns the second step on. */
async function startTotp(): Promise<{ secret: string; recovery_codes: string[] }> {
  const { body: offered } = await change('POST', '/console/totp', { password: PASSWORD });
  const secret = String(offered.secret);
  const { status, body } = await change('PUT', '/console/totp', { code: codeOf(secret) });
  expect(status).toBe(200);
  return { secret, recovery_codes: body.recovery_codes as string[] };
}

describe('the password', () => {
  test('is changed by who knows it, and ends the other sessions', async () => {
    const elsewhere = await on.enter(EMAIL);
    const body = { current_password: PASSWORD, password: OTHER };
    expect((await change('POST', '/console/password', body)).status).toBe(204);
    expect((await on.ask('GET', '/console/session', { cookie })).status).toBe(200);
    expect((await on.ask('GET', '/console/session', { cookie: elsewhere })).status).toBe(401);
    expect((await on.signIn(EMAIL)).status).toBe(401);
    expect((await on.signIn(EMAIL, { password: OTHER })).status).toBe(204);
    expect(on.app.services.audit.listNewest({ event: 'person.password_changed' }, 1)).toMatchObject([
      { actor_kind: 'person', actor_name: 'Ann', metadata: { sessions: 1 } },
    ]);
  });

  test.each([
    [{ current_password: OTHER, password: OTHER }, 'current_password'],
    [{ current_password: PASSWORD, password: 'short' }, 'password'],
    [{ current_password: PASSWORD, password: EMAIL }, 'password'],
    [{ current_password: PASSWORD, password: 'qwerty123456' }, 'password'],
    [{ current_password: PASSWORD, password: 'satchel12345' }, 'password'],
    [{ password: OTHER }, 'current_password'],
  ])('stays as it is for %j', async (body, field) => {
    const before = snapshot();
    const refused = await change('POST', '/console/password', body);
    expect([refused.status, refused.body]).toMatchObject([
      422,
      { errors: { [field]: [expect.any(String)] } },
    ]);
    expect(snapshot()).toBe(before);
  });

  test('is not changed by a session that is ended while the old one is looked at, nor is a second step begun', async () => {
    const { sessions, passwords } = on.app.services.entry;
    const tries = [
      ['POST', '/console/password', { current_password: PASSWORD, password: OTHER }],
      ['POST', '/console/totp', { password: PASSWORD }],
    ] as const;
    const { verify } = passwords;
    for (const [method, path, body] of tries) {
      cookie = await on.enter(EMAIL);
      const mine = sessions.authenticate(cookie.split('=')[1] ?? '');
      let before = '';
      passwords.verify = async (hash, password) => {
        passwords.verify = verify;
        const is_right = await verify.call(passwords, hash, password);
        if (mine) await sessions.end(mine, mine.session_id, null);
        before = snapshot();
        return is_right;
      };
      expect([path, (await change(method, path, body)).status]).toEqual([path, 409]);
      expect(snapshot()).toBe(before);
    }
  });

  test('is not guessed from an open session, which keeps nobody out by trying', async () => {
    for (let n = 0; n < 10; n += 1)
      expect((await change('POST', '/console/totp', { password: OTHER })).status).toBe(422);
    expect((await change('POST', '/console/totp', { password: PASSWORD })).status).toBe(429);
    expect(
      (await change('POST', '/console/password', { current_password: PASSWORD, password: OTHER })).status,
    ).toBe(429);
    expect((await on.signIn(EMAIL)).status).toBe(204);
  });

  test('stops with a reset, and so does every session, while the second step stays unless it is named', async () => {
    const { people } = on.app.services;
    await startTotp();
    expect(await people.reset(actor, null, people.require(EMAIL))).toMatchObject({ totp: true });
    expect((await on.ask('GET', '/console/session', { cookie })).status).toBe(401);
    expect((await on.signIn(EMAIL)).status).toBe(401);
    const { link, totp } = await people.reset(actor, null, people.require(EMAIL), { totp: true });
    expect(totp).toBe(false);
    await on.ask('POST', new URL(link).pathname, { body: { password: OTHER } });
    expect((await on.signIn(EMAIL, { password: OTHER })).status).toBe(204);
    expect(on.app.services.database.read.all(sql`SELECT * FROM person_recovery_codes`)).toEqual([]);
  });
});

describe('requests of other sites change nothing', () => {
  const routes: [string, string, unknown][] = [
    ['POST', '/console/password', { current_password: PASSWORD, password: OTHER }],
    ['POST', '/console/totp', { password: PASSWORD }],
    ['PUT', '/console/totp', { code: '123456' }],
    ['DELETE', '/console/totp', { password: PASSWORD, code: '123456' }],
    ['DELETE', '/console/session', undefined],
    ['DELETE', '/console/sessions/01ARZ3NDEKTSV4RRFFQ69G5FAV', undefined],
  ];
  test.each(routes)('%s %s', async (method, path, body) => {
    const before = snapshot();
    for (const headers of [{ 'X-Satchel-Console': null }, { Origin: 'https://evil.example' }])
      expect((await change(method, path, body, headers)).status).toBe(403);
    if (body !== undefined) {
      const as_form = { 'Content-Type': 'application/x-www-form-urlencoded' };
      expect((await change(method, path, body, as_form)).status).toBe(422);
    }
    expect((await on.ask(method, path, { body })).status).toBe(401);
    expect(snapshot()).toBe(before);
  });
});

describe('the second step', () => {
  test('counts from when a code was given, and shows its secret and recovery codes once', async () => {
    const { status, body } = await change('POST', '/console/totp', { password: PASSWORD });
    const secret = String(body.secret);
    expect(status).toBe(200);
    expect(secret).toMatch(/^[A-Z2-7]{32}$/);
    expect(body.uri).toBe(
      `otpauth://totp/Satchel:ann%40example.com?issuer=Satchel&secret=${secret}&algorithm=SHA1&digits=6&period=30`,
    );
    expect((await on.signIn(EMAIL)).status).toBe(204);
    const wrong = await change('PUT', '/console/totp', { code: codeOf(secret, 5) });
    expect([wrong.status, wrong.body]).toMatchObject([422, { errors: { code: [expect.any(String)] } }]);
    expect((await on.signIn(EMAIL)).status).toBe(204);
    const on_now = await change('PUT', '/console/totp', { code: codeOf(secret) });
    const codes = on_now.body.recovery_codes as string[];
    expect(new Set(codes).size).toBe(10);
    for (const code of codes) expect(code).toMatch(/^([a-z2-7]{4}-){3}[a-z2-7]{4}$/);
    for (const hidden of [secret, ...codes]) expect(snapshot() + on.app.logs()).not.toContain(hidden);
    const { body: shown } = await on.ask('GET', '/console/session', { cookie });
    expect(shown).toMatchObject({ totp: true, recovery_codes_left: 10 });
    expect((await change('POST', '/console/totp', { password: PASSWORD })).status).toBe(409);
    expect((await change('PUT', '/console/totp', { code: codeOf(secret, 1) })).status).toBe(409);
  });

  test('takes a code once, of this step, the one before or the one after', async () => {
    const { secret } = await startTotp();
    const asked = await on.signIn(EMAIL);
    expect([asked.status, asked.body]).toMatchObject([401, { success: false, second_step: true }]);
    // The code that turned it on was taken then.
    expect((await on.signIn(EMAIL, { code: codeOf(secret) })).body).toMatchObject({ second_step: true });
    expect((await on.signIn(EMAIL, { code: ` ${codeOf(secret, 1).replace(/^(...)/, '$1 ')}` })).status).toBe(
      204,
    );
    expect((await on.signIn(EMAIL, { code: codeOf(secret, 1) })).status).toBe(401);
    on.app.clock.advance(4 * STEP_MS);
    expect((await on.signIn(EMAIL, { code: codeOf(secret, -2) })).status).toBe(401);
    expect((await on.signIn(EMAIL, { code: codeOf(secret, 2) })).status).toBe(401);
    expect((await on.signIn(EMAIL, { code: codeOf(secret, -1) })).status).toBe(204);
    expect((await on.signIn(EMAIL, { password: OTHER, code: codeOf(secret) })).body).not.toHaveProperty(
      'second_step',
    );
    const code = codeOf(secret);
    const at_once = await Promise.all(Array.from({ length: 5 }, () => on.signIn(EMAIL, { code })));
    expect(at_once.map(({ status }) => status).toSorted()).toEqual([204, 401, 401, 401, 401]);
  });

  test('counts a wrong code as a failure, and a missing one as none', async () => {
    const { secret } = await startTotp();
    const stranger = '198.51.100.1';
    for (let n = 0; n < 15; n += 1) expect((await on.signIn(EMAIL, { ip: stranger })).status).toBe(401);
    for (let n = 0; n < 10; n += 1)
      expect((await on.signIn(EMAIL, { ip: stranger, code: '000000' })).status).toBe(401);
    expect((await on.signIn(EMAIL, { ip: stranger, code: codeOf(secret, 1) })).status).toBe(429);
  });

  test('takes each recovery code once, in any case, with or without its dashes', async () => {
    const { recovery_codes } = await startTotp();
    const [first = '', second = '', third = ''] = recovery_codes;
    expect((await on.signIn(EMAIL, { code: first })).status).toBe(204);
    expect((await on.signIn(EMAIL, { code: first })).status).toBe(401);
    expect((await on.signIn(EMAIL, { code: second.replaceAll('-', '').toUpperCase() })).status).toBe(204);
    const at_once = await Promise.all(Array.from({ length: 4 }, () => on.signIn(EMAIL, { code: third })));
    expect(at_once.map(({ status }) => status).toSorted()).toEqual([204, 401, 401, 401]);
    const { body } = await on.ask('GET', '/console/session', { cookie });
    expect(body.recovery_codes_left).toBe(7);
  });

  test('is turned off with the password and a code, and not with one of them', async () => {
    const { secret } = await startTotp();
    expect(
      (await change('DELETE', '/console/totp', { password: OTHER, code: codeOf(secret, 1) })).status,
    ).toBe(422);
    expect(
      (await change('DELETE', '/console/totp', { password: PASSWORD, code: codeOf(secret) })).body,
    ).toMatchObject({
      errors: { code: [expect.any(String)] },
    });
    expect(
      (await change('DELETE', '/console/totp', { password: PASSWORD, code: codeOf(secret, 1) })).status,
    ).toBe(204);
    expect((await on.signIn(EMAIL)).status).toBe(204);
    expect((await change('DELETE', '/console/totp', { password: PASSWORD, code: '123456' })).status).toBe(
      409,
    );
    expect((await on.ask('GET', '/console/session', { cookie })).body).toMatchObject({
      totp: false,
      recovery_codes_left: 0,
    });
  });

  test('goes on after the master key was rotated, and doctor names one that does not decrypt', async () => {
    const { database, people } = on.app.services;
    const { secret, recovery_codes } = await startTotp();
    expect(await runRecord(on.app.data_dir, 'master-key', 'rotate')).toMatchObject({ rewrapped: 1 });
    expect((await on.signIn(EMAIL, { code: codeOf(secret, 1) })).status).toBe(204);
    expect(people.listUndecryptable()).toEqual([]);
    // What is sealed for one person does not open for another.
    const bob = await on.addPerson({ email: 'bob@example.com' });
    await database.write((tx) =>
      tx.run(
        sql`UPDATE people SET sealed_totp = (SELECT sealed_totp FROM people WHERE email = ${EMAIL}) WHERE id = ${bob}`,
      ),
    );
    expect((await on.signIn('bob@example.com', { code: codeOf(secret) })).status).toBe(401);
    await database.write((tx) =>
      tx.run(sql`UPDATE people SET sealed_totp = sealed_totp || 'A' WHERE email = ${EMAIL}`),
    );
    expect((await on.signIn(EMAIL, { code: codeOf(secret) })).status).toBe(401);
    expect((await on.signIn(EMAIL, { code: recovery_codes[0] ?? '' })).status).toBe(204);
    const { exit, stdout } = await run(on.app.data_dir, 'doctor');
    expect(exit).toBe(1);
    expect(stdout).toContain('satchel person reset ann@example.com --totp');
    expect(stdout).toContain('satchel person reset bob@example.com --totp');
  });
});

test('doctor warns where a proxy hides who signs in', async () => {
  const doctor = async (env: Record<string, string>) => {
    const settings = { SATCHEL_DATA_DIR: on.app.data_dir, ...env };
    return (await runWith(settings, 'doctor')).stdout;
  };
  const SATCHEL_PUBLIC_URL = 'https://files.example.com';
  expect(await doctor({ SATCHEL_PUBLIC_URL })).toContain('set SATCHEL_TRUSTED_PROXIES');
  const alone = { SATCHEL_PUBLIC_URL, SATCHEL_TLS: 'a.example.com', SATCHEL_DNS_SERVERS: '127.0.0.1:1' };
  for (const env of [{}, { SATCHEL_PUBLIC_URL, SATCHEL_TRUSTED_PROXIES: '127.0.0.1' }, alone])
    expect(await doctor(env)).not.toContain('set SATCHEL_TRUSTED_PROXIES');
});
