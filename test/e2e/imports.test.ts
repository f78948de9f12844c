/** Imports of the compiled binary on bad days: kills and a file that is larger than memory should be. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { startDnsServer } from '../support/dns-server.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { makeKey, type Server, startServer } from './binary.ts';

setDefaultTimeout(180_000);
/** For the large file on a busy machine. */
const IMPORTED_MS = 150_000;
const dns = await startDnsServer({ 'example.com': { mx: [{ exchange: 'mx.example.com', preference: 10 }] } });
afterAll(() => dns.stop());

const ENV = {
  SATCHEL_DNS_SERVERS: dns.address,
  SATCHEL_IMPORT_ROWS_PER_MINUTE: '10000000',
  SATCHEL_MAX_UPLOAD_BYTES: String(512 * 1024 * 1024),
  SATCHEL_LOG_LEVEL: 'error',
};

async function call(server: Server, key: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { 'X-API-Key': key },
    ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
  });
  const answer = (await response.json()) as { data?: Record<string, unknown>; public_id?: string };
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${JSON.stringify(answer)}`);
  return answer;
}

/** Uploads a file, starts its import into a new list, and returns the ids of both. */
async function start(server: Server, key: string, parts: string[]) {
  const form = new FormData();
  form.set('file', new Blob(parts, { type: 'text/csv' }), 'people.csv');
  const { public_id: object } = await call(server, key, 'POST', '/objects', form);
  const list = { name: 'N', default_consent_basis: 'consent' };
  const list_id = String((await call(server, key, 'POST', '/email-lists', list)).data?.id);
  const wanted = { method: 'csv', object };
  const made = await call(server, key, 'POST', `/email-lists/${list_id}/imports`, wanted);
  return { list: list_id, id: String(made.data?.id) };
}

const show = async (server: Server, key: string, id: string) =>
  (await call(server, key, 'GET', `/email-imports/${id}`)).data ?? {};

const COUNTERS = [
  'accepted',
  'duplicate',
  'invalid_syntax',
  'no_mx',
  'suppressed',
  'missing_consent',
  'updated_existing',
];

test('kill -9 wherever it hits: every row counts once, and the list holds what was accepted', async () => {
  const ROWS = 2_400;
  const dir = makeTempDir();
  let server = await startServer(dir, ENV);
  const key = await makeKey(dir, 'read,write,marketing');
  // Of 20 rows one is no address, and one is there twice.
  const lines = Array.from({ length: ROWS }, (_, n) =>
    n % 20 === 0 ? `nonsense ${n}` : `p${n % 20 === 1 ? n + 1 : n}@example.com`,
  );
  const { list, id } = await start(server, key, [`email\n${lines.join('\n')}\n`]);
  let kills = 0;
  let before = 0;
  for (;;) {
    const record = await show(server, key, id);
    const done = Number(record.processed_rows);
    expect(COUNTERS.reduce((sum, name) => sum + Number(record[name]), 0)).toBe(done);
    expect(done).toBeGreaterThanOrEqual(before);
    const { contacts_count } = (await call(server, key, 'GET', `/email-lists/${list}`)).data ?? {};
    expect(Number(contacts_count)).toBeGreaterThanOrEqual(Number(record.accepted));
    if (record.status === 'completed') break;
    expect(record.status).not.toBe('failed');
    if (done - before < ROWS / 6) continue;
    before = done;
    kills += 1;
    await server.end('SIGKILL');
    server = await startServer(dir, ENV);
  }
  expect(kills).toBeGreaterThan(1);
  const record = await show(server, key, id);
  expect(record).toMatchObject({
    total_rows: ROWS,
    processed_rows: ROWS,
    accepted: ROWS * 0.9,
    duplicate: ROWS / 20,
    invalid_syntax: ROWS / 20,
  });
  const counted = (await call(server, key, 'GET', `/email-lists/${list}`)).data;
  expect(counted).toMatchObject({ contacts_count: ROWS * 0.9, active_count: ROWS * 0.9 });
  const rejected = await fetch(`${server.url}/api/v1/email-imports/${id}/rejected`, {
    headers: { 'X-API-Key': key },
  });
  const numbers = (await rejected.text())
    .trim()
    .split('\n')
    .slice(1)
    .map((line) => Number.parseInt(line, 10));
  expect(numbers).toEqual(Array.from({ length: ROWS / 20 }, (_, n) => n * 20 + 2));
  await server.end('SIGTERM');
});

test('a file of 100 MB takes no more memory than a small one', async () => {
  const ROWS = 1_000;
  const dir = makeTempDir();
  const server = await startServer(dir, ENV);
  const key = await makeKey(dir, 'read,write,marketing');
  const peakMib = (): number =>
    Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1]) / 1024;
  const notes = (length: number): string => `"${'Once upon a time, "" and so on.\n'.repeat(length / 32)}"`;
  const fileOf = (rows: number, note: string, name: string): string[] => [
    'email,notes\n',
    ...Array.from({ length: rows }, (_, n) => `${name}${n}@example.com,${note}\n`),
  ];
  const run = async (parts: string[], rows: number): Promise<void> => {
    const { id } = await start(server, key, parts);
    await until(async () => (await show(server, key, id)).status === 'completed', IMPORTED_MS);
    expect(await show(server, key, id)).toMatchObject({ total_rows: rows, accepted: rows });
  };
  // As many rows, so that nothing but the size of the file differs.
  await run(fileOf(ROWS, notes(320), 'small'), ROWS);
  const before = peakMib();
  const note = notes(100_000);
  await run(fileOf(ROWS, note, 'large'), ROWS);
  expect(ROWS * note.length).toBeGreaterThan(95 * 1024 * 1024);
  // Some 40 alone, 66 beside other tests, by when garbage is collected; a file that is read whole takes 100 as bytes and 100 as text.
  expect(peakMib() - before).toBeLessThan(120);
  await server.end('SIGTERM');
});
