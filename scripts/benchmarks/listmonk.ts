/** listmonk and a PostgreSQL of its own, which both end with the benchmark. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SQL } from 'bun';
import { builtByGo } from './go-programs.ts';
import {
  compare,
  familyProcessorMs,
  freePort,
  leftOut,
  processorMs,
  type Row,
  rate,
  request,
  row,
  scratchDir,
  spawnQuiet,
  untilUp,
} from './harness.ts';

/** What an import, a campaign or a command may take at worst. */
const LIMIT_MS = 180_000;
/** What listmonk reads beside its executable. */
const READ = ['config.toml.sample', 'queries.sql', 'schema.sql', 'static', 'i18n'];
const LOOK_EACH_MS = 50;

/** Mail as listmonk's templates have it. */
export interface Campaign {
  subject: string;
  body: string;
  altbody: string;
}

export interface Listmonk {
  /** Processor time of listmonk and PostgreSQL so far. */
  processorMs(): number;
  /** Imports people from a CSV to a new list: its number, and how many came in a second. */
  importPeople(count: number): Promise<{ list: number; speed: number }>;
  /** Sends to a list, and resolves once the campaign has ended. */
  send(list: number, campaign: Campaign): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Rows of the same work of `count` pieces that Satchel and listmonk do in turn: how many a second, as `ours` and `theirs`
 * tell, and what each takes of the processor.
 */
export async function againstListmonk(
  listmonk: Listmonk,
  work: { of: string; each: string; count: number; pid: number },
  ours: () => Promise<number>,
  theirs: () => Promise<number>,
): Promise<Row[]> {
  const costs = { ours: [] as number[], theirs: [] as number[] };
  const watched = (run: () => Promise<number>, taken: number[], processor: () => number) => async () => {
    const before = processor();
    const speed = await run();
    taken.push((processor() - before) / work.count);
    return speed;
  };
  const speed = await compare(
    watched(ours, costs.ours, () => processorMs(work.pid)),
    watched(theirs, costs.theirs, () => listmonk.processorMs()),
  );
  const [own, other] = [Math.min(...costs.ours), Math.min(...costs.theirs)];
  return [
    row(`${work.of} against listmonk`, {
      ours: rate(speed.ours),
      baseline: rate(speed.baseline),
      ratio: speed.ours / speed.baseline,
    }),
    row(`processor for each ${work.each}, against listmonk's and PostgreSQL's`, {
      ours: us(own),
      baseline: us(other),
      ratio: own / other,
    }),
  ];
}

/** Sends by the relay at a port of this machine. Null, told in a line, where a part can't be had or does not start. */
export async function startListmonk(smtp_port: number | string): Promise<Listmonk | null> {
  const built = await builtByGo('listmonk');
  try {
    return built && (await start(built, smtp_port));
  } catch (error) {
    return leftOut('listmonk', error instanceof Error ? error.message : String(error));
  }
}

const us = (taken_ms: number): string => `${Math.round(taken_ms * 1_000)} us`;

async function start(
  { path, sources }: { path: string; sources: string },
  smtp_port: number | string,
): Promise<Listmonk> {
  const postgres = await startPostgres();
  const dir = scratchDir();
  // Go keeps its sources read-only.
  await run(['cp', '-r', '--no-preserve=mode', ...READ.map((name) => join(sources, name)), dir]);
  // Its console is none of what is measured, but must be there.
  mkdirSync(join(dir, 'frontend/dist/frontend'), { recursive: true });
  writeFileSync(join(dir, 'frontend/dist/favicon.png'), '');
  const address = `127.0.0.1:${freePort()}`;
  writeFileSync(join(dir, 'config.toml'), configOf(address, postgres.port));
  await run([path, '--install', '--yes'], dir);
  await configure(postgres.sql, smtp_port);
  const server = spawnQuiet([path], { TMPDIR: dir }, dir);
  await untilUp('listmonk', async () => (await request(`http://${address}/api/health`)).ok);
  return {
    processorMs: () => processorMs(server.pid) + familyProcessorMs(postgres.pid),
    ...callsOf(`http://${address}/api`),
    async stop() {
      await server.stop();
      await postgres.stop();
    },
  };
}

async function run(command: string[], cwd = '/'): Promise<void> {
  const silent = { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' } as const;
  const child = Bun.spawn(command, { ...silent, cwd, timeout: LIMIT_MS });
  if ((await child.exited) !== 0) throw new Error(`it can't be set up: ${command.join(' ')}`);
}

/** No password is asked for, but without one listmonk misreads the name that follows it. */
function configOf(address: string, port: number): string {
  return `[app]
address = "${address}"
admin_username = ""
admin_password = ""
[db]
host = "127.0.0.1"
port = ${port}
user = "postgres"
password = "none"
database = "postgres"
ssl_mode = "disable"
max_open = 25
max_idle = 25
max_lifetime = "300s"
`;
}

/** As fast as it can, by the relay given. It tells who clicked, as Satchel does, looks for no update and reports to nobody. */
async function configure(sql: SQL, smtp_port: number | string): Promise<void> {
  const relay = {
    ...{ enabled: true, host: '127.0.0.1', port: Number(smtp_port), auth_protocol: 'none', max_conns: 10 },
    ...{ idle_timeout: '15s', wait_timeout: '5s', max_msg_retries: 2, tls_enabled: false, email_headers: [] },
  };
  const settings = {
    'app.check_updates': false,
    'app.message_rate': 1_000_000_000,
    'app.notify_emails': [],
    'privacy.individual_tracking': true,
    smtp: [relay],
  };
  for (const [key, value] of Object.entries(settings))
    await sql`UPDATE settings SET value = ${JSON.stringify(value)}::text::jsonb WHERE key = ${key}`;
  await sql.close();
}

function callsOf(url: string): Pick<Listmonk, 'importPeople' | 'send'> {
  const call = async (method: string, path: string, body?: unknown): Promise<Record<string, unknown>> => {
    const answer = await request(`${url}${path}`, {
      method,
      ...(body instanceof FormData || body === undefined
        ? { body }
        : { body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    });
    if (!answer.ok) throw new Error(`listmonk: ${method} ${path}: ${answer.status} ${await answer.text()}`);
    return ((await answer.json()) as { data: Record<string, unknown> }).data;
  };
  /** What a path answers once its work has ended, which must be as it should. */
  const ended = async (path: string, status: string): Promise<Record<string, unknown>> => {
    const give_up_at = Date.now() + LIMIT_MS;
    for (;;) {
      const told = await call('GET', path);
      if (told.status === status) return told;
      if (told.status === 'failed' || told.status === 'cancelled' || Date.now() > give_up_at)
        throw new Error(`listmonk: ${path} is ${String(told.status)}`);
      await Bun.sleep(LOOK_EACH_MS);
    }
  };
  return {
    async importPeople(count) {
      const { id } = await call('POST', '/lists', { name: 'bench', type: 'private', optin: 'single' });
      const form = new FormData();
      form.set('params', JSON.stringify({ mode: 'subscribe', delim: ',', lists: [id], overwrite: true }));
      form.set('file', new Blob([...linesOf(count, Number(id))], { type: 'text/csv' }), 'people.csv');
      const started = performance.now();
      await call('POST', '/import/subscribers', form);
      const { imported } = await ended('/import/subscribers', 'finished');
      const speed = count / ((performance.now() - started) / 1_000);
      if (imported !== count) throw new Error(`listmonk took ${String(imported)} of ${count} rows`);
      await call('DELETE', '/import/subscribers');
      return { list: Number(id), speed };
    },
    async send(list, mail) {
      const draft = { ...mail, name: 'bench', lists: [list], type: 'regular', content_type: 'html' };
      const { id } = await call('POST', '/campaigns', { ...draft, messenger: 'email', template_id: 1 });
      await call('PUT', `/campaigns/${String(id)}/status`, { status: 'running' });
      await ended(`/campaigns/${String(id)}`, 'finished');
    },
  };
}

/** People who are on no other list. */
function* linesOf(count: number, list: number): Generator<string> {
  yield 'email,name,attributes\n';
  for (let n = 0; n < count; n += 1)
    yield `person${n}@domain${n % 100}.list${list}.example,First${n} Last,"{""tag"": ""customer""}"\n`;
}

/** One that syncs as it does by default. It refuses to run as root. */
async function startPostgres() {
  const folders = [...new Bun.Glob('/usr/lib/postgresql/*/bin').scanSync({ cwd: '/', onlyFiles: false })];
  const PATH = [process.env.PATH, ...folders].join(':');
  const [initdb, postgres] = [Bun.which('initdb', { PATH }), Bun.which('postgres', { PATH })];
  if (!initdb || !postgres) throw new Error('there is no PostgreSQL');
  const dir = scratchDir();
  const is_root = process.getuid?.() === 0;
  const as = is_root ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--init-groups'] : [];
  if (is_root) await run(['chown', 'postgres', dir]);
  await run([...as, initdb, '-D', dir, '-U', 'postgres', '--auth=trust']);
  const port = freePort();
  const at = ['-c', 'listen_addresses=127.0.0.1', '-c', 'unix_socket_directories='];
  const { pid, stop } = spawnQuiet([...as, postgres, '-D', dir, '-p', String(port), ...at], {}, '/');
  const sql = new SQL(`postgres://postgres@127.0.0.1:${port}/postgres`, { max: 1 });
  await untilUp('PostgreSQL', async () => (await sql`SELECT 1`).length === 1);
  return { port, pid, sql, stop };
}
