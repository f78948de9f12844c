/** The rows that were not taken: with the rest of their file, without who was forgotten, and read as the file that they came from. */
import { beforeEach, expect, test } from 'bun:test';
import { readdirSync, readlinkSync } from 'node:fs';
import { parse } from 'csv-parse/sync';
import { actor } from '../../support/helpers.ts';
import { until } from '../../support/until.ts';
import { dataOf, type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
let list: string;
beforeEach(async () => {
  on = await startMarketingApp();
  list = await on.list();
});

async function importCsv(text: string, options: object = {}) {
  const form = new FormData();
  form.set('file', new Blob([text], { type: 'text/csv' }), 'people.csv');
  const { body } = await on.app.call('POST', '/api/v1/objects', { key: on.key, body: form });
  const object = String(body.public_id);
  const answer = await on.mirror('POST', `/email-lists/${list}/imports`, {
    method: 'csv',
    object,
    ...options,
  });
  return { object, ...dataOf(answer, answer.status) } as Record<string, unknown> & { object: string };
}
const rejectedOf = async ({ id }: Record<string, unknown>) =>
  (await on.call('GET', `/email-imports/${id}/rejected`)).text;
const person = async (email: string) =>
  rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=${email}`))[0];

test('have the other columns of their file as they were, and edited come in as it would have', async () => {
  const csv =
    'Vorname;E-Mail;"a, b";=x;reason;row_number;;Vorname\n' +
    'Ann;ann@;"1, 2";=1+1;at a fair;7;y;z\n' +
    "Bob;bob@example.com;;;;;;\nÉva;nobody;'-3;x\n";
  const record = await importCsv(csv);
  expect(record).toMatchObject({ accepted: 1, invalid_syntax: 2 });
  const text = await rejectedOf(record);
  expect(text).toBe(
    'row_number,email,reason,Vorname,"a, b",\'=x,reason,row_number,,Vorname\n' +
      `2,ann@,invalid_syntax,Ann,"1, 2",'=1+1,at a fair,7,y,z\n` +
      `4,nobody,invalid_syntax,Éva,'-3,x,,,,\n`,
  );
  const again = await importCsv(text.replace('ann@', 'ann@example.com'));
  expect(again).toMatchObject({ accepted: 1, invalid_syntax: 1 });
  expect(again.columns).toMatchObject({
    fields: { email: 'email', Vorname: 'first_name', reason: 'reason' },
    kept: ['a, b', '=x', 'row_number'],
    left_out: [
      { column: 1, header: 'row_number', reason: 'ours' },
      { column: 3, header: 'reason', reason: 'ours' },
      { column: 9, header: '', reason: 'no_name' },
      { column: 10, header: 'Vorname', reason: 'repeated' },
    ],
  });
  expect(await person('ann@example.com')).toMatchObject({
    ...{ first_name: 'Ann', reason: 'at a fair' },
    custom: { 'a, b': '1, 2', '=x': '=1+1', row_number: '7' },
  });
  const mapped = await importCsv(text.replace('ann@', 'eve@example.com'), {
    column_map: { email: 'email', reason: 'reason', 'a, b': 'source' },
    keep_columns: ['row_number'],
  });
  expect(mapped).toMatchObject({
    accepted: 1,
    update_existing: false,
    defaults: { source_platform: 'csv', tags: [] },
  });
  expect(await person('eve@example.com')).toMatchObject({
    ...{ reason: 'at a fair', source: '1, 2', first_name: null },
    custom: { row_number: '7' },
  });
  // What is rejected once more has the marks of this file, once.
  expect(await rejectedOf(again)).toBe(
    'row_number,email,reason,Vorname,"a, b",\'=x,reason,row_number,,Vorname\n' +
      `3,nobody,invalid_syntax,Éva,'-3,x,,,,\n`,
  );
});

test('keep the name that stood before an address', async () => {
  await on.call('POST', '/email-suppressions', { email: 'ann@example.com' });
  const record = await importCsv(
    'email,town\n"Lee, Ann <ann@example.com>",Ulm\n\u200bbob@nowhere.example,Bern\n',
  );
  expect(await rejectedOf(record)).toBe(
    'row_number,email,reason,town\n2,"Lee, Ann <ann@example.com>",suppressed,Ulm\n3,bob@nowhere.example,no_mx,Bern\n',
  );
});

test('are the first three columns alone once the file is gone, and of a paste', async () => {
  const record = await importCsv('email,town\nnobody,Ulm\n');
  expect(await rejectedOf(record)).toContain('nobody,invalid_syntax,Ulm');
  expect((await on.app.call('DELETE', `/api/v1/objects/${record.object}`, { key: on.key })).status).toBe(200);
  expect(await rejectedOf(record)).toBe('row_number,email,reason\n2,nobody,invalid_syntax\n');
  const pasted = await on.call('POST', `/email-lists/${list}/imports`, {
    method: 'paste',
    text: 'email\ttown\nnobody\tUlm',
  });
  expect(await rejectedOf(dataOf(pasted, 201))).toBe('row_number,email,reason\n2,nobody,invalid_syntax\n');
});

test('leave out who was forgotten, rejected already or waiting for the DNS', async () => {
  const csv =
    'email,name\nPat Person <gone@nowhere.example>,Pat\nstays@nowhere.example,Sam\nwaits@dead.example,Wes\n,Nobody\n';
  const record = await importCsv(csv);
  expect(record).toMatchObject({ no_mx: 2, invalid_syntax: 1, status: 'processing' });
  const { privacy } = on.app.services;
  for (const email of ['gone@nowhere.example', 'waits@dead.example'])
    await privacy.forget(actor, on.project, email);
  on.app.clock.advance(6 * 60_000);
  on.app.app.engine.wake();
  await on.app.app.engine.whenIdle();
  const ended = dataOf(await on.call('GET', `/email-imports/${record.id}`));
  expect(ended).toMatchObject({ status: 'completed', no_mx: 2, invalid_syntax: 2, processed_rows: 4 });
  expect(await rejectedOf(record)).toBe(
    'row_number,email,reason,name\n3,stays@nowhere.example,no_mx,Sam\n5,,invalid_syntax,Nobody\n',
  );
});

test('of a long file come with their own rows, and whoever goes away leaves no file open', async () => {
  const rows = Array.from(
    { length: 10_000 },
    (_, n) => `${n % 20 === 0 ? 'no' : 'duplicate@example.com'},N${n}`,
  );
  const record = await importCsv(`email,n\n${rows.join('\n')}\n`);
  await on.app.app.engine.whenIdle();
  const table = parse(await rejectedOf(record)) as string[][];
  expect(table).toHaveLength(501);
  expect(table.slice(1).every(([row, email, , n]) => email === 'no' && n === `N${Number(row) - 2}`)).toBe(
    true,
  );
  const open = () =>
    readdirSync('/proc/self/fd').filter((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`).includes(record.object);
      } catch {
        return false;
      }
    }).length;
  const answer = await on.app.app.handle(
    new Request(`http://satchel.test/api/v1/email-imports/${record.id}/rejected`, {
      headers: { 'X-API-Key': on.key },
    }),
  );
  const reader = answer.body?.getReader();
  for (const _ of [1, 2]) await reader?.read();
  expect(open()).toBe(1);
  await reader?.cancel();
  await until(() => open() === 0);
});
