/** Exports: contacts of a list and the mail log as CSV, whole, safe to open, and on the audit trail. */
import { beforeAll, expect, test } from 'bun:test';
import { parse } from 'csv-parse/sync';
import { run } from '../../support/command.ts';
import { addCapturingMailbox } from '../../support/helpers.ts';
import { type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
let list: string;
beforeAll(async () => {
  on = await startMarketingApp();
  list = await on.list();
  await on.contact(list, 'ann@example.com', {
    ...{
      first_name: '=HYPERLINK("http://evil")',
      last_name: 'O"Neil, jr\nx',
      tags: ['a', 'b'],
      reason: '+1',
    },
    custom: { plan: '@SUM(A1)', seats: -3, vip: false, '=1+1': '\tx', été: 'ü' },
  });
  await on.contact(list, 'bob@example.com', { tags: ['b'], custom: { plan: 'pro', 'a,b': 'c' } });
});

/** The rows of a CSV, each by its headers. */
const read = (text: string): Record<string, string>[] => parse(text, { columns: true });
const trail = async (event: string) => rowsOf(await on.mirror('GET', `/audit?event=${event}`));

test('contacts have the fields of the API in its order, and custom fields behind them', async () => {
  const answer = await on.call('GET', `/email-lists/${list}/contacts.csv`);
  expect([
    answer.status,
    answer.headers.get('content-type'),
    answer.headers.get('content-disposition'),
  ]).toEqual([...[200, 'text/csv; charset=utf-8', `attachment; filename="contacts-${list}.csv"`]]);
  const [bob, ann, ...others] = read(answer.text);
  expect(others).toEqual([]);
  const [record] = rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=bob`));
  const { custom: _custom, tags: _tags, ...plain } = record ?? {};
  const fields = Object.keys(record ?? {}).filter((name) => name !== 'custom');
  expect(Object.keys(bob ?? {})).toEqual([
    ...fields,
    ...['custom.=1+1', 'custom.a,b', 'custom.plan', 'custom.seats', 'custom.vip', 'custom.été'],
  ]);
  // A token may begin as a formula does.
  for (const [name, value] of Object.entries(plain))
    expect([name, bob?.[name]?.replace(/^'-/, '-')]).toEqual([name, String(value ?? '')]);
  expect(bob).toMatchObject({ tags: 'b', 'custom.plan': 'pro', 'custom.a,b': 'c', 'custom.seats': '' });
  expect(ann).toMatchObject({
    ...{ first_name: `'=HYPERLINK("http://evil")`, last_name: 'O"Neil, jr\nx', tags: 'a, b', reason: "'+1" },
    ...{ 'custom.plan': "'@SUM(A1)", 'custom.seats': '-3', 'custom.vip': 'false', 'custom.=1+1': "'\tx" },
    ...{ 'custom.été': 'ü', 'custom.a,b': '' },
  });
});

test('the filter chooses, on both planes, and what is no filter is refused before anything is sent or noted', async () => {
  const before = (await trail('contacts.exported')).length;
  const path = `/email-lists/${list}/contacts.csv`;
  for (const ask of [on.call, on.mirror]) {
    const answer = await ask('GET', `${path}?tags_all=a&custom.seats=-3`);
    expect(read(answer.text).map(({ email }) => email)).toEqual(['ann@example.com']);
    expect((await ask('GET', `${path}?tag_all=a`)).status).toBe(422);
    expect((await ask('GET', `/email-lists/01J00000000000000000000000/contacts.csv`)).status).toBe(404);
  }
  const nobody = await on.call('GET', `${path}?status=bounced`);
  expect(nobody.text).toStartWith('id,list,email,');
  expect(read(nobody.text)).toEqual([]);
  const noted = await trail('contacts.exported');
  expect(noted.length - before).toBe(3);
  expect(
    noted
      .slice(0, 3)
      .map(({ actor_kind, actor_name, target, metadata }) => [actor_kind, actor_name, target, metadata]),
  ).toEqual([
    ['system', 'API key k', `list:${list}`, { name: 'News', filter: ['status'] }],
    ['token', 'mirror', `list:${list}`, { name: 'News', filter: ['tags_all', 'custom'] }],
    ['system', 'API key k', `list:${list}`, { name: 'News', filter: ['tags_all', 'custom'] }],
  ]);
});

test('the shell writes them out too, and what is held about an address as before', async () => {
  const { data_dir } = on.app;
  const all = await run(data_dir, 'contact', 'export', '--list', list);
  expect(all.stdout).toBe((await on.call('GET', `/email-lists/${list}/contacts.csv`)).text);
  const one = await run(data_dir, 'contact', 'export', '--list', list, '--filter', 'q=bob', '--json');
  expect(JSON.parse(one.stdout)).toMatchObject([
    { email: 'bob@example.com', 'custom.plan': 'pro', last_name: null },
  ]);
  const held = await run(data_dir, 'contact', 'export', 'bob@example.com', '--project', 'shop');
  expect(JSON.parse(held.stdout)).toMatchObject({ contacts: [{ email: 'bob@example.com' }] });
  for (const args of [
    ['bob@example.com'],
    ['bob@example.com', '--list', list],
    [],
    ['bob@example.com', '--project', 'shop', '--filter', 'q=x'],
  ])
    expect([args, (await run(data_dir, 'contact', 'export', ...args)).exit]).toEqual([args, 2]);
  const wrong = await run(data_dir, 'contact', 'export', '--list', list, '--filter', 'x=1');
  expect([wrong.exit, wrong.stdout]).toEqual([1, '']);
});

test('a table of more custom fields than a spreadsheet is good for is refused, and not cut', async () => {
  const wide = await on.list();
  for (let n = 0; n < 21; n += 1) {
    const custom = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`f${n}_${at}`, 1]));
    await on.contact(wide, `w${n}@example.com`, { custom });
  }
  const refused = await on.call('GET', `/email-lists/${wide}/contacts.csv`);
  expect([refused.status, refused.body.message]).toEqual([
    422,
    expect.stringContaining('more than 1000 custom fields'),
  ]);
  const part = await on.call('GET', `/email-lists/${wide}/contacts.csv?q=w1`);
  expect(part.status).toBe(200);
  expect(read(part.text)).toHaveLength(11);
});

test('the log has the fields of the API, by its filters, newest first', async () => {
  await addCapturingMailbox(on.app);
  const key = await on.project.key({ can_read: true, can_send_emails: true });
  const start = on.app.clock.now();
  for (let n = 0; n < 3; n += 1) {
    const body = {
      to: `r${n % 2}@example.com`,
      cc: ['c@example.com', 'd@example.com'],
      subject: `=${n}`,
      body_text: 'x',
    };
    expect((await on.app.call('POST', '/api/v1/emails/send', { key, body })).status).toBe(202);
    on.app.clock.advance(60_000);
  }
  await on.app.app.engine.whenIdle();
  const log = async (query: string) => on.app.call('GET', `/api/v1/emails.csv${query}`, { key });
  const all = await log('');
  const [newest] = rowsOf(await on.app.call('GET', '/api/v1/emails', { key }));
  const rows = read(all.text);
  expect(Object.keys(rows[0] ?? {})).toEqual(Object.keys(newest ?? {}));
  expect(rows.map(({ subject }) => subject)).toEqual(["'=2", "'=1", "'=0"]);
  expect(rows[0]).toMatchObject({
    ...{ to: 'r0@example.com', cc: 'c@example.com, d@example.com', attachments: '' },
    ...{ id: newest?.id, status: 'sent', template: '' },
  });
  const subjects = async (query: string) => read((await log(query)).text).map(({ subject }) => subject);
  expect(await subjects('?to=R1@example.com')).toEqual(["'=1"]);
  expect(await subjects(`?status=sent&date_to=${new Date(start + 60_000).toISOString()}`)).toEqual(["'=0"]);
  expect(await subjects(`?date_from=${new Date(start + 60_000).toISOString()}`)).toEqual(["'=2", "'=1"]);
  expect(await subjects('?template=none')).toEqual([]);
  expect((await log('?status=gone')).status).toBe(422);
  expect((await on.app.call('GET', '/api/v1/emails.csv')).status).toBe(401);
  expect((await on.mirror('GET', '/emails.csv')).text).toBe(all.text);
  const shell = await run(
    on.app.data_dir,
    'email',
    'export',
    '--project',
    'shop',
    '--to',
    'r0@example.com',
    '--date-from',
    new Date(start + 1).toISOString(),
  );
  expect(read(shell.stdout).map(({ subject }) => subject)).toEqual(["'=2"]);
  const [noted] = await trail('emails.exported');
  expect(noted).toMatchObject({ actor_kind: 'shell', metadata: { filter: ['to', 'date_from'] } });
});
