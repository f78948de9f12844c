/** What was exported comes in again: contacts unchanged and edited, files of other services, and addresses as people copy them. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { readPaste } from '../../../src/marketing/imports/paste.ts';
import { csvOf, readCell, readItems } from '../../../src/platform/http/csv.ts';
import { dataOf, type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
let list: string;
const eachOnItsOwn = (): void =>
  beforeEach(async () => {
    on = await startMarketingApp();
    list = await on.list();
  });

const found = (name: string): string => readFileSync(join(import.meta.dir, 'found', name), 'utf8');
async function importCsv(text: string, options: object = {}) {
  const form = new FormData();
  form.set('file', new Blob([text], { type: 'text/csv' }), 'people.csv');
  const { body } = await on.app.call('POST', '/api/v1/objects', { key: on.key, body: form });
  const asked = { method: 'csv', object: String(body.public_id), ...options };
  return dataOf(await on.call('POST', `/email-lists/${list}/imports`, asked), 201);
}
const people = async () =>
  rowsOf(await on.call('GET', `/email-lists/${list}/contacts?per_page=50`)).sort((a, b) =>
    String(a.email).localeCompare(String(b.email)),
  );
const exported = async () => (await on.call('GET', `/email-lists/${list}/contacts.csv`)).text;
const again = (text: string) => importCsv(text, { update_existing: true });

describe('contacts.csv', () => {
  eachOnItsOwn();
  const odd = ['-dash', '=sum', "'quoted", "'=both", '@at', '＝full', 'plain'];

  /** Whatever a contact may hold: texts that look like formulas or like escaped ones, numbers, tags with marks, blanks. */
  async function everything(): Promise<void> {
    await on.contact(list, '-dash@example.com', { first_name: '=SUM(A1)', last_name: "'=x", reason: ' +1 ' });
    await on.contact(list, 'ann@example.com', {
      first_name: ' Ann ',
      last_name: "O'Neil, jr\nx",
      tags: ['fair', 'Rome, Italy', 'a;b', '"quoted", |', '=t', "'x"],
      custom: {
        ...{ age: 42, balance: -12.5, tiny: 1e-7, vip: false, phone: '+49 30', code: '007', text: '-12.50' },
        ...{ ' blank ': ' x ', email: 'other', 'custom.a': 'b', __proto__x: '\ty', '=1+1': "'@z" },
      },
      tracking: 'refused',
    });
    for (const name of odd) await on.contact(list, `o${odd.indexOf(name)}@example.com`, { source: name });
  }

  test('imported unchanged changes nothing, and says what of it is ours', async () => {
    await everything();
    const ann = (await people()).find(({ email }) => email === 'ann@example.com');
    await on.call('POST', `/email-contacts/${ann?.id}/unsubscribe`);
    const before = await people();
    const text = await exported();
    on.app.clock.advance(60_000);
    const record = await again(text);
    expect(record).toMatchObject({
      updated_existing: before.length - 1,
      suppressed: 1,
      total_rows: before.length,
    });
    expect(await people()).toEqual(before);
    const { left_out, fields } = record.columns as { left_out: Record<string, unknown>[]; fields: object };
    expect(left_out.map(({ header, reason }) => [header, reason])).toEqual(
      [
        ...['id', 'list', 'contact_token', 'consent_at', 'consent_ip', 'consent_origin', 'source_platform'],
        ...['confirmed_at', 'tracking_evidence', 'paused_until', 'created_at', 'updated_at'],
      ].map((header) => [header, 'ours']),
    );
    expect(fields).toMatchObject({ status: 'status', consent_basis: 'consent_basis', tracking: 'tracking' });
    expect(await exported()).toBe(text);
  });

  test('edited, changes what was edited and no more: an emptied cell nothing, tags are added, a number stays one', async () => {
    await everything();
    const before = await people();
    const rows: Record<string, string>[] = parse(await exported(), { columns: true });
    const edit = rows.find(({ email }) => email === 'ann@example.com') ?? {};
    Object.assign(edit, {
      last_name: 'Lee',
      first_name: '',
      tags: 'vip',
      'custom.age': '43',
      'custom.vip': 'true',
      'custom.code': '',
    });
    on.app.clock.advance(60_000);
    await again(csvOf([Object.keys(rows[0] ?? {}), ...rows.map((row) => Object.values(row).map(readCell))]));
    const after = await people();
    const was = before.find(({ email }) => email === 'ann@example.com') ?? {};
    expect(after.filter(({ email }) => email !== 'ann@example.com')).toEqual(
      before.filter(({ email }) => email !== 'ann@example.com'),
    );
    const is = after.find(({ email }) => email === 'ann@example.com');
    expect(is).toEqual({
      ...was,
      last_name: 'Lee',
      tags: [...(was.tags as string[]), 'vip'].sort(),
      custom: { ...(was.custom as object), age: 43, vip: true },
      updated_at: new Date(on.app.clock.now()).toISOString(),
    });
  });

  test('into another project brings names and fields as they were, and who left stays away', async () => {
    const record = await importCsv(found('satchel.csv').replaceAll('dest.example', 'example.com'));
    expect(record).toMatchObject({ accepted: 2, suppressed: 1 });
    const [dash, rt1, ...others] = await people();
    expect(others).toEqual([]);
    expect(dash).toMatchObject({ email: '-dash@example.com', first_name: '=SUM(A1)', last_name: "O'Neil" });
    expect(rt1).toMatchObject({
      ...{ email: 'rt1@example.com', first_name: 'Ann', tags: ['fair', 'vip'], consent_basis: 'consent' },
      custom: { balance: '-12.50', handle: '@ann', phone: '+49 30 1234567' },
    });
    expect(record.columns).toMatchObject({ kept: ['balance', 'handle', 'phone'] });
    const gone = await on.call('GET', '/email-suppressions?email=gone@example.com');
    expect(rowsOf(gone)).toMatchObject([{ kind: 'unsubscribed' }]);
  });

  test('fills no contact past fifty fields', async () => {
    const fields = (from: number) =>
      Object.fromEntries(Array.from({ length: 49 }, (_, n) => [`f${from + n}`, 'x']));
    await on.contact(list, 'ann@example.com', { custom: fields(0) });
    const names = Object.keys(fields(100));
    await again(`email,f0,${names}\nann@example.com,new,${names.map(() => 'y')}\n`);
    const [ann] = await people();
    const custom = ann?.custom as Record<string, string>;
    expect([Object.keys(custom).length, custom.f0, custom.f48, custom.f100]).toEqual([50, 'new', 'x', 'y']);
  });
});

test('what a spreadsheet would take for a formula is read as it was written, as is what only looks so', () => {
  const texts = [
    '=a',
    "'=a",
    "''=a",
    "'a",
    "''",
    '+1',
    '-1',
    '@x',
    '＋1',
    '－1',
    '＠x',
    '＝x',
    "O'Neil",
    '',
    "'",
  ];
  const [line = []] = parse(csvOf([texts])) as string[][];
  expect(line.map(readCell)).toEqual(texts);
  expect(line[0]).toBe("'=a");
});

test('items of a list are read as they were written, and as Mailchimp writes them', () => {
  const tags = ['a', 'b,c', 'd;e', 'f|g', 'say "x"', '"y"', '"', 'z'];
  const [[cell = ''] = []] = parse(csvOf([[tags]])) as string[][];
  expect(
    readItems(cell)
      .map((item) => item.trim())
      .filter(Boolean),
  ).toEqual(tags);
  expect(readItems('"Customer","Fair 2024"').filter(Boolean)).toEqual(['Customer', 'Fair 2024']);
  expect(
    readItems('"a; b" | c, d"e, "f')
      .map((item) => item.trim())
      .filter(Boolean),
  ).toEqual(['a; b', 'c', 'd"e', '"f']);
});

test('a long cell of marks is read at once', () => {
  const cell = `${'"a,""'.repeat(20_000)}${'",'.repeat(20_000)}`;
  const [short, long] = [cell.slice(0, 20_000), cell].map((text) => {
    const began = performance.now();
    readItems(text);
    return performance.now() - began;
  });
  expect(long).toBeLessThan(100 * Math.max(1, short ?? 1));
});

describe('files of others', () => {
  eachOnItsOwn();

  test("Mailchimp's tags come without its quotation marks", async () => {
    const record = await importCsv(found('mailchimp.csv').replaceAll('dest.example', 'example.com'));
    expect(record).toMatchObject({ accepted: 2 });
    const [ann, bob] = await people();
    expect(ann).toMatchObject({ first_name: 'Ann', last_name: 'Lee', tags: ['Customer', 'Fair 2024'] });
    expect(bob?.tags).toEqual(['VIP']);
  });

  test('what nobody sees around an address is taken off, and a name before it is read', async () => {
    await importCsv(found('invisible.csv').replaceAll(/dest\.example/gi, 'example.com'));
    const taken = (await people()).map(({ email, first_name, last_name }) => [email, first_name, last_name]);
    expect(taken).toEqual([
      ['angle@example.com', 'I', null],
      ['lre@example.com', 'D', null],
      ['named@example.com', 'J', null],
      ['nbsp@example.com', 'C', null],
      ['upper@example.com', 'M', null],
      ['zwnbsp@example.com', 'B', null],
      ['zwsp@example.com', 'A', null],
    ]);
    // The API stays strict.
    const strict = await on.call('POST', `/email-lists/${list}/contacts`, { email: 'Ann <x@example.com>' });
    expect(strict.status).toBe(422);
  });
});

describe('a paste', () => {
  const rowsIn = (text: string) =>
    readPaste(text).rows.map((row) =>
      'cells' in row ? row.cells : [row.email, row.first_name, row.last_name],
    );
  const samples = JSON.parse(found('pastes.json')) as { text: string; rows: (string | null)[][] }[];
  test.each(samples)('is read as it was meant: %j', ({ text, rows }) => {
    const read = rowsIn(text).map((row) => (row.length < 3 ? [...row, null] : row));
    expect(read).toEqual(rows);
  });

  test.each<[string, (string | null)[][]]>([
    ["'Ann Lee' <a@b.example>", [['a@b.example', 'Ann', 'Lee']]],
    ['"Lee, Ann Maria" <a@b.example>;', [['a@b.example', 'Ann Maria', 'Lee']]],
    [
      'a@b.example <a@b.example>, "a@b.example" <a@b.example>',
      [
        ['a@b.example', null, null],
        ['a@b.example', null, null],
      ],
    ],
    [
      'c@d.example, Lee, Ann <a@b.example>, e@f.example',
      [
        ['c@d.example', null, null],
        ['a@b.example', 'Ann', 'Lee'],
        ['e@f.example', null, null],
      ],
    ],
    [
      'Ann; Bob <a@b.example>',
      [
        ['Ann', null, null],
        ['a@b.example', 'Bob', null],
      ],
    ],
    [
      '<a@b.example> <c@d.example>',
      [
        ['a@b.example', null, null],
        ['c@d.example', null, null],
      ],
    ],
    ['"open <a@b.example>', [['a@b.example', '"open', null]]],
    ['<', [['<', null, null]]],
  ])('%s', (text, rows) => expect(rowsIn(text)).toEqual(rows));

  test('of half a million marks is read at once', () => {
    for (const mark of ['"', '<', '\\"', '",', "'<>", '\u200b', ' x']) {
      const [short, long] = [5_000, 250_000].map((size) => {
        const began = performance.now();
        readPaste(`${mark.repeat(size / mark.length)}<`);
        return performance.now() - began;
      });
      expect(long).toBeLessThan(500 * Math.max(1, short ?? 1));
    }
  });
});
