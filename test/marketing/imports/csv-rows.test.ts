/** Reading of CSV files: what is in memory of a file, however large it is. */
import { expect, spyOn, test } from 'bun:test';
import { readCsvRows, UnreadableCsv } from '../../../src/marketing/imports/csv-rows.ts';
import { dataOf, startMarketingApp } from '../settings/setup.ts';

const CHUNK_BYTES = 64 * 1024;
/** Rows that the parser holds ready, and some pieces of the next. */
const HELD_ROWS = 20;

/** A file of rows `name<n>@example.com` with a note of this size, made as it is read, and how far it was read. */
function largeFile(rows: number, note_bytes: number) {
  const note = `,"${'Once upon a time, "" and so on.\n'.repeat(note_bytes / 32)}"\n`;
  const read = { bytes: 0 };
  async function* chunks(from: number): AsyncGenerator<Uint8Array> {
    const header = 'email,notes\n';
    for (let row = 0, at = 0, text = header; ; text = `name${row}@example.com${note}`, row += 1) {
      const bytes = Buffer.from(text);
      for (let start = 0; start < bytes.length; start += CHUNK_BYTES) {
        const chunk = bytes.subarray(Math.max(start, from - at), start + CHUNK_BYTES);
        if (chunk.length === 0) continue;
        read.bytes = at + start + chunk.length;
        yield chunk;
      }
      at += bytes.length;
      if (row === rows) return;
    }
  }
  return { chunks, read, row_bytes: note.length + 'name100@example.com'.length };
}

test('a file is read as its rows are taken, and no more than some pieces ahead', async () => {
  const ROWS = 200;
  const { chunks, read, row_bytes } = largeFile(ROWS, 100_000);
  let rows = 0;
  let ahead = 0;
  for await (const { end_byte } of readCsvRows(chunks, { delimiter: ',', from_byte: 0 })) {
    rows += 1;
    ahead = Math.max(ahead, read.bytes - end_byte);
  }
  expect([rows, read.bytes > 20_000_000]).toEqual([ROWS + 1, true]);
  expect(ahead).toBeLessThan(HELD_ROWS * row_bytes);
});

test('a row of nothing but commas is given up where it is longer than any, and empty lines are no row', async () => {
  let read = 0;
  const of = (text: string) =>
    async function* () {
      for (let at = 0; at < 160; at++) {
        read += CHUNK_BYTES;
        yield Buffer.from(text.repeat(CHUNK_BYTES / text.length));
      }
    };
  const rowsOf = async (text: string) => {
    read = 0;
    let rows = 0;
    for await (const _ of readCsvRows(of(text), { delimiter: ',', from_byte: 0 })) rows++;
    return rows;
  };
  const refusal = await rowsOf(',').catch((error: unknown) => error);
  expect(refusal).toBeInstanceOf(UnreadableCsv);
  expect(String(refusal)).toContain('a row longer than 131072 bytes');
  expect(read).toBeLessThan(4 * CHUNK_BYTES);
  expect(await rowsOf('\n')).toBe(0);
  expect(read).toBe(160 * CHUNK_BYTES);
});

test('an import takes up no more of its file than it has committed, but for the rows of two looks', async () => {
  const ROWS = 1_000;
  const TWO_LOOKS = 200;
  const on = await startMarketingApp({ env: { SATCHEL_IMPORT_ROWS_PER_MINUTE: '10000000' } });
  const list = await on.list();
  const form = new FormData();
  form.set('file', new Blob(['email,notes\nann@example.com,x\n'], { type: 'text/csv' }), 'people.csv');
  const object = (await on.app.call('POST', '/api/v1/objects', { key: on.key, body: form })).body.public_id;
  const { chunks, read, row_bytes } = largeFile(ROWS, 3_200);
  const committed = () =>
    Number(
      on.app.services.database.read.$client
        .query('SELECT max(accepted) FROM contact_imports')
        .values()[0]?.[0],
    );
  let ahead = 0;
  let is_counted = false;
  const open = spyOn(on.app.services.objects, 'chunksOf').mockImplementation(async function* (_, from = 0) {
    for await (const chunk of chunks(from)) {
      if (is_counted) ahead = Math.max(ahead, read.bytes / row_bytes - committed());
      yield chunk;
    }
    is_counted = true;
  });
  const started = await on.call('POST', `/email-lists/${list}/imports`, { method: 'csv', object });
  const { id } = dataOf(started, 202);
  await on.app.app.engine.whenIdle();
  open.mockRestore();
  expect(dataOf(await on.call('GET', `/email-imports/${id}`))).toMatchObject({
    ...{ status: 'completed', total_rows: ROWS, accepted: ROWS },
  });
  expect(ahead).toBeGreaterThan(0);
  expect(ahead).toBeLessThan(TWO_LOOKS + HELD_ROWS + (2 * CHUNK_BYTES) / row_bytes);
});
