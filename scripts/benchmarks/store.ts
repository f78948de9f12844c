/** Past one machine: bytes in an S3 store, against the runtime's own S3 client on the same store; commits beside Litestream. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { part } from '../../test/support/parts.ts';
import {
  compare,
  load,
  makeKey,
  type Row,
  rate,
  reported,
  row,
  runCli,
  type Satchel,
  scratchDir,
  spawnQuiet,
  startSatchel,
} from './harness.ts';

const UPLOADS = 2_000;
const DOWNLOADS = 4_000;
const MOVED = 10_000;
/** As many as `object move` carries at once. */
const MOVED_AT_ONCE = 8;
const COMMITS = 4_000;
const SMALL_BYTES = 10 * 1024;
const BUCKET = 'bench';
const ROOM = { SATCHEL_UPLOADS_PER_MINUTE: '1000000' };

export async function measureStore(): Promise<Row[]> {
  return [...(await measureObjectStore()), await measureReplica()];
}

interface Store {
  client: Bun.S3Client;
  env(prefix: string): Record<string, string>;
}

/** versitygw on a folder, until the benchmarks end; null where this machine has none. */
async function startStore(): Promise<Store | null> {
  const versitygw = part('versitygw');
  if (versitygw === null) return null;
  const dir = scratchDir();
  for (const folder of ['data', `data/${BUCKET}`, 'meta']) mkdirSync(join(dir, folder));
  const access = { accessKeyId: 'bench', secretAccessKey: 'secret' };
  const probe = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } });
  const endpoint = `http://127.0.0.1:${probe.port}`;
  probe.stop(true);
  const keys = ['--access', access.accessKeyId, '--secret', access.secretAccessKey];
  const place = ['--port', endpoint.slice('http://'.length), 'posix', '--sidecar', join(dir, 'meta')];
  spawnQuiet([versitygw, ...keys, ...place, join(dir, 'data')]);
  while ((await fetch(endpoint).catch(() => null)) === null) await Bun.sleep(10);
  return {
    client: new Bun.S3Client({ ...access, endpoint, bucket: BUCKET, region: 'us-east-1' }),
    env: (prefix) => ({
      ...ROOM,
      SATCHEL_OBJECT_STORE: `s3://${BUCKET}/${prefix}?endpoint=${encodeURIComponent(endpoint)}&style=path`,
      SATCHEL_S3_ACCESS_KEY_ID: access.accessKeyId,
      SATCHEL_S3_SECRET_ACCESS_KEY: access.secretAccessKey,
    }),
  };
}

async function measureObjectStore(): Promise<Row[]> {
  const store = await startStore();
  if (store === null) return [reported('an S3 store', 'versitygw is not here')];
  return [await measureUploads(store), ...(await measureDownloads(store)), await measureMove(store)];
}

function upload(satchel: Satchel, key: string, bytes: Uint8Array<ArrayBuffer>): Promise<Response> {
  const form = new FormData();
  form.set('file', new Blob([bytes], { type: 'application/x-bench' }), 'a.bin');
  form.set('visibility', 'public');
  return fetch(`${satchel.url}/api/v1/objects`, {
    method: 'POST',
    headers: { 'X-API-Key': key },
    body: form,
  });
}

async function measureUploads({ client, env }: Store): Promise<Row> {
  const satchel = await startSatchel(env('uploads'));
  const key = await makeKey(satchel);
  const bytes = new Uint8Array(randomBytes(SMALL_BYTES));
  let put = 0;
  const speed = await compare(
    () => load(UPLOADS, 201, () => upload(satchel, key, bytes)),
    () =>
      load(UPLOADS, 200, async () => {
        put += 1;
        await client.write(`plain/${put}`, bytes);
        return new Response('');
      }),
    { warm_up: true },
  );
  await satchel.stop();
  return row('10 KB uploads into an S3 store against its client', {
    ours: rate(speed.ours),
    baseline: rate(speed.baseline),
    ratio: speed.ours / speed.baseline,
    at_least: 0.5,
  });
}

async function measureDownloads({ client, env }: Store): Promise<Row[]> {
  const bytes = new Uint8Array(randomBytes(100 * 1024));
  await client.write('plain/large', bytes);
  const link = client.presign('plain/large', { expiresIn: 3_600 });
  const rows: Row[] = [];
  for (const { work, settings, at_least } of [
    { work: 'GET of 100 KB of an S3 store through Satchel', settings: {}, at_least: 0.5 },
    { work: 'the same, redirected', settings: { SATCHEL_OBJECT_REDIRECT: '0' }, at_least: 0.9 },
  ]) {
    const satchel = await startSatchel({ ...env(`downloads${rows.length}`), ...settings });
    const stored = await upload(satchel, await makeKey(satchel), bytes);
    const { public_id } = (await stored.json()) as { public_id: string };
    const speed = await compare(
      () => load(DOWNLOADS, 200, () => fetch(`${satchel.url}/api/v1/objects/${public_id}`)),
      () => load(DOWNLOADS, 200, () => fetch(link)),
      { warm_up: true },
    );
    await satchel.stop();
    const [ours, baseline] = [rate(speed.ours), rate(speed.baseline)];
    rows.push(
      row(`${work}, against a link of the store`, {
        ours,
        baseline,
        ratio: speed.ours / speed.baseline,
        at_least,
      }),
    );
  }
  return rows;
}

/** The verb as it is run, its start included, against a copy of as many files. */
async function measureMove({ client, env }: Store): Promise<Row> {
  // Stored before a store is set, and so on the disk.
  const satchel = await startSatchel(ROOM);
  const key = await makeKey(satchel);
  const bytes = new Uint8Array(randomBytes(SMALL_BYTES));
  await load(MOVED, 201, () => upload(satchel, key, bytes));
  await satchel.stop();
  const folder = scratchDir();
  for (let n = 0; n < MOVED; n += 1) writeFileSync(join(folder, String(n)), bytes);
  const names = readdirSync(folder);

  const settings = env('moved');
  const move = (to: string) => runCli(satchel.data_dir, ['object', 'move', '--to', to], settings);
  const speed = await compare(
    async () => {
      const started = performance.now();
      const { moved } = await move('s3');
      const taken_s = (performance.now() - started) / 1_000;
      if (moved !== MOVED) throw new Error(`${moved} files were moved`);
      await move('local');
      return MOVED / taken_s;
    },
    () =>
      load(
        MOVED,
        200,
        async (n) => {
          await client.write(`copied/${n}`, await Bun.file(join(folder, names[n] ?? '')).bytes());
          return new Response('');
        },
        MOVED_AT_ONCE,
      ),
  );
  return row(`moving ${MOVED} files of 10 KB into an S3 store against copying them`, {
    ours: rate(speed.ours),
    baseline: rate(speed.baseline),
    ratio: speed.ours / speed.baseline,
    at_least: 0.5,
  });
}

/** Uploads of a few bytes, each of which is a row. */
async function measureReplica(): Promise<Row> {
  const litestream = part('litestream');
  const work = 'small uploads beside Litestream against none';
  if (litestream === null) return reported(work, 'litestream is not here');
  const dir = scratchDir();
  const [watched, alone] = [await startSatchel(ROOM), await startSatchel(ROOM)];
  const database = {
    path: join(watched.data_dir, 'satchel.db'),
    replica: { type: 'file', path: join(dir, 'replica') },
  };
  const config = join(dir, 'litestream.yml');
  writeFileSync(config, JSON.stringify({ dbs: [database] }));
  const [watched_key, alone_key] = [await makeKey(watched), await makeKey(alone)];
  const replication = spawnQuiet([litestream, 'replicate', '-config', config]);
  const bytes = new Uint8Array(randomBytes(10));
  const speed = await compare(
    () => load(COMMITS, 201, () => upload(watched, watched_key, bytes)),
    () => load(COMMITS, 201, () => upload(alone, alone_key, bytes)),
    { warm_up: true },
  );
  await replication.stop();
  await Promise.all([watched.stop(), alone.stop()]);
  return row(work, {
    ours: rate(speed.ours),
    baseline: rate(speed.baseline),
    ratio: speed.ours / speed.baseline,
    at_least: 0.8,
  });
}
