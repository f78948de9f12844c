/** Imports in the background: the rate, bad days in the middle of one, restarts, and going on after a failure. */
import { describe, expect, test } from 'bun:test';
import { sql } from 'drizzle-orm';
import { heldOf } from '../../support/addresses.ts';
import { actor, makeProject, startTestApp } from '../../support/helpers.ts';
import { dataOf, type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

const csvOf = (rows: number, name = 'p'): string =>
  `email,first_name\n${Array.from({ length: rows }, (_, n) => `${name}${n}@example.com,N${n}`).join('\n')}\n`;

async function upload(on: MarketingApp, text: string): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([text], { type: 'text/csv' }), 'people.csv');
  const answer = await on.app.call('POST', '/api/v1/objects', { key: on.key, body: form });
  return String(answer.body.public_id);
}

async function start(on: MarketingApp, list: string, text: string) {
  const object = await upload(on, text);
  const answer = await on.call('POST', `/email-lists/${list}/imports`, { method: 'csv', object });
  return { object, record: dataOf(answer, 202) };
}

const show = async (on: MarketingApp, id: unknown) => dataOf(await on.call('GET', `/email-imports/${id}`));
const settled = (on: MarketingApp) => on.app.app.engine.whenIdle();
const UNTHROTTLED = { SATCHEL_IMPORT_ROWS_PER_MINUTE: '10000000' };

/** The counters always are the rows that are done, and the contacts of the list those that were accepted. */
async function expectTrue(on: MarketingApp, list: string, id: unknown): Promise<Record<string, unknown>> {
  const record = await show(on, id);
  const { accepted, duplicate, invalid_syntax, no_mx, suppressed, missing_consent, updated_existing } =
    record;
  const counters = [
    accepted,
    duplicate,
    invalid_syntax,
    no_mx,
    suppressed,
    missing_consent,
    updated_existing,
  ];
  expect(record.processed_rows).toBe(counters.reduce((sum: number, n) => sum + Number(n), 0));
  const { contacts_count } = dataOf(await on.call('GET', `/email-lists/${list}`));
  expect(contacts_count).toBe(record.accepted as number);
  return record;
}

test('more than 500 rows are 202 and go on at the configured rate', async () => {
  const on = await startMarketingApp({ env: { SATCHEL_IMPORT_ROWS_PER_MINUTE: '500' } });
  const list = await on.list();
  const { record } = await start(on, list, csvOf(501));
  expect(record).toMatchObject({ status: 'pending', total_rows: null, processed_rows: 0, accepted: 0 });
  await settled(on);
  expect(await expectTrue(on, list, record.id)).toMatchObject({
    status: 'processing',
    total_rows: 501,
    processed_rows: 100,
    progress_percent: 19,
  });
  on.app.clock.advance(11_000);
  on.app.app.engine.wake();
  await settled(on);
  expect((await show(on, record.id)).processed_rows).toBe(100);
  for (let turn = 0; turn < 5; turn += 1) {
    on.app.clock.advance(12_000);
    on.app.app.engine.wake();
    await settled(on);
  }
  expect(await expectTrue(on, list, record.id)).toMatchObject({
    status: 'completed',
    accepted: 501,
    progress_percent: 100,
  });
  const job = dataOf(await on.call('GET', `/jobs/${record.job_id}`));
  expect(job).toMatchObject({
    type: 'email.import',
    status: 'completed',
    attempts: 1,
    result: { import_id: record.id },
  });
});

test('goes on within 10 s of the start where a crash cut off its request', async () => {
  const on = await startMarketingApp();
  const list = await on.list();
  const { imports } = on.app.services;
  const object = await upload(on, csvOf(3));
  const { promise: is_cut, resolve } = Promise.withResolvers<string>();
  imports.advance = (_owner, id) => {
    resolve(id);
    return new Promise(() => {});
  };
  void on.call('POST', `/email-lists/${list}/imports`, { method: 'csv', object });
  const id = await is_cut;
  const { data_dir, clock } = on.app;
  await on.app.stop();
  const app = await startTestApp({ data_dir, clock, env: { SATCHEL_DNS_SERVERS: on.dns.address } });
  clock.advance(10_000);
  app.app.engine.wake();
  await app.app.engine.whenIdle();
  expect(app.services.imports.show(id)).toMatchObject({ status: 'completed', accepted: 3 });
});

test('goes on after a restart, and counts every row once', async () => {
  const on = await startMarketingApp({ env: { SATCHEL_IMPORT_ROWS_PER_MINUTE: '1000' } });
  const list = await on.list();
  const { record } = await start(on, list, csvOf(700));
  await settled(on);
  expect((await show(on, record.id)).processed_rows).toBe(200);
  await on.app.stop();
  const again = await startTestApp({
    data_dir: on.app.data_dir,
    clock: on.app.clock,
    env: { ...UNTHROTTLED, SATCHEL_DNS_SERVERS: on.dns.address },
  });
  on.app.clock.advance(60_000);
  again.app.engine.wake();
  await again.app.engine.whenIdle();
  const answer = await again.call('GET', `/api/v1/email-imports/${record.id}`, { key: on.key });
  expect(answer.body.data).toMatchObject({
    status: 'completed',
    accepted: 700,
    duplicate: 0,
    processed_rows: 700,
  });
});

describe('a bad day in the middle', () => {
  test('the object is deleted: the import fails, says so, and can be resumed no more than it can be read', async () => {
    const on = await startMarketingApp({ env: { SATCHEL_IMPORT_ROWS_PER_MINUTE: '500' } });
    const list = await on.list();
    const { record, object } = await start(on, list, csvOf(600));
    await settled(on);
    await on.app.call('DELETE', `/api/v1/objects/${object}`, { key: on.key });
    on.app.clock.advance(60_000);
    on.app.app.engine.wake();
    await settled(on);
    const failed = await expectTrue(on, list, record.id);
    expect(failed).toMatchObject({ status: 'failed', processed_rows: 100 });
    expect(failed.error).toContain('gone');
    expect((await on.call('POST', `/email-imports/${record.id}/resume`)).status).toBe(200);
    await settled(on);
    expect(await show(on, record.id)).toMatchObject({ status: 'failed', processed_rows: 100 });
  });

  test('the list is archived: the import fails, and goes on where it was once it is open again', async () => {
    const on = await startMarketingApp({ env: { SATCHEL_IMPORT_ROWS_PER_MINUTE: '500' } });
    const list = await on.list();
    const { record } = await start(on, list, csvOf(600));
    await settled(on);
    await on.call('PATCH', `/email-lists/${list}`, { archived: true });
    on.app.clock.advance(60_000);
    on.app.app.engine.wake();
    await settled(on);
    expect(await expectTrue(on, list, record.id)).toMatchObject({ status: 'failed', accepted: 100 });
    const too_early = await on.call('POST', `/email-imports/${record.id}/resume`);
    expect(too_early.body.code).toBe('list_archived');
    await on.call('PATCH', `/email-lists/${list}`, { archived: false });
    expect(dataOf(await on.call('POST', `/email-imports/${record.id}/resume`)).status).toBe('pending');
    for (let turn = 0; turn < 6; turn += 1) {
      await settled(on);
      on.app.clock.advance(12_000);
      on.app.app.engine.wake();
    }
    expect(await expectTrue(on, list, record.id)).toMatchObject({
      status: 'completed',
      accepted: 600,
      duplicate: 0,
    });
    expect((await on.call('POST', `/email-imports/${record.id}/resume`)).status).toBe(409);
  });

  test('an address leaves while its import runs: it is not added', async () => {
    const on = await startMarketingApp({ env: { SATCHEL_IMPORT_ROWS_PER_MINUTE: '500' } });
    const list = await on.list();
    const { record } = await start(on, list, csvOf(600));
    await settled(on);
    await on.call('POST', '/email-suppressions', { email: 'p550@example.com' });
    for (let turn = 0; turn < 6; turn += 1) {
      on.app.clock.advance(12_000);
      on.app.app.engine.wake();
      await settled(on);
    }
    expect(await expectTrue(on, list, record.id)).toMatchObject({
      status: 'completed',
      accepted: 599,
      suppressed: 1,
    });
    expect(rowsOf(await on.call('GET', `/email-lists/${list}/contacts?q=p550`))).toEqual([]);
  });

  test('the project is deleted: its import ends, and no contact stays behind', async () => {
    const on = await startMarketingApp({ env: { SATCHEL_IMPORT_ROWS_PER_MINUTE: '500' } });
    const list = await on.list();
    await start(on, list, csvOf(600));
    await settled(on);
    const { projects, database } = on.app.services;
    const count = () => Number(database.read.$client.query('SELECT count(*) FROM contacts').values()[0]?.[0]);
    expect(count()).toBe(100);
    await projects.remove({ kind: 'shell', id: null, name: 't', ip: null }, on.project.slug);
    expect(count()).toBe(0);
    on.app.clock.advance(60_000);
    on.app.app.engine.wake();
    await settled(on);
    expect(count()).toBe(0);
    expect(Number(database.read.$client.query('SELECT count(*) FROM contact_counts').values()[0]?.[0])).toBe(
      0,
    );
  });

  test('the file breaks off in the middle: what was read stays, the row is named', async () => {
    const on = await startMarketingApp({ env: UNTHROTTLED });
    const list = await on.list();
    const { record } = await start(on, list, `${csvOf(600)}x@example.com,"${'y'.repeat(140_000)}`);
    await settled(on);
    expect(await show(on, record.id)).toMatchObject({ status: 'failed', processed_rows: 0 });
    expect((await show(on, record.id)).error).toContain('quote');
  });
});

test('what is no text deep in a long file fails it before any row is taken, and says so', async () => {
  const on = await startMarketingApp({ env: UNTHROTTLED });
  const list = await on.list();
  const good = new TextEncoder().encode(csvOf(4_000));
  for (const [bad, words] of [
    [new Uint8Array([0x61, 0, 0x40]), 'NUL'],
    [new Uint8Array(new Uint16Array([...'x@example.com'].map((c) => c.charCodeAt(0))).buffer), 'NUL'],
    [new Uint8Array([0xe9, 0x40, 0x2e]), 'not UTF-8'],
    [new TextEncoder().encode(`"never closed\n${'x'.repeat(200_000)}`), 'row longer'],
  ] as const) {
    const form = new FormData();
    form.set('file', new Blob([good, bad], { type: 'text/csv' }), 'people.csv');
    const object = (await on.app.call('POST', '/api/v1/objects', { key: on.key, body: form })).body.public_id;
    const started = await on.call('POST', `/email-lists/${list}/imports`, { method: 'csv', object });
    const { id } = dataOf(started, 202);
    await settled(on);
    const record = await expectTrue(on, list, id);
    expect(record).toMatchObject({ status: 'failed', total_rows: null, processed_rows: 0 });
    expect(record.error).toContain(words);
  }
});

test('a full disk holds an import up, which goes on once there is room', async () => {
  const on = await startMarketingApp({ env: { SATCHEL_IMPORT_ROWS_PER_MINUTE: '3000' } });
  const { database } = on.app.services;
  const list = await on.list();
  const { record } = await start(on, list, csvOf(1_100));
  await settled(on);
  expect(await expectTrue(on, list, record.id)).toMatchObject({ status: 'processing', processed_rows: 600 });
  const pages = (count: string) =>
    database.write((tx) => tx.run(sql.raw(`PRAGMA max_page_count = ${count}`)));
  const [{ page_count } = { page_count: 0 }] = database.read.all<{ page_count: number }>(
    sql`PRAGMA page_count`,
  );
  await pages(String(page_count));
  on.app.clock.advance(12_000);
  on.app.app.engine.wake();
  await settled(on);
  const stuck = await expectTrue(on, list, record.id);
  expect(stuck).toMatchObject({ status: 'processing', error: null });
  expect(stuck.processed_rows).toBeLessThan(1_100);
  await pages('1000000');
  on.app.clock.advance(12_000);
  on.app.app.engine.wake();
  await settled(on);
  expect(await expectTrue(on, list, record.id)).toMatchObject({ status: 'completed', accepted: 1_100 });
});

test('two imports of the same addresses: each counts its own, nobody is on the list twice', async () => {
  const on = await startMarketingApp({ env: UNTHROTTLED });
  const list = await on.list();
  const [first, second] = await Promise.all([start(on, list, csvOf(800)), start(on, list, csvOf(800))]);
  await settled(on);
  const records = [await show(on, first.record.id), await show(on, second.record.id)];
  expect(records.map(({ status }) => status)).toEqual(['completed', 'completed']);
  const sum = (field: string) => records.reduce((total, record) => total + Number(record[field]), 0);
  expect({ accepted: sum('accepted'), duplicate: sum('duplicate') }).toEqual({
    accepted: 800,
    duplicate: 800,
  });
  expect(dataOf(await on.call('GET', `/email-lists/${list}`)).contacts_count).toBe(800);
});

describe('rows that wait for the DNS', () => {
  test('are decided when it answers again', async () => {
    const on = await startMarketingApp({ env: UNTHROTTLED });
    const list = await on.list();
    const text = `${csvOf(550)}late@slow.example,L\nnever@slow2.example,M\n`;
    on.dns.set('slow.example', { fault: 'servfail' });
    on.dns.set('slow2.example', { fault: 'servfail' });
    const { record } = await start(on, list, text);
    await settled(on);
    expect(await expectTrue(on, list, record.id)).toMatchObject({
      status: 'processing',
      total_rows: 552,
      processed_rows: 550,
    });
    on.dns.set('slow.example', { mx: [{ exchange: 'mx.example.com', preference: 1 }] });
    on.dns.set('slow2.example', null);
    on.app.clock.advance(60_000);
    on.app.app.engine.wake();
    await settled(on);
    expect(await expectTrue(on, list, record.id)).toMatchObject({
      status: 'completed',
      accepted: 551,
      no_mx: 1,
    });
    const rejected = await on.call('GET', `/email-imports/${record.id}/rejected`);
    expect(rejected.text).toBe('row_number,email,reason,first_name\n553,never@slow2.example,no_mx,M\n');
  });

  test('fail the import after a day, and a resume asks again', async () => {
    const on = await startMarketingApp({ env: UNTHROTTLED });
    const list = await on.list();
    on.dns.set('slow.example', { fault: 'servfail' });
    const { record } = await start(on, list, `${csvOf(510)}late@slow.example,L\n`);
    for (let hour = 0; hour < 50; hour += 1) {
      await settled(on);
      on.app.clock.advance(30 * 60_000);
      on.app.app.engine.wake();
    }
    await settled(on);
    const failed = await show(on, record.id);
    expect(failed).toMatchObject({ status: 'failed', processed_rows: 510 });
    expect(failed.error).toContain('1 row');
    on.dns.set('slow.example', { mx: [{ exchange: 'mx.example.com', preference: 1 }] });
    await on.call('POST', `/email-imports/${record.id}/resume`);
    await settled(on);
    expect(await expectTrue(on, list, record.id)).toMatchObject({ status: 'completed', accepted: 511 });
  });
});

test('a request and a job that go on with the same rows count each of them once', async () => {
  const on = await startMarketingApp();
  const list = await on.list();
  on.dns.set('slow.example', { fault: 'servfail' });
  const text = Array.from({ length: 120 }, (_, n) => `p${n}@slow.example`).join('\n');
  const pasted = await on.call('POST', `/email-lists/${list}/imports`, { method: 'paste', text });
  const { id } = dataOf(pasted, 201);
  on.dns.set('slow.example', { mx: [{ exchange: 'mx.example.com', preference: 1 }] });
  on.app.clock.advance(60_000);
  const owner = on.app.services.projects.require('shop');
  const both = [1, 2].map(() =>
    on.app.services.imports.advance(owner, String(id), { rows: 1_000, shouldStop: () => false }),
  );
  const ends = (await Promise.all(both)).map(({ status }) => status);
  expect(ends.sort()).toEqual(['completed', 'superseded']);
  expect(await expectTrue(on, list, id)).toMatchObject({
    accepted: 120,
    processed_rows: 120,
    total_rows: 120,
  });
  // Its job finds it done.
  on.app.clock.advance(3_600_000);
  on.app.app.engine.wake();
  await settled(on);
  const { job_id } = await show(on, id);
  const job = await on.app.call('GET', `/api/v1/jobs/${job_id}`, { key: on.key });
  expect(job.body.data).toMatchObject({ status: 'completed' });
});

test('who is forgotten while a row waits is not added by it, and the row counts', async () => {
  const on = await startMarketingApp();
  const list = await on.list();
  on.dns.set('slow.example', { fault: 'servfail' });
  const text = 'Pat Person <Pat@Slow.example>\nother@slow.example\nPat <pat@slow.example';
  const pasted = await on.call('POST', `/email-lists/${list}/imports`, { method: 'paste', text });
  const { id } = dataOf(pasted, 201);
  const { privacy, projects, database } = on.app.services;
  const owner = projects.require('shop');
  expect(await heldOf(on.app.services, owner, 'pat@slow.example')).toMatchObject({ import_rows: [{}, {}] });
  expect(await privacy.forget(actor, owner, 'pat@slow.example')).toMatchObject({ import_rows: 2 });
  expect(await heldOf(on.app.services, owner, 'pat@slow.example')).toMatchObject({ import_rows: [] });
  on.dns.set('slow.example', { mx: [{ exchange: 'mx.example.com', preference: 1 }] });
  on.app.clock.advance(60_000);
  await on.app.services.imports.advance(owner, String(id), { rows: 1_000, shouldStop: () => false });
  expect(await expectTrue(on, list, id)).toMatchObject({
    status: 'completed',
    total_rows: 3,
    accepted: 1,
    invalid_syntax: 2,
  });
  const held = ['contact_import_rejections', 'contact_import_waiting', 'contacts', 'jobs'].map((table) =>
    JSON.stringify(database.read.all(sql.raw(`SELECT * FROM ${table}`))).toLowerCase(),
  );
  for (const text of held) expect(text).not.toContain('pat@slow.example');
});

test('an import of another project is not found, whatever is asked of it', async () => {
  const on = await startMarketingApp();
  const { record } = await start(on, await on.list(), csvOf(501));
  const other = await makeProject(on.app, 'other');
  const key = await other.key({ can_manage_email_marketing: true });
  for (const [method, path] of [
    ['GET', ''],
    ['GET', '/rejected'],
    ['POST', '/resume'],
  ] as const) {
    const answer = await on.app.call(method, `/api/v1/email-imports/${record.id}${path}`, { key });
    expect(answer.status).toBe(404);
  }
});
