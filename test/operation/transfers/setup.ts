/** A project that has a row in every table that goes, another Satchel, and what the file of a project says. */
import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { emailLife } from '../../../src/mail/emails/service.ts';
import { openAbout, ProjectReader } from '../../../src/operation/transfers/format.ts';
import { NUMBERED } from '../../../src/operation/transfers/inventory-tables.ts';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import { deriveMasterKey } from '../../../src/platform/secrets/master-key-source.ts';
import { type BroadcastApp, startBroadcastApp } from '../../marketing/broadcasts/setup.ts';
import { dataOf } from '../../marketing/settings/setup.ts';
import { sql, upload, uploadFile } from '../../support/deployment.ts';
import { actor, makeProject, type TestApp, type TestAppOptions } from '../../support/helpers.ts';
import { makeTempDir } from '../../support/temp.ts';

export const PASSPHRASE = 'correct horse battery staple';
const quiet = (): void => {};

export interface Filled extends BroadcastApp {
  ids: Record<string, string>;
  /** An address of a mail that was sent. */
  links: { clicked: string; unsubscribe: string; file: string };
  plain_key: string;
  token: string;
}

/** A Satchel whose project `shop` has everything: some of it at work, some waiting. */
export async function startFilled(options: TestAppOptions = {}): Promise<Filled> {
  const on = await startBroadcastApp(options);
  const { app, project } = on;
  const { services } = app;
  const owner = services.projects.require('shop');
  const fields = { can_read: true, can_write: true, can_send_emails: true, can_manage_email_marketing: true };
  const plain_key = await project.key(fields);
  const post = async (path: string, body: unknown, headers = {}): Promise<Record<string, unknown>> => {
    const answer = await app.call('POST', `/api/v1${path}`, { key: plain_key, body, headers });
    if (answer.status >= 300) throw new Error(answer.text);
    return answer.body;
  };
  await services.sending_domains.add(actor, { name: 'spare.example.com', is_trusted: true });
  await services.projects.update(actor, owner, {
    sending_domain: 'news.example.com',
    sending_domains: ['spare.example.com', 'news.example.com'],
  });
  // Somebody else's rows come between, so that numbers differ from those where it arrives.
  const other = await makeProject(app, 'other');
  await upload(app, await other.key(), 'of another');

  const object = await uploadFile(app, plain_key, 'bytes of the shop');
  const { url: link } = await post(`/objects/${object}/links`, { expires_in_seconds: 600_000 });
  const pinned = await upload(app, plain_key, 'attached');
  const { token } = await services.tokens.create(actor, {
    ...{ name: 'vault', all_projects: false, projects: ['shop'] },
    capabilities: ['can_read_vault', 'can_reveal_vault', 'can_write_vault'],
  });
  const vault = '/api/public/v1/projects/shop/vault';
  await app.call('PUT', `${vault}/captcha`, {
    token,
    body: { values: { site_key: 's', secret_key: 'canary-hidden' } },
  });
  await app.call('POST', `${vault}/reveal`, { token });
  // Of an environment: a value, the one before, and what is said about it.
  const environments = '/api/public/v1/projects/shop/environments';
  await app.call('POST', environments, { token, body: { name: 'staging', inherits: true } });
  const about = { secret_key: { expires_at: '2040-01-31', note: 'Ann renews it' } };
  for (const secret_key of ['canary-past', 'canary-staging']) {
    const body = { values: { secret_key }, about };
    await app.call('PUT', `${vault}/stripe?environment=staging`, { token, body });
  }

  const mail = { subject: 'Hello', body_text: 'Text' };
  const sent = await post('/emails/send', { to: 'ann@example.com', ...mail }, { 'Idempotency-Key': 'once' });
  const called = await app.call('POST', '/v3/news.example.com/messages', {
    headers: {
      Authorization: `Basic ${btoa(`api:${plain_key}`)}`,
      'Content-Type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({
      ...{
        from: 'hello@news.example.com',
        to: 'ann@example.com',
        'recipient-variables': '{}',
        ...mail,
        text: 'Text',
      },
    }).toString(),
  });
  if (called.status !== 200) throw new Error(called.text);
  await on.pass();
  const later = await post('/emails/send', {
    ...{ to: 'bob@example.com', ...mail, attachments: [pinned] },
    scheduled_at: '2030-03-01T00:00:00Z',
  });
  await app.call('DELETE', `/api/v1/objects/${pinned}`, { key: plain_key });
  const schedule = await post('/email-schedules', {
    ...{ name: 'daily', recipients: [{ email: 'ann@example.com' }], cron_expression: '@daily', ...mail },
  });

  await on.setTemplate('news', { body_html: '<p><a href="https://shop.example.com/new">New</a></p>' });
  const list = await on.list({
    signed_up_url: 'https://shop.example/next',
    confirmed_url: 'https://shop.example/done',
  });
  const utm = { source: 'news' };
  const ann = await on.contact(list, 'ann@example.com', { first_name: 'Ann', tags: ['vip'] });
  await on.contact(list, 'bob@example.com');
  dataOf(await on.call('POST', '/email-suppressions', { email: 'left@example.com' }), 201);
  const sequence = await on.active(
    list,
    [
      { key: 'a', template: 'news' },
      { key: 'b', template: 'news', delay_hours: 24, is_final: true },
    ],
    { utm },
  );
  await on.enroll(sequence);
  await on.pass();
  const broadcast = await on.broadcast(list, { utm });
  await on.send(broadcast);
  const kept = await on.call('POST', '/email-segments', {
    name: 'All',
    list,
    filter: { received: broadcast },
  });
  const segment = String(dataOf(kept, 201).id);
  const planned = await on.broadcast(list, { name: 'July', segment });
  dataOf(await on.post(planned, 'send', { send_at: '2030-02-01T00:00:00Z' }), 202);
  const ab = { variants: [{ name: 'A' }, { name: 'B' }], share: 50, decide_by: 'manual' };
  const testing = await on.broadcast(list, { name: 'May', ab });
  await on.send(testing);
  const pasted = await on.call('POST', `/email-lists/${list}/imports`, {
    method: 'paste',
    text: 'nobody\ncy@example.com',
  });
  await on.pass();

  const one = (text: string): string => {
    const sqlite = new Database(join(app.data_dir, 'satchel.db'), { readonly: true });
    const value = sqlite.query(text).values()[0]?.[0];
    sqlite.close();
    return String(value);
  };
  const contact_id = one(`SELECT id FROM contacts WHERE public_id = '${String(ann.id)}'`);
  const broadcast_id = one(`SELECT id FROM broadcasts WHERE public_id = '${broadcast}'`);
  const bulk = one("SELECT id FROM emails WHERE source = 'broadcast' AND to_email = 'ann@example.com'");
  const import_id = String(dataOf(pasted, pasted.status).id);
  const insert = (text: string, ...values: (string | number)[]): void => sql(app.data_dir, text, ...values);
  insert(
    "INSERT INTO contact_confirmations VALUES ('hash', ?, 9999999999999, 0, 1, '192.0.2.1', 'https://a.example', 1, ?)",
    contact_id,
    JSON.stringify({ at: 1, ip: null, origin: 'https://a.example', first_name: 'Ann', last_name: null }),
  );
  insert(
    "INSERT INTO tracking_choices VALUES (?, 'ann@example.com', 'allowed', 1, 'form', '192.0.2.1', NULL)",
    owner.id,
  );
  insert(
    "INSERT INTO sign_ups_of_left SELECT ?, 'hash', id, 1, 'asked', 1 FROM contact_lists LIMIT 1",
    owner.id,
  );
  insert("INSERT INTO addresses_to_forget (project_id, email) VALUES (?, 'gone@example.com')", owner.id);
  insert("INSERT INTO contact_events VALUES (?, 'bought', 1, NULL, 1, 0)", contact_id);
  insert("INSERT INTO contact_import_waiting VALUES (?, 7, '{}')", import_id);
  insert("INSERT INTO contact_import_rejections VALUES (?, 8, 'x', 'no_mx')", import_id);
  const departed = JSON.stringify([{ contact: ann.id, status: 'active', at: 1 }]);
  insert(
    "INSERT INTO suppression_imports SELECT ?, id, 'manual', ? FROM suppressions LIMIT 1",
    ...[import_id, departed],
  );
  insert(
    `INSERT INTO email_reports (email_id, kind, address, words, reported_at, mailbox) VALUES (?, 'delivered', 'ann@example.com', 'ok', 1, 'm')`,
    bulk,
  );
  insert(
    `INSERT INTO email_replies (project_id, email_id, digest, is_automatic, from_email, subject, text, received_at)
     VALUES (?, ?, 'd', 0, 'ann@example.com', 'Re', 'Yes', ?)`,
    owner.id,
    bulk,
    app.clock.now(),
  );
  insert('INSERT INTO email_clicks (email_id, position, at, is_settled) VALUES (?, 1, 5, 1)', bulk);
  insert('INSERT INTO broadcast_links VALUES (?, 1, 1, 2)', broadcast_id);
  insert('INSERT INTO merge_source_names SELECT 4711, min(id) FROM merge_sources');
  insert(
    "INSERT INTO key_origins (api_key_id, type, value, created_at) VALUES (?, 'domain', 'https://a.example', 1)",
    one('SELECT min(id) FROM api_keys'),
  );
  insert("INSERT INTO email_hours VALUES (?, 1, 'failed', 3) ON CONFLICT DO NOTHING", owner.id);
  insert(
    `INSERT INTO webhooks (public_id, project_id, url, sealed_secret, is_active, after_event, created_at, updated_at)
     VALUES ('01J00000000000000000000000', ?, 'https://hooks.example.com/', 'sealed', 1, 0, 1, 1)`,
    owner.id,
  );

  const { read } = services.database;
  const email = emailLife.find(read, bulk);
  const shown = email && services.emails.contentOf(read, email);
  const clicked = /http:\/\/satchel\.test(\/c\/[\w-]+)/.exec(shown?.body_html ?? '')?.[1] ?? '';
  const unsubscribe = /http:\/\/satchel\.test(\/unsubscribe\/[\w-]+)/.exec(JSON.stringify(shown))?.[1] ?? '';
  return {
    ...on,
    plain_key,
    token,
    links: { clicked, unsubscribe, file: String(link).replace('http://satchel.test', '') },
    ids: {
      ...{ object, pinned, sent: String(sent.id), later: String(later.id), schedule: String(schedule.id) },
      ...{ list, ann: String(ann.id), sequence, segment, broadcast, planned, testing, bulk },
    },
  };
}

/** Exports a project of an app to a new file, and returns its path. */
export async function exported(
  app: TestApp,
  how: { is_copy?: boolean; with_store?: boolean; ref?: string } = {},
): Promise<string> {
  const { is_copy = false, with_store = false, ref = 'shop' } = how;
  const file = join(makeTempDir(), 'shop.satchel');
  const project = app.services.projects.require(ref);
  await app.services.transfers.export(project, {
    ...{ file, passphrase: PASSPHRASE, is_copy, with_store, actor, onProgress: quiet },
  });
  return file;
}

export function imported(app: TestApp, file: string, passphrase = PASSPHRASE) {
  return app.services.transfers.import({ file, passphrase, actor, onProgress: quiet });
}

/** Has the next rows of an app get numbers from one on, so that they are none that they had where they come from. */
export function countFrom(app: TestApp, first: number): void {
  for (const table of NUMBERED) {
    sql(app.data_dir, 'DELETE FROM sqlite_sequence WHERE name = ?', table);
    sql(app.data_dir, 'INSERT INTO sqlite_sequence VALUES (?, ?)', table, first);
  }
}

/** What a file holds: rows by table, with numbers as they count from the first of their table, and the hashes of files. */
export async function contentsOf(file: string): Promise<Record<string, string[]>> {
  const { about } = openAbout(file);
  const { salt } = about as { salt: string };
  const reader = new ProjectReader(file, await deriveMasterKey(PASSPHRASE, salt));
  const found: Record<string, string[]> = {};
  let ranges: Record<string, { from: number }> = {};
  for (let entry = await reader.next(); entry; entry = await reader.next()) {
    const chunks: Uint8Array[] = [];
    await reader.read((chunk) => void chunks.push(Uint8Array.from(chunk)));
    const text = Buffer.concat(chunks).toString('utf8');
    if (entry.name === 'project.json') ranges = JSON.parse(text).ranges;
    if (!entry.name.startsWith('rows/')) {
      if (entry.name.startsWith('objects/')) found[entry.name] = [text];
      continue;
    }
    const [head = '', ...lines] = text.trimEnd().split('\n');
    const { table, columns } = JSON.parse(head) as { table: string; columns: string[] };
    const counted = lines.map((line) => {
      const values: unknown[] = JSON.parse(line);
      return JSON.stringify(
        columns.map((column, at) => [column, relative(ranges, table, column, values[at])]),
      );
    });
    found[table] = [...(found[table] ?? []), ...counted];
  }
  reader.close();
  for (const rows of Object.values(found)) rows.sort();
  return found;
}

const NAMES: Record<string, (typeof NUMBERED)[number]> = {
  api_key_id: 'api_keys',
  list_id: 'contact_lists',
  contact_id: 'contacts',
  last_contact_id: 'contacts',
  decided_to: 'contacts',
  sequence_id: 'sequences',
  enrollment_id: 'enrollments',
  segment_id: 'segments',
  broadcast_id: 'broadcasts',
  source_id: 'merge_sources',
};

function relative(
  ranges: Record<string, { from: number }>,
  table: string,
  column: string,
  value: unknown,
): unknown {
  if (column === 'project_id') return 'project';
  const numbered = column === 'id' ? NUMBERED.find((one) => one === table) : NAMES[column];
  if (numbered && typeof value === 'number' && value !== 0) return value - (ranges[numbered]?.from ?? 0);
  if (column === 'target' && typeof value === 'string') return value.replace(/^(api_key|project):\d+$/, '$1');
  if (column === 'actor_id' || column === 'lane') return typeof value;
  if (column === 'merge' && typeof value === 'string') {
    const { s, c, ...more } = JSON.parse(value);
    return [
      Number(s) - (ranges.merge_sources?.from ?? 0),
      c === null ? c : Number(c) - (ranges.contacts?.from ?? 0),
      more,
    ];
  }
  if (column === 'caller') return String(value).replace(/\d+/, '');
  if (column === 'payload' && typeof value === 'string') {
    const payload: unknown = JSON.parse(value);
    return isPlainObject(payload)
      ? Object.entries(payload).map(([name, one]) => [name, relative(ranges, '', name, one)])
      : payload;
  }
  return value;
}
