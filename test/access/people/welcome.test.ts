/** One-time links: good once, for a day, void when a newer one is made; and what a password must be. */
import { beforeAll, describe, expect, spyOn, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { peopleChecks } from '../../../src/access/people/checks.ts';
import { hashToken } from '../../../src/platform/secrets/token-format.ts';
import { actor } from '../../support/helpers.ts';
import { type Console, PASSWORD, PEOPLE_TABLES, startConsole } from './setup.ts';

let on: Console;
beforeAll(async () => {
  on = await startConsole();
});

let made = 0;
/** A new person's path of the link. */
async function newLink(): Promise<{ path: string; email: string }> {
  made += 1;
  const email = `p${made}@example.com`;
  const { link } = await on.app.services.people.add(actor, null, { email, all_projects: true });
  expect(link).toMatch(/^https:\/\/satchel\.test\/console\/welcome\/[\w-]{43}$/);
  return { path: new URL(link).pathname, email };
}
const use = (path: string, body: object = { password: PASSWORD }) => on.ask('POST', path, { body });
const snapshot = () =>
  JSON.stringify(
    PEOPLE_TABLES.map((table) => on.app.services.database.read.all(sql.raw(`SELECT * FROM ${table}`))),
  );

test('a link sets the password once, signs nobody in, and is kept as a hash alone', async () => {
  const { path, email } = await newLink();
  const secret = path.split('/').at(-1) ?? '';
  expect(snapshot()).toContain(hashToken(secret));
  expect(snapshot()).not.toContain(secret);
  const asked = await on.ask('GET', `${path}/person`);
  expect([asked.status, asked.body]).toEqual([200, { email }]);
  const used = await use(path);
  expect([used.status, used.text, used.headers.get('set-cookie')]).toEqual([204, '', null]);
  expect((await on.signIn(email)).status).toBe(204);
  expect(snapshot()).not.toContain(PASSWORD);
  const before = snapshot();
  const again = await use(path, { password: 'quite another password' });
  expect([again.status, again.body]).toMatchObject([404, { success: false }]);
  expect((await use('/console/welcome/never-was')).text).toBe(again.text);
  for (const gone of [path, '/console/welcome/never-was'])
    expect((await on.ask('GET', `${gone}/person`)).text).toBe(again.text);
  expect(snapshot()).toBe(before);
});

test('it is good for a day, to the moment', async () => {
  const [first, second] = [await newLink(), await newLink()];
  on.app.clock.advance(24 * 3_600_000 - 1);
  expect((await use(first.path)).status).toBe(204);
  on.app.clock.advance(1);
  expect((await use(second.path)).status).toBe(404);
  await on.app.services.people.sweepLinks();
  expect(on.app.services.database.read.all(sql`SELECT * FROM person_links`)).toEqual([]);
});

test('a newer link voids it, and so do being made inactive and being removed', async () => {
  const { people } = on.app.services;
  const { path, email } = await newLink();
  const { link } = await people.reset(actor, null, people.require(email));
  expect((await use(path)).status).toBe(404);
  await people.change(actor, null, people.require(email), { is_active: false });
  expect((await use(new URL(link).pathname)).status).toBe(404);
  const other = await newLink();
  await people.remove(actor, null, people.require(other.email));
  expect((await use(other.path)).status).toBe(404);
});

test('of several who use it at once, one sets the password', async () => {
  const { path, email } = await newLink();
  const passwords = Array.from({ length: 5 }, (_, n) => `a password of number ${n}`);
  const statuses = await Promise.all(
    passwords.map(async (password) => (await use(path, { password })).status),
  );
  expect(statuses.toSorted()).toEqual([204, 404, 404, 404, 404]);
  const winner = passwords[statuses.indexOf(204)] ?? '';
  for (const password of passwords)
    expect((await on.signIn(email, { password })).status).toBe(password === winner ? 204 : 401);
});

test('so it is where all have hashed their password before the first is stored', async () => {
  const { people, entry, database } = on.app.services;
  const { path, email } = await newLink();
  const password_hash = await entry.passwords.hash(PASSWORD);
  const hash = spyOn(entry.passwords, 'hash').mockResolvedValue(password_hash);
  const secret = path.split('/').at(-1) ?? '';
  const uses = Array.from({ length: 5 }, () => entry.welcome.use(secret, { password: PASSWORD }, null));
  const outcomes = (await Promise.allSettled(uses)).map(({ status }) => status);
  hash.mockRestore();
  expect(outcomes.toSorted()).toEqual(['fulfilled', ...Array(4).fill('rejected')]);
  const target = `person:${people.require(email).id}`;
  const stored = sql`SELECT event FROM audit_events WHERE target = ${target} ORDER BY id`;
  expect(database.read.all(stored)).toEqual([{ event: 'person.created' }, { event: 'person.password_set' }]);
});

describe('a password is refused, and the link stays good, when it', () => {
  test.each([
    ['is missing', {}],
    ['has eleven characters', { password: 'elevenchars' }],
    ['has 257 characters', { password: 'x'.repeat(257) }],
    ['is nothing but spaces', { password: ' '.repeat(20) }],
    ['is the address, in whatever case', { password: 'THE-PERSON@example.com' }],
    ['has six emoji, which are twelve units of UTF-16', { password: '🔑🧭🍐🦔🎻🪁' }],
    ['is common', { password: '1qaz2wsx3edc' }],
    ['is common but for its case', { password: 'QWERTY123456' }],
    ['is built on the name of whose it is', { password: 'theodora12345' }],
    ['is no text', { password: 123456789012 }],
  ])('%s', async (_, body) => {
    const { people } = on.app.services;
    const email = 'the-person@example.com';
    if (!people.listAll().some((one) => one.email === email))
      await people.add(actor, null, { email, name: 'Theodora', all_projects: true });
    const { link } = await people.reset(actor, null, people.require(email));
    const path = new URL(link).pathname;
    const before = snapshot();
    const refused = await use(path, body);
    expect([refused.status, refused.body]).toMatchObject([
      422,
      { errors: { password: [expect.any(String)] } },
    ]);
    expect(snapshot()).toBe(before);
    expect((await use(path, { password: '🔑🧭🍐🦔🎻🪁🧵🛶🥁🪐🧊🦉' })).status).toBe(204);
    expect((await on.signIn(email, { password: '🔑🧭🍐🦔🎻🪁🧵🛶🥁🪐🧊🦉' })).status).toBe(204);
  });

  test('and the same letters, composed in another way, are the same password', async () => {
    const { path, email } = await newLink();
    expect((await use(path, { password: 'caf\u00e9 au lait, bitte' })).status).toBe(204);
    expect((await on.signIn(email, { password: 'cafe\u0301 au lait, bitte' })).status).toBe(204);
  });
});

describe('the first person', () => {
  test('says who they are, and has everything', async () => {
    const first = await startConsole();
    const { people } = first.app.services;
    const void_link = await people.makeFirstLink();
    const path = new URL((await people.makeFirstLink()) ?? '').pathname;
    const ask = (to: string, body: object) => first.ask('POST', to, { body });
    expect(
      (await ask(new URL(void_link ?? '').pathname, { password: PASSWORD, email: 'a@example.com' })).status,
    ).toBe(404);
    expect((await ask(path, { password: PASSWORD })).body).toMatchObject({
      errors: { email: ['is required'] },
    });
    expect((await ask(path, { password: PASSWORD, email: 'nobody' })).status).toBe(422);
    const body = { password: PASSWORD, email: 'first@example.com', name: 'First' };
    const both = await Promise.all([ask(path, body), ask(path, { ...body, email: 'other@example.com' })]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([204, 404]);
    expect(people.listAll()).toMatchObject([
      {
        ...{ name: 'First', all_projects: true, can_administer: true, can_manage_database: true },
        ...{ can_read_vault: true, can_reveal_vault: true, can_write_vault: true },
        ...{ can_read_database_tokens: true, can_read_ai_accounts: true },
      },
    ]);
    expect(await people.makeFirstLink()).toBeNull();
  });

  test('is nobody once another way has made one', async () => {
    const first = await startConsole();
    const path = new URL((await first.app.services.people.makeFirstLink()) ?? '').pathname;
    await first.addPerson({ email: 'shell@example.com' });
    const late = await first.ask('POST', path, { body: { password: PASSWORD, email: 'late@example.com' } });
    expect(late.status).toBe(404);
    expect(first.app.services.people.listAll()).toHaveLength(1);
  });
});

describe('SATCHEL_WELCOME_TOKEN', () => {
  const token = 'aZ0_-'.repeat(8);
  const path = `/console/welcome/${token}`;
  const body = { password: PASSWORD, email: 'first@example.com' };

  test('makes the first person, once and at any time, and nobody after them, be they there or not', async () => {
    const first = await startConsole({ env: { SATCHEL_WELCOME_TOKEN: token } });
    const { people } = first.app.services;
    const ask = (to: string, sent: object = body) => first.ask('POST', to, { body: sent });
    const looked = async () => (await first.ask('GET', '/console')).text;
    const told = async () => {
      const findings = await Promise.all(peopleChecks(first.app.services).map((each) => each.run()));
      return findings.flat().filter(({ check }) => check === 'welcome token');
    };
    expect(await looked()).toContain('https://satchel.test/console/welcome/');
    expect(await looked()).not.toContain(token);
    expect(await told()).toEqual([]);
    first.app.clock.advance(365 * 24 * 3_600_000);
    await people.sweepLinks();
    expect((await first.ask('GET', `${path}/person`)).body).toEqual({ email: null });
    expect((await ask(`${path}a`)).status).toBe(404);
    expect((await ask(path, { ...body, password: 'short' })).status).toBe(422);
    // A link of the shell's is as good, until one of both is used.
    const other = new URL((await people.makeFirstLink()) ?? '').pathname;
    const both = await Promise.all([ask(path), ask(path, { ...body, email: 'second@example.com' })]);
    expect(both.map(({ status }) => status).toSorted()).toEqual([204, 404]);
    expect((await ask(other)).status).toBe(404);
    expect(people.listAll()).toMatchObject([{ all_projects: true, can_administer: true }]);
    expect(await told()).toEqual([
      {
        ...{
          id: 'welcome_token',
          check: 'welcome token',
          status: 'ok',
          message: expect.stringContaining('can go'),
        },
        remedy: 'remove SATCHEL_WELCOME_TOKEN from the settings',
      },
    ]);
    await first.app.services.database.write((tx) => tx.run(sql`DELETE FROM people`));
    expect([people.isAnybodyThere(), (await ask(path)).status]).toEqual([false, 404]);
    expect(await looked()).not.toContain('SATCHEL_WELCOME_TOKEN');
    expect(await told()).toHaveLength(1);
    expect(first.app.logs()).not.toContain(token);
  });

  test('is nothing where another way has made somebody, and without the setting', async () => {
    const [first, without] = [
      await startConsole({ env: { SATCHEL_WELCOME_TOKEN: token } }),
      await startConsole(),
    ];
    await first.addPerson({ email: 'shell@example.com' });
    for (const each of [first, without]) expect((await each.ask('POST', path, { body })).status).toBe(404);
  });
});
