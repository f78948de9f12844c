/** The paths of email marketing on both planes: the same answers in two envelopes, and who is refused on which. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { type Answer, actor, makeProject } from '../../support/helpers.ts';
import { dataOf, type MarketingApp, startMarketingApp } from './setup.ts';

let on: MarketingApp;
let list: string;
let contact: string;
let paste: string;

beforeAll(async () => {
  on = await startMarketingApp();
  list = await on.list();
  contact = String((await on.contact(list, 'ann@example.com')).id);
  const imported = await on.call('POST', `/email-lists/${list}/imports`, {
    method: 'paste',
    text: 'nonsense\nbob@example.com',
  });
  paste = String(dataOf(imported, 201).id);
});

/** Every path, with a body that works as often as it is sent. */
const paths = (): [string, string, unknown?][] => [
  ['GET', '/email-lists'],
  ['POST', '/email-lists', { name: 'N' }],
  ['GET', `/email-lists/${list}`],
  ['PATCH', `/email-lists/${list}`, { description: 'd' }],
  ['GET', `/email-lists/${list}/contacts`],
  ['GET', `/email-lists/${list}/imports`],
  ['POST', `/email-lists/${list}/contacts`, { email: 'ann@example.com' }],
  ['POST', `/email-lists/${list}/contacts/bulk-tag`, { filter: {}, remove: ['none'] }],
  ['POST', `/email-lists/${list}/imports`, { method: 'paste', text: 'bob@example.com' }],
  ['GET', `/email-contacts/${contact}`],
  ['PATCH', `/email-contacts/${contact}`, { first_name: 'Ann' }],
  ['POST', `/email-contacts/${contact}/unsubscribe`],
  ['GET', `/email-imports/${paste}`],
  ['GET', '/email-suppressions'],
  ['POST', '/email-suppressions', { email: 'ann@example.com' }],
  ['GET', '/email-marketing/settings'],
  ['PATCH', '/email-marketing/settings', { from_name: 'S' }],
];

const CHANGING = [
  'lacks',
  'id',
  'created_at',
  'updated_at',
  'finished_at',
  'started_at',
  'job_id',
  'accounts',
  'rows_per_minute',
];
/** `rows_per_minute` is the plane's own: a key's imports have a limit, a person's go as fast as the machine lets them. */
const steady = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value, (name, inner) => (CHANGING.includes(name) ? undefined : inner)));

const rows = (): string =>
  JSON.stringify(
    [
      'contact_lists',
      'contacts',
      'contact_tags',
      'suppressions',
      'contact_imports',
      'marketing_settings',
    ].map((table) => on.app.services.database.read.all(sql.raw(`SELECT * FROM ${table}`))),
  );

test('every path answers the same data on both planes, each in its envelope', async () => {
  for (const [method, path, body] of paths()) {
    const keyed = await on.call(method, path, body);
    const mirrored = await on.mirror(method, path, body);
    expect([path, mirrored.status]).toEqual([path, keyed.status]);
    expect(keyed.status).toBeLessThan(300);
    expect(keyed.body.success).toBe(true);
    expect(mirrored.body).not.toHaveProperty('success');
    const { success: _success, message: _message, ...shown } = keyed.body;
    const { message: _mirrored, ...told } = mirrored.body;
    if (method === 'GET' && path === '/email-lists')
      expect(Object.keys(told)).toEqual(Object.keys(shown)); // The POSTs before made one list each.
    else expect([path, steady(told)]).toEqual([path, steady(shown)]);
  }
  const csv = await on.mirror('GET', `/email-imports/${paste}/rejected`);
  expect([csv.status, csv.text]).toEqual([200, 'row_number,email,reason\n1,nonsense,invalid_syntax\n']);
});

test('a known contact is a duplicate beside data, on both planes', async () => {
  for (const call of [on.call, on.mirror]) {
    const answer = await call('POST', `/email-lists/${list}/contacts`, { email: 'bob@example.com' });
    expect([answer.status, answer.body.duplicate]).toEqual([200, true]);
    expect(dataOf(answer)).toMatchObject({ email: 'bob@example.com' });
  }
});

describe('a refusal keeps its lower-case code:', () => {
  const refused = async (path: string, body: unknown, status: number, code: string): Promise<void> => {
    const keyed = await on.call('POST', path, body);
    expect([keyed.status, keyed.body.success, keyed.body.code]).toEqual([status, false, code]);
    const mirrored = await on.mirror('POST', path, body);
    expect([mirrored.status, mirrored.body.error]).toEqual([status, expect.objectContaining({ code })]);
    expect((mirrored.body.error as { message: string }).message).toBe(String(keyed.body.message));
  };

  for (const [code, email] of [
    ['invalid_syntax', 'nonsense'],
    ['suppressed', 'ann@example.com'],
    ['no_mx', 'x@null-mx.example'],
  ] as const)
    test(code, async () => {
      await on.call('POST', '/email-suppressions', { email: 'ann@example.com' });
      await refused(`/email-lists/${list}/contacts`, { email }, 422, code);
    });

  test('missing_consent', async () => {
    const bare = await on.list({ default_consent_basis: null });
    await refused(`/email-lists/${bare}/contacts`, { email: 'x@example.com' }, 422, 'missing_consent');
  });

  test('list_archived', async () => {
    const old = await on.list({ name: 'Old' });
    await on.call('PATCH', `/email-lists/${old}`, { archived: true });
    await refused(`/email-lists/${old}/contacts`, { email: 'x@example.com' }, 409, 'list_archived');
    await refused(
      `/email-lists/${old}/imports`,
      { method: 'paste', text: 'x@example.com' },
      409,
      'list_archived',
    );
  });
});

describe('is refused on every path, and changes nothing:', () => {
  const refuseAll = async (
    status: number,
    call: (method: string, path: string, body: unknown) => Promise<Answer>,
  ): Promise<void> => {
    const before = rows();
    for (const [method, path, body] of paths()) {
      const answer = await call(method, path, body);
      expect([method, path, answer.status]).toEqual([method, path, status]);
    }
    expect(rows()).toBe(before);
  };
  const withKey =
    (key: string, headers: Record<string, string> = {}) =>
    (method: string, path: string, body: unknown) =>
      on.app.call(method, `/api/v1${path}`, { key, headers, ...(body === undefined ? {} : { body }) });

  test('a browser', () => refuseAll(403, withKey(on.key, { Origin: 'https://shop.example.com' })));

  test('a browser with the key of a form, from its own page', async () => {
    const { keys, origins, projects } = on.app.services;
    const { id, plaintext_key } = await keys.create(actor, projects.require('shop'), {
      name: 'form',
      can_manage_email_marketing: true,
      restricted: true,
    });
    const value = 'https://shop.example.com';
    await origins.add(actor, keys.require(String(id)), { type: 'domain', value });
    await refuseAll(403, withKey(plaintext_key, { Origin: value }));
    await refuseAll(403, withKey(plaintext_key));
  });

  test('a key that may do everything else', async () => {
    const key = await on.project.key({
      can_read: true,
      can_write: true,
      can_send_emails: true,
      permissions: { email_template: true, captcha: true },
    });
    await refuseAll(403, withKey(key));
  });

  test('a token of another project', async () => {
    await makeProject(on.app, 'other');
    const { token } = await on.app.services.tokens.create(actor, {
      name: 'other',
      all_projects: false,
      projects: ['other'],
      capabilities: [],
    });
    await refuseAll(404, (method, path, body) =>
      on.app.call(method, `/api/public/v1/projects/shop${path}`, {
        token,
        ...(body === undefined ? {} : { body }),
      }),
    );
  });
});

test('what belongs to another project is not found, on both planes and by whatever path', async () => {
  const other = await makeProject(on.app, 'foreign');
  const key = await other.key({ can_manage_email_marketing: true });
  const { token } = await on.app.services.tokens.create(actor, {
    name: 'all',
    all_projects: true,
    projects: [],
    capabilities: [],
  });
  const before = rows();
  for (const [method, path, body] of paths()) {
    if (!/[0-9A-Z]{26}/.test(path)) continue;
    const sent = body === undefined ? {} : { body };
    const keyed = await on.app.call(method, `/api/v1${path}`, { key, ...sent });
    const mirrored = await on.app.call(method, `/api/public/v1/projects/foreign${path}`, { token, ...sent });
    expect([path, keyed.status, mirrored.status]).toEqual([path, 404, 404]);
  }
  expect(rows()).toBe(before);
});
