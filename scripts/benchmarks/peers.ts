/**
 * Uploads and downloads against PocketBase, which syncs no file, and MinIO, which does. Where Go can't
 * build them there are no rows.
 */
import { randomBytes } from 'node:crypto';
import { AwsClient } from 'aws4fetch';
import { builtByGo } from './go-programs.ts';
import {
  compare,
  freePort,
  latencies,
  load,
  makeKey,
  median,
  ms,
  type Row,
  rate,
  request,
  row,
  scratchDir,
  spawnQuiet,
  startSatchel,
  untilUp,
} from './harness.ts';

const UPLOADS = 4_000;
const LONE_UPLOADS = 400;
const DOWNLOADS = 10_000;
const SMALL = randomBytes(10_240);
const MEDIUM = randomBytes(100 * 1024);

/** A server that takes files: `upload` resolves with the address of one, for anybody to read. */
interface FileServer {
  name: string;
  upload(bytes: Uint8Array): Promise<string>;
  stop(): Promise<void>;
}

export async function measurePeers(): Promise<Row[]> {
  const satchel = await startOurs();
  const rows: Row[] = [];
  for (const start of [startPocketBase, startMinio]) {
    const peer = await start();
    if (peer) rows.push(...(await against(satchel, peer)));
    await peer?.stop();
  }
  await satchel.stop();
  return rows;
}

async function against(satchel: FileServer, peer: FileServer): Promise<Row[]> {
  const is_least = peer.name === 'PocketBase';
  const together =
    ({ upload }: FileServer) =>
    () =>
      load(UPLOADS, 200, () => answered(upload(SMALL)));
  const alone =
    ({ upload }: FileServer) =>
    async () =>
      median(await latencies(LONE_UPLOADS, () => answered(upload(SMALL))));
  const many = await compare(together(satchel), together(peer), { warm_up: true });
  const lone = await compare(alone(satchel), alone(peer), { warm_up: true });
  const rows = [
    row(`10 KB uploads, 32 at once, against ${peer.name}`, {
      ours: rate(many.ours),
      baseline: rate(many.baseline),
      ratio: many.ours / many.baseline,
      ...(is_least ? { at_least: 1.2 } : {}),
    }),
    row(`the same, one after the other, median, against ${peer.name}`, {
      ours: ms(lone.ours),
      baseline: ms(lone.baseline),
      ratio: lone.baseline / lone.ours,
      ...(is_least ? { at_least: 0.8 } : {}),
    }),
  ];
  for (const [size, bytes] of [['10 KB', SMALL] as const, ['100 KB', MEDIUM] as const]) {
    const [own, other] = [await satchel.upload(bytes), await peer.upload(bytes)];
    const speed = await compare(
      () => load(DOWNLOADS, 200, () => request(own)),
      () => load(DOWNLOADS, 200, () => request(other)),
      { warm_up: true },
    );
    rows.push(
      row(`GET of a public file of ${size} against ${peer.name}`, {
        ours: rate(speed.ours),
        baseline: rate(speed.baseline),
        ratio: speed.ours / speed.baseline,
        at_least: 1,
      }),
    );
  }
  return rows;
}

/** What `load` and `latencies` count: an upload that failed has thrown. */
async function answered(upload: Promise<string>): Promise<Response> {
  await upload;
  return new Response();
}

/* --- The servers -------------------------------------------------------------------------------------------------- */

async function startOurs(): Promise<FileServer> {
  const satchel = await startSatchel({ SATCHEL_UPLOADS_PER_MINUTE: '1000000' });
  const key = await makeKey(satchel);
  return {
    name: 'Satchel',
    async upload(bytes) {
      const form = formOf(bytes);
      form.set('visibility', 'public');
      const url = `${satchel.url}/api/v1/objects`;
      const headers = { 'X-API-Key': key };
      const { public_id } = await toldBy(await request(url, { method: 'POST', headers, body: form }), 201);
      return `${url}/${public_id}`;
    },
    stop: () => satchel.stop(),
  };
}

async function startPocketBase(): Promise<FileServer | null> {
  const built = await builtByGo('PocketBase');
  if (!built) return null;
  const dir = scratchDir();
  const [email, password] = ['bench@example.com', crypto.randomUUID()];
  await Bun.spawn([built.path, 'superuser', 'upsert', email, password, '--dir', dir], { stdout: 'ignore' })
    .exited;
  const port = freePort();
  const url = `http://127.0.0.1:${port}`;
  // It would write what it made of the collection beside the directory, for whoever comes next.
  const options = ['--dir', dir, '--automigrate=false'];
  const { stop } = spawnQuiet([built.path, 'serve', '--http', `127.0.0.1:${port}`, ...options]);
  await untilUp(url, async () => (await request(`${url}/api/health`)).ok);
  const json = { 'Content-Type': 'application/json' };
  const signed_in = await request(`${url}/api/collections/_superusers/auth-with-password`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ identity: email, password }),
  });
  const { token } = await toldBy(signed_in, 200);
  const anybody = { createRule: '', viewRule: '', listRule: '' };
  const fields = [
    { name: 'file', type: 'file', maxSelect: 1, maxSize: 10_000_000 },
    { name: 'name', type: 'text' },
  ];
  const collection = await request(`${url}/api/collections`, {
    method: 'POST',
    headers: { ...json, Authorization: String(token) },
    body: JSON.stringify({ name: 'files', type: 'base', ...anybody, fields }),
  });
  await toldBy(collection, 200);
  return {
    name: 'PocketBase',
    async upload(bytes) {
      const form = formOf(bytes);
      form.set('name', 'a.bin');
      const answer = await request(`${url}/api/collections/files/records`, { method: 'POST', body: form });
      const { id, file } = await toldBy(answer, 200);
      return `${url}/api/files/files/${id}/${file}`;
    },
    stop,
  };
}

async function startMinio(): Promise<FileServer | null> {
  const built = await builtByGo('MinIO');
  if (!built) return null;
  const secrets = { accessKeyId: 'bench', secretAccessKey: crypto.randomUUID() };
  const [port, console_port] = [freePort(), freePort()];
  const at = ['--address', `127.0.0.1:${port}`, '--console-address', `127.0.0.1:${console_port}`];
  const { stop } = spawnQuiet([built.path, 'server', scratchDir(), ...at], {
    MINIO_ROOT_USER: secrets.accessKeyId,
    MINIO_ROOT_PASSWORD: secrets.secretAccessKey,
  });
  const url = `http://127.0.0.1:${port}`;
  await untilUp(url, async () => (await request(`${url}/minio/health/live`)).ok);
  const client = new AwsClient({ ...secrets, service: 's3', region: 'us-east-1' });
  const bucket = `${url}/bench`;
  const allowed = { Effect: 'Allow', Principal: '*', Action: ['s3:GetObject', 's3:PutObject'] };
  const policy = { Version: '2012-10-17', Statement: [{ ...allowed, Resource: 'arn:aws:s3:::bench/*' }] };
  const put = async (address: string, body?: string): Promise<void> => {
    const answer = await client.fetch(address, { method: 'PUT', ...(body === undefined ? {} : { body }) });
    if (!answer.ok) throw new Error(`PUT ${address} answered ${answer.status}: ${await answer.text()}`);
  };
  await put(bucket);
  // Anybody may write, so that the client has nothing to sign.
  await put(`${bucket}?policy=`, JSON.stringify(policy));
  let files = 0;
  return {
    name: 'MinIO',
    async upload(bytes) {
      files += 1;
      const address = `${bucket}/file-${files}`;
      const answer = await request(address, { method: 'PUT', body: bytes });
      if (answer.status !== 200)
        throw new Error(`an upload answered ${answer.status}: ${await answer.text()}`);
      return address;
    },
    stop,
  };
}

function formOf(bytes: Uint8Array): FormData {
  const form = new FormData();
  form.set('file', new Blob([bytes], { type: 'application/x-bench' }), 'a.bin');
  return form;
}

async function toldBy(answer: Response, status: number): Promise<Record<string, unknown>> {
  if (answer.status !== status)
    throw new Error(`${answer.url} answered ${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as Record<string, unknown>;
}
