/** `satchel replica`: what it prints for Litestream, and how the replica is told to be. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startLitestream } from '../support/litestream.ts';
import { part } from '../support/parts.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { makeKey, satchel, startServer, upload } from './binary.ts';

setDefaultTimeout(60_000);
const TO = 's3://backups/team?endpoint=https%3A%2F%2Fs3.example.com&region=eu-central-1&style=path';

async function start(): Promise<{
  data_dir: string;
  url: string;
  key: string;
  on: { env: Record<string, string> };
}> {
  const data_dir = join(makeTempDir(), 'data');
  const { url } = await startServer(data_dir);
  return { data_dir, url, key: await makeKey(data_dir), on: { env: { SATCHEL_DATA_DIR: data_dir } } };
}

async function findingIn(on: { env: Record<string, string> }): Promise<unknown> {
  const { json } = await satchel(['doctor', '--json'], on);
  const findings: unknown[] = Array.isArray(json.findings) ? json.findings : [];
  return findings.find(
    (each) => typeof each === 'object' && each !== null && 'check' in each && each.check === 'replica',
  );
}

test('config prints what Litestream and systemd take, without a secret', async () => {
  const { data_dir, on } = await start();
  const { json } = await satchel(['replica', 'config', '--to', TO, '--json'], on);
  expect(Bun.YAML.parse(String(json.config))).toEqual({
    addr: '127.0.0.1:9392',
    socket: { enabled: true, path: join(data_dir, 'litestream.sock'), permissions: 0o600 },
    dbs: [
      {
        path: join(data_dir, 'satchel.db'),
        'checkpoint-interval': '30s',
        replica: {
          type: 's3',
          endpoint: 'https://s3.example.com',
          region: 'eu-central-1',
          bucket: 'backups',
          path: 'team/litestream',
          'force-path-style': true,
        },
      },
    ],
  });
  expect(json.unit).toContain('EnvironmentFile=/etc/satchel/litestream.env\n');
  expect(json.unit).toContain(`ReadWritePaths="${data_dir}"\n`);
  const { exit, stdout } = await satchel(['replica', 'config', '--to', TO], on);
  expect([exit, stdout]).toEqual([
    0,
    `# /etc/satchel/litestream.yml\n${json.config}\n# /etc/systemd/system/satchel-litestream.service\n${json.unit}`,
  ]);
});

test.skipIf(Bun.which('systemd-analyze') === null)(
  'the units of Litestream and of backups are as closed as that of the server',
  async () => {
    const { on } = await start();
    const { json } = await satchel(['replica', 'config', '--to', TO, '--json'], on);
    const folder = makeTempDir();
    const exposureOf = (name: string, text: string): number => {
      const path = join(folder, name);
      writeFileSync(path, text);
      const told = Bun.spawnSync(['systemd-analyze', 'security', '--offline=true', '--no-pager', path]);
      return Number(/exposure level for \S+: ([\d.]+)/.exec(told.stdout.toString())?.[1]);
    };
    const ours = (name: string) => readFileSync(join(import.meta.dir, '../../scripts', name), 'utf8');
    // As it is where the database is the service's.
    const unit = String(json.unit).replace(/^User=.*$/m, 'User=satchel');
    const server = exposureOf('satchel.service', ours('satchel.service'));
    expect(server).toBeLessThanOrEqual(1.9);
    expect(exposureOf('satchel-backup.service', ours('satchel-backup.service'))).toBeLessThanOrEqual(server);
    expect(exposureOf('satchel-litestream.service', unit)).toBeLessThanOrEqual(server);
  },
);

test('config --out writes both files, which name each other, and never over another', async () => {
  const { data_dir, on } = await start();
  const out = join(makeTempDir(), 'new folder');
  const config = (to: string = TO) =>
    satchel(['replica', 'config', '--to', to, '--out', 'new folder'], { ...on, cwd: join(out, '..') });
  const [yml, unit] = [join(out, 'litestream.yml'), join(out, 'satchel-litestream.service')];
  const written = await config();
  expect([written.exit, written.stdout.split('\n').slice(0, 2)]).toEqual([0, [yml, unit]]);
  expect(Bun.YAML.parse(readFileSync(yml, 'utf8'))).toMatchObject({
    dbs: [{ path: join(data_dir, 'satchel.db') }],
  });
  expect([out, yml, unit].map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual([
    '755',
    '644',
    '644',
  ]);
  const text = readFileSync(unit, 'utf8');
  for (const line of [
    `User=${Bun.spawnSync(['id', '-un']).stdout.toString().trim()}`,
    `EnvironmentFile=${out}/litestream.env`,
  ])
    expect(text).toContain(`\n${line}\n`);
  expect(text).toContain(` replicate -config "${yml}"\n`);
  expect((await config()).exit).toBe(0);
  const other = TO.replace('team', 'others');
  expect(await config(other)).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining(`${yml} is there already`),
  });
  rmSync(yml);
  writeFileSync(unit, "another's");
  expect(await config()).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining(`${unit} is there already`),
  });
  expect([existsSync(yml), readFileSync(unit, 'utf8')]).toEqual([false, "another's"]);
});

test('what config can not use is refused, with what would be right', async () => {
  const { on } = await start();
  const config = (to: string[], env: Record<string, string> = on.env) =>
    satchel(['replica', 'config', ...to], { env });
  expect(await config([])).toMatchObject({ exit: 2, stderr: expect.stringContaining('--to') });
  expect(await config(['--to', 'ftp://backups'])).toMatchObject({
    exit: 2,
    stderr: expect.stringContaining('--to must be of the form s3://BUCKET[/PREFIX]?endpoint=URL'),
  });
  expect(await config(['--to', TO], { SATCHEL_DATA_DIR: makeTempDir() })).toMatchObject({ exit: 1 });
  const store = {
    ...on.env,
    SATCHEL_OBJECT_STORE: 's3://backups/team?endpoint=https%3A%2F%2Fs3.example.com&style=path',
    SATCHEL_S3_ACCESS_KEY_ID: 'a',
    SATCHEL_S3_SECRET_ACCESS_KEY: 'b',
  };
  expect(await config(['--to', TO.replace('team', 'team/objects')], store)).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining(
      'backups/team/objects/litestream is among the keys of SATCHEL_OBJECT_STORE',
    ),
  });
  expect(await config(['--to', TO], store)).toMatchObject({ exit: 0 });
  const long = join(makeTempDir(), 'l'.repeat(100));
  await (await startServer(long)).end('SIGTERM');
  expect(await config(['--to', TO], { SATCHEL_DATA_DIR: long })).toMatchObject({
    exit: 1,
    stderr: expect.stringContaining('Move the data directory to a shorter path'),
  });
});

test('without Litestream status says how to begin, and doctor nothing', async () => {
  const { on } = await start();
  const { exit, json } = await satchel(['replica', 'status', '--json'], on);
  expect([exit, json]).toEqual([
    1,
    {
      state: 'none',
      last_replicated_at: null,
      behind_seconds: null,
      not_replicated: { files: 0, bytes: 0 },
    },
  ]);
  expect((await satchel(['replica', 'status'], on)).stdout).toContain('satchel replica config --help');
  expect(await findingIn(on)).toBeUndefined();
});

test.skipIf(part('litestream') === null)(
  'beside Litestream as configured, status and doctor say how it is',
  async () => {
    const { data_dir, url, key, on } = await start();
    await upload(url, key, 'ten bytes!'.repeat(7_000));
    // Of what is in the database the replica has the bytes.
    await upload(url, key, 'small');
    const { json } = await satchel(['replica', 'config', '--to', TO, '--json'], on);
    const settings: unknown = Bun.YAML.parse(String(json.config));
    const home = makeTempDir();
    const config = join(home, 'litestream.yml');
    const replica = { type: 'file', path: join(home, 'replica') };
    const to_folder = { addr: '', dbs: [{ path: join(data_dir, 'satchel.db'), replica }] };
    writeFileSync(config, JSON.stringify({ ...Object(settings), ...to_folder }));
    const replication = startLitestream(config, { socket: join(data_dir, 'litestream.sock') });
    await replication.catchUp(data_dir);
    await until(async () => (await satchel(['replica', 'status'], on)).exit === 0);
    const status = await satchel(['replica', 'status', '--json'], on);
    expect(status.json).toMatchObject({ state: 'replicating', not_replicated: { files: 1, bytes: 70_000 } });
    expect(await findingIn(on)).toMatchObject({
      status: 'ok',
      message: expect.stringMatching(
        /^It has all of \S+Z\. Not in the replica, but in backups: 1 file \(68\.4 KiB\)/,
      ),
    });

    await replication.stop();
    const stopped = await satchel(['replica', 'status'], on);
    expect([stopped.exit, stopped.stdout]).toEqual([
      1,
      expect.stringContaining('systemctl start satchel-litestream'),
    ]);
    expect(await findingIn(on)).toMatchObject({
      status: 'warning',
      remedy: expect.stringContaining('systemctl start'),
    });

    // Its store is away: here, a folder in which nothing can be made.
    rmSync(join(home, 'replica'), { recursive: true });
    writeFileSync(join(home, 'replica'), 'no folder');
    startLitestream(config, { socket: join(data_dir, 'litestream.sock') });
    await until(() => existsSync(join(data_dir, 'litestream.sock')));
    await until(async () => (await satchel(['replica', 'status', '--json'], on)).json.state === 'starting');
  },
);

test('a replica that its store has not taken for long is behind, and what is no answer of Litestream is none', async () => {
  const { data_dir, on } = await start();
  let told: unknown = {
    databases: [
      { path: join(data_dir, 'satchel.db'), last_sync_at: new Date(Date.now() - 3_600_000).toISOString() },
    ],
  };
  const daemon = Bun.serve({ unix: join(data_dir, 'litestream.sock'), fetch: () => Response.json(told) });
  try {
    const late = await satchel(['replica', 'status', '--json'], on);
    expect([late.exit, late.json.state, Number(late.json.behind_seconds) >= 3_600]).toEqual([
      1,
      'behind',
      true,
    ]);
    expect(await findingIn(on)).toMatchObject({
      status: 'problem',
      message: expect.stringMatching(/^Litestream has replicated nothing since \S+Z, for 36\d\d s\.$/),
    });
    told = { databases: [{ path: '/elsewhere.db', last_sync_at: 'now' }] };
    expect((await satchel(['replica', 'status', '--json'], on)).json.state).toBe('starting');
  } finally {
    await daemon.stop(true);
  }
});
