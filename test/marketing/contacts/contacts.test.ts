/** Contacts: the pipeline one by one, reading, filtering, changing, tagging many, and leaving the whole project. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { actor, makeProject } from '../../support/helpers.ts';
import { dataOf, type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
beforeAll(async () => {
  on = await startMarketingApp();
});

const countersOf = async (list: string) => {
  const { contacts_count, active_count } = dataOf(await on.call('GET', `/email-lists/${list}`));
  return { contacts_count, active_count };
};

describe('adding a contact', () => {
  test('stores it with its evidence and counts it', async () => {
    const list = await on.list();
    const made = await on.contact(list, ' Ann.Smith@EXAMPLE.com ', {
      first_name: 'Ann',
      tags: [' vip ', 'vip', 'beta'],
      custom: { plan: 'pro', seats: 3, trial: false, gone: null },
      source: 'checkout',
      reason: 'ordered',
      consent_basis: 'existing_customer',
      consent_at: '2030-01-01T10:00:00Z',
      consent_ip: '192.0.2.7',
    });
    expect(made).toMatchObject({
      list,
      email: 'ann.smith@example.com',
      first_name: 'Ann',
      last_name: null,
      tags: ['beta', 'vip'],
      custom: { plan: 'pro', seats: 3, trial: false },
      status: 'active',
      source: 'checkout',
      reason: 'ordered',
      consent_basis: 'existing_customer',
      consent_at: '2030-01-01T10:00:00.000Z',
      consent_ip: '192.0.2.7',
      source_platform: 'api',
      confirmed_at: null,
    });
    expect(String(made.contact_token)).toMatch(/^[\w-]{32}$/);
    expect(await countersOf(list)).toEqual({ contacts_count: 1, active_count: 1 });
    expect(dataOf(await on.call('GET', `/email-contacts/${made.id}`))).toEqual(made);
  });

  test('answers a second time with the contact there is', async () => {
    const list = await on.list();
    const first = await on.contact(list, 'twice@example.com', { first_name: 'One' });
    const again = await on.call('POST', `/email-lists/${list}/contacts`, {
      email: 'TWICE@example.com',
      first_name: 'Two',
    });
    expect(again.status).toBe(200);
    expect(again.body).toMatchObject({
      success: true,
      duplicate: true,
      data: { id: first.id, first_name: 'One' },
    });
    expect(await countersOf(list)).toEqual({ contacts_count: 1, active_count: 1 });
  });

  test.each([
    ['invalid_syntax', 'no address', {}],
    ['invalid_syntax', 'ceo@ex%61mple.com', {}],
    ['missing_consent', 'ann@example.com', {}],
    ['no_mx', 'ann@nowhere.example', { consent_basis: 'consent' }],
    ['no_mx', 'ann@null-mx.example', { consent_basis: 'consent' }],
  ])('is refused as %s: %s', async (code, email, fields) => {
    const list = await on.list({ default_consent_basis: null });
    const refused = await on.call('POST', `/email-lists/${list}/contacts`, { email, ...fields });
    expect({ status: refused.status, code: refused.body.code }).toEqual({ status: 422, code });
    expect(await countersOf(list)).toEqual({ contacts_count: 0, active_count: 0 });
  });

  test('judges in the order of the pipeline', async () => {
    const list = await on.list({ default_consent_basis: null });
    await on.call('POST', '/email-suppressions', { email: 'gone@nowhere.example' });
    const post = async (fields: Record<string, unknown>) =>
      (await on.call('POST', `/email-lists/${list}/contacts`, fields)).body.code;
    expect(await post({ email: 'gone@nowhere.example' })).toBe('missing_consent');
    expect(await post({ email: 'gone@nowhere.example', consent_basis: 'consent' })).toBe('suppressed');
  });

  test('takes a domain that has an address and no MX', async () => {
    const list = await on.list();
    expect((await on.contact(list, 'ann@a-only.example')).status).toBe('active');
  });

  test('stores an internationalised domain in its one canonical form', async () => {
    const list = await on.list();
    expect((await on.contact(list, 'ann@bücher.example')).email).toBe('ann@xn--bcher-kva.example');
    const again = await on.call('POST', `/email-lists/${list}/contacts`, { email: 'ann@BÜCHER.example' });
    expect(again.body.duplicate).toBe(true);
  });

  test('is 503 while the DNS says nothing', async () => {
    const list = await on.list();
    const refused = await on.call('POST', `/email-lists/${list}/contacts`, { email: 'ann@dead.example' });
    expect(refused.status).toBe(503);
    expect(refused.headers.get('Retry-After')).toBe('10');
    expect(await countersOf(list)).toEqual({ contacts_count: 0, active_count: 0 });
  });

  test('names every field that does not fit', async () => {
    const list = await on.list();
    const refused = await on.call('POST', `/email-lists/${list}/contacts`, {
      email: 'ann@example.com',
      consent_basis: 'because',
      source_platform: 'My Shop',
      tags: ['', 'x'.repeat(101)],
      custom: { deep: { a: 1 }, list: [], ['n'.repeat(101)]: 1, huge: 2 ** 60 },
    });
    expect(refused.status).toBe(422);
    expect(Object.keys(refused.body.errors as object).sort()).toEqual(
      [
        'consent_basis',
        `custom.${'n'.repeat(100)}`,
        'custom.deep',
        'custom.huge',
        'custom.list',
        'source_platform',
        'tags.0',
        'tags.1',
      ].sort(),
    );
  });

  test('is refused on an archived list, which goes on being read and edited', async () => {
    const list = await on.list();
    const contact = await on.contact(list, 'kept@example.com');
    await on.call('PATCH', `/email-lists/${list}`, { archived: true });
    const refused = await on.call('POST', `/email-lists/${list}/contacts`, { email: 'new@example.com' });
    expect({ status: refused.status, code: refused.body.code }).toEqual({
      status: 409,
      code: 'list_archived',
    });
    const changed = await on.call('PATCH', `/email-contacts/${contact.id}`, { first_name: 'Kim' });
    expect(dataOf(changed).first_name).toBe('Kim');
  });
});

describe('lists of contacts', () => {
  const emails = (rows: Record<string, unknown>[]) => rows.map((row) => row.email);
  let list: string;
  beforeAll(async () => {
    list = await on.list();
    await on.contact(list, 'anna@example.com', { first_name: 'Zoe', tags: ['a'] });
    await on.contact(list, 'bob@example.com', { last_name: 'Annan', tags: ['a', 'b'] });
    await on.contact(list, 'carl@example.com', { first_name: 'anne-marie', tags: ['b'] });
    const dora = await on.contact(list, 'dora@example.com', { tags: ['a'] });
    await on.call('POST', `/email-contacts/${dora.id}/unsubscribe`);
  });

  test.each([
    ['', ['dora', 'carl', 'bob', 'anna']],
    ['?status=active', ['carl', 'bob', 'anna']],
    ['?status=unsubscribed', ['dora']],
    ['?tag=a', ['dora', 'bob', 'anna']],
    ['?tag=a&status=active', ['bob', 'anna']],
    ['?tag=none', []],
    ['?q=ann', ['carl', 'bob', 'anna']],
    ['?q=ANN&tag=a', ['bob', 'anna']],
    ['?q=ann&tag=a&status=unsubscribed', []],
    ['?q=ann%25', []],
    ['?q=_nn', []],
    ['?q=', ['dora', 'carl', 'bob', 'anna']],
    ['?tag=a&per_page=1&page=2', ['bob']],
  ])('%s', async (query, expected) => {
    const answer = await on.call('GET', `/email-lists/${list}/contacts${query}`);
    expect(emails(rowsOf(answer))).toEqual(expected.map((name) => `${name}@example.com`));
    const meta = answer.body.meta as { total: number; per_page: number };
    if (meta.per_page > 1) expect(meta.total).toBe(expected.length);
    else expect(meta.total).toBe(3);
  });

  test('an unknown status is refused', async () => {
    expect((await on.call('GET', `/email-lists/${list}/contacts?status=gone`)).status).toBe(422);
  });
});

describe('changing a contact', () => {
  test('replaces tags and custom fields, clears with null, and leaves status and evidence alone', async () => {
    const list = await on.list();
    const made = await on.contact(list, 'edit@example.com', {
      tags: ['a', 'b'],
      custom: { x: 1 },
      source: 's',
    });
    const changed = dataOf(
      await on.call('PATCH', `/email-contacts/${made.id}`, {
        tags: ['b', 'c'],
        custom: { y: 2 },
        source: null,
        last_name: 'Lee',
        status: 'complained',
        consent_basis: 'contract',
        email: 'other@example.com',
      }),
    );
    expect(changed).toEqual({
      ...made,
      tags: ['b', 'c'],
      custom: { y: 2 },
      source: null,
      last_name: 'Lee',
      updated_at: changed.updated_at,
    });
    const tagged = await on.call('GET', `/email-lists/${list}/contacts?tag=a`);
    expect(rowsOf(tagged)).toEqual([]);
  });
});

describe('tagging many', () => {
  test('by ids, by filter and in pieces, counting those that changed', async () => {
    const list = await on.list();
    const text = Array.from({ length: 450 }, (_, n) => `bulk${n}@example.com`).join('\n');
    await on.call('POST', `/email-lists/${list}/imports`, { method: 'paste', text });
    const bulk = (body: Record<string, unknown>) =>
      on.call('POST', `/email-lists/${list}/contacts/bulk-tag`, body);
    expect(dataOf(await bulk({ filter: {}, add: ['all'] }))).toEqual({ changed: 450 });
    expect(dataOf(await bulk({ filter: {}, add: ['all'] }))).toEqual({ changed: 0 });
    expect(dataOf(await bulk({ filter: { q: 'bulk1' }, add: ['ones'] }))).toEqual({ changed: 111 });
    expect(dataOf(await bulk({ filter: { tag: 'ones' }, add: ['first'], remove: ['all', 'ones'] }))).toEqual({
      changed: 111,
    });
    const total = async (tag: string) => {
      const { body } = await on.call('GET', `/email-lists/${list}/contacts?tag=${tag}`);
      return (body.meta as { total: number }).total;
    };
    expect([await total('all'), await total('ones'), await total('first')]).toEqual([339, 0, 111]);
    const [one] = rowsOf(await on.call('GET', `/email-lists/${list}/contacts`));
    expect(dataOf(await bulk({ contact_ids: [one?.id], add: ['single'] }))).toEqual({ changed: 1 });
  });

  test('refuses ids of another list, both selections, none, and no tags', async () => {
    const list = await on.list();
    const other = await on.contact(await on.list(), 'elsewhere@example.com');
    const bulk = async (body: Record<string, unknown>) => {
      const answer = await on.call('POST', `/email-lists/${list}/contacts/bulk-tag`, body);
      return { status: answer.status, fields: Object.keys((answer.body.errors ?? {}) as object) };
    };
    expect(await bulk({ contact_ids: [other.id], add: ['x'] })).toEqual({
      status: 422,
      fields: ['contact_ids.0'],
    });
    const own = await on.contact(list, 'own@example.com');
    expect(await bulk({ contact_ids: [own.id], filter: {}, add: ['x'] })).toEqual({
      status: 422,
      fields: ['filter'],
    });
    expect(await bulk({ add: ['x'] })).toEqual({ status: 422, fields: ['contact_ids'] });
    expect(await bulk({ filter: {} })).toEqual({ status: 422, fields: ['add'] });
    expect(await bulk({ filter: {}, add: ['x'], remove: ['x'] })).toEqual({
      status: 422,
      fields: ['remove'],
    });
    expect(dataOf(await on.call('GET', `/email-contacts/${other.id}`)).tags).toEqual([]);
  });
});

describe('leaving', () => {
  test('takes the address out of every list of the project, and of no other project', async () => {
    const [first, second] = [await on.list(), await on.list()];
    const contact = await on.contact(first, 'leave@example.com');
    const sibling = await on.contact(second, 'leave@example.com');
    const stranger = await makeProject(on.app, 'other');
    const key = await stranger.key({ can_manage_email_marketing: true });
    const foreign = await on.app.call('POST', '/api/v1/email-lists', {
      key,
      body: { name: 'Theirs', default_consent_basis: 'consent' },
    });
    const theirs = await on.app.call('POST', `/api/v1/email-lists/${dataOf(foreign, 201).id}/contacts`, {
      key,
      body: { email: 'leave@example.com' },
    });
    expect(dataOf(await on.call('POST', `/email-contacts/${contact.id}/unsubscribe`)).status).toBe(
      'unsubscribed',
    );
    expect(dataOf(await on.call('GET', `/email-contacts/${sibling.id}`)).status).toBe('unsubscribed');
    const untouched = await on.app.call('GET', `/api/v1/email-contacts/${dataOf(theirs, 201).id}`, { key });
    expect(dataOf(untouched).status).toBe('active');
    expect(await countersOf(second)).toEqual({ contacts_count: 1, active_count: 0 });
    expect(dataOf(await on.call('GET', `/email-lists/${second}`)).status_counts).toEqual({ unsubscribed: 1 });
    const found = rowsOf(await on.call('GET', '/email-suppressions?email=LEAVE@example.com'));
    expect(found).toMatchObject([{ kind: 'unsubscribed' }]);
    expect(dataOf(await on.call('POST', `/email-contacts/${contact.id}/unsubscribe`)).status).toBe(
      'unsubscribed',
    );
    expect((await on.call('GET', '/email-suppressions?email=leave@example.com')).body.data).toEqual(found);
    expect((await on.app.call('GET', `/api/v1/email-contacts/${contact.id}`, { key })).status).toBe(404);
  });

  test('the why of a contact is that of its address, over HTTP as by command, and of its own project only', async () => {
    const list = await on.list({ name: 'Readers' });
    const { id } = await on.contact(list, 'told@example.com', {
      consent_origin: 'https://shop.example.com/',
    });
    await on.call('POST', '/email-suppressions', { email: 'told@example.com' });
    const { services } = on.app;
    const told = dataOf(await on.mirror('GET', `/email-contacts/${id}/why`));
    const owner = services.projects.require(on.project.slug);
    const why = await services.privacy.explain(owner, 'told@example.com');
    expect(told).toEqual({ address: 'told@example.com', why });
    expect(why[0]).toContain('suppressed (manual)');
    expect(why[1]).toContain('On the list Readers it is active');
    const { token } = await services.tokens.create(actor, {
      ...{ name: 'stranger', all_projects: false, projects: ['other'], capabilities: [] },
    });
    const foreign = `/api/public/v1/projects/other/email-contacts/${id}/why`;
    expect((await on.app.call('GET', foreign, { token })).status).toBe(404);
  });

  test('a suppression by hand leaves the status, and keeps the address off every list', async () => {
    const list = await on.list();
    const contact = await on.contact(list, 'by-hand@example.com');
    const added = await on.call('POST', '/email-suppressions', { email: 'By-Hand@example.com' });
    expect(dataOf(added, 201)).toMatchObject({ kind: 'manual' });
    expect(JSON.stringify(added.body)).not.toContain('by-hand');
    expect(dataOf(await on.call('GET', `/email-contacts/${contact.id}`)).status).toBe('active');
    const again = await on.call('POST', '/email-suppressions', { email: 'by-hand@example.com' });
    expect({ status: again.status, duplicate: again.body.duplicate }).toEqual({
      status: 200,
      duplicate: true,
    });
    const refused = await on.call('POST', `/email-lists/${await on.list()}/contacts`, {
      email: 'by-hand@example.com',
    });
    expect(refused.body.code).toBe('suppressed');
  });
});
