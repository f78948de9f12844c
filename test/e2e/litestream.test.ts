/** Litestream beside the server: what was acknowledged is in the replica after kill -9, whatever else goes on meanwhile. */
import { Database } from 'bun:sqlite';
import { expect, setDefaultTimeout, test } from 'bun:test';
import {
  closeSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { atEnd } from '../support/cleanup.ts';
import { restoreReplica, startLitestream, writeFileConfig } from '../support/litestream.ts';
import { part } from '../support/parts.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { makeKey, OWN_PROCESS, type Server, satchel, startServer, upload } from './binary.ts';

setDefaultTimeout(120_000);
const ROOM = { SATCHEL_UPLOADS_PER_MINUTE: '1000000' };
const UPLOADERS = 8;
const ROUNDS = 2;
/** Some thousand pages of log, so that it is moved into the database in between. */
const UPLOADS_A_ROUND = 300;
/** Some 24 MB of log, were it never begun anew. */
const UPLOADS_A_DAY = 1_200;
/** Four times what the server lets it come to by itself. */
const MOST_LOG_BYTES = 16 * 1024 * 1024;
const ROOT = join(import.meta.dir, '../..');
const with_litestream = test.skipIf(part('litestream') === null);

interface Place {
  home: string;
  data_dir: string;
  config: string;
  socket: string;
}

function makePlace(settings: Record<string, string> = {}): Place {
  const home = makeTempDir();
  const data_dir = join(home, 'data');
  return { home, data_dir, ...writeFileConfig(join(home, 'litestream'), data_dir, settings) };
}

/** Uploads until `most` were begun, or the server is gone; adds the ids of what was acknowledged. */
async function uploadMany(
  url: string,
  key: string,
  most: number,
  acknowledged: string[] = [],
): Promise<string[]> {
  let begun = 0;
  const uploader = async (): Promise<void> => {
    while (begun < most) {
      begun += 1;
      const stored = await upload(url, key, `file ${begun} `.repeat(100));
      if (stored === null) return;
      if (stored.status === 201) acknowledged.push(stored.public_id);
    }
  };
  await Promise.all(Array.from({ length: UPLOADERS }, uploader));
  return acknowledged;
}

/** Ids of the objects whose bytes are in the replica, once it has been restored and SQLite finds it sound. */
async function idsInReplica({ home, data_dir, config }: Place): Promise<Set<string>> {
  const target = join(home, `restored-${Bun.randomUUIDv7()}`, 'satchel.db');
  await restoreReplica(config, { data_dir, target });
  const db = new Database(target);
  try {
    expect(db.query('PRAGMA integrity_check').values()).toEqual([['ok']]);
    return new Set(
      db
        .query('SELECT public_id FROM objects JOIN object_contents ON object_id = id')
        .values()
        .map(([id]) => String(id)),
    );
  } finally {
    db.close();
  }
}

with_litestream('after kill -9 amid uploads, again and again, everything acknowledged is in it', async () => {
  const place = makePlace();
  const { data_dir } = place;
  let server = await startServer(data_dir, ROOM);
  const key = await makeKey(data_dir);
  const replication = startLitestream(place.config, place);
  const acknowledged: string[] = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const uploads = uploadMany(server.url, key, Number.POSITIVE_INFINITY, acknowledged);
    await until(() => acknowledged.length >= round * UPLOADS_A_ROUND);
    await server.end('SIGKILL');
    await uploads;
    server = await startServer(data_dir, ROOM);
  }
  await server.end('SIGKILL');
  await replication.catchUp(data_dir);
  await replication.stop();
  const there = await idsInReplica(place);
  expect(acknowledged.filter((id) => !there.has(id))).toEqual([]);
});

with_litestream(
  'a backup, verify, a restart and doctor beside it break nothing, and a replica serves',
  async () => {
    const place = makePlace();
    const { home, data_dir } = place;
    const on = { env: { SATCHEL_DATA_DIR: data_dir } };
    let server = await startServer(data_dir, ROOM);
    const key = await makeKey(data_dir);
    let replication = startLitestream(place.config, place);
    const ids = await uploadMany(server.url, key, 200);
    await replication.catchUp(data_dir);
    const backup = join(home, 'a.backup');
    expect(await satchel(['backup', backup], on)).toMatchObject({ exit: 0 });
    expect(await satchel(['verify', backup], on)).toMatchObject({ exit: 0 });
    // Stopped for a while: what is written meanwhile is replicated later, over a log that began anew.
    await replication.stop();
    ids.push(...(await uploadMany(server.url, key, 200)));
    await server.end('SIGTERM');
    server = await startServer(data_dir, ROOM);
    ids.push(...(await uploadMany(server.url, key, 200)));
    replication = startLitestream(place.config, place);
    ids.push(...(await uploadMany(server.url, key, 200)));
    const doctor = await satchel(['doctor'], on);
    expect(doctor.exit).toBe(0);
    await replication.catchUp(data_dir);
    await replication.stop();
    const there = await idsInReplica(place);
    expect([ids.length, ids.filter((id) => !there.has(id))]).toEqual([800, []]);
    await server.end('SIGTERM');

    const second = join(home, 'second');
    await restoreReplica(place.config, { data_dir, target: join(second, 'satchel.db') });
    copyFileSync(join(data_dir, 'master.key'), join(second, 'master.key'));
    mkdirSync(join(second, 'objects'), { mode: 0o700 });
    const other = await startServer(second, ROOM);
    const listed = await fetch(`${other.url}/api/v1/objects?limit=1`, { headers: { 'X-API-Key': key } });
    expect([listed.status, JSON.parse(await listed.text())]).toMatchObject([200, { meta: { total: 800 } }]);
  },
);

with_litestream(
  'a database that was restored from a backup is replicated in place of the one before',
  async () => {
    const place = makePlace();
    const { home, data_dir } = place;
    const on = { env: { SATCHEL_DATA_DIR: data_dir } };
    let server = await startServer(data_dir, ROOM);
    const key = await makeKey(data_dir, undefined, OWN_PROCESS);
    let replication = startLitestream(place.config, place);
    const kept = await uploadMany(server.url, key, 20);
    const backup = join(home, 'a.backup');
    expect(await satchel(['backup', backup], on)).toMatchObject({ exit: 0 });
    await uploadMany(server.url, key, 20);
    await replication.catchUp(data_dir);
    await replication.stop();
    await server.end('SIGTERM');
    expect(await satchel(['restore', backup, '--yes'], on)).toMatchObject({ exit: 0 });
    server = await startServer(data_dir, ROOM);
    replication = startLitestream(place.config, place);
    kept.push(...(await uploadMany(server.url, key, 20)));
    await replication.catchUp(data_dir);
    await replication.stop();
    expect([...(await idsInReplica(place))].sort()).toEqual(kept.sort());
  },
);

/** What tells the log from the one before it: both salts of its header. */
function readSalts(log: string): string {
  const header = Buffer.alloc(24);
  const fd = openSync(log, 'r');
  readSync(fd, header, 0, header.length, 0);
  closeSync(fd);
  return header.subarray(16).toString('hex');
}

/** Uploads a day's worth, and on until the log has begun anew. Returns the ids and the longest that the log was meanwhile. */
async function aDayOf(
  server: Server,
  key: string,
  data_dir: string,
): Promise<{ ids: string[]; log_bytes: number }> {
  const log = join(data_dir, 'satchel.db-wal');
  const before = readSalts(log);
  const ids = await uploadMany(server.url, key, UPLOADS_A_DAY);
  // A busy machine lets Litestream keep it for longer.
  await until(async () => {
    if (readSalts(log) !== before) return true;
    ids.push(...(await uploadMany(server.url, key, 100)));
    return false;
  });
  // The server lets its file keep this length.
  return { ids, log_bytes: statSync(log).size };
}

with_litestream.each(['ended', 'killed', 'without its store'])(
  '%s for a day of writes, which keep the log short, it catches up',
  async (kind) => {
    const place = makePlace();
    const { data_dir } = place;
    const on = { env: { SATCHEL_DATA_DIR: data_dir } };
    const server = await startServer(data_dir, ROOM);
    const key = await makeKey(data_dir);
    let replication = startLitestream(place.config, place);
    const before = await uploadMany(server.url, key, 20);
    await replication.catchUp(data_dir);
    const replica = join(place.home, 'litestream/replica');
    const away = `${replica}-away`;
    if (kind === 'without its store') {
      renameSync(replica, away);
      // Nothing can be made below a file.
      writeFileSync(replica, '');
    } else await replication.stop(kind === 'killed' ? 'SIGKILL' : 'SIGTERM');

    const { ids, log_bytes } = await aDayOf(server, key, data_dir);
    if (kind !== 'without its store') expect(log_bytes).toBeLessThan(MOST_LOG_BYTES);
    const doctor = await satchel(['doctor'], on);
    expect([doctor.exit, doctor.stdout]).toEqual([
      0,
      expect.stringContaining('Litestream has replicated this database'),
    ]);

    if (kind === 'without its store') {
      rmSync(replica);
      renameSync(away, replica);
    } else replication = startLitestream(place.config, place);
    await replication.catchUp(data_dir);
    await replication.stop();
    const there = await idsInReplica(place);
    expect(ids.length).toBeGreaterThanOrEqual(UPLOADS_A_DAY);
    expect([...before, ...ids].filter((id) => !there.has(id))).toEqual([]);
  },
);

with_litestream('killed, and started anew as soon as the log has begun anew, it misses nothing', async () => {
  const place = makePlace();
  const { data_dir } = place;
  const server = await startServer(data_dir, ROOM);
  const key = await makeKey(data_dir);
  const killed = startLitestream(place.config, place);
  const ids = await uploadMany(server.url, key, 50);
  await killed.catchUp(data_dir);
  await killed.stop('SIGKILL');
  const log = join(data_dir, 'satchel.db-wal');
  const before = readSalts(log);
  // What it replicated last of the log before still stands behind the end of this one.
  while (readSalts(log) === before) ids.push(...(await uploadMany(server.url, key, 1)));
  const replication = startLitestream(place.config, place);
  await replication.catchUp(data_dir);
  await replication.stop();
  const there = await idsInReplica(place);
  expect(ids.filter((id) => !there.has(id))).toEqual([]);
});

with_litestream(
  'what is deleted beside it leaves the database and its log, and the replica misses nothing',
  async () => {
    const place = makePlace({ 'checkpoint-interval': '5s' });
    const { data_dir } = place;
    const server = await startServer(data_dir, ROOM);
    const key = await makeKey(data_dir);
    const replication = startLitestream(place.config, place);
    const kept = await uploadMany(server.url, key, 100);
    const secret = 'a secret that is to go ';
    const stored = await upload(server.url, key, secret.repeat(1_000));
    kept.push(...(await uploadMany(server.url, key, 100)));
    await replication.catchUp(data_dir);
    const filesWith = (): string[] =>
      ['satchel.db', 'satchel.db-wal'].filter((name) =>
        readFileSync(join(data_dir, name), 'latin1').includes(secret),
      );
    expect(filesWith()).not.toEqual([]);
    const removed = await fetch(`${server.url}/api/v1/objects/${stored?.public_id}`, {
      method: 'DELETE',
      headers: { 'X-API-Key': key },
    });
    expect(removed.status).toBe(200);
    await until(async () => {
      // As an app goes on meanwhile.
      kept.push(...(await uploadMany(server.url, key, 2)));
      await Bun.sleep(500);
      return filesWith().length === 0;
    });
    kept.push(...(await uploadMany(server.url, key, 100)));
    expect(replication.log()).not.toMatch(/by another process|snapshotting/);
    await server.end('SIGKILL');
    await replication.catchUp(data_dir);
    await replication.stop();
    const there = await idsInReplica(place);
    expect(kept.filter((id) => !there.has(id))).toEqual([]);
  },
);

/** The sources of a later Satchel, whose migration writes each object's row anew. */
function makeNextVersion(): string {
  const next = makeTempDir();
  for (const part of ['package.json', 'src', 'handbook'])
    cpSync(join(ROOT, part), join(next, part), { recursive: true });
  symlinkSync(join(ROOT, 'node_modules'), join(next, 'node_modules'));
  const folder = join(next, 'src/platform/database');
  writeFileSync(
    join(folder, 'migrations/0002_next.sql'),
    'ALTER TABLE objects ADD COLUMN next TEXT; UPDATE objects SET next = hex(randomblob(500)); CREATE INDEX objects_next ON objects (next);',
  );
  const migrate = readFileSync(join(folder, 'migrate.ts'), 'utf8');
  const listed = migrate
    .replace(
      'import { connect }',
      "import next from './migrations/0002_next.sql' with { type: 'text' };\nimport { connect }",
    )
    .replace('sql: schema }]', "sql: schema }, { version: 2, name: 'next', sql: next }]");
  expect(listed.length).toBeGreaterThan(migrate.length + 100);
  writeFileSync(join(folder, 'migrate.ts'), listed);
  return join(next, 'src/main.ts');
}

with_litestream(
  'a later version, whose migration changes every row, is replicated as it starts',
  async () => {
    const place = makePlace();
    const { home, data_dir } = place;
    const older = await startServer(data_dir, ROOM);
    const key = await makeKey(data_dir);
    const replication = startLitestream(place.config, place);
    const ids = await uploadMany(older.url, key, 300);
    await older.end('SIGTERM');

    const main = makeNextVersion();
    const newer = Bun.spawn([process.execPath, main, 'serve', '--port', '0', '--data-dir', data_dir], {
      ...{ stdout: 'pipe', stderr: 'ignore' },
      env: { PATH: process.env.PATH, HOME: home, ...ROOM },
    });
    atEnd(async () => {
      newer.kill('SIGKILL');
      await newer.exited;
    });
    const { value } = await newer.stdout.getReader().read();
    const url = /listening on (\S+)/.exec(new TextDecoder().decode(value))?.[1] ?? '';
    ids.push(...(await uploadMany(url, key, 100)));
    newer.kill('SIGKILL');
    await newer.exited;
    await replication.catchUp(data_dir);
    await replication.stop();

    const there = await idsInReplica(place);
    expect([ids.length, ids.filter((id) => !there.has(id))]).toEqual([400, []]);
    const target = join(home, 'upgraded/satchel.db');
    await restoreReplica(place.config, { data_dir, target });
    const restored = new Database(target);
    const migrations = restored.query('SELECT name FROM schema_migrations ORDER BY version').values();
    const changed = restored.query('SELECT count(*) FROM objects WHERE next IS NOT NULL').values();
    restored.close();
    expect([migrations, changed]).toEqual([[['schema'], ['next']], [[300]]]);
  },
);
