/** What a field has held: lists, reveals, restoring, forgetting; when values end, and notes. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { DAY_MS } from '../../../src/platform/host/clock.ts';
import { checkReminders } from '../../../src/secrets/vault/reminders.ts';
import {
  codeOf,
  dataOf,
  invalidFieldsOf,
  listOf,
  type Management,
  startManagement,
} from '../../support/management.ts';

let stage: Management;
let token: string;

const CAPABILITIES = ['can_read_vault', 'can_write_vault', 'can_reveal_vault'] as const;
/** Tokens end before values do. */
const renew = async (): Promise<void> => {
  token = await stage.makeToken({ capabilities: [...CAPABILITIES] });
};

beforeAll(async () => {
  stage = await startManagement();
  await renew();
  await stage.call('POST', '/projects/mine/environments', token, { name: 'staging' });
});

const rows = (query: string) => stage.app.services.database.read.all<Record<string, unknown>>(sql.raw(query));
const run = (query: string) =>
  stage.app.services.database.write((tx) => {
    tx.run(sql.raw(query));
  });
const put = (service: string, values: object, more: object = {}, query = '') =>
  stage.call('PUT', `/projects/mine/vault/${service}${query}`, token, { values, ...more });
const pastOf = async (service: string, query = ''): Promise<Record<string, unknown>[]> =>
  listOf(await stage.call('GET', `/projects/mine/vault/${service}/versions${query}`, token));
const act = (service: string, version: unknown, what: 'reveal' | 'restore', query = '', by = token) =>
  stage.call('POST', `/projects/mine/vault/${service}/versions/${version}/${what}${query}`, by);
const heldBy = async (service: string, version: unknown, query = ''): Promise<unknown> =>
  dataOf(await act(service, version, 'reveal', query)).value;
const stored = async (service: string): Promise<unknown> =>
  dataOf(await stage.call('POST', `/projects/mine/vault/${service}/reveal`, token)).services;
const file = (text: string, filename = 'a.json') => ({
  filename,
  content_base64: Buffer.from(text).toString('base64'),
});

describe('a change', () => {
  test('keeps the value before; storing what is stored is none', async () => {
    await put('stripe', { secret_key: 'one' });
    stage.app.clock.advance(1_000);
    await put('stripe', { secret_key: 'two', publishable_key: 'pk' });
    await put('stripe', { secret_key: 'two' });
    stage.app.clock.advance(1_000);
    await put('stripe', { secret_key: null });
    await put('stripe', { secret_key: null });
    const past = await pastOf('stripe', '?field=secret_key');
    expect(past).toEqual([
      expect.objectContaining({ kind: 'removed', is_current: true, filename: null }),
      expect.objectContaining({ kind: 'set', is_current: false }),
      {
        version: expect.stringMatching(/^[0-9A-Z]{26}$/),
        service: 'stripe',
        field: 'secret_key',
        kind: 'set',
        is_current: false,
        filename: null,
        changed_at: '2030-01-15T12:00:00.000Z',
        by: { kind: 'token', id: expect.any(String), name: 'test token' },
      },
    ]);
    expect((await pastOf('stripe')).map(({ field }) => field).toSorted()).toEqual(
      ['publishable_key', ...Array(3).fill('secret_key')].toSorted(),
    );
    const [removed, two, one] = past.map(({ version }) => version);
    expect([await heldBy('stripe', one), await heldBy('stripe', two)]).toEqual(['one', 'two']);
    expect((await act('stripe', removed, 'reveal')).status).toBe(404);
    expect((await act('stripe', removed, 'restore')).status).toBe(404);
    expect(stage.lastEvent()).toMatchObject({
      event: 'vault.revealed',
      metadata: {
        environment: 'production',
        how: 'version',
        service: 'stripe',
        field: 'secret_key',
        version: two,
      },
    });
    expect(rows('SELECT how, field FROM vault_reveals ORDER BY id DESC LIMIT 1')).toEqual([
      { how: 'version', field: 'secret_key' },
    ]);
  });

  test('is listed by pages, without a value', async () => {
    const answer = await stage.call('GET', '/projects/mine/vault/stripe/versions?per_page=2&page=2', token);
    expect(answer.body).toMatchObject({ meta: { total: 4, current_page: 2 } });
    expect(listOf(answer).length).toBe(2);
    for (const value of ['one', 'two', 'sealed']) expect(answer.text).not.toContain(value);
    expect((await stage.call('GET', '/projects/mine/vault/stripe/versions?field=x', token)).status).toBe(422);
  });

  test('keeps the last 20 values of a field, and 5 of a file, whatever was removed in between', async () => {
    for (let n = 1; n <= 25; n += 1) {
      await put('env', { MANY: `v${n}` });
      if (n % 5 === 0) await put('env', { MANY: null });
    }
    await put('env', { MANY: 'last' });
    const past = await pastOf('env', '?field=MANY&per_page=100');
    const values = past.filter(({ kind }) => kind === 'set');
    expect(values.length).toBe(21);
    expect(await heldBy('env', values.at(-1)?.version)).toBe('v6');
    for (let n = 1; n <= 8; n += 1) await put('google_play', { service_account: file(`{"n":${n}}`) });
    const files = await pastOf('google_play');
    expect([files.length, files[0]]).toEqual([6, expect.objectContaining({ filename: 'a.json' })]);
    expect(await heldBy('google_play', files.at(-1)?.version)).toEqual(file('{"n":3}'));
    expect(await heldBy('google_play', files[0]?.version)).toEqual(file('{"n":8}'));
  });

  test('a new name of a file is one, and another kind of a name alone is none', async () => {
    const before = (await pastOf('google_play')).length;
    await put('google_play', { service_account: file('{"n":8}', 'b.json') });
    expect((await pastOf('google_play'))[0]).toMatchObject({ filename: 'b.json' });
    expect((await pastOf('google_play')).length).toBe(before);
    await put('env', { KIND: 'x' }, { plain: ['KIND'] });
    await put('env', { KIND: 'x' }, { plain: [] });
    expect((await pastOf('env', '?field=KIND')).length).toBe(1);
    expect(await stored('env')).toMatchObject({ env: { KIND: 'x' } });
  });

  test('by DELETE of a service keeps all that it takes away', async () => {
    await put('s3', { bucket: 'b', secret_access_key: 's' });
    expect((await stage.call('DELETE', '/projects/mine/vault/s3', token)).status).toBe(200);
    const past = await pastOf('s3');
    expect(past.map(({ kind }) => kind)).toEqual(['removed', 'removed', 'set', 'set']);
    const secret = past.find(({ field, kind }) => field === 'secret_access_key' && kind === 'set');
    expect((await act('s3', secret?.version, 'restore')).status).toBe(200);
    expect(await stored('s3')).toEqual({ s3: { secret_access_key: 's' } });
  });

  test('is of its environment alone', async () => {
    await put('smtp', { password: 'of staging' }, {}, '?environment=staging');
    expect(await pastOf('smtp')).toEqual([]);
    const [only] = await pastOf('smtp', '?environment=staging');
    expect(await heldBy('smtp', only?.version, '?environment=staging')).toBe('of staging');
    expect((await act('smtp', only?.version, 'reveal')).status).toBe(404);
    expect((await act('smtp', only?.version, 'restore')).status).toBe(404);
  });

  test('five at once leave one value, and the other four in the past', async () => {
    const values = Array.from({ length: 5 }, (_, n) => `at-once-${n}`);
    await Promise.all(values.map((value) => put('sentry', { auth_token: value })));
    const past = await pastOf('sentry');
    expect(past.filter(({ is_current }) => is_current).length).toBe(1);
    const held = await Promise.all(past.map(({ version }) => heldBy('sentry', version)));
    expect(held.toSorted()).toEqual(values);
    expect(await stored('sentry')).toEqual({ sentry: { auth_token: held[0] } });
  });

  test('that was rolled back leaves nothing of either', async () => {
    const before = [await stored('sentry'), (await pastOf('sentry')).length];
    await run("CREATE TRIGGER no_record BEFORE INSERT ON audit_events BEGIN SELECT RAISE(ABORT, 'no'); END");
    expect((await put('sentry', { auth_token: 'lost' })).status).toBe(500);
    await run('DROP TRIGGER no_record');
    expect([await stored('sentry'), (await pastOf('sentry')).length]).toEqual(before);
  });

  test('is kept for 180 days from when it was replaced or removed; what is stored stays', async () => {
    const { vault_versions } = stage.app.services;
    stage.app.clock.advance(179 * DAY_MS);
    await vault_versions.sweep();
    await renew();
    expect((await pastOf('stripe', '?field=secret_key')).length).toBe(3);
    stage.app.clock.advance(2 * DAY_MS);
    await vault_versions.sweep();
    expect(await pastOf('stripe', '?field=secret_key')).toEqual([]);
    expect((await pastOf('stripe')).length).toBe(1);
    expect(await stored('stripe')).toEqual({ stripe: { publishable_key: 'pk' } });
  });
});

describe('restoring', () => {
  test('is a new version, answered as PUT is', async () => {
    await put('revenuecat', { secret_key: 'first' });
    await put('revenuecat', { secret_key: 'second' });
    const [, first] = await pastOf('revenuecat');
    const answer = await act('revenuecat', String(first?.version).toLowerCase(), 'restore');
    expect([answer.status, dataOf(answer)]).toMatchObject([200, { present: { secret_key: true } }]);
    expect(stage.lastEvent()).toMatchObject({
      event: 'vault.restored',
      metadata: { service: 'revenuecat', field: 'secret_key', version: first?.version },
    });
    expect(await stored('revenuecat')).toEqual({ revenuecat: { secret_key: 'first' } });
    const past = await pastOf('revenuecat');
    expect(past.map(({ kind }) => kind)).toEqual(['restored', 'set', 'set']);
    // What is stored already stays as it is.
    await act('revenuecat', past[0]?.version, 'restore');
    expect((await pastOf('revenuecat')).length).toBe(3);
    const blind = await stage.makeToken({ capabilities: ['can_write_vault'] });
    const shown = await act('revenuecat', past[1]?.version, 'restore', '', blind);
    expect(dataOf(shown)).toEqual({ present: expect.objectContaining({ secret_key: true }) });
  });

  test('a name that is secret now, or was then, is secret afterwards', async () => {
    const kindAfter = async (name: string, then: boolean, now: boolean): Promise<boolean> => {
      await put('env', { [name]: 'then' }, { plain: then ? [name] : [] });
      await put('env', { [name]: 'now' }, { plain: now ? [name] : [] });
      const [, old] = await pastOf('env', `?field=${name}`);
      const shown = dataOf(await act('env', old?.version, 'restore')).values;
      expect(await stored('env')).toMatchObject({ env: { [name]: 'then' } });
      return Object.hasOwn(Object(shown), name);
    };
    expect([
      await kindAfter('A', true, true),
      await kindAfter('B', true, false),
      await kindAfter('C', false, true),
      await kindAfter('D', false, false),
    ]).toEqual([true, false, false, false]);
  });

  test('what does not decrypt is 409, and changes nothing', async () => {
    const [, old] = await pastOf('revenuecat');
    await run(`UPDATE vault_versions SET sealed = 'v1.AAAA' WHERE id = '${old?.version}'`);
    for (const what of ['reveal', 'restore'] as const) {
      const answer = await act('revenuecat', old?.version, what);
      expect([what, answer.status, codeOf(answer)]).toEqual([what, 409, 'PLAINTEXT_UNAVAILABLE']);
    }
  });
});

describe('who may not', () => {
  test('needs the capability of each act, and the project', async () => {
    const [newest] = await pastOf('revenuecat');
    const path = '/projects/mine/vault/revenuecat/versions';
    const acts = [
      ['GET', path, 'can_read_vault'],
      ['POST', `${path}/${newest?.version}/reveal`, 'can_reveal_vault'],
      ['POST', `${path}/${newest?.version}/restore`, 'can_write_vault'],
      ['DELETE', path, 'can_write_vault'],
    ] as const;
    const stranger = await stage.makeToken({
      projects: ['other'],
      capabilities: [...CAPABILITIES],
    });
    for (const [method, at, needed] of acts) {
      const others = CAPABILITIES.filter((each) => each !== needed);
      const lacking = await stage.makeToken({ capabilities: others });
      expect([at, (await stage.call(method, at, lacking)).status]).toEqual([at, 403]);
      expect([at, (await stage.call(method, at, stranger)).status]).toEqual([at, 404]);
    }
    const elsewhere = `/projects/other/vault/revenuecat/versions/${newest?.version}/reveal`;
    expect((await stage.call('POST', elsewhere, token)).status).toBe(404);
    expect((await stage.call('POST', `${path}/nonsense/reveal`, token)).status).toBe(404);
  });
});

test('a new master key leaves all of it as it is', async () => {
  await put('database', { db_url: 'first' });
  await put('database', { db_url: 'second' });
  const [, first] = await pastOf('database');
  await stage.app.services.key_ring.rotate(null);
  expect([await heldBy('database', first?.version), await stored('database')]).toEqual([
    'first',
    { database: { db_url: 'second' } },
  ]);
});

test('a purge forgets all but what is stored now, of a field or a service', async () => {
  await put('captcha', { site_key: 'a', secret_key: 'a' });
  await put('captcha', { site_key: 'b', secret_key: 'b' });
  const purge = async (query = '') =>
    dataOf(await stage.call('DELETE', `/projects/mine/vault/captcha/versions${query}`, token));
  expect(await purge('?field=site_key')).toEqual({ deleted: 1 });
  expect(stage.lastEvent()).toMatchObject({
    event: 'vault.purged',
    metadata: { environment: 'production', service: 'captcha', field: 'site_key', deleted: 1 },
  });
  await put('captcha', { secret_key: null });
  expect(await purge()).toEqual({ deleted: 3 });
  expect((await pastOf('captcha')).map(({ field }) => field)).toEqual(['site_key']);
  expect(await stored('captcha')).toEqual({ captcha: { site_key: 'b' } });
  expect(await purge()).toEqual({ deleted: 0 });
});

describe('what is said about a value', () => {
  const aboutOf = async (service = 'stripe'): Promise<unknown> =>
    dataOf(await stage.call('GET', `/projects/mine/vault/${service}`, token)).about;
  const say = (about: unknown, values: object = {}) => put('stripe', values, { about });

  test('is a moment or a date (its end), and a note; null takes one away', async () => {
    await put('stripe', { secret_key: 'sk', publishable_key: 'pk' });
    const said = await say({
      secret_key: { expires_at: '2031-03-01', note: 'Ann renews it' },
      publishable_key: { expires_at: '2031-03-01T10:00:00+02:00' },
    });
    expect([said.status, dataOf(said).about]).toEqual([
      200,
      {
        secret_key: { expires_at: '2031-03-01T23:59:59.999Z', note: 'Ann renews it' },
        publishable_key: { expires_at: '2031-03-01T08:00:00.000Z', note: null },
      },
    ]);
    expect(stage.lastEvent()).toMatchObject({
      event: 'vault.updated',
      metadata: { set: [], removed: [], about: ['secret_key', 'publishable_key'] },
    });
    await say({ publishable_key: { expires_at: null }, secret_key: { note: 'é'.repeat(500) } });
    expect(await aboutOf()).toEqual({
      secret_key: { expires_at: '2031-03-01T23:59:59.999Z', note: 'é'.repeat(500) },
    });
    expect(await stored('stripe')).toEqual({ stripe: { secret_key: 'sk', publishable_key: 'pk' } });
  });

  test('ends with another value, but for the note; the same value changes nothing', async () => {
    await say({ secret_key: { expires_at: '2031-03-01', note: 'n' } });
    await put('stripe', { secret_key: 'sk' });
    expect(await aboutOf()).toMatchObject({ secret_key: { expires_at: '2031-03-01T23:59:59.999Z' } });
    await put('stripe', { secret_key: 'sk-2' });
    expect(await aboutOf()).toEqual({ secret_key: { expires_at: null, note: 'n' } });
    await say({ secret_key: { expires_at: '2031-04-01' } }, { secret_key: 'sk-3' });
    expect(await aboutOf()).toEqual({ secret_key: { expires_at: '2031-04-01T23:59:59.999Z', note: 'n' } });
    await say({ secret_key: { expires_at: null, note: null } });
    expect(await aboutOf()).toEqual({});
  });

  test('is refused by its field, with all else that is wrong, and nothing is stored', async () => {
    const wrong: [about: unknown, fields: string[]][] = [
      [[], ['about']],
      ['x', ['about']],
      [{ nonsense: {} }, ['about.nonsense']],
      [{ webhook_secret: { note: 'not stored' } }, ['about.webhook_secret']],
      [{ secret_key: 'x' }, ['about.secret_key']],
      [{ secret_key: { ends: 1 } }, ['about.secret_key']],
      [{ secret_key: { expires_at: 1 } }, ['about.secret_key']],
      [{ secret_key: { expires_at: '2031-02-30' } }, ['about.secret_key']],
      [{ secret_key: { expires_at: 'soon' } }, ['about.secret_key']],
      [{ secret_key: { note: 'x'.repeat(501) } }, ['about.secret_key']],
      [{ secret_key: { note: 1 } }, ['about.secret_key']],
      [{ secret_key: { note: '\ud800' } }, ['about.secret_key']],
      [JSON.parse('{"constructor":{}}'), ['about.constructor']],
    ];
    for (const [about, fields] of wrong) {
      const answer = await say(about, { publishable_key: 'changed' });
      expect([about, answer.status, invalidFieldsOf(answer)]).toEqual([about, 422, fields]);
    }
    const both = await say({ nonsense: {} }, { secret_key: '', other: 'x' });
    expect(invalidFieldsOf(both).toSorted()).toEqual(['about.nonsense', 'other', 'secret_key']);
    const gone = await say({ secret_key: { note: 'x' } }, { secret_key: null });
    expect([gone.status, invalidFieldsOf(gone)]).toEqual([422, ['about.secret_key']]);
    expect(await stored('stripe')).toMatchObject({ stripe: { publishable_key: 'pk' } });
  });

  test('reminds from 14 days before, and is a problem from 3 days before and once it has ended', async () => {
    const { clock, services } = stage.app;
    const found = () =>
      checkReminders(services, services.projects.listAll({})).map(
        ({ status, message, remedy }) => `${status} ${message} ${remedy}`,
      );
    await renew();
    const end = new Date(clock.now() + 20 * DAY_MS).toISOString();
    await say({ secret_key: { expires_at: end } });
    expect(found()).toEqual([]);
    clock.advance(6 * DAY_MS + 1);
    expect(found()).toEqual([
      `warning The vault value stripe.secret_key of project mine ends at ${end}. ` +
        'satchel vault set --project mine stripe secret_key=- --expires DATE',
    ]);
    const [{ id } = {}] = checkReminders(services, services.projects.listAll({}));
    expect(id).toBe('expiring_secrets:production.stripe.secret_key:mine');
    clock.advance(11 * DAY_MS);
    expect(found()).toEqual([expect.stringMatching(/^problem .* ends at /)]);
    clock.advance(4 * DAY_MS);
    expect(found()).toEqual([expect.stringMatching(/^problem .* has ended at /)]);
    await put(
      'smtp',
      { password: 'x' },
      { about: { password: { expires_at: end } } },
      '?environment=staging',
    );
    expect(found()).toContainEqual(
      `problem The vault value smtp.password of project mine (staging) has ended at ${end}. ` +
        'satchel vault set --project mine --environment staging smtp password=- --expires DATE',
    );
    // A project's file may bring names that the API would refuse.
    await run("UPDATE vault_values SET field = '$(id)' WHERE environment = 'staging' AND field = 'password'");
    expect(found().some((each) => each.includes("smtp '$(id)'=-"))).toBe(true);
    await run("UPDATE vault_values SET field = 'password' WHERE field = '$(id)'");
    await put('stripe', { secret_key: 'renewed' });
    await put('smtp', { password: null }, {}, '?environment=staging');
    expect(found()).toEqual([]);
  });
});
