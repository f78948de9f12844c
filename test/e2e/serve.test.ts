/** The compiled server as an operator meets it: first start, restart, stop, and what makes it refuse to start. */
import { Database } from 'bun:sqlite';
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { part } from '../support/parts.ts';
import { startS3Server } from '../support/s3-server.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { makeDataDir, makeTempDir } from '../support/temp.ts';
import { addMailbox, BINARY, freePort, makeKey, satchel, startServer, upload } from './binary.ts';

setDefaultTimeout(120_000);
const health = async (url: string): Promise<Record<string, unknown>> =>
  (await (await fetch(`${url}/api/health`)).json()) as Record<string, unknown>;

/** Starts a server that is expected to refuse; resolves with what it said. */
async function refusal(data_dir: string, env: Record<string, string> = {}) {
  return satchel(['serve', '--port', '0', '--data-dir', data_dir], { env });
}

test('verbs beside a server have its public URL, from a note that is gone at its end and not believed after a kill', async () => {
  const dir = join(makeTempDir(), 'data');
  const note = join(dir, 'server.json');
  const serve = () => startServer(dir, {}, [], ['--public-url', 'https://files.example.com']);
  const firstLink = async () => (await satchel(['person', 'add', '--first', '--data-dir', dir])).stdout;
  const killed = await serve();
  expect(JSON.parse(readFileSync(note, 'utf8'))).toEqual({
    address: killed.url,
    settings: { SATCHEL_PORT: new URL(killed.url).port, SATCHEL_PUBLIC_URL: 'https://files.example.com' },
    findings_key: expect.stringMatching(/^[\w-]{43}$/),
    kept: [],
  });
  expect(await firstLink()).toStartWith('https://files.example.com/console/');
  await killed.end('SIGKILL');
  expect([existsSync(note), await firstLink()]).toEqual([
    true,
    expect.stringMatching(/^http:\/\/localhost:8420\//),
  ]);
  const stopped = await serve();
  expect(JSON.parse(readFileSync(note, 'utf8')).address).toBe(stopped.url);
  await stopped.end('SIGTERM');
  expect(existsSync(note)).toBe(false);
});

test.skipIf(part('versitygw') === null)(
  'doctor beside a server has that look, and by itself says what it can not look at',
  async () => {
    const s3 = await startS3Server();
    const dir = join(makeTempDir(), 'data');
    const store = s3.env('doctor');
    // The server alone has them, and the verb a proxy that leads nowhere.
    const env = { ...store, SATCHEL_PASSPHRASE: 'of the server' };
    const server = await startServer(dir, env);
    const own = { env: { ...env, SATCHEL_DATA_DIR: dir } };
    await satchel(['project', 'create', '--name', 'Shop', '--slug', 'shop'], own);
    const made = await satchel(
      ['key', 'create', '--project', 'shop', '--name', 'web', '--can', 'write', '--json'],
      own,
    );
    expect((await upload(server.url, String(made.json.plaintext_key), 'x'.repeat(100_000)))?.status).toBe(
      201,
    );
    const doctor = (own: Record<string, string> = {}, ...args: string[]) =>
      satchel(['doctor', '--data-dir', dir, ...args], { env: { HTTP_PROXY: 'http://127.0.0.1:9', ...own } });
    const told = await doctor();
    expect([told.exit, told.stderr]).toEqual([0, '']);
    expect(told.stdout).toContain(`at ${server.url}; links begin with`);
    expect(told.stdout).toContain('ok       master key: ');
    expect(told.stdout).toMatch(/^ok {7}object store: .* does all that is asked of it. Objects in it: 1/m);
    expect(told.stdout).not.toContain('Keys of no object');
    expect((await doctor({}, '--deep')).stdout).toContain('Keys of no object');
    // The same settings of its own, secrets too, are not other ones.
    expect((await doctor(store)).stdout).toContain('ok       master key: ');
    const alone = await doctor({ SATCHEL_MAX_UPLOAD_BYTES: '1000' });
    expect([alone.exit, alone.stderr]).toEqual([0, '']);
    expect(alone.stdout).toContain('NOT LOOKED AT master key: Only the server has SATCHEL_PASSPHRASE');
    expect(alone.stdout).toContain('NOT LOOKED AT object store: ');
    expect(alone.stdout).not.toContain('PROBLEM');
    const json = await doctor({ SATCHEL_MAX_UPLOAD_BYTES: '1000' }, '--json');
    expect(json.json).toMatchObject({
      status: 'ok',
      findings: expect.arrayContaining([
        expect.objectContaining({ check: 'object store', status: 'not_looked_at', remedy: null }),
      ]),
    });
    // The key of the note is good for this alone, and for this start.
    const noteOf = () => JSON.parse(readFileSync(join(dir, 'server.json'), 'utf8'));
    const ask = async (url: string, path: string, findings_key: string) =>
      (await fetch(`${url}/api/public/v1${path}`, { headers: { Authorization: `Bearer ${findings_key}` } }))
        .status;
    const { findings_key } = noteOf();
    const paths = ['/findings', '/backups', '/projects'];
    expect(await Promise.all(paths.map((path) => ask(server.url, path, findings_key)))).toEqual([
      200, 401, 401,
    ]);
    expect(await server.end('SIGTERM')).toBe(0);
    const next = await startServer(dir, env);
    expect([noteOf().findings_key === findings_key, await ask(next.url, '/findings', findings_key)]).toEqual([
      false,
      401,
    ]);
    // One that runs and does not answer.
    writeFileSync(join(dir, 'server.json'), JSON.stringify({ ...noteOf(), findings_key: 'another' }));
    const unanswered = await doctor();
    expect(unanswered.stderr).toContain(
      'did not say what it finds (it answers with status 401), so this looks by itself',
    );
    expect(unanswered.stdout).toContain('NOT LOOKED AT object store: ');
    await next.end('SIGTERM');
  },
);

test('health is of the server that runs on the directory: what it answers, or that none does', async () => {
  const dir = makeTempDir();
  const ask = (...args: string[]) => satchel(['health', '--data-dir', dir, ...args]);
  expect(await ask()).toMatchObject({
    exit: 1,
    stdout: '',
    stderr: `satchel: There is no server on ${dir}.\n`,
  });
  const server = await startServer(dir);
  expect(await ask()).toMatchObject({ exit: 0, stdout: 'ok\n', stderr: '' });
  expect(await ask('--json')).toMatchObject({ exit: 0, json: { status: 'ok', app: 'satchel' } });
  // As where it could note nothing: a setting says where it listens.
  rmSync(join(dir, 'server.json'));
  expect(
    await satchel(['health', '--data-dir', dir], { env: { SATCHEL_PORT: new URL(server.url).port } }),
  ).toMatchObject({ exit: 0, stdout: 'ok\n' });
  process.kill(server.pid, 'SIGSTOP');
  const hung = await ask();
  expect([hung.exit, hung.stderr]).toEqual([
    1,
    expect.stringContaining(`The server on ${dir} does not say how it is: `),
  ]);
  process.kill(server.pid, 'SIGCONT');
  await server.end('SIGKILL');
  expect((await ask()).stderr).toBe(`satchel: There is no server on ${dir}.\n`);
});

describe('a first start', () => {
  test('on an empty directory serves, and keeps everything to its user', async () => {
    const dir = join(makeTempDir(), 'data');
    const server = await startServer(dir);
    expect(await health(server.url)).toMatchObject({
      status: 'ok',
      app: 'satchel',
      database: 'ok',
      backend_version: expect.stringMatching(/^\d{4}\.\d{2}\.\d{2}\.\d+$/),
    });
    const version = await (await fetch(`${server.url}/api/version`)).json();
    expect(version).toEqual({
      backend_version: expect.stringMatching(/^\d{4}\.\d{2}\.\d{2}\.\d+$/),
      env: 'production',
    });
    const key = await makeKey(dir);
    expect((await upload(server.url, key, 'hello'))?.status).toBe(201);
    expect(statSync(dir).mode & 0o777).toBe(0o700);
    for (const entry of readdirSync(dir, { recursive: true, withFileTypes: true })) {
      const mode = statSync(join(entry.parentPath, entry.name)).mode & 0o777;
      expect([entry.name, mode]).toEqual([entry.name, entry.isDirectory() ? 0o700 : 0o600]);
    }
    expect(await server.end('SIGTERM')).toBe(0);
  });

  test('on a terminal prints a link for the first person, which is in no log and works once, and without one it does not', async () => {
    const dir = join(makeTempDir(), 'data');
    const quiet = await startServer(dir);
    expect(await quiet.end('SIGTERM')).toBe(0);
    expect(quiet.stderr()).not.toContain('/console/welcome/');
    const log = join(makeTempDir(), 'log');
    const port = freePort();
    const address = `http://localhost:${port}`;
    const command = `exec ${BINARY} serve --port ${port} --data-dir ${dir} 2>${log}`;
    const child = Bun.spawn(['script', '-qefc', command, '/dev/null'], { stdout: 'pipe', stdin: 'pipe' });
    let shown = '';
    for await (const chunk of child.stdout) {
      shown += new TextDecoder().decode(chunk);
      if (/\/console\/welcome\/[\w-]{43}/.test(shown)) break;
    }
    const [link = ''] = /http\S+\/console\/welcome\/[\w-]+/.exec(shown) ?? [];
    expect(link).toStartWith(`${address}/console/welcome/`);
    const post = (to: string, body: object) =>
      fetch(to, {
        ...{ method: 'POST', body: JSON.stringify(body) },
        headers: { 'X-Satchel-Console': '1', 'Content-Type': 'application/json', Origin: address },
      });
    const person = { email: 'me@example.com', password: 'correct horse battery staple' };
    expect([(await post(link, person)).status, (await post(link, person)).status]).toEqual([204, 404]);
    expect((await post(`${address}/console/session`, person)).status).toBe(204);
    expect(readFileSync(log, 'utf8')).not.toContain(link.slice(-20));
    process.kill(Number(readFileSync(join(dir, 'server.pid'), 'utf8')), 'SIGTERM');
    await child.exited;
  });

  test('does not read .env or bunfig.toml of its working directory', async () => {
    const cwd = makeTempDir();
    writeFileSync(join(cwd, '.env'), 'SATCHEL_ENV=from-dotenv\nSATCHEL_NONSENSE=1\n');
    writeFileSync(join(cwd, 'bunfig.toml'), 'preload = ["./evil.ts"]\n');
    writeFileSync(join(cwd, 'evil.ts'), 'require("node:fs").writeFileSync("pwned", "1")');
    expect((await satchel(['version', '--json'], { cwd })).exit).toBe(0);
    // With the settings of .env this would be refused for SATCHEL_NONSENSE.
    const { stderr } = await satchel(['project', 'list', '--data-dir', join(cwd, 'data')], { cwd });
    expect(stderr).toContain('There is no database in');
    expect(existsSync(join(cwd, 'pwned'))).toBe(false);
  });
});

test("a relay's own authority is trusted where NODE_EXTRA_CA_CERTS names it, and only there", async () => {
  const sink = await startSmtpSink({ tls: 'tls' });
  const ca = join(makeTempDir(), 'relay-ca.pem');
  writeFileSync(ca, sink.ca_pem);
  const data_dir = makeDataDir();
  await addMailbox(data_dir, `smtps://localhost:${sink.port}`);
  const attempt = [
    'mailbox',
    'test',
    'shop@mail.example.com',
    '--to',
    'ann@example.org',
    '--data-dir',
    data_dir,
  ];
  const refused = await satchel(attempt);
  expect([refused.exit, refused.stdout]).toEqual([1, expect.stringContaining('NODE_EXTRA_CA_CERTS')]);
  const taken = await satchel(attempt, { env: { NODE_EXTRA_CA_CERTS: ca } });
  expect([taken.exit, sink.mails.length]).toEqual([0, 1]);
  // As if the process had begun with it, be it named before the verb or behind it.
  const file = join(makeTempDir(), 'satchel.env');
  writeFileSync(file, `NODE_EXTRA_CA_CERTS=${ca}\n`);
  expect((await satchel([...attempt, '--env-file', file])).exit).toBe(0);
  expect((await satchel(['--env-file', file, ...attempt])).exit).toBe(0);
  await sink.stop();
});

test('a server has the settings of a file as systemd reads it, behind flags and its own variables, and stays the same process', async () => {
  const [dir, home] = [join(makeTempDir(), 'data'), makeTempDir()];
  const file = join(home, 'satchel.env');
  writeFileSync(
    file,
    [
      '\uFEFFSATCHEL_ENV=the first, which does not count\r',
      'SATCHEL_ENV="$HOME & `id`"\r',
      'SATCHEL_PUBLIC_URL=https://of-the-file.example.com',
      'SATCHEL_LOG_LEVEL=error',
      'SATCHEL_MAX_UPLOAD_BYTES=1000',
      'TZ=Asia/Tokyo',
    ].join('\n'),
  );
  const env = { SATCHEL_LOG_LEVEL: '', SATCHEL_MAX_UPLOAD_BYTES: '2000' };
  const flags = ['--env-file', file, '--public-url', 'https://of-the-flag.example.com'];
  const server = await startServer(dir, env, [], flags);
  expect(await (await fetch(`${server.url}/api/version`)).json()).toMatchObject({ env: '$HOME & `id`' });
  const { settings } = JSON.parse(readFileSync(join(dir, 'server.json'), 'utf8'));
  expect(settings).toMatchObject({
    SATCHEL_PUBLIC_URL: 'https://of-the-flag.example.com',
    SATCHEL_LOG_LEVEL: 'error',
    SATCHEL_MAX_UPLOAD_BYTES: '2000',
  });
  expect(readFileSync(join(dir, 'server.pid'), 'utf8')).toBe(`${server.pid}\n`);
  expect(readFileSync(`/proc/${server.pid}/environ`, 'utf8').split('\0')).toContain('TZ=Asia/Tokyo');
  expect(await server.end('SIGTERM')).toBe(0);
  appendFileSync(file, '\nexport SATCHEL_PASSPHRASE=hush\n');
  for (const args of [['serve'], ['project', 'list'], ['version']]) {
    const { exit, stdout, stderr } = await satchel([...args, '--env-file', file]);
    expect([args, exit, stderr]).toEqual([args, 1, expect.stringContaining(`${file}, line 7: `)]);
    expect(stdout + stderr).not.toContain('hush');
  }
});

test("a command that is run with a file's variables has them, but what opens the vault", async () => {
  const data_dir = makeDataDir();
  const file = join(makeTempDir(), 'satchel.env');
  writeFileSync(file, `SATCHEL_DATA_DIR=${data_dir}\nSATCHEL_PASSPHRASE=hush\nGREETING=hello\n`);
  expect(
    (await satchel(['--env-file', file, 'project', 'create', '--name', 'Shop', '--slug', 'shop'])).exit,
  ).toBe(0);
  const ran = await satchel([
    'vault',
    'run',
    '--env-file',
    file,
    '--project',
    'shop',
    '--',
    'sh',
    '-c',
    'umask; env',
  ]);
  expect(ran.stdout).toStartWith('0022\n');
  expect(ran.stdout).toContain('GREETING=hello\n');
  expect(ran.stdout).not.toContain('hush');
});

test("Kubernetes' variables for its Services count as not there, which is warned of once; anything else unknown stops the start", async () => {
  const dir = join(makeTempDir(), 'data');
  const env = {
    SATCHEL_PORT: 'tcp://10.0.0.1:8420',
    SATCHEL_SERVICE_HOST: '10.0.0.1',
    SATCHEL_SMTP_PORT: 'tcp://10.0.0.2:25',
    SATCHEL_SMTP_SERVICE_PORT_SUBMISSION: '25',
    SATCHEL_PORT_8420_TCP_ADDR: '10.0.0.1',
    SATCHEL_LOG_LEVEL: 'warn',
  };
  const server = await startServer(dir, env);
  expect(server.stderr().match(/enableServiceLinks: false/g)).toHaveLength(1);
  const listed = await satchel(['project', 'list', '--data-dir', dir], { env });
  expect([listed.exit, listed.stderr]).toEqual([0, '']);
  await server.end('SIGTERM');
  const refused = await refusal(dir, { ...env, SATCHEL_PORT_8420_TCP_HOST: '10.0.0.1' });
  expect([refused.exit, refused.stderr]).toEqual([
    1,
    expect.stringContaining('SATCHEL_PORT_8420_TCP_HOST is not a setting'),
  ]);
});

describe('the command line beside a running server', () => {
  test('a key made, deactivated and activated holds from the next request', async () => {
    const dir = makeTempDir();
    const server = await startServer(dir);
    const key = await makeKey(dir);
    const status = async () =>
      (await fetch(`${server.url}/api/v1/objects`, { headers: { 'X-API-Key': key } })).status;
    expect(await status()).toBe(200);
    expect((await satchel(['key', 'deactivate', '1', '--data-dir', dir])).exit).toBe(0);
    expect(await status()).toBe(401);
    expect((await satchel(['key', 'activate', '1', '--data-dir', dir])).exit).toBe(0);
    expect(await status()).toBe(200);
    await server.end('SIGTERM');
  });
});

describe('much to write', () => {
  test.if(process.platform === 'linux')(
    'is flushed to disk by another thread, and all there after a stop',
    async () => {
      const dir = makeTempDir();
      const server = await startServer(dir, { SATCHEL_UPLOADS_PER_MINUTE: '1000000' });
      const key = await makeKey(dir);
      const openLogs = () =>
        readdirSync(`/proc/${server.pid}/fd`).filter((fd) => {
          try {
            return readlinkSync(`/proc/${server.pid}/fd/${fd}`).endsWith('satchel.db-wal');
          } catch {
            return false;
          }
        }).length;
      // The server reads and writes through a connection each; the thread has one too, and the file itself.
      expect(openLogs()).toBe(4);
      const ids: string[] = [];
      for (let round = 0; round < 8; round += 1) {
        const stored = await Promise.all(
          Array.from({ length: 8 }, (_, n) => upload(server.url, key, `${n}`)),
        );
        ids.push(...stored.map((file) => String(file?.public_id)));
      }
      expect(await server.end('SIGTERM')).toBe(0);
      const db = new Database(join(dir, 'satchel.db'), { readonly: true });
      const rows = db
        .query('SELECT public_id FROM objects')
        .values()
        .map(([id]) => id);
      db.close();
      expect(rows.toSorted()).toEqual(ids.toSorted());
    },
  );
});

describe('stopping', () => {
  test('SIGTERM and SIGINT end with 0 though idle and stalled clients hang on', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const server = await startServer(makeTempDir());
      const port = Number(new URL(server.url).port);
      const idle = connect(port, '127.0.0.1').on('error', () => {});
      const stalled = connect(port, '127.0.0.1', () =>
        stalled.write('POST /api/v1/objects HTTP/1.1\r\nHost: x\r\nContent-Le'),
      ).on('error', () => {});
      await health(server.url);
      expect(await server.end(signal)).toBe(0);
      idle.destroy();
      stalled.destroy();
    }
  });

  test('what was stored is there after a restart', async () => {
    const dir = makeTempDir();
    const first = await startServer(dir);
    const key = await makeKey(dir);
    const stored = await upload(first.url, key, 'lasting');
    await first.end('SIGTERM');
    const second = await startServer(dir);
    expect(await (await fetch(`${second.url}/api/v1/objects/${stored?.public_id}`)).text()).toBe('lasting');
    await second.end('SIGTERM');
  });
});

describe('refusing to start', () => {
  test('a second server on the same directory names the first one’s process', async () => {
    const dir = makeTempDir();
    const first = await startServer(dir);
    const second = await refusal(dir);
    expect(second.exit).toBe(1);
    expect(second.stderr).toContain(String(first.pid));
    expect(second.stderr).toContain('--data-dir');
    expect((await health(first.url)).status).toBe('ok');
    await first.end('SIGKILL');
    const third = await startServer(dir);
    expect(await third.end('SIGTERM')).toBe(0);
  });

  test('a database of a newer binary is refused and left as it is', async () => {
    const dir = makeTempDir();
    await (await startServer(dir)).end('SIGTERM');
    const db = new Database(join(dir, 'satchel.db'));
    db.run("INSERT INTO schema_migrations VALUES (999, 'future', 'x', 1)");
    db.close();
    const outcome = await refusal(dir);
    expect([outcome.exit, outcome.stdout]).toEqual([1, '']);
    expect(outcome.stderr).toContain('newer Satchel');
    expect(outcome.stderr).toContain('999');
    expect((await satchel(['project', 'list', '--data-dir', dir])).exit).toBe(1);
  });

  test('a wrong or missing master key is refused, names the setting and changes nothing', async () => {
    const dir = makeTempDir();
    await (await startServer(dir)).end('SIGTERM');
    const before = readFileSync(join(dir, 'master.key'));
    const wrong = await refusal(dir, { SATCHEL_MASTER_KEY: Buffer.alloc(32, 7).toString('base64') });
    expect([wrong.exit, wrong.stderr.includes('SATCHEL_MASTER_KEY')]).toEqual([1, true]);
    const malformed = await refusal(dir, { SATCHEL_MASTER_KEY: 'short' });
    expect([
      malformed.exit,
      malformed.stderr.includes('SATCHEL_MASTER_KEY'),
      malformed.stderr.includes('short'),
    ]).toEqual([1, true, false]);
    renameSync(join(dir, 'master.key'), join(dir, 'elsewhere'));
    const missing = await refusal(dir);
    expect([missing.exit, missing.stderr.includes('master.key')]).toEqual([1, true]);
    expect(existsSync(join(dir, 'master.key'))).toBe(false);
    const given = await startServer(dir, { SATCHEL_MASTER_KEY: before.toString('utf8').trim() });
    expect(await given.end('SIGTERM')).toBe(0);
  });

  test('a setting that can not be, whose directory is not made', async () => {
    const dir = join(makeTempDir(), 'data');
    const outcome = await refusal(dir, { SATCHEL_MAX_UPLAOD_BYTES: '10' });
    expect([outcome.exit, outcome.stderr]).toEqual([1, expect.stringContaining('SATCHEL_MAX_UPLAOD_BYTES')]);
    expect(existsSync(dir)).toBe(false);
  });

  test('a port that is taken, and a data directory that is a file', async () => {
    const server = await startServer(makeTempDir());
    const dir = makeTempDir();
    const taken = await satchel(['serve', '--port', new URL(server.url).port, '--data-dir', dir]);
    expect([
      taken.exit,
      taken.stderr.includes(new URL(server.url).port),
      taken.stderr.includes('SATCHEL_PORT'),
    ]).toEqual([1, true, true]);
    const file = join(dir, 'file');
    writeFileSync(file, '');
    const outcome = await refusal(file);
    expect([outcome.exit, outcome.stderr.includes('SATCHEL_DATA_DIR')]).toEqual([1, true]);
    await server.end('SIGTERM');
    rmSync(file);
  });
});

describe('usage', () => {
  test('exit 2 for wrong usage with a suggestion, help for each noun', async () => {
    const typo = await satchel(['projct', 'list']);
    expect([typo.exit, typo.stderr.includes('project')]).toEqual([2, true]);
    expect((await satchel(['project', 'lst'])).stderr).toContain('list');
    for (const args of [
      ['--help'],
      ['serve', '--help'],
      ['project', '--help'],
      ['key', 'create', '--help'],
    ]) {
      const help = await satchel(args);
      expect([help.exit, help.stdout.includes('Usage')]).toEqual([0, true]);
    }
  });
});
