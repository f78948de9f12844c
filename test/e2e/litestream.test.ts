/** Litestream beside the server: what was acknowledged is in the replica after kill -9, whatever else goes on meanwhile. */
import { Database } from 'bun:sqlite';
import { expect, setDefaultTimeout, test } from 'bun:test';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { restoreReplica, startLitestream, writeFileConfig } from '../support/litestream.ts';
import { part } from '../support/parts.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { makeKey, satchel, startServer, upload } from './binary.ts';

setDefaultTimeout(120_000);
const ROOM = { SATCHEL_UPLOADS_PER_MINUTE: '1000000' };
const UPLOADERS = 8;
const ROUNDS = 4;
/** Some thousand pages of log, so that it is moved into the database in between. */
const UPLOADS_A_ROUND = 300;
const with_litestream = test.skipIf(part('litestream') === null);

interface Place {
  home: string;
  data_dir: string;
  config: string;
  socket: string;
}

function makePlace(): Place {
  const home = makeTempDir();
  const data_dir = join(home, 'data');
  return { home, data_dir, ...writeFileConfig(join(home, 'litestream'), data_dir) };
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

/** Ids of objects in the replica, once it has been restored and SQLite finds it sound. */
async function idsInReplica({ home, data_dir, config }: Place): Promise<Set<string>> {
  const target = join(home, `restored-${Bun.randomUUIDv7()}`, 'satchel.db');
  await restoreReplica(config, { data_dir, target });
  const db = new Database(target);
  try {
    expect(db.query('PRAGMA integrity_check').values()).toEqual([['ok']]);
    return new Set(
      db
        .query('SELECT public_id FROM objects')
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
    const key = await makeKey(data_dir);
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
