/** Email marketing's people: imports, lists of a million, and sign-ups. */
import { Database } from 'bun:sqlite';
import { join } from 'node:path';
import { type DnsServer, startDnsServer } from '../../test/support/dns-server.ts';
import {
  latencies,
  load,
  makeKey,
  median,
  memoryMib,
  ms,
  percentile,
  type Row,
  rate,
  reported,
  request,
  row,
  runCli,
  type Satchel,
  scratchDir,
  startSatchel,
} from './harness.ts';
import { againstListmonk, startListmonk } from './listmonk.ts';

const IMPORTED = 100_000;
const FEW = 10_000;
const MANY = 1_000_000;
const SMALL_LIST = 1_000;
const SIGN_UPS = 5_000;
const ORIGIN = 'https://bench.example.com';

interface Bench {
  satchel: Satchel;
  dns: DnsServer;
  key: string;
  /** For servers, with which marketing is managed. */
  call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
}

/** Imports, with their memory and what other requests notice of them. */
export function measureImports(): Promise<Row[]> {
  return besideDns(async (dns) => [...(await importRowsOfAllSizes(dns)), ...(await importInTurn(dns))]);
}

/** Pages of large lists, and sign-ups. */
export function measureContacts(): Promise<Row[]> {
  return besideDns(async (dns) => [...(await measurePages(dns)), ...(await measureSignUps(dns))]);
}

async function besideDns(measure: (dns: DnsServer) => Promise<Row[]>): Promise<Row[]> {
  const dns = await startDnsServer({ '*': { mx: [{ exchange: 'mx.example.com', preference: 10 }] } });
  try {
    return await measure(dns);
  } finally {
    await dns.stop();
  }
}

async function start(dns: DnsServer, data_dir = scratchDir()): Promise<Bench> {
  const satchel = await startSatchel(
    {
      SATCHEL_DNS_SERVERS: dns.address,
      SATCHEL_IMPORT_ROWS_PER_MINUTE: '10000000',
      SATCHEL_MAX_UPLOAD_BYTES: String(256 * 1024 * 1024),
      SATCHEL_TRUSTED_PROXIES: '127.0.0.1',
    },
    data_dir,
  );
  const key = await makeKey(satchel);
  const call = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const response = await request(`${satchel.url}/api/v1${path}`, {
      method,
      headers: { 'X-API-Key': key },
      ...(body === undefined ? {} : { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  };
  return { satchel, dns, key, call };
}

const dataOf = (answer: Record<string, unknown>) => answer.data as Record<string, unknown>;

async function makeList(bench: Bench): Promise<string> {
  const list = { name: 'bench', default_consent_basis: 'consent' };
  return String(dataOf(await bench.call('POST', '/email-lists', list)).id);
}

/* --- Imports ------------------------------------------------------------------------------------------------------ */

async function importRowsOfAllSizes(dns: DnsServer): Promise<Row[]> {
  const few = await start(dns);
  const quick = await importRows(few, FEW);
  const memory_few = memoryMib(few.satchel.pid, 'VmHWM');
  await few.satchel.stop();
  const bench = await start(dns);
  const health = () =>
    fetch(`${bench.satchel.url}/api/v1/email-lists`, { headers: { 'X-API-Key': bench.key } });
  await latencies(300, health);
  const idle = percentile(await latencies(1_000, health), 0.99);
  const speed = await importRows(bench, IMPORTED);
  const baseline = insertContacts(bench.satchel.data_dir, IMPORTED);
  const waiting: number[] = [];
  const long = importRows(bench, MANY);
  let is_done = false;
  void long.finally(() => {
    is_done = true;
  });
  while (!is_done) waiting.push(...(await latencies(20, health, 5)));
  await long;
  const memory_many = memoryMib(bench.satchel.pid, 'VmHWM');
  await bench.satchel.stop();
  const grown = memory_many - memory_few;
  const p99 = percentile(waiting, 0.99);
  return [
    row(`CSV import of ${IMPORTED.toLocaleString('en')} rows against prepared inserts of as many`, {
      ours: rate(speed),
      baseline: rate(baseline),
      ratio: speed / baseline,
      at_least: 0.3,
    }),
    reported(`the same of ${FEW.toLocaleString('en')} rows`, rate(quick)),
    reported(
      'peak memory at 1,000,000 rows above that at 10,000',
      `${grown.toFixed(0)} MiB`,
      '<= 30 MiB',
      grown <= 30,
    ),
    reported('p99 of a list during an import', `${ms(p99)} (idle ${ms(idle)})`, '< 10 ms', p99 < 10),
  ];
}

/** The same people to new lists of Satchel and listmonk. */
async function importInTurn(dns: DnsServer): Promise<Row[]> {
  const listmonk = await startListmonk(0);
  if (!listmonk) return [];
  const bench = await start(dns);
  const rows = await againstListmonk(
    listmonk,
    {
      of: `CSV import of ${IMPORTED.toLocaleString('en')} rows`,
      each: 'of them',
      count: IMPORTED,
      pid: bench.satchel.pid,
    },
    () => importRows(bench, IMPORTED),
    async () => (await listmonk.importPeople(IMPORTED)).speed,
  );
  await Promise.all([bench.satchel.stop(), listmonk.stop()]);
  return rows;
}

/** Rows a second from the answer to its end. */
async function importRows(bench: Bench, rows: number): Promise<number> {
  const form = new FormData();
  form.set('file', new Blob(csvOf(rows), { type: 'text/csv' }), 'people.csv');
  const object = (await bench.call('POST', '/objects', form)).public_id;
  const list = await makeList(bench);
  const started = performance.now();
  let record = dataOf(await bench.call('POST', `/email-lists/${list}/imports`, { method: 'csv', object }));
  while (record.status !== 'completed') {
    if (record.status === 'failed') throw new Error(String(record.error));
    await Bun.sleep(50);
    record = dataOf(await bench.call('GET', `/email-imports/${record.id}`));
  }
  if (record.accepted !== rows) throw new Error(`${record.accepted} of ${rows} rows were accepted`);
  return rows / ((performance.now() - started) / 1_000);
}

function* lines(rows: number): Generator<string> {
  yield 'email,first_name,last_name,tags\n';
  for (let n = 0; n < rows; n += 1) yield `person${n}@domain${n % 100}.example,First${n},Last,customer\n`;
}

function csvOf(rows: number): string[] {
  return [...lines(rows)];
}

/** Prepared inserts of contacts and a tag each into a table of their own, in transactions of a thousand. */
function insertContacts(data_dir: string, count: number): number {
  const copy = join(scratchDir(), 'baseline.db');
  new Database(join(data_dir, 'satchel.db')).run(`VACUUM INTO '${copy}'`);
  const db = new Database(copy, { strict: true });
  db.run('PRAGMA journal_mode = WAL');
  db.run('PRAGMA synchronous = FULL');
  const list = Number(
    db
      .query(
        'INSERT INTO contact_lists (public_id, project_id, name, created_at, updated_at) VALUES (?, 1, ?, 0, 0) RETURNING id',
      )
      .values('BASELINE', 'b')[0]?.[0],
  );
  const started = performance.now();
  fillList(db, { list, count, prefix: 'b' });
  const taken = (performance.now() - started) / 1_000;
  db.close();
  return count / taken;
}

function fillList(db: Database, of: { list: number; count: number; prefix: string }): void {
  const contact = db.query(
    `INSERT INTO contacts (public_id, project_id, list_id, email, first_name, last_name, status, contact_token,
       consent_basis, consent_at, source_platform, status_changed_at, created_at, updated_at)
     VALUES (?, 1, ?, ?, ?, 'Last', 'active', ?, 'consent', 0, 'csv', 0, 0, 0)`,
  );
  const tag = db.query("INSERT INTO contact_tags VALUES (?, ?, ?, 'active')");
  for (let from = 0; from < of.count; from += 1_000) {
    db.transaction(() => {
      for (let n = from; n < Math.min(from + 1_000, of.count); n += 1) {
        const id = `${of.prefix}${String(n).padStart(25, '0')}`;
        const { lastInsertRowid } = contact.run(id, of.list, `${of.prefix}${n}@example.com`, `First${n}`, id);
        tag.run(lastInsertRowid, n % 10 === 0 ? 'tenth' : 'customer', of.list);
      }
    })();
  }
}

/** As `fillList`, in a fraction of the time: indexes and counters are made once all rows are there. */
export function fillQuickly(
  db: Database,
  lists: readonly { list: number; count: number; prefix: string }[],
): void {
  db.run('PRAGMA synchronous = OFF');
  const later = db
    .query<{ type: string; name: string; sql: string }, []>(
      `SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL AND type IN ('index', 'trigger')
         AND tbl_name IN ('contacts', 'contact_tags')`,
    )
    .all();
  for (const { type, name } of later) db.run(`DROP ${type} ${name}`);
  for (const { list, count, prefix } of lists) {
    const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${count})`;
    const id = `printf('${prefix}%025d', n)`;
    db.run(
      `${numbers} INSERT INTO contacts (public_id, project_id, list_id, email, first_name, last_name, status,
         contact_token, consent_basis, consent_at, source_platform, status_changed_at, created_at, updated_at)
       SELECT ${id}, 1, ${list}, '${prefix}' || n || '@example.com', 'First' || n, 'Last', 'active', ${id}, 'consent', 0,
         'csv', 0, 0, 0 FROM numbers`,
    );
  }
  db.run(
    `INSERT INTO contact_tags SELECT id, iif(public_id LIKE '%0', 'tenth', 'customer'), list_id, status FROM contacts`,
  );
  for (const { sql } of later) db.run(sql);
  db.run("INSERT INTO contact_counts SELECT list_id, '', status, count(*) FROM contacts GROUP BY 1, 3");
  db.run(
    'INSERT INTO contact_counts SELECT list_id, tag, status, count(*) FROM contact_tags GROUP BY 1, 2, 3',
  );
}

/* --- Lists -------------------------------------------------------------------------------------------------------- */

async function measurePages(dns: DnsServer): Promise<Row[]> {
  const data_dir = scratchDir();
  const first = await start(dns, data_dir);
  const [small, large] = [await makeList(first), await makeList(first)];
  await first.satchel.stop();
  const db = new Database(join(data_dir, 'satchel.db'), { strict: true });
  const idOf = (list: string) =>
    Number(db.query('SELECT id FROM contact_lists WHERE public_id = ?').values(list)[0]?.[0]);
  fillQuickly(db, [
    { list: idOf(small), count: SMALL_LIST, prefix: 's' },
    { list: idOf(large), count: MANY, prefix: 'l' },
  ]);
  db.close();
  const satchel = await startSatchel({ SATCHEL_DNS_SERVERS: dns.address }, data_dir);
  const rows: Row[] = [];
  for (const [name, path] of [
    ['the first page', (list: string) => `/${list}/contacts`],
    ['a page of a tag', (list: string) => `/${list}/contacts?tag=tenth`],
    ['a page of a prefix', (list: string, prefix: string) => `/${list}/contacts?q=${prefix}`],
    ['the counters', (list: string) => `/${list}`],
  ] as const) {
    const ask = (list: string, prefix: string) => () =>
      fetch(`${satchel.url}/api/v1/email-lists${path(list, prefix)}`, {
        headers: { 'X-API-Key': first.key },
      });
    const measured = { small: [] as number[], large: [] as number[] };
    await latencies(100, ask(large, 'l99'));
    for (let n = 0; n < 3; n += 1) {
      measured.small.push(median(await latencies(300, ask(small, 's99'))));
      // As many match as on the small list: a prefix that fits a tenth of a million is read as such.
      measured.large.push(median(await latencies(300, ask(large, 'l9999'))));
    }
    const [ours, baseline] = [median(measured.large), median(measured.small)];
    rows.push(
      row(`${name} of a list of 1,000,000 contacts against 1,000`, {
        ...{ ours: ms(ours), baseline: ms(baseline), ratio: ours / baseline, at_most: 2 },
      }),
    );
  }
  rows.push(...(await measureSegment(satchel.url, first.key, large)));
  await satchel.stop();
  return rows;
}

/** A segment that asks for much, counted over a list, and what others notice of it. */
async function measureSegment(url: string, key: string, list: string): Promise<Row[]> {
  const ask = (path: string, body?: unknown) =>
    fetch(`${url}/api/v1${path}`, {
      headers: { 'X-API-Key': key },
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
    });
  const parts = [{ domains: ['example.com'] }, { event: { name: 'bought' } }, { clicked_within_days: 90 }];
  const filter = { not_mailed_within_days: 7, any: [...parts, { tags_any: ['tenth'] }] };
  const made = await ask('/email-segments', { name: 'bench', list, filter });
  const { data } = (await made.json()) as { data: { id: string } };
  const others = () => ask('/email-lists');
  const waits = await latencies(200, others);
  const alone = percentile(waits, 0.99);
  const started = performance.now();
  let is_done = false;
  const counting = ask(`/email-segments/${data.id}`).finally(() => {
    is_done = true;
  });
  const meanwhile: number[] = [];
  while (!is_done) meanwhile.push(...(await latencies(20, others)));
  const { status } = await counting;
  if (status !== 200) throw new Error(`the segment was not counted: ${status}`);
  const took = performance.now() - started;
  const p99 = percentile(meanwhile, 0.99);
  return [
    reported('counting a segment of 1,000,000 contacts that asks for much', ms(took)),
    reported('p99 of a list meanwhile (alone: the next row)', ms(p99), '<= 20 ms', p99 <= 20),
    reported('p99 of a list alone', ms(alone)),
  ];
}

/* --- Sign-ups ----------------------------------------------------------------------------------------------------- */

async function measureSignUps(dns: DnsServer): Promise<Row[]> {
  const bench = await start(dns);
  const { satchel } = bench;
  const list = await makeList(bench);
  await satchel.cli('domain', 'add', 'bench.example.com', '--default', '--trust');
  await satchel.cli('mailbox', 'add', 'a@bench.example.com', '--capture');
  const page = await satchel.cli(
    ...['key', 'create', '--project', 'bench', '--name', 'page', '--can', 'marketing', '--restricted'],
    ...['--rate-limit', '100000000'],
  );
  await runCli(satchel.data_dir, [
    'key',
    'origin',
    'add',
    String(page.id),
    '--type',
    'domain',
    '--value',
    ORIGIN,
  ]);
  const signUp = (n: number) =>
    fetch(`${satchel.url}/api/v1/email-lists/${list}/subscribe`, {
      method: 'POST',
      headers: {
        'X-API-Key': String(page.plaintext_key),
        Origin: ORIGIN,
        'X-Forwarded-For': `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`,
      },
      body: JSON.stringify({ email: `person${n}@example.com` }),
    });
  const send = (n: number) =>
    fetch(`${satchel.url}/api/v1/emails/send`, {
      method: 'POST',
      headers: { 'X-API-Key': bench.key },
      body: JSON.stringify({
        ...{ to: `person${n}@example.com`, subject: 's', body_text: 't' },
        scheduled_at: '2099-01-01T00:00:00Z',
      }),
    });
  await load(500, 201, send);
  const accepted = await load(SIGN_UPS, 201, send);
  const signed_up = await load(SIGN_UPS, 202, signUp);
  await satchel.stop();
  return [
    row('sign-ups, 32 at once, durable, against emails accepted', {
      ours: rate(signed_up),
      baseline: rate(accepted),
      ratio: signed_up / accepted,
      at_least: 0.5,
    }),
  ];
}
