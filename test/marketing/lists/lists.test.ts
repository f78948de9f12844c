/** Contact lists: every field and its rules, archiving, pages, and counters that stay true whatever is done. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { actor, makeProject } from '../../support/helpers.ts';
import { dataOf, type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
beforeAll(async () => {
  on = await startMarketingApp();
  const key = await on.project.key({ can_write: true, permissions: { email_template: true } });
  for (const [slug, body_text] of [
    ['confirm', 'Press {{confirm_url}}'],
    ['plain', 'Hello'],
  ])
    await on.app.call('POST', '/api/v1/emails/templates', {
      key,
      body: { name: slug, slug, category: 'opt_in', subject: 'S', body_text },
    });
});

const errorsOf = (answer: { body: Record<string, unknown> }): string[] =>
  Object.keys((answer.body.errors ?? {}) as object).sort();

describe('a list', () => {
  test('has defaults for all but its name, takes every field, and null clears the optional ones', async () => {
    const made = await on.call('POST', '/email-lists', { name: 'Plain' });
    const record = dataOf(made, 201);
    expect(record).toEqual({
      id: expect.stringMatching(/^[0-9A-Z]{26}$/),
      name: 'Plain',
      description: null,
      default_consent_basis: null,
      double_opt_in: false,
      language: null,
      token_hosts: [],
      confirmation_template: null,
      signed_up_url: null,
      confirmed_url: null,
      from: null,
      sign_up_page: false,
      is_public: false,
      sign_up_url: null,
      archive: false,
      archive_url: null,
      archived: false,
      contacts_count: 0,
      active_count: 0,
      status_counts: {},
      created_at: '2030-01-15T12:00:00.000Z',
      updated_at: '2030-01-15T12:00:00.000Z',
    });
    on.app.clock.advance(1_000);
    const fields = {
      name: 'Née',
      description: 'x'.repeat(2_000),
      default_consent_basis: 'existing_customer',
      double_opt_in: true,
      language: 'fr',
      archive: true,
      token_hosts: ['Shop.Example.com', 'localhost', 'bücher.example', 'shop.example.com'],
      confirmation_template: 'confirm',
    };
    const changed = dataOf(await on.call('PATCH', `/email-lists/${record.id}`, fields));
    expect(changed).toEqual({
      ...record,
      ...fields,
      archive_url: `http://satchel.test/archive/${record.id}`,
      token_hosts: ['shop.example.com', 'localhost', 'xn--bcher-kva.example'],
      updated_at: '2030-01-15T12:00:01.000Z',
    });
    expect(dataOf(await on.call('GET', `/email-lists/${record.id}`))).toEqual(changed);
    const cleared = await on.call('PATCH', `/email-lists/${record.id}`, {
      description: null,
      default_consent_basis: null,
      language: null,
      token_hosts: null,
      confirmation_template: null,
    });
    expect(dataOf(cleared)).toMatchObject({
      name: 'Née',
      description: null,
      default_consent_basis: null,
      double_opt_in: true,
      language: null,
      token_hosts: [],
      confirmation_template: null,
    });
    expect(dataOf(await on.call('PATCH', `/email-lists/${record.id}`, {}))).toMatchObject({ name: 'Née' });
  });

  test('names every field that does not fit at once, and stays as it was', async () => {
    const id = await on.list();
    const before = dataOf(await on.call('GET', `/email-lists/${id}`));
    const bad = {
      name: '',
      description: 'x'.repeat(2_001),
      default_consent_basis: 'hearsay',
      double_opt_in: 'yes',
      token_hosts: ['shop.example.com', 'https://shop.example.com/'],
      confirmation_template: 'plain',
    };
    const fields = [
      'confirmation_template',
      'default_consent_basis',
      'description',
      'double_opt_in',
      'name',
      'token_hosts.1',
    ];
    const created = await on.call('POST', '/email-lists', bad);
    expect([created.status, errorsOf(created)]).toEqual([422, fields]);
    const patched = await on.call('PATCH', `/email-lists/${id}`, { ...bad, archived: 'no' });
    expect([patched.status, errorsOf(patched)]).toEqual([422, ['archived', ...fields]]);
    const nulls = await on.call('PATCH', `/email-lists/${id}`, {
      name: null,
      double_opt_in: null,
      archived: null,
      confirmation_template: 'missing',
    });
    expect(errorsOf(nulls)).toEqual(['archived', 'confirmation_template', 'double_opt_in', 'name']);
    expect(errorsOf(await on.call('PATCH', `/email-lists/${id}`, { name: 'A\r\nBcc: b' }))).toEqual(['name']);
    const many = Array.from({ length: 21 }, (_, n) => `h${n}.example.com`);
    expect(errorsOf(await on.call('PATCH', `/email-lists/${id}`, { token_hosts: many }))).toEqual([
      'token_hosts',
    ]);
    expect(dataOf(await on.call('GET', `/email-lists/${id}`))).toEqual(before);
  });
});

test('archived lists are left out unless asked for, page by page, and come back', async () => {
  const own = await startMarketingApp();
  const ids: string[] = [];
  for (let n = 0; n < 5; n += 1) {
    ids.unshift(await own.list({ name: `L${n}` }));
    own.app.clock.advance(1);
  }
  const archive = (id: unknown, archived: boolean) => own.call('PATCH', `/email-lists/${id}`, { archived });
  expect(dataOf(await archive(ids[1], true)).archived).toBe(true);
  await archive(ids[1], true);
  await archive(ids[3], true);
  const page = async (query: string) => {
    const answer = await own.call('GET', `/email-lists?per_page=2&${query}`);
    return [
      rowsOf(answer).map(({ id }) => ids.indexOf(String(id))),
      (answer.body.meta as { total: number }).total,
    ];
  };
  expect(await page('')).toEqual([[0, 2], 3]);
  expect(await page('page=2')).toEqual([[4], 3]);
  expect(await page('include_archived=1')).toEqual([[0, 1], 5]);
  expect(await page('include_archived=1&page=3')).toEqual([[4], 5]);
  await archive(ids[1], false);
  expect(await page('')).toEqual([[0, 1], 4]);
  expect((await own.call('GET', '/email-lists?include_archived=maybe')).status).toBe(422);
});

test('counters are those of the rows after whatever was done', async () => {
  const { services } = on.app;
  const owner = services.projects.require('shop');
  const list = await on.list();
  const second = await on.list();
  const counted = async () => {
    const { database } = services;
    const truth = database.read.all<{ list: string; all: number; active: number }>(
      sql`SELECT l.public_id AS list, count(c.id) AS "all", coalesce(sum(c.status = 'active'), 0) AS active
          FROM contact_lists l LEFT JOIN contacts c ON c.list_id = l.id
          WHERE l.public_id IN (${list}, ${second}) GROUP BY l.id ORDER BY l.id`,
    );
    const told = await Promise.all(
      [list, second].map(async (id) => {
        const { contacts_count, active_count } = dataOf(await on.call('GET', `/email-lists/${id}`));
        return { list: id, all: contacts_count, active: active_count };
      }),
    );
    expect(told).toEqual(truth);
    // By tag and status as well, which pages of contacts are counted by.
    const tags = database.read.all(
      sql`SELECT list_id, tag, status, count(*) AS n FROM contact_tags GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`,
    );
    const kept = database.read.all(
      sql`SELECT list_id, tag, status, n FROM contact_counts WHERE tag <> '' AND n <> 0 ORDER BY 1, 2, 3`,
    );
    expect(kept).toEqual(tags);
    return told.map(({ all, active }) => [all, active]);
  };
  const ann = await on.contact(list, 'ann@example.com', { tags: ['a', 'b'] });
  await on.contact(second, 'ann@example.com', { tags: ['a'] });
  await on.contact(list, 'bob@example.com', { tags: ['a'] });
  expect(await counted()).toEqual([
    [2, 2],
    [1, 1],
  ]);
  await on.call('POST', `/email-lists/${list}/imports`, {
    method: 'paste',
    text: 'ann@example.com\ncarl@example.com\nbad@null-mx.example\nnonsense',
    defaults: { tags: ['c'] },
  });
  expect(await counted()).toEqual([
    [3, 3],
    [1, 1],
  ]);
  await on.call('POST', `/email-lists/${list}/contacts/bulk-tag`, { filter: {}, add: ['c'], remove: ['a'] });
  await on.call('PATCH', `/email-contacts/${ann.id}`, { tags: ['x'] });
  await counted();
  await on.call('POST', `/email-contacts/${ann.id}/unsubscribe`);
  expect(await counted()).toEqual([
    [3, 2],
    [1, 0],
  ]);
  await services.database.write((tx) => services.contacts.leave(tx, owner, 'bob@example.com', 'hard_bounce'));
  expect(await counted()).toEqual([
    [3, 1],
    [1, 0],
  ]);
  await services.privacy.forget(actor, owner, 'ann@example.com');
  expect(await counted()).toEqual([
    [2, 1],
    [0, 0],
  ]);
});

test('a project that is deleted takes its lists along at once, and its contacts in small steps', async () => {
  const gone = await makeProject(on.app, 'gone');
  const key = await gone.key({ can_manage_email_marketing: true });
  const made = await on.app.call('POST', '/api/v1/email-lists', {
    key,
    body: { name: 'N', default_consent_basis: 'consent' },
  });
  const list = dataOf(made, 201).id;
  const text = Array.from({ length: 450 }, (_, n) => `p${n}@example.com`).join('\n');
  await on.app.call('POST', `/api/v1/email-lists/${list}/imports`, {
    key,
    body: { method: 'paste', text, defaults: { tags: ['t'] } },
  });
  const { database, projects } = on.app.services;
  const count = (table: string): unknown =>
    database.read.all(sql.raw(`SELECT count(*) AS n FROM ${table} WHERE project_id = ${gone.id}`));
  expect(count('contacts')).toEqual([{ n: 450 }]);
  const kept = rowsOf(await on.call('GET', '/email-lists?per_page=50'));
  await projects.remove(actor, 'gone');
  for (const table of [
    'contact_lists',
    'contact_imports',
    'marketing_settings',
    'marketing_keys',
    'suppressions',
  ])
    expect([table, count(table)]).toEqual([table, [{ n: 0 }]]);
  expect(count('contacts')).toEqual([{ n: 0 }]);
  expect(
    database.read.all(
      sql`SELECT count(*) AS n FROM contact_tags WHERE list_id NOT IN (SELECT id FROM contact_lists)`,
    ),
  ).toEqual([{ n: 0 }]);
  expect(rowsOf(await on.call('GET', '/email-lists?per_page=50'))).toEqual(kept);
});
