/** How a file is written, how fast its import goes for whom, and ending one for good. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run, runRecord } from '../../support/command.ts';
import { makeTempDir } from '../../support/temp.ts';
import { until } from '../../support/until.ts';
import { dataOf, type MarketingApp, rowsOf, startMarketingApp } from '../settings/setup.ts';

let on: MarketingApp;
beforeAll(async () => {
  on = await startMarketingApp();
});

const csvOf = (rows: number, name = 'p'): string =>
  `email,first_name\n${Array.from({ length: rows }, (_, n) => `${name}${n}@example.com,N${n}`).join('\n')}\n`;

async function upload(text: string): Promise<string> {
  const form = new FormData();
  form.set('file', new Blob([text], { type: 'text/csv' }), 'people.csv');
  const answer = await on.app.call('POST', '/api/v1/objects', { key: on.key, body: form });
  return String(answer.body.public_id);
}

type Ask = MarketingApp['call'];
async function start(ask: Ask, list: string, text: string, options: object = {}) {
  const body = { method: 'csv', object: await upload(text), ...options };
  return ask('POST', `/email-lists/${list}/imports`, body);
}
const show = async (id: unknown) => dataOf(await on.call('GET', `/email-imports/${id}`));
const settled = () => on.app.app.engine.whenIdle();

describe('the delimiter', () => {
  test.each<[string, string, string, object?]>([
    ['commas', ',', 'email,first_name,tags\nann@example.com,"Ann, A.",x;y\n'],
    ['semicolons', ';', 'email;first_name;tags\nann@example.com;Ann, A.;x,y\n'],
    ['tabs', '\t', '\ufeffemail\tfirst_name\ttags\r\nann@example.com\tAnn, A.\tx,y\r\n'],
    ['bars', '|', '\n"e-mail"|"first|name, first_name"|first_name|tags\nann@example.com|-|Ann, A.|x,y\n'],
    ['what sep= says', ';', '\ufeffsep=;\r\nemail;first_name;tags\r\nann@example.com;Ann, A.;x,y\r\n'],
    [
      'what is asked for over sep=',
      '|',
      '"sep=;"\nemail|first_name|tags;a;b;c\nann@example.com|Ann, A.|x\n',
      { delimiter: '|', keep_columns: ['tags;a;b;c'] },
    ],
    ['an unknown sep=', ',', 'sep=:\nemail,first_name,tags\nann@example.com,"Ann, A.",x;y\n'],
  ])('%s', async (_name, delimiter, text, options = {}) => {
    const list = await on.list();
    const record = dataOf(await start(on.call, list, `${text}nobody\n`, options), 201);
    expect(record).toMatchObject({
      status: 'completed',
      total_rows: 2,
      accepted: 1,
      invalid_syntax: 1,
      delimiter,
    });
    const rejected = await on.call('GET', `/email-imports/${record.id}/rejected`);
    // The header is row 1, whatever stands before it.
    expect(rejected.text).toMatch(/^row_number,email,reason,.*\n3,nobody,invalid_syntax,+\n$/);
    expect(rowsOf(await on.call('GET', `/email-lists/${list}/contacts`))).toMatchObject([
      { email: 'ann@example.com', first_name: 'Ann, A.' },
    ]);
  });

  test('is the same deep in a long file, over a restart of the work', async () => {
    const list = await on.list();
    const text = `sep=;\n${csvOf(700).replaceAll(',', ';')}`;
    const record = dataOf(await start(on.mirror, list, text), 202);
    await settled();
    expect(await show(record.id)).toMatchObject({
      status: 'completed',
      total_rows: 700,
      accepted: 700,
      delimiter: ';',
    });
  });

  test('is one of four, and a wrong one finds no addresses', async () => {
    const list = await on.list();
    const unknown = await start(on.call, list, csvOf(1), { delimiter: ':', column_map: { x: 'email' } });
    expect([unknown.status, unknown.body.errors]).toEqual([
      422,
      { delimiter: ['must be one of: ",", ";", "\\t", "|"'] },
    ]);
    const wrong = await start(on.call, list, csvOf(1), { delimiter: ';' });
    expect([wrong.status, Object.keys(wrong.body.errors as object)]).toEqual([422, ['object']]);
    expect((await start(on.call, list, csvOf(1), { delimiter: null })).status).toBe(201);
  });
});

describe('the pace', () => {
  test("is the contract's for a key, which tells when it will be done, and none for a token", async () => {
    const [keys, tokens] = [await on.list(), await on.list()];
    const paced = dataOf(await start(on.call, keys, csvOf(1_000)), 202);
    expect(paced).toMatchObject({ rows_per_minute: 500, done_at_estimate: null });
    const free = dataOf(await start(on.mirror, tokens, csvOf(1_000)), 202);
    expect(free).toMatchObject({ rows_per_minute: null, done_at_estimate: null });
    await settled();
    const { processed_rows, done_at_estimate } = await show(paced.id);
    // A turn of 12 s has passed its rows; the other 900 take 108 s from now.
    expect([processed_rows, done_at_estimate]).toEqual([
      100,
      new Date(on.app.clock.now() + 108_000).toISOString(),
    ]);
    expect(await show(free.id)).toMatchObject({
      status: 'completed',
      accepted: 1_000,
      done_at_estimate: null,
    });
    await on.call('POST', `/email-imports/${paced.id}/cancel`);
  });

  test('of one that goes as fast as it can is told by its speed so far, and in turns, so that others come in between', async () => {
    const list = await on.list();
    const record = dataOf(await start(on.mirror, list, csvOf(1_000, 'slow')), 202);
    // The clock goes on by a minute for each look-up of who is suppressed: as if each two hundred rows took so long.
    const { contacts } = on.app.services;
    const screen = contacts.screen.bind(contacts);
    const seen: unknown[] = [];
    contacts.screen = async (...given) => {
      const { done_at_estimate, processed_rows } = await show(record.id);
      seen.push([
        processed_rows,
        done_at_estimate && Date.parse(String(done_at_estimate)) - on.app.clock.now(),
      ]);
      on.app.clock.advance(60_000);
      return screen(...given);
    };
    try {
      for (let turn = 0; turn < 10; turn += 1) {
        on.app.app.engine.wake();
        await settled();
      }
    } finally {
      contacts.screen = screen;
    }
    expect(seen.slice(0, 3)).toEqual([
      [0, null],
      [200, 4 * 60_000],
      [400, 3 * 60_000],
    ]);
    expect(await show(record.id)).toMatchObject({ status: 'completed', accepted: 1_000 });
  });
});

describe('cancelling', () => {
  const rowsWaiting = () =>
    on.app.services.database.read.$client.query('SELECT count(*) AS n FROM contact_import_waiting').get();

  test('ends an import between its pieces for good: what was taken stays, and its job ends', async () => {
    const list = await on.list();
    on.dns.set('slow.example', { fault: 'servfail' });
    const text = csvOf(800).replace('p3@example.com', 'p3@slow.example');
    const { id, job_id } = dataOf(await start(on.call, list, text), 202);
    await settled();
    expect(await show(id)).toMatchObject({ status: 'processing', accepted: 99 });
    expect(rowsWaiting()).toEqual({ n: 1 });
    const cancelled = dataOf(await on.mirror('POST', `/email-imports/${id}/cancel`));
    expect(cancelled).toMatchObject({
      status: 'cancelled',
      accepted: 99,
      processed_rows: 99,
      done_at_estimate: null,
    });
    expect(cancelled.finished_at).not.toBeNull();
    expect(rowsWaiting()).toEqual({ n: 0 });
    for (const verb of ['resume', 'cancel'])
      expect([verb, (await on.call('POST', `/email-imports/${id}/${verb}`)).status]).toEqual([verb, 409]);
    on.app.clock.advance(3_600_000);
    on.app.app.engine.wake();
    await settled();
    expect(await show(id)).toEqual(cancelled);
    expect(dataOf(await on.call('GET', `/email-lists/${list}`))).toMatchObject({ contacts_count: 99 });
    const job = dataOf(await on.call('GET', `/jobs/${job_id}`));
    expect(job).toMatchObject({ status: 'failed', error: 'It was cancelled.', result: { import_id: id } });
    expect(rowsOf(await on.mirror('GET', '/audit?event=import.cancelled'))).toMatchObject([
      { target: `import:${id}` },
    ]);
  });

  test('stops one that is at work', async () => {
    const list = await on.list();
    const { id, job_id } = dataOf(await start(on.mirror, list, csvOf(3_000)), 202);
    await until(async () => Number((await show(id)).processed_rows) > 0);
    const cancelled = dataOf(await on.call('POST', `/email-imports/${id}/cancel`));
    await settled();
    expect(await show(id)).toEqual(cancelled);
    expect(cancelled).toMatchObject({ status: 'cancelled' });
    const { contacts_count } = dataOf(await on.call('GET', `/email-lists/${list}`));
    expect(contacts_count).toBe(cancelled.accepted as number);
    expect(Number(contacts_count)).toBeLessThan(3_000);
    expect(dataOf(await on.call('GET', `/jobs/${job_id}`))).toMatchObject({ status: 'failed' });
  });

  test('is refused for what has ended, and for another project', async () => {
    const list = await on.list();
    const { id } = dataOf(await start(on.call, list, csvOf(2)), 201);
    const refused = await on.call('POST', `/email-imports/${id}/cancel`);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'There is nothing to cancel: the import is completed.',
    ]);
    expect((await on.call('POST', '/email-imports/01J00000000000000000000000/cancel')).status).toBe(404);
  });

  test('and the delimiter are verbs of the shell, which asks before it cancels', async () => {
    const { data_dir } = on.app;
    const file = join(makeTempDir(), 'people.csv');
    writeFileSync(file, csvOf(600).replaceAll(',', '\t'));
    const list = await on.list();
    const record = await runRecord(data_dir, 'import', 'start', list, file, '--delimiter', 'tab');
    expect(record).toMatchObject({ status: 'pending', delimiter: '\t', rows_per_minute: null });
    expect((await run(data_dir, 'import', 'start', list, file, '--delimiter', ':')).exit).toBe(2);
    const asked = await run(data_dir, 'import', 'cancel', String(record.id));
    expect([asked.exit, asked.stderr]).toEqual([1, expect.stringContaining('ends the import for good')]);
    expect(await runRecord(data_dir, 'import', 'cancel', String(record.id), '--yes')).toMatchObject({
      status: 'cancelled',
    });
    const again = await run(data_dir, 'import', 'cancel', String(record.id), '--yes');
    expect([again.exit, again.stderr]).toEqual([1, expect.stringContaining('nothing to cancel')]);
  });
});
