/** Who left elsewhere leaves here: columns of a status, what their words do, and taking an import back. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recogniseFields } from '../../../src/marketing/imports/headers.ts';
import { standingOf, statusColumnOf } from '../../../src/marketing/imports/statuses.ts';
import { run, runRecord } from '../../support/command.ts';
import { dataOf, type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
let list: string;
const eachOnItsOwn = (): void =>
  beforeEach(async () => {
    on = await startMarketingApp();
    list = await on.list();
  });

async function importCsv(text: string, options: object = {}, into = list) {
  const form = new FormData();
  form.set('file', new Blob([text], { type: 'text/csv' }), 'people.csv');
  const { body } = await on.app.call('POST', '/api/v1/objects', { key: on.key, body: form });
  const asked = { method: 'csv', object: String(body.public_id), ...options };
  return dataOf(await on.call('POST', `/email-lists/${into}/imports`, asked), 201);
}
const person = async (email: string, of = list) =>
  rowsOf(await on.call('GET', `/email-lists/${of}/contacts?q=${encodeURIComponent(email)}`))[0];
const kindOf = async (email: string) =>
  rowsOf(await on.call('GET', `/email-suppressions?email=${encodeURIComponent(email)}`))[0]?.kind;
const takeBack = (id: unknown, ...more: string[]) =>
  run(
    on.app.data_dir,
    'suppression',
    'remove',
    '--project',
    on.project.slug,
    '--import',
    String(id),
    ...more,
  );
const leave = (email: string, kind: 'unsubscribed' | 'hard_bounce' | 'complaint', by: object = {}) =>
  on.app.services.database.write((tx) => on.app.services.contacts.leave(tx, on.project, email, kind, by));

describe('headers that tell a status', () => {
  test.each([
    [
      'state',
      'status Status subscribed subscribed_to_emails email_marketing_status EMAIL_MARKETING opt_in_status OPT_IN',
    ],
    [
      'state',
      'Email·Marketing·Consent Accepts·Email·Marketing Abonniert Statut Abonné Inscrit Estado Suscrito',
    ],
    [
      'unsubscribed',
      'unsubscribed Unsubscribed·at opted_out UNSUB_TIME unsubscription_date Abgemeldet Désabonné Désinscrit Baja',
    ],
    ['hard_bounce', 'bounced CLEAN_TIME Hard·bounced Unzustellbar Rebotado'],
    ['complaint', 'complaint complained spam Marked·as·spam Beschwerde Plainte Queja'],
    ['manual', 'blacklisted blocklisted emailBlacklisted EMAIL_BLACKLISTED Suppressed Gesperrt Bloqueado'],
    ['suppressions', 'Email·Suppressions'],
    [
      null,
      'SMS·Status sms_subscribed SMS_BLACKLISTED Payment·status payment_state DOUBLE_OPT-IN UNSUB_REASON UNSUB_CAMPAIGN_ID',
    ],
    [null, 'Consent·Timestamp CONFIRM_TIME OPTIN_TIME statusbar active __proto__ constructor'],
  ])('%s', (tells, headers) => {
    for (const header of headers.split(' '))
      expect([header, statusColumnOf(header.replaceAll('·', ' '))]).toEqual([header, tells as never]);
  });

  test('are a status each, however many there are, and no field beside it', () => {
    const headers = ['Email', 'Status', 'UNSUB_TIME', 'CLEAN_TIME', 'Payment status'];
    expect(recogniseFields(headers)).toEqual(['email', 'status', 'status', 'status', null]);
  });
});

describe('words', () => {
  const state = (cell: string) => standingOf([{ tells: 'state', cell }]);
  test.each([
    [
      'unsubscribed',
      'Unsubscribed UNSUBSCRIBED cancelled Opted·Out opted-out false FALSE 0 no No Abgemeldet Désabonné FALSCH Nein Faux Baja',
    ],
    ['hard_bounce', 'bounced Cleaned HARD_BOUNCE'],
    ['complaint', 'complained Spam Marked·as·spam SPAM_COMPLAINT'],
    ['manual', 'blocklisted blacklisted Disabled'],
    [null, 'active subscribed SUBSCRIBED confirmed enabled true TRUE 1 yes Aktiv WAHR Ja Abonné Oui Sí'],
  ])('%s', (no, words) => {
    for (const word of words.split(' ').map((one) => one.replaceAll('·', ' ')))
      expect([word, state(word)]).toEqual([word, { no: no as never, unknown: [] }]);
  });

  test('that are neither are told, and nothing is as ever', () => {
    for (const word of ['pending', 'Unconfirmed', 'NEVER_SUBSCRIBED', 'Lead', '✓', '2'])
      expect(state(word)).toEqual({ no: null, unknown: [word] });
    expect(state('')).toEqual({ no: null, unknown: [] });
  });

  test('of a no: empty, false, 0 and no are none, and anything else is that no', () => {
    const of = (cell: string) => standingOf([{ tells: 'unsubscribed', cell }]).no;
    for (const cell of ['', 'false', 'FALSE', '0', 'no', 'No', 'Nein', '-', '0000-00-00 00:00:00'])
      expect([cell, of(cell)]).toEqual([cell, null]);
    for (const cell of ['2024-05-01 10:00:00', 'true', '1', 'x', '✓', 'null', '2000-01-01'])
      expect([cell, of(cell)]).toEqual([cell, 'unsubscribed']);
  });

  test('of several columns the strongest no counts, over what nobody knows too', () => {
    const told = [
      { tells: 'state', cell: 'active' },
      { tells: 'hard_bounce', cell: '2024-01-01' },
      { tells: 'unsubscribed', cell: 'yes' },
      { tells: 'state', cell: 'Lead' },
    ] as const;
    expect(standingOf(told).no).toBe('unsubscribed');
    expect(standingOf([{ tells: 'suppressions', cell: "['HARD_BOUNCE', 'SPAM_COMPLAINT']" }]).no).toBe(
      'complaint',
    );
    expect(standingOf([{ tells: 'suppressions', cell: 'USER_SUPPRESSED' }]).no).toBe('manual');
    expect(standingOf([{ tells: 'suppressions', cell: 'whatever' }]).no).toBe('manual');
    expect(standingOf([{ tells: 'suppressions', cell: '' }]).no).toBeNull();
  });
});

describe('a row', () => {
  eachOnItsOwn();

  test('of who left, bounced or complained is suppressed, and the address leaves all lists as by its own link', async () => {
    const other = await on.list({ name: 'Other' });
    for (const name of ['gone', 'dead', 'angry', 'stays']) await on.contact(other, `${name}@example.com`);
    const record = await importCsv(
      'email,status\ngone@example.com,Unsubscribed\ndead@example.com,cleaned\nangry@example.com,spam\nstays@example.com,active\nnew@example.com,\n',
    );
    expect(record).toMatchObject({ accepted: 2, suppressed: 3, missing_consent: 0 });
    expect(record.columns).toMatchObject({
      fields: { email: 'email', status: 'status' },
      kept: [],
      unknown_words: [],
    });
    const statuses = ['gone', 'dead', 'angry', 'stays'].map(
      async (name) => (await person(`${name}@example.com`, other))?.status,
    );
    expect(await Promise.all(statuses)).toEqual(['unsubscribed', 'bounced', 'complained', 'active']);
    const kinds = ['gone', 'dead', 'angry', 'stays', 'new'].map((name) => kindOf(`${name}@example.com`));
    expect(await Promise.all(kinds)).toEqual([
      'unsubscribed',
      'hard_bounce',
      'complaint',
      undefined,
      undefined,
    ]);
    expect(await person('gone@example.com')).toBeUndefined();
    const { text } = await on.call('GET', `/email-imports/${record.id}/rejected`);
    expect(text.split('\n')[1]).toStartWith('2,gone@example.com,suppressed');
  });

  test('of who is blocked or disabled is suppressed by hand, and contacts keep their status', async () => {
    const found = readFileSync(join(import.meta.dir, 'found/listmonk.csv'), 'utf8').replaceAll(
      'dest.example',
      'example.com',
    );
    await on.contact(list, 'blk.lm@example.com');
    expect(await importCsv(found)).toMatchObject({ accepted: 1, suppressed: 1 });
    expect(await kindOf('blk.lm@example.com')).toBe('manual');
    expect((await person('blk.lm@example.com'))?.status).toBe('active');
    expect(await person('ann.lm@example.com')).toMatchObject({
      status: 'active',
      custom: { name: 'Ann Lee' },
    });
  });

  test('counts before its consent and its domain are asked about, and behind its syntax', async () => {
    list = await on.list({ default_consent_basis: null });
    const record = await importCsv(
      'email,UNSUB_TIME\na@nowhere.example,2024-01-01\nnobody,2024-01-01\nb@example.com,\n',
    );
    expect(record).toMatchObject({ suppressed: 1, invalid_syntax: 1, missing_consent: 1 });
    expect(await kindOf('a@nowhere.example')).toBe('unsubscribed');
  });

  test('with a word that is no yes and no no is missing_consent, and the words are told: few, short, and no address', async () => {
    const words = [
      'pending',
      'Lead',
      'Lead',
      'x'.repeat(100),
      'ann@example.com',
      ...Array.from({ length: 30 }, (_, n) => `w${n}`),
    ];
    const rows = words.map((word, n) => `p${n}@example.com,${word}`).join('\n');
    const record = await importCsv(`email,status\n${rows}\n`);
    expect(record).toMatchObject({ missing_consent: words.length, accepted: 0, suppressed: 0 });
    const { unknown_words } = record.columns as { unknown_words: string[] };
    expect(unknown_words).toHaveLength(20);
    expect(unknown_words.slice(0, 4)).toEqual(['pending', 'Lead', 'x'.repeat(64), 'w0']);
    const { stdout } = await run(on.app.data_dir, 'import', 'show', String(record.id));
    expect(stdout).toContain('Lead');
  });

  test('whose contact on this list has that status already changes nothing, not even for other lists', async () => {
    const other = await on.list({ name: 'Other' });
    await on.contact(list, 'ann@example.com');
    await on.contact(other, 'ann@example.com');
    const { contacts, database, lists } = on.app.services;
    await database.write((tx) => {
      const row = contacts.findByAddress(lists.requireAny(list).id, 'ann@example.com', tx);
      if (row) contacts.choices.leaveList(tx, row);
    });
    const before = await person('ann@example.com');
    expect(before?.status).toBe('unsubscribed');
    const record = await importCsv('email,status\nann@example.com,unsubscribed\n', { update_existing: true });
    expect(record).toMatchObject({ suppressed: 1, updated_existing: 0 });
    expect([await person('ann@example.com'), await kindOf('ann@example.com')]).toEqual([before, undefined]);
    expect((await person('ann@example.com', other))?.status).toBe('active');
  });

  test('takes the status from what column_map says, or not at all', async () => {
    const csv = 'Mail,Zustand,UNSUB_TIME\na@example.com,blocklisted,\nb@example.com,,2024-01-01\n';
    const mapped = await importCsv(csv, {
      column_map: { Mail: 'email', Zustand: 'status', UNSUB_TIME: 'status' },
    });
    expect(mapped).toMatchObject({
      suppressed: 2,
      columns: { fields: { Zustand: 'status', UNSUB_TIME: 'status' } },
    });
    expect([await kindOf('a@example.com'), await kindOf('b@example.com')]).toEqual([
      'manual',
      'unsubscribed',
    ]);
    const left_out = await importCsv('Mail,status\nc@example.com,Lead\n', {
      column_map: { Mail: 'email' },
      keep_columns: ['status'],
    });
    expect(left_out).toMatchObject({ accepted: 1, columns: { kept: ['status'], fields: { Mail: 'email' } } });
    expect((await person('c@example.com'))?.custom).toEqual({ status: 'Lead' });
    const told = await on.call('POST', `/email-lists/${list}/imports/columns`, {
      headers: ['Email', 'Abgemeldet am', 'SMS status'],
    });
    expect(rowsOf(told).map(({ field, is_kept }) => [field, is_kept])).toEqual([
      ['email', false],
      ['status', false],
      [null, true],
    ]);
  });

  test('a column of tracking takes a yes and a no, and what it does not know is told', async () => {
    const cells = ['allowed', 'refused', 'no', 'false', 'true', 'JA', '', 'maybe'];
    const rows = cells.map((cell, n) => `t${n}@example.com,${cell}`).join('\n');
    const record = await importCsv(`email,tracking\n${rows}\n`);
    expect(record).toMatchObject({ accepted: 8, columns: { unknown_words: ['maybe'] } });
    const tracked = cells.map(async (_, n) => (await person(`t${n}@example.com`))?.tracking);
    expect(await Promise.all(tracked)).toEqual([
      'allowed',
      'refused',
      'refused',
      'refused',
      'allowed',
      'allowed',
      null,
      null,
    ]);
  });

  test('of a paste of cells likewise', async () => {
    const text = 'E-Mail\tAbonniert\na@example.com\tnein\nb@example.com\tja';
    const pasted = await on.call('POST', `/email-lists/${list}/imports`, { method: 'paste', text });
    expect(dataOf(pasted, 201)).toMatchObject({ accepted: 1, suppressed: 1 });
    expect(await kindOf('a@example.com')).toBe('unsubscribed');
  });
});

describe('taking an import back', () => {
  eachOnItsOwn();

  test('gives contacts the status that they had, and asks before', async () => {
    const other = await on.list({ name: 'Other' });
    for (const name of ['ann', 'bob', 'cy']) await on.contact(other, `${name}@example.com`);
    const record = await importCsv(
      'email,status\nann@example.com,unsubscribed\nbob@example.com,bounced\ncy@example.com,complained\ndee@example.com,blocklisted\n',
    );
    const refused = await takeBack(record.id);
    expect([refused.exit, refused.stderr]).toEqual([
      1,
      expect.stringContaining('4 suppressions of this import'),
    ]);
    expect(await kindOf('ann@example.com')).toBe('unsubscribed');
    const { stdout, exit } = await takeBack(record.id, '--yes');
    expect([exit, stdout]).toEqual([0, expect.stringContaining('4 suppressions of')]);
    expect(stdout).toContain('3 contacts have the status that they had');
    const names = ['ann', 'bob', 'cy', 'dee'].map((name) => `${name}@example.com`);
    expect(await Promise.all(names.map(kindOf))).toEqual([undefined, undefined, undefined, undefined]);
    const statuses = names.map(async (email) => (await person(email, other))?.status);
    expect(await Promise.all(statuses)).toEqual(['active', 'active', 'active', undefined]);
    // Nothing is left, and nobody is asked.
    expect(
      await runRecord(
        on.app.data_dir,
        'suppression',
        'remove',
        '--project',
        on.project.slug,
        '--import',
        String(record.id),
      ),
    ).toEqual({ lifted: 0, kept: 0, restored: 0 });
    const audit = rowsOf(await on.mirror('GET', '/audit?event=suppression.lifted'));
    expect(audit).toHaveLength(4);
    expect(JSON.stringify(audit)).not.toContain('@example.com');
  });

  test('leaves what an address is suppressed for besides, before it and since', async () => {
    const other = await on.list({ name: 'Other' });
    for (const name of ['ann', 'bob', 'cy', 'dee', 'eve']) await on.contact(other, `${name}@example.com`);
    await leave('ann@example.com', 'hard_bounce');
    await leave('bob@example.com', 'unsubscribed', { is_readers_own: true });
    const all = ['ann', 'bob', 'cy', 'dee', 'eve']
      .map((name) => `${name}@example.com,unsubscribed`)
      .join('\n');
    const record = await importCsv(`email,status\n${all}\n`);
    expect(record).toMatchObject({ suppressed: 5 });
    // By its own link in an older mail; by a real bounce; by a complaint.
    await leave('cy@example.com', 'unsubscribed', { is_readers_own: true });
    await leave('dee@example.com', 'hard_bounce');
    await leave('eve@example.com', 'complaint');
    const done = await runRecord(
      on.app.data_dir,
      ...['suppression', 'remove', '--project', on.project.slug, '--import', String(record.id), '--yes'],
    );
    expect(done).toEqual({ lifted: 0, kept: 4, restored: 2 });
    const names = ['ann', 'bob', 'cy', 'dee', 'eve'].map((name) => `${name}@example.com`);
    expect(await Promise.all(names.map(kindOf))).toEqual([
      ...['hard_bounce', 'unsubscribed', 'unsubscribed', 'hard_bounce', 'complaint'],
    ]);
    const statuses = names.map(async (email) => (await person(email, other))?.status);
    expect(await Promise.all(statuses)).toEqual([
      ...['bounced', 'unsubscribed', 'unsubscribed', 'bounced', 'complained'],
    ]);
  });

  test('of one leaves what another said, and a status that changed since', async () => {
    const other = await on.list({ name: 'Other' });
    await on.contact(other, 'ann@example.com');
    const csv = 'email,status\nann@example.com,unsubscribed\nbob@example.com,unsubscribed\n';
    const first = await importCsv(csv);
    const second = await importCsv(csv);
    await takeBack(first.id, '--yes');
    expect([await kindOf('bob@example.com'), (await person('ann@example.com', other))?.status]).toEqual([
      'unsubscribed',
      'unsubscribed',
    ]);
    await takeBack(second.id, '--yes');
    expect(await kindOf('bob@example.com')).toBeUndefined();

    expect((await person('ann@example.com', other))?.status).toBe('active');
    const third = await importCsv(csv);
    await on.app.services.database.write((tx) =>
      tx.$client.run(
        "UPDATE contacts SET status = 'complained', status_changed_at = 1 WHERE email = 'ann@example.com'",
      ),
    );
    await takeBack(third.id, '--yes');
    expect([await kindOf('ann@example.com'), (await person('ann@example.com', other))?.status]).toEqual([
      undefined,
      'complained',
    ]);
  });

  test('gives back what two imports took, whichever of them is taken back first', async () => {
    const other = await on.list({ name: 'Other' });
    const seen: unknown[] = [];
    for (const first_says of ['unsubscribed', 'complained'])
      for (const goes_first of ['first', 'second']) {
        const email = `${first_says}-${goes_first}@example.com`;
        await on.contact(other, email);
        const first = await importCsv(`email,status\n${email},${first_says}\n`);
        const second = await importCsv(`email,status\n${email},unsubscribed\n`);
        for (const { id } of goes_first === 'first' ? [first, second] : [second, first]) {
          await takeBack(id, '--yes');
          seen.push((await person(email, other))?.status);
        }
        seen.push(await kindOf(email));
      }
    expect(seen).toEqual([
      ...['unsubscribed', 'active', undefined, 'unsubscribed', 'active', undefined],
      ...['unsubscribed', 'active', undefined, 'complained', 'active', undefined],
    ]);
  });

  test("is of one's own project, and of an import that has ended", async () => {
    const record = await importCsv('email,status\nann@example.com,unsubscribed\n');
    const wrong = await takeBack('01J00000000000000000000000', '--yes');
    expect([wrong.exit, wrong.stderr]).toEqual([1, expect.stringContaining('Import not found')]);
    await on.app.services.database.write((tx) =>
      tx.$client.run("UPDATE contact_imports SET status = 'processing'"),
    );
    const early = await takeBack(record.id, '--yes');
    expect([early.exit, early.stderr]).toEqual([1, expect.stringContaining('cancel it first')]);
    const both = await takeBack(record.id, 'ann@example.com', '--yes');
    expect(both.exit).toBe(2);
  });

  test('a person who comes back by a click is on the list again, though an import had said no', async () => {
    const other = await on.list({ name: 'Other' });
    await on.contact(other, 'ann@example.com');
    await leave('ann@example.com', 'unsubscribed', { is_readers_own: true });
    const { contacts, suppressions, database } = on.app.services;
    const [row] = contacts.rowsOfAddress(database.read, {
      project_id: on.project.id,
      email: 'ann@example.com',
    });
    await importCsv('email,blocklisted\nann@example.com,yes\n');
    const left_at = on.app.clock.now();
    expect(row?.status).toBe('unsubscribed');
    const taken = await database.write((tx) =>
      suppressions.withdraw(tx, on.project, { address: 'ann@example.com', left_at, has_contacts: true }),
    );
    // What it is blocked for stays.
    expect([taken, await kindOf('ann@example.com')]).toEqual([true, 'manual']);
  });
});
