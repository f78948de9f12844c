/** The verbs of lists, contacts, suppressions and imports, and what they leave behind. */

import { beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lockDirectory } from '../../../src/platform/host/directory-lock.ts';
import { run, runJson, runRecord, runWith } from '../../support/command.ts';
import { addCapturingMailbox } from '../../support/helpers.ts';
import { makeTempDir } from '../../support/temp.ts';
import { dataOf, type MarketingApp, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
let dir: string;
let list: string;

beforeAll(async () => {
  on = await startMarketingApp();
  await addCapturingMailbox(on.app);
  dir = on.app.data_dir;
  const made = await runRecord(
    dir,
    'list',
    'create',
    '--project',
    'shop',
    '--name',
    'News',
    '--basis',
    'consent',
  );
  list = String(made.id);
});

describe('lists', () => {
  test('are made, listed, shown and archived', async () => {
    const other = await runRecord(
      dir,
      'list',
      'create',
      '--project',
      'shop',
      '--name',
      'Old',
      '--token-hosts',
      'a.example,b.example',
    );
    expect(other).toMatchObject({
      name: 'Old',
      token_hosts: ['a.example', 'b.example'],
      double_opt_in: false,
    });
    const refused = await run(dir, 'list', 'archive', String(other.id));
    expect({ exit: refused.exit, words: refused.stderr }).toMatchObject({
      exit: 1,
      words: expect.stringContaining('0 contacts stay'),
    });
    expect(await runRecord(dir, 'list', 'archive', String(other.id), '--yes')).toMatchObject({
      archived: true,
    });
    const names = async (...args: string[]) =>
      ((await runJson(dir, 'list', 'list', '--project', 'shop', ...args)) as { name: string }[]).map(
        (one) => one.name,
      );
    expect(await names()).toEqual(['News']);
    expect(await names('--archived')).toEqual(['Old', 'News']);
    expect(await runRecord(dir, 'list', 'show', list)).toMatchObject({ id: list, contacts_count: 0 });
    const unknown = await run(dir, 'list', 'show', '01ARZ3NDEKTSV4RRFFQ69G5FAV');
    expect(unknown.exit).toBe(1);
    expect(unknown.stderr).toContain('satchel list list');
    expect(
      (await run(dir, 'list', 'create', '--project', 'shop', '--name', 'X', '--basis', 'hope')).exit,
    ).toBe(2);
  });
});

describe('contacts', () => {
  test('are listed, shown, unsubscribed, and the suppression lifted again', async () => {
    const contact = await on.contact(list, 'cli@example.com', { tags: ['vip'] });
    const listed = (await runJson(
      dir,
      'contact',
      'list',
      '--list',
      list,
      '--tag',
      'vip',
      '--search',
      'cli',
    )) as object[];
    expect(listed).toEqual([contact]);
    expect(await runRecord(dir, 'contact', 'show', String(contact.id))).toEqual(contact);
    expect(await runRecord(dir, 'contact', 'unsubscribe', String(contact.id))).toMatchObject({
      status: 'unsubscribed',
    });
    const found = await runJson(
      dir,
      'suppression',
      'list',
      '--project',
      'shop',
      '--address',
      'CLI@example.com',
    );
    expect(found).toMatchObject([{ kind: 'unsubscribed' }]);
    const refused = await run(dir, 'suppression', 'remove', 'cli@example.com', '--project', 'shop');
    expect({ exit: refused.exit, words: refused.stderr }).toMatchObject({
      exit: 1,
      words: expect.stringContaining('unsubscribed'),
    });
    await runRecord(dir, 'suppression', 'remove', 'cli@example.com', '--project', 'shop', '--yes');
    expect(
      await runJson(dir, 'suppression', 'list', '--project', 'shop', '--address', 'cli@example.com'),
    ).toEqual([]);
    expect(
      await runRecord(dir, 'suppression', 'add', 'other@example.com', '--project', 'shop'),
    ).toMatchObject({ kind: 'manual' });
    const audit = (await runJson(
      dir,
      'audit',
      'list',
      '--project',
      'shop',
      '--event',
      'suppression.lifted',
    )) as object[];
    expect(audit).toHaveLength(1);
    expect(JSON.stringify(audit)).not.toContain('cli@example.com');
  });

  test('why tells what is known, export everything, and forget leaves the suppression alone', async () => {
    await on.contact(list, 'person@example.com', { first_name: 'Pat', reason: 'asked at the fair' });
    const key = await on.project.key({ can_send_emails: true, can_read: true });
    const send = (to: string, fields: Record<string, unknown> = {}) =>
      on.app.call('POST', '/api/v1/emails/send', {
        key,
        body: { to, subject: 'Secret subject', body_text: 'Dear Pat', ...fields },
      });
    const sent = await send('Person@example.com');
    const waiting = await send('person@example.com', { scheduled_at: '2031-01-01T00:00:00Z' });
    const copied = await send('else@example.com', { cc: ['person@example.com'] });
    const unrelated = await send('else@example.com');
    await on.app.app.engine.whenIdle();
    await on.call('POST', `/email-lists/${list}/imports`, {
      method: 'paste',
      text: 'person@example.com',
      defaults: { consent_basis: 'consent' },
    });
    await on.call('POST', '/email-suppressions', { email: 'person@example.com' });
    const why = await run(dir, 'contact', 'why', 'person@example.com', '--project', 'shop');
    expect(why.stdout).toContain('suppressed (manual)');
    expect(why.stdout).toContain('On the list News it is active');
    const held = await runRecord(dir, 'contact', 'export', 'Person@Example.com', '--project', 'shop');
    expect(held).toMatchObject({
      email: 'person@example.com',
      contacts: [{ first_name: 'Pat', list_name: 'News' }],
      suppression: { kind: 'manual' },
    });
    expect((held.emails as { id: string }[]).map(({ id }) => id).sort()).toEqual(
      [sent.body.id, waiting.body.id, copied.body.id].map(String).sort(),
    );
    const refused = await run(dir, 'contact', 'forget', 'person@example.com', '--project', 'shop');
    expect(refused.stderr).toContain('deletes, for good, 1 contacts, 3 emails; a suppression');
    expect(await runRecord(dir, 'contact', 'export', 'person@example.com', '--project', 'shop')).toEqual(
      held,
    );
    await runRecord(dir, 'contact', 'forget', 'person@example.com', '--project', 'shop', '--yes');
    const left = await runRecord(dir, 'contact', 'export', 'person@example.com', '--project', 'shop');
    expect(left).toMatchObject({
      contacts: [],
      emails: [],
      import_rows: [],
      sign_ups: [],
      suppression: { kind: 'manual' },
    });
    const log = await on.app.call('GET', `/api/v1/emails/${sent.body.id}`, { key });
    expect(log.body).toMatchObject({ status: 'sent', to: '', subject: '' });
    const canceled = await on.app.call('GET', `/api/v1/emails/${waiting.body.id}`, { key });
    expect(canceled.body).toMatchObject({ status: 'canceled', to: '' });
    const kept = await on.app.call('GET', `/api/v1/emails/${unrelated.body.id}`, { key });
    expect(kept.body).toMatchObject({ to: 'else@example.com', subject: 'Secret subject' });
    const rows = on.app.services.database.read.$client;
    for (const table of [
      'emails',
      'email_bodies',
      'email_attempts',
      'captured_messages',
      'contacts',
      'jobs',
      'audit_events',
    ]) {
      const text = JSON.stringify(rows.query(`SELECT * FROM ${table}`).all(), (_, value) =>
        value instanceof Uint8Array ? Buffer.from(value).toString() : value,
      ).toLowerCase();
      expect({ table, holds: text.includes('person@example.com') }).toEqual({ table, holds: false });
    }
    expect((await run(dir, 'contact', 'why', 'no address', '--project', 'shop')).exit).toBe(1);
  });
});

describe('imports', () => {
  test('start takes a file, show tells how it stands, and the file is a private object that expires', async () => {
    // The command has the time of day, and whichever of the two takes the import must find its file unexpired.
    on.app.clock.at_ms = Date.now();
    const target = await on.list({ default_consent_basis: null });
    const file = join(makeTempDir(), 'people.csv');
    writeFileSync(file, 'Mail,Vorname,Plan\nimp1@example.com,Ann,pro\nnobody,X,\n');
    const started = await runWith(
      { SATCHEL_DATA_DIR: dir, SATCHEL_DNS_SERVERS: on.dns.address },
      ...['import', 'start', target, file, '--map', 'Mail=email,Vorname=first_name', '--keep', 'Plan'],
      ...['--basis', 'contract', '--tags', 'fair', '--json'],
    );
    const record = JSON.parse(started.stdout);
    expect(record).toMatchObject({ status: 'completed', accepted: 1, invalid_syntax: 1, list: target });
    expect(await runRecord(dir, 'import', 'show', String(record.id))).toEqual(record);
    const [contact] = (await runJson(dir, 'contact', 'list', '--list', target)) as Record<string, unknown>[];
    expect(contact).toMatchObject({
      first_name: 'Ann',
      tags: ['fair'],
      custom: { Plan: 'pro' },
      consent_basis: 'contract',
    });
    const query = 'SELECT original_filename, visibility, expires_at - created_at AS kept_ms FROM objects';
    expect(on.app.services.database.read.$client.query(query).all()).toEqual([
      { original_filename: 'people.csv', visibility: 'private', kept_ms: 30 * 86_400_000 },
    ]);
    expect((await run(dir, 'import', 'start', target, join(makeTempDir(), 'none.csv'))).exit).toBe(1);
    expect((await run(dir, 'import', 'show', String(record.id))).stdout).not.toContain('goes on');
    expect((await run(dir, 'import', 'start', target, file, '--map', 'Mail')).exit).toBe(2);
    expect((await run(dir, 'import', 'resume', String(record.id))).exit).toBe(1);
    expect(dataOf(await on.call('GET', `/email-lists/${target}`)).contacts_count).toBe(1);
  });

  test('a long one says who goes on with it: the server that runs, or the next one', async () => {
    const target = await on.list();
    const file = join(makeTempDir(), 'many.csv');
    const addresses = Array.from({ length: 600 }, (_, n) => `many${n}@example.com\n`);
    writeFileSync(file, `email\n${addresses.join('')}`);
    const start = async () => (await run(dir, 'import', 'start', target, file)).stdout;
    expect(await start()).toContain(`No server serves ${dir}: it goes on once satchel serve does.`);
    const server = lockDirectory(dir, process.pid);
    expect(await start()).toContain('The running server goes on with it.');
    server.release();
    expect(await start()).toContain('No server serves');
  });
});

describe('adding a contact', () => {
  const add = (...args: string[]) =>
    runWith(
      { SATCHEL_DATA_DIR: dir, SATCHEL_DNS_SERVERS: on.dns.address },
      ...['contact', 'add', ...args, '--list', list],
    );

  test('takes all that may be known of somebody, and them once', async () => {
    const { exit, stdout } = await add(
      ...[
        'Zoe@example.com',
        '--first-name',
        'Zoe',
        '--tags',
        'vip,new',
        '--custom',
        'plan=pro',
        '--reason',
        'Fair',
      ],
    );
    const [id = '', what] = stdout.split('\n');
    expect([exit, what]).toEqual([0, 'zoe@example.com is active on News.']);
    expect(await runRecord(dir, 'contact', 'show', id)).toMatchObject({
      ...{ email: 'zoe@example.com', first_name: 'Zoe', tags: ['new', 'vip'], custom: { plan: 'pro' } },
      ...{ source_platform: 'manual', consent_basis: 'consent', reason: 'Fair' },
    });
    const again = await add('zoe@example.com', '--json');
    expect(JSON.parse(again.stdout)).toMatchObject({ id, duplicate: true });
  });

  test.each([
    [['no-address'], /not an email address/],
    [['a@null-mx.example'], /takes no mail/],
    [
      ['a@example.com', '--consent-at', 'then', '--source', 'x'.repeat(600)],
      /--source must.*\n.*--consent-at must/,
    ],
    [['a@example.com', '--tags', 'x'.repeat(101)], /--tags/],
  ])('%p is refused', async (args, message) => {
    const { exit, stderr } = await add(...args);
    expect([exit, stderr]).toEqual([1, expect.stringMatching(message)]);
  });
});
