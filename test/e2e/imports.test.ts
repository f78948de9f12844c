/** Imports of the compiled binary and kill -9. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test';
import { startDnsServer } from '../support/dns-server.ts';
import { makeTempDir } from '../support/temp.ts';
import { makeKey, type Server, startServer } from './binary.ts';

setDefaultTimeout(180_000);
const dns = await startDnsServer({ 'example.com': { mx: [{ exchange: 'mx.example.com', preference: 10 }] } });
afterAll(() => dns.stop());

const ENV = {
  SATCHEL_DNS_SERVERS: dns.address,
  SATCHEL_IMPORT_ROWS_PER_MINUTE: '10000000',
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
  const ROWS = 1_200;
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
    if (done - before < ROWS / 3) continue;
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
