/** Lists with contacts, imports and suppressions, as weeks of email marketing leave them. */

import { dataOf } from '../marketing/settings/setup.ts';
import { actor, type TestApp } from '../support/helpers.ts';

export interface MarketingSample {
  list: string;
  contact: string;
  hostile_contact: string;
  segment: string;
  import: string;
}

export interface ImportsSample {
  running_import: string;
  failed_import: string;
}

const NAMES = ['Ada', 'Ben', 'Cleo', 'Dora', 'Emil', 'Fay', 'Gus', 'Hana', 'Ivo', 'June', 'Kai', 'Lea'];

/** `key`: one of the project that may manage email marketing. */
export async function addMarketing(app: TestApp, key: string, hostile: string): Promise<MarketingSample> {
  const post = async (path: string, body: unknown): Promise<Record<string, unknown>> => {
    const answer = await app.call('POST', `/api/v1${path}`, { key, body });
    return dataOf(answer, answer.status < 300 ? answer.status : 201);
  };
  const patch = (path: string, body: unknown) => app.call('PATCH', `/api/v1${path}`, { key, body });

  await app.services.mailboxes.add(actor, {
    ...{ address: 'news@mail.example.com', relay: null, daily_limit: null, return_path: null },
    ...{ for_transactional: false, for_marketing: true },
  });
  const old = await post('/email-lists', { name: 'Christmas 2029' });
  await patch(`/email-lists/${old.id}`, { archived: true });
  await post('/email-lists', { name: hostile, description: hostile });
  const { id } = await post('/email-lists', {
    ...{ name: 'Newsletter', description: 'Once a month: what is new in the shop.' },
    ...{ default_consent_basis: 'consent', token_hosts: ['shop.example.com'] },
  });
  const list = String(id);
  await post('/email-suppressions', { email: 'left@example.org' });
  const text = [
    ...NAMES.flatMap((first) =>
      ['Adler', 'Brook', 'Clay'].map((last) => `${first} ${last} <${first}.${last}@example.org>`),
    ),
    ...[
      'left@example.org',
      'nobody',
      '=HYPERLINK("https://evil.example")',
      'Ada Adler <ada.adler@example.org>',
    ],
  ].join('\n');
  const imported = await post(`/email-lists/${list}/imports`, {
    ...{ method: 'paste', text, defaults: { tags: ['fair', 'spring'] } },
  });
  const gone = await post(`/email-lists/${list}/contacts`, { email: 'gone@example.org', first_name: 'Gone' });
  await post(`/email-contacts/${gone.id}/unsubscribe`, {});
  const named = await post(`/email-lists/${list}/contacts`, {
    ...{
      email: 'hostile@example.org',
      first_name: hostile,
      last_name: hostile,
      source: hostile,
      reason: hostile,
    },
    ...{ tags: [hostile.slice(0, 60)], custom: { [hostile.slice(0, 40)]: hostile }, consent_origin: hostile },
  });
  const contact = await post(`/email-lists/${list}/contacts`, {
    ...{ email: 'ann@example.org', first_name: 'Ann', last_name: 'Example', tags: ['customer', 'vip'] },
    ...{
      custom: { plan: 'pro', seats: 12, newsletter: true },
      source: 'Trade fair',
      reason: 'Asked for news',
    },
    ...{ consent_origin: 'https://shop.example.com/sign-up', consent_ip: '203.0.113.7' },
  });
  const segment = await post('/email-segments', {
    list,
    name: hostile,
    filter: {
      tags_any: ['vip', hostile.slice(0, 60)],
      event: { name: 'ordered', within_days: 30 },
      none: [{ tags_any: ['gone'] }],
    },
  });
  await patch('/email-marketing/settings', {
    from_name: 'Corner shop',
    brand_color: '#5753c6',
    daily_cap: 2000,
  });
  return {
    list,
    contact: String(contact.id),
    hostile_contact: String(named.id),
    segment: String(segment.id),
    import: String(imported.id),
  };
}

/** Imports that are under way: they stay so while the clock stands. */
export async function addImports(app: TestApp, key: string): Promise<ImportsSample> {
  const body = { name: 'Trade fair', default_consent_basis: 'consent' };
  const list = String(dataOf(await app.call('POST', '/api/v1/email-lists', { key, body }), 201).id);
  const running_import = await importFile(app, key, list);
  const failed_import = await importFile(app, key, list);
  const { database, imports } = app.services;
  await database.write((tx) => imports.abandon(tx, failed_import));
  return { running_import, failed_import };
}

/** A file too long for the request: its first rows are done at once, the others at the rate of the clock. */
async function importFile(app: TestApp, key: string, list: string): Promise<string> {
  const rows = Array.from({ length: 600 }, (_, n) => `reader${n}@example.org,Reader ${n}`);
  const form = new FormData();
  form.set('visibility', 'private');
  form.set('file', new File([['email,first name', ...rows].join('\n')], 'people.csv', { type: 'text/csv' }));
  const object = (await app.call('POST', '/api/v1/objects', { key, body: form })).body.public_id;
  const body = { method: 'csv', object };
  const started = await app.call('POST', `/api/v1/email-lists/${list}/imports`, { key, body });
  await app.app.engine.whenIdle();
  return String(dataOf(started, 202).id);
}
