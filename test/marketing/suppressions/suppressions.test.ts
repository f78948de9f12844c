/** Suppressions: hashes that only the project's key makes, how they are found, and what happens without that key. */
import { describe, expect, test } from 'bun:test';
import { createHash, createHmac } from 'node:crypto';
import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { run, runJson, runRecord } from '../../support/command.ts';
import { actor, makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';
import { makeTempDir } from '../../support/temp.ts';
import { dataOf, type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

const suppress = (on: MarketingApp, email: string) => on.call('POST', '/email-suppressions', { email });
const lookUp = (on: MarketingApp, email: string) =>
  on.call('GET', `/email-suppressions?email=${encodeURIComponent(email)}`);
const rowsIn = (app: TestApp): unknown[] =>
  app.services.database.read.all(sql`SELECT * FROM suppressions ORDER BY id`);

/** Replaces a project's sealed key, as a restore with another master key would leave it. */
const damageKey = (app: TestApp): Promise<unknown> =>
  app.services.database.write((tx) => tx.run(sql`UPDATE marketing_keys SET sealed_key = 'v1.damaged'`));

test('is lifted over HTTP by its id, for whoever looks after the project, on the record, and never by a key or from another project', async () => {
  const on = await startMarketingApp();
  const list = await on.list();
  const { id } = dataOf(await suppress(on, 'left@example.com'), 201);
  const other = await makeProject(on.app, 'other');
  const { token } = await on.app.services.tokens.create(actor, {
    ...{ name: 'other', all_projects: false, projects: [other.slug], capabilities: [] },
  });
  const path = `/email-suppressions/${id}`;
  const of_other = await on.app.call('DELETE', `/api/public/v1/projects/other${path}`, { token });
  expect([of_other.status, (await on.call('DELETE', path)).status]).toEqual([404, 404]);
  expect(rowsIn(on.app)).toHaveLength(1);

  const lifted = await on.mirror('DELETE', path.toLowerCase());
  expect([lifted.status, lifted.body.data]).toEqual([200, expect.objectContaining({ id, kind: 'manual' })]);
  expect(rowsIn(on.app)).toEqual([]);
  const audit = on.app.services.database.read.all(
    sql`SELECT event, target FROM audit_events WHERE event = 'suppression.lifted'`,
  );
  expect(audit).toEqual([{ event: 'suppression.lifted', target: `suppression:${id}` }]);
  await on.contact(list, 'left@example.com');
  expect((await on.mirror('DELETE', path)).status).toBe(404);
});

describe('a suppression', () => {
  test('is 201 at first, 200 with duplicate after, and found however the address is written', async () => {
    const on = await startMarketingApp();
    const first = await suppress(on, 'Left@BÜCHER.example');
    expect(first.status).toBe(201);
    const record = dataOf(first, 201);
    expect(record).toEqual({
      id: expect.any(String),
      hash: expect.stringMatching(/^[0-9a-f]{64}$/),
      kind: 'manual',
      created_at: '2030-01-15T12:00:00.000Z',
    });
    const again = await suppress(on, 'left@xn--bcher-kva.example');
    expect([again.status, again.body.duplicate, again.body.data]).toEqual([200, true, record]);
    for (const email of ['LEFT@bücher.example', ' left@XN--bcher-kva.example '])
      expect(rowsOf(await lookUp(on, email))).toEqual([record]);
    expect((await lookUp(on, 'other@example.com')).body).toMatchObject({ data: [], meta: { total: 0 } });
    const nonsense = await lookUp(on, 'no address');
    expect([nonsense.status, Object.keys(nonsense.body.errors as object)]).toEqual([422, ['email']]);
    expect((await suppress(on, 'no address')).status).toBe(422);
    expect(rowsIn(on.app)).toHaveLength(1);
  });

  test('is listed newest first, a page at a time, and never with its address', async () => {
    const on = await startMarketingApp();
    const ids: unknown[] = [];
    for (let n = 0; n < 5; n += 1) {
      ids.unshift(dataOf(await suppress(on, `person${n}@example.com`), 201).id);
      on.app.clock.advance(10);
    }
    const pages = [1, 2, 3].map((page) => on.call('GET', `/email-suppressions?per_page=2&page=${page}`));
    const [one, two, three] = await Promise.all(pages);
    expect([one, two, three].map((page) => page && rowsOf(page).map(({ id }) => id))).toEqual([
      ids.slice(0, 2),
      ids.slice(2, 4),
      ids.slice(4),
    ]);
    expect(one?.body.meta).toMatchObject({ total: 5, last_page: 3, next_page: 2 });
    expect(one?.text).not.toContain('person');
    expect(JSON.stringify(rowsIn(on.app))).not.toContain('person');
    const owner = on.app.services.projects.require('shop');
    await on.app.services.suppressions.lift(actor, owner, { address: 'person4@example.com' });
    const left = await on.call('GET', '/email-suppressions?per_page=2');
    expect([left.body.meta, rowsOf(left).map(({ id }) => id)]).toEqual([
      expect.objectContaining({ total: 4, last_page: 2 }),
      ids.slice(1, 3),
    ]);
  });

  test('takes a stronger reason and never a weaker one, and so does the status of the contacts', async () => {
    const on = await startMarketingApp();
    const list = await on.list();
    const { id } = await on.contact(list, 'ann@example.com');
    const owner = on.app.services.projects.require('shop');
    const seen: unknown[] = [];
    const see = async (): Promise<void> => {
      const [suppression] = rowsOf(await lookUp(on, 'ann@example.com'));
      seen.push([suppression?.kind, dataOf(await on.call('GET', `/email-contacts/${id}`)).status]);
    };
    await suppress(on, 'ann@example.com');
    await see();
    for (const kind of ['hard_bounce', 'unsubscribed', 'hard_bounce', 'complaint', 'unsubscribed'] as const) {
      await on.app.services.database.write((tx) =>
        on.app.services.contacts.leave(tx, owner, 'ann@example.com', kind),
      );
      await see();
    }
    await suppress(on, 'ann@example.com');
    await see();
    expect(seen).toEqual([
      ['manual', 'active'],
      ['manual', 'bounced'],
      ['unsubscribed', 'unsubscribed'],
      ['unsubscribed', 'unsubscribed'],
      ['complaint', 'complained'],
      ['complaint', 'complained'],
      ['complaint', 'complained'],
    ]);
    expect(dataOf(await on.call('GET', `/email-lists/${list}`))).toMatchObject({
      contacts_count: 1,
      active_count: 0,
    });
  });
});

describe('its hash', () => {
  test('is another one in every project, and cannot be made with what the database holds', async () => {
    const on = await startMarketingApp();
    const address = 'left@example.com';
    const { hash } = dataOf(await suppress(on, address), 201);
    const other = await makeProject(on.app, 'other');
    const key = await other.key({ can_manage_email_marketing: true });
    const foreign = await on.app.call('POST', '/api/v1/email-suppressions', {
      key,
      body: { email: address },
    });
    expect(dataOf(foreign, 201).hash).not.toBe(hash);
    // Every text that the database holds, tried as a key and as a salt.
    const { $client } = on.app.services.database.read;
    const tables = $client.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table'");
    const texts = new Set<string>(['']);
    for (const { name } of tables.all())
      for (const row of $client.query<Record<string, unknown>, []>(`SELECT * FROM "${name}"`).all())
        for (const value of Object.values(row)) texts.add(String(value));
    const said = [address, `suppression\0${address}`];
    for (const text of texts)
      for (const words of said)
        for (const bytes of [text, Buffer.from(text, 'hex'), Buffer.from(text, 'base64')]) {
          expect(createHmac('sha256', bytes).update(words).digest('hex')).not.toBe(hash as string);
          expect(createHash('sha256').update(bytes).update(words).digest('hex')).not.toBe(hash as string);
        }
    expect(texts.size).toBeGreaterThan(20);
  });

  test('is found after a backup, a restore and another master key', async () => {
    const on = await startMarketingApp();
    const { hash } = dataOf(await suppress(on, 'left@example.com'), 201);
    const { data_dir } = on.app;
    await on.app.stop();
    const found = [expect.objectContaining({ hash })];
    const find = (dir: string): Promise<unknown> =>
      runJson(dir, 'suppression', 'list', '--project', 'shop', '--address', 'LEFT@example.com');
    await runRecord(data_dir, 'master-key', 'rotate');
    expect(await find(data_dir)).toEqual(found);
    const file = join(makeTempDir(), 'shop.backup');
    await runRecord(data_dir, 'backup', file);
    expect(await Bun.file(file).text()).not.toContain('left@example.com');
    const restored = join(makeTempDir(), 'data');
    await runRecord(restored, 'restore', file);
    copyFileSync(join(data_dir, 'master.key'), join(restored, 'master.key'));
    expect(await find(restored)).toEqual(found);
  });
});

describe('when the key does not open', () => {
  test('whatever needs it is 503 and changes nothing, and doctor names the project', async () => {
    const on = await startMarketingApp();
    const list = await on.list();
    const { id } = await on.contact(list, 'ann@example.com');
    await suppress(on, 'left@example.com');
    await damageKey(on.app);
    const tables = [
      'contacts',
      'suppressions',
      'contact_imports',
      'contact_import_rejections',
      'contact_counts',
    ];
    const snapshot = () =>
      JSON.stringify(
        tables.map((name) => on.app.services.database.read.all(sql.raw(`SELECT * FROM ${name}`))),
      );
    const before = snapshot();
    for (const [method, path, body] of [
      ['POST', `/email-lists/${list}/contacts`, { email: 'bob@example.com' }],
      ['POST', '/email-suppressions', { email: 'bob@example.com' }],
      ['GET', '/email-suppressions?email=left@example.com', undefined],
      ['POST', `/email-contacts/${id}/unsubscribe`, undefined],
    ] as const) {
      const answer = await on.call(method, path, body);
      expect([path, answer.status]).toEqual([path, 503]);
      expect(answer.body.message).toContain('satchel doctor');
      expect(answer.text).not.toContain('left@example.com');
    }
    expect(snapshot()).toBe(before);
    // What needs no key goes on.
    expect((await on.call('GET', `/email-contacts/${id}`)).status).toBe(200);
    expect((await on.call('GET', '/email-suppressions')).status).toBe(200);
    await on.app.stop();
    const report = await run(on.app.data_dir, 'doctor', '--json');
    expect(report.exit).toBe(1);
    expect(report.stdout).toContain('The marketing key of project shop does not open');
  });

  test('a project that never used marketing has none to open', async () => {
    const app = await startTestApp();
    await makeProject(app);
    await app.stop();
    expect((await run(app.data_dir, 'doctor', '--json')).stdout).toContain('Each decrypts.');
  });
});
