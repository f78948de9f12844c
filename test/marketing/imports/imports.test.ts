/** Imports: pastes and CSV files in the request, their counters, what was not taken, and what is no CSV. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { readPaste } from '../../../src/marketing/imports/paste.ts';
import { longestTurnMs } from '../../support/event-loop.ts';
import { type Answer, makeProject } from '../../support/helpers.ts';
import { dataOf, type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
beforeAll(async () => {
  on = await startMarketingApp();
});

async function upload(bytes: string | Uint8Array, fields: Record<string, string> = {}): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([bytes], { type: 'text/csv' }), 'people.csv');
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  const answer = await on.app.call('POST', '/api/v1/objects', { key: on.key, body: form });
  if (answer.status !== 201) throw new Error(answer.text);
  return String(answer.body.public_id);
}

async function importCsv(
  list: string,
  bytes: string | Uint8Array,
  options: Record<string, unknown> = {},
): Promise<Answer> {
  const object = await upload(bytes);
  return on.call('POST', `/email-lists/${list}/imports`, { method: 'csv', object, ...options });
}

const paste = (list: string, text: string, options: Record<string, unknown> = {}) =>
  on.call('POST', `/email-lists/${list}/imports`, { method: 'paste', text, ...options });

const ZERO = {
  accepted: 0,
  duplicate: 0,
  invalid_syntax: 0,
  no_mx: 0,
  suppressed: 0,
  missing_consent: 0,
  updated_existing: 0,
};

async function emailsOf(list: string): Promise<unknown[]> {
  const rows = rowsOf(await on.call('GET', `/email-lists/${list}/contacts?per_page=50`));
  return rows.map((row) => row.email).sort();
}

async function rejectedOf(record: Record<string, unknown>): Promise<string[]> {
  const answer = await on.call('GET', `/email-imports/${record.id}/rejected`);
  expect(answer.headers.get('Content-Type')).toBe('text/csv; charset=utf-8');
  return answer.text.trimEnd().split('\n');
}

describe('a paste', () => {
  test('takes addresses as people paste them, and tells what became of each', async () => {
    const list = await on.list();
    await on.contact(list, 'known@example.com');
    await on.call('POST', '/email-suppressions', { email: 'left@example.com' });
    const text = [
      'ann@example.com',
      'Bob Builder <bob@example.com>, "Carlson, Carl" <carl@example.com>',
      'dora@example.com, Dora, Explorer',
      'eve@example.com; fay@example.com gus@example.com',
      '',
      'known@example.com',
      'ANN@example.com',
      'left@example.com',
      'hal@nowhere.example',
      'not an address',
      '=cmd()@@x',
    ].join('\r\n');
    const answer = await paste(list, text, { defaults: { tags: ['pasted'], source_platform: 'fair-2030' } });
    const record = dataOf(answer, 201);
    expect(record).toMatchObject({
      ...ZERO,
      list,
      method: 'paste',
      status: 'completed',
      total_rows: 13,
      processed_rows: 13,
      accepted: 7,
      duplicate: 2,
      suppressed: 1,
      no_mx: 1,
      invalid_syntax: 2,
      progress_percent: 100,
      error: null,
    });
    expect(dataOf(await on.call('GET', `/email-imports/${record.id}`))).toEqual(record);
    expect(await emailsOf(list)).toEqual(
      ['ann', 'bob', 'carl', 'dora', 'eve', 'fay', 'gus', 'known'].map((name) => `${name}@example.com`),
    );
    const [dora] = rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=dora`));
    expect(dora).toMatchObject({
      first_name: 'Dora',
      last_name: 'Explorer',
      tags: ['pasted'],
      source_platform: 'fair-2030',
      consent_basis: 'consent',
      status: 'active',
    });
    expect(await rejectedOf(record)).toEqual([
      'row_number,email,reason',
      '10,left@example.com,suppressed',
      '11,hal@nowhere.example,no_mx',
      '12,not an address,invalid_syntax',
      "13,'=cmd()@@x,invalid_syntax",
    ]);
    const job = await on.call('GET', `/jobs/${record.job_id}`);
    expect(dataOf(job)).toMatchObject({
      type: 'email.import',
      status: 'completed',
      result: { import_id: record.id },
    });
  });

  test('without any basis is missing_consent throughout', async () => {
    const list = await on.list({ default_consent_basis: null });
    const record = dataOf(await paste(list, 'a@example.com\nb@example.com'), 201);
    expect(record).toMatchObject({ ...ZERO, missing_consent: 2, total_rows: 2 });
    const with_basis = { defaults: { consent_basis: 'contract' } };
    expect(dataOf(await paste(list, 'a@example.com', with_basis), 201)).toMatchObject({
      ...ZERO,
      accepted: 1,
    });
  });

  test.each([
    [{ text: ' \n ' }, ['text']],
    [{}, ['text']],
    [
      { text: 'a@example.com', defaults: { source_platform: 'No Slug', tags: [''] } },
      ['defaults.source_platform', 'defaults.tags.0'],
    ],
    [{ text: Array.from({ length: 5_001 }, (_, n) => `n${n}@example.com`).join('\n') }, ['text']],
    [{ method: 'fax' }, ['method']],
  ])('is refused whole: %j', async (body, fields) => {
    const list = await on.list();
    const refused = await on.call('POST', `/email-lists/${list}/imports`, { method: 'paste', ...body });
    expect(refused.status).toBe(422);
    expect(Object.keys(refused.body.errors as object)).toEqual(fields);
    expect(await emailsOf(list)).toEqual([]);
  });
});

test('the imports of a list are listed newest first, and those of no other list', async () => {
  const list = await on.list();
  const ids: unknown[] = [];
  for (const name of ['one', 'two', 'three']) {
    on.app.clock.advance(10);
    ids.unshift(dataOf(await paste(list, `${name}@example.com`), 201).id);
  }
  await paste(await on.list(), 'one@example.com');
  const [first, second] = [1, 2].map((page) =>
    on.call('GET', `/email-lists/${list}/imports?per_page=2&page=${page}`),
  );
  const shown = await first;
  expect(shown?.body.meta).toMatchObject({ total: 3, last_page: 2 });
  expect(shown && rowsOf(shown).map(({ id }) => id)).toEqual(ids.slice(0, 2));
  const rest = await second;
  expect(rest && rowsOf(rest)).toEqual([dataOf(await on.call('GET', `/email-imports/${ids[2]}`))]);
});

test('a paste that is hard to read is read beside the server', async () => {
  const list = await on.list();
  const text = ',,\n'.repeat(166_000);
  const read_ms = await longestTurnMs(async () => readPaste(text));
  const turn_ms = await longestTurnMs(async () => {
    expect((await paste(list, text)).text).toContain('text: must hold at least one address');
  });
  expect(turn_ms).toBeLessThan(read_ms / 2);
});

describe('a CSV file of up to 500 rows', () => {
  test('is imported within the request: quotes, line ends, BOM, ragged rows, headers by name', async () => {
    const list = await on.list();
    const csv =
      '\ufeff"E-Mail",First Name,surname,Tags,Plan\r\n' +
      'ann@example.com,"Ann ""A""",Smith,"vip; beta",pro\r\n' +
      'bob@example.com,"Bob\nthe builder",,,free\n' +
      '\r\n' +
      'carl@example.com\n' +
      'dora@example.com,Dora,D,x,y,z,too,many\r' +
      ',Nobody,,,\n' +
      'ann@example.com,Again,,,\n';
    const record = dataOf(await importCsv(list, csv, { keep_columns: ['Plan'] }), 201);
    expect(record).toMatchObject({
      ...ZERO,
      status: 'completed',
      total_rows: 6,
      processed_rows: 6,
      accepted: 4,
      duplicate: 1,
      invalid_syntax: 1,
    });
    const [bob] = rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=bob@`));
    expect(bob).toMatchObject({
      first_name: 'Bob\nthe builder',
      custom: { Plan: 'free' },
      source_platform: 'csv',
    });
    const [ann] = rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=ann@`));
    expect(ann).toMatchObject({ first_name: 'Ann "A"', last_name: 'Smith', tags: ['beta', 'vip'] });
    expect(await rejectedOf(record)).toEqual([
      'row_number,email,reason,First Name,surname,Tags,Plan',
      '6,,invalid_syntax,Nobody,,,',
    ]);
  });

  test('follows column_map, a basis of each row, and imports none of the same rows again', async () => {
    const list = await on.list({ default_consent_basis: null });
    const csv = 'who;x,mail,why\nA,a@example.com,contract\nB,b@example.com,because\nC,c@example.com,\n';
    const options = {
      column_map: { mail: 'email', 'who;x': 'first_name', why: 'consent_basis' },
      defaults: { consent_basis: 'consent' },
    };
    const first = dataOf(await importCsv(list, csv, options), 201);
    expect(first).toMatchObject({ ...ZERO, accepted: 2, missing_consent: 1 });
    const [a] = rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=a@`));
    expect(a).toMatchObject({ first_name: 'A', consent_basis: 'contract' });
    const again = dataOf(await importCsv(list, csv, options), 201);
    expect(again).toMatchObject({ ...ZERO, accepted: 0, duplicate: 2, missing_consent: 1 });
  });

  test('updates contacts that are there only when asked, and never their status', async () => {
    const list = await on.list();
    const kept = await on.contact(list, 'kept@example.com', {
      first_name: 'Old',
      tags: ['old'],
      custom: { a: 1 },
    });
    const csv = 'email,first_name,last_name,tags,b\nkept@example.com,New,,new,2\n';
    expect(dataOf(await importCsv(list, csv), 201)).toMatchObject({ ...ZERO, duplicate: 1 });
    const options = { update_existing: true, keep_columns: ['b'] };
    expect(dataOf(await importCsv(list, csv, options), 201)).toMatchObject({ ...ZERO, updated_existing: 1 });
    const record = dataOf(await on.call('GET', `/email-contacts/${kept.id}`));
    expect(record).toMatchObject({
      first_name: 'New',
      tags: ['new', 'old'],
      custom: { a: 1, b: '2' },
      status: 'active',
    });
  });

  test('may be empty below its header', async () => {
    const record = dataOf(await importCsv(await on.list(), 'email\n'), 201);
    expect(record).toMatchObject({ ...ZERO, status: 'completed', total_rows: 0, progress_percent: 100 });
    expect(await rejectedOf(record)).toEqual(['row_number,email,reason']);
  });

  const bytes = (...parts: (string | number)[]) =>
    new Uint8Array(parts.flatMap((part) => (typeof part === 'number' ? [part] : [...Buffer.from(part)])));
  test.each([
    ['an empty file', '', 'empty'],
    ['no column of addresses', 'name,phone\nA,1\n', 'no column'],
    ['UTF-16', bytes(0xff, 0xfe, 'e', 0, 'm', 0, 'a', 0, 'i', 0, 'l', 0), 'UTF-8'],
    ['NUL bytes', bytes('email\na@example.com\n', 0), 'NUL'],
    ['Latin-1', bytes('email,name\na@example.com,M', 0xfc, 'ller\n'), 'UTF-8'],
    ['a PNG', bytes(0x89, 'PNG\r\n', 0x1a, '\n', 0, 0, 0, 13), 'CSV'],
    ['columns without end', `email${','.repeat(16_384)}\n`, 'more than 16384 columns'],
    ['a quote that is never closed', `email,name\na@example.com,"${'x'.repeat(140_000)}\n`, 'longer than'],
  ])('is refused where it is %s', async (_, content, words) => {
    const list = await on.list();
    const object = await upload(content, {});
    const refused = await on.call('POST', `/email-lists/${list}/imports`, { method: 'csv', object });
    expect(refused.status).toBe(422);
    const errors = refused.body.errors as Record<string, string[]>;
    expect(Object.keys(errors)).toEqual(['object']);
    expect(errors.object?.[0]).toContain(words);
    expect(await emailsOf(list)).toEqual([]);
  });

  test('names what is wrong with its columns', async () => {
    const refused = await importCsv(await on.list(), 'mail,name\na@example.com,A\n', {
      column_map: { mail: 'email', name: 'nickname', none: 'first_name' },
      keep_columns: ['name', 'shoe size'],
    });
    expect(Object.keys(refused.body.errors as object).sort()).toEqual([
      'column_map.name',
      'column_map.none',
      'keep_columns.1',
    ]);
  });

  test('must be a private object of the project', async () => {
    const list = await on.list();
    const shown = await upload('email\na@example.com\n', { visibility: 'public' });
    const of_public = await on.call('POST', `/email-lists/${list}/imports`, { method: 'csv', object: shown });
    expect(of_public.status).toBe(422);
    const other = await makeProject(on.app, 'other');
    const key = await other.key({ can_write: true, can_read: true });
    const form = new FormData();
    form.set('file', new Blob(['email\nb@example.com\n']), 'b.csv');
    const foreign = await on.app.call('POST', '/api/v1/objects', { key, body: form });
    const of_foreign = await on.call('POST', `/email-lists/${list}/imports`, {
      method: 'csv',
      object: foreign.body.public_id,
    });
    expect(of_foreign.status).toBe(404);
    expect(await emailsOf(list)).toEqual([]);
  });

  test('is refused on an archived list', async () => {
    const list = await on.list();
    await on.call('PATCH', `/email-lists/${list}`, { archived: true });
    const refused = await importCsv(list, 'email\na@example.com\n');
    expect({ status: refused.status, code: refused.body.code }).toEqual({
      status: 409,
      code: 'list_archived',
    });
  });
});

describe('rows whose domain no DNS answers for', () => {
  test('wait, and the import goes on being processed', async () => {
    const list = await on.list();
    const record = dataOf(await paste(list, 'a@example.com\nb@dead.example\nc@example.com'), 201);
    expect(record).toMatchObject({
      ...ZERO,
      status: 'processing',
      accepted: 2,
      total_rows: 3,
      processed_rows: 2,
    });
    const resumed = await on.call('POST', `/email-imports/${record.id}/resume`);
    expect(resumed.status).toBe(409);
  });
});
