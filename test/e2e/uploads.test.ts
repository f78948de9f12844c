/** Resumable uploads with the clients that people use, over a restart of the compiled executable and a kill -9. */
import { Database } from 'bun:sqlite';
import { expect, setDefaultTimeout, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { join } from 'node:path';
import { Upload } from 'tus-js-client';
import { openChromium } from '../support/chromium.ts';
import { part } from '../support/parts.ts';
import { startTcpProxy, type TcpProxy } from '../support/tcp-proxy.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { freePort, makeKey, type Server, satchel, startServer } from './binary.ts';
import { canMount, fillDisk, freeDisk, startOnSmallDisk } from './small-disk.ts';

setDefaultTimeout(120_000);
const MIB = 1024 * 1024;
const ENV = { SATCHEL_MAX_UPLOAD_BYTES: String(100 * MIB) };

/**
 * What runs in the page, as text: the types of Uppy bring those of a browser along, which would then hold for all of Satchel.
 * Answers what the server called the file.
 */
const PAGE = `
import Uppy from '@uppy/core';
import Tus from '@uppy/tus';

export async function uploadFile(endpoint, key, bytes) {
  let object = null;
  const uppy = new Uppy().use(Tus, {
    endpoint,
    headers: { 'X-API-Key': key },
    chunkSize: 1024 * 1024,
    // The server is away for as long as a busy machine takes to start it.
    retryDelays: Array.from({ length: 1_000 }, () => 100),
    onAfterResponse: (_, response) => {
      object = response.getHeader('Satchel-Object') ?? object;
    },
  });
  const data = new Blob([Uint8Array.from({ length: bytes }, (_, at) => (at * 31) % 251)]);
  uppy.addFile({ name: 'holiday.bin', type: 'application/x-holiday', data, meta: { visibility: 'public' } });
  const { failed } = await uppy.upload();
  if (failed.length > 0) throw new Error(String(failed[0].error));
  return object;
}`;

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
const PATTERN = Uint8Array.from({ length: 251 }, (_, at) => (at * 31) % 251);
const bytesOf = (size: number): Uint8Array<ArrayBuffer> => new Uint8Array(Buffer.alloc(size, PATTERN));

/** A server that comes back where it was, behind a middle man who can hold a part. */
async function startStage() {
  const data_dir = makeTempDir();
  const port = freePort();
  const proxy = await startTcpProxy(Number(port));
  let server = await start(data_dir, port);
  return {
    data_dir,
    proxy,
    url: `http://localhost:${proxy.port}`,
    /** Lets a client send as far as this; then the server ends, and another one takes over. */
    async restartAt(offset: number, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
      proxy.hold = new RegExp(`Upload-Offset: ${offset}\\r`, 'i');
      await until(() => proxy.held > 0);
      await server.end(signal);
      server = await start(data_dir, port);
      release(proxy);
    },
    async stop(): Promise<void> {
      await server.end('SIGTERM');
      await proxy.stop();
    },
  };
}

function start(data_dir: string, port: string): Promise<Server> {
  return startServer(data_dir, ENV, [], ['--port', port]);
}

function release(proxy: TcpProxy): void {
  proxy.hold = null;
  proxy.held = 0;
  proxy.cut();
}

function rowOf(data_dir: string, id: string) {
  const db = new Database(join(data_dir, 'satchel.db'), { readonly: true });
  const row = db
    .query<Record<string, unknown>, [string]>(
      'SELECT original_filename, mime_type, visibility, size_bytes, sha256 FROM objects WHERE public_id = ?',
    )
    .get(id);
  db.close();
  return row;
}

test('tus-js-client goes on over a restart and a kill -9, from what was acknowledged, to one file', async () => {
  const stage = await startStage();
  const key = await makeKey(stage.data_dir);
  const bytes = bytesOf(6 * MIB + 7);
  const offsets: number[] = [];
  let object: string | undefined;
  const done = new Promise<void>((resolve, reject) => {
    const upload = new Upload(Buffer.from(bytes), {
      endpoint: `${stage.url}/api/v1/uploads`,
      headers: { 'X-API-Key': key },
      metadata: { filename: 'film.bin', filetype: 'application/x-film', visibility: 'public' },
      chunkSize: MIB,
      retryDelays: Array.from({ length: 1_000 }, () => 100),
      onAfterResponse: (request, response) => {
        if (request.getMethod() === 'HEAD') offsets.push(Number(response.getHeader('Upload-Offset')));
        object = response.getHeader('Satchel-Object') ?? object;
      },
      onSuccess: () => resolve(),
      onError: reject,
    });
    upload.start();
  });
  await stage.restartAt(2 * MIB, 'SIGKILL');
  await stage.restartAt(4 * MIB, 'SIGTERM');
  await done;
  expect(offsets).toEqual([2 * MIB, 4 * MIB]);
  expect(rowOf(stage.data_dir, object ?? '')).toEqual({
    original_filename: 'film.bin',
    mime_type: 'application/x-film',
    visibility: 'public',
    size_bytes: bytes.length,
    sha256: sha256(bytes),
  });
  const answer = await fetch(`${stage.url}/api/v1/objects/${object}`);
  expect(sha256(await answer.bytes())).toBe(sha256(bytes));
  await stage.stop();
});

test('a kill -9 within one long part takes back no more than came since the last flush', async () => {
  const data_dir = makeTempDir();
  const port = freePort();
  const server = await start(data_dir, port);
  const key = await makeKey(data_dir);
  const bytes = bytesOf(40 * MIB);
  const headers = { 'X-API-Key': key, 'Tus-Resumable': '1.0.0' };
  const begun = await fetch(`${server.url}/api/v1/uploads`, {
    method: 'POST',
    headers: { ...headers, 'Upload-Length': String(bytes.length) },
  });
  const path = begun.headers.get('location') ?? '';
  const offsetAt = async (url: string): Promise<number> => {
    const answer = await fetch(`${url}${path}`, { method: 'HEAD', headers });
    return Number(answer.headers.get('upload-offset'));
  };
  const socket = connect(Number(port), '127.0.0.1');
  socket.on('error', () => {});
  const part_headers = `X-API-Key: ${key}\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Length: ${bytes.length}\r\n`;
  const type = 'Content-Type: application/offset+octet-stream';
  socket.write(`PATCH ${path} HTTP/1.1\r\nHost: localhost\r\n${part_headers}${type}\r\n\r\n`);
  socket.write(bytes.subarray(0, 36 * MIB));
  await until(async () => (await offsetAt(server.url)) >= 32 * MIB);
  await server.end('SIGKILL');
  socket.destroy();
  const again = await start(data_dir, port);
  const offset = await offsetAt(again.url);
  expect(offset).toBeGreaterThanOrEqual(32 * MIB);
  const rest = await fetch(`${again.url}${path}`, {
    method: 'PATCH',
    headers: {
      ...headers,
      'Upload-Offset': String(offset),
      'Content-Type': 'application/offset+octet-stream',
    },
    body: bytes.subarray(offset),
  });
  expect(rest.status).toBe(204);
  expect(rowOf(data_dir, rest.headers.get('satchel-object') ?? '')?.sha256).toBe(sha256(bytes));
  await again.end('SIGTERM');
});

test.skipIf(!canMount)(
  'a full disk refuses parts and new uploads, keeps what it told of, and heals by itself',
  async () => {
    const { server, dir, key } = await startOnSmallDisk({});
    const bytes = bytesOf(4_000_000);
    const usual = { 'X-API-Key': key, 'Tus-Resumable': '1.0.0' };
    const begin = () => {
      const headers = { ...usual, 'Upload-Length': String(bytes.length) };
      return fetch(`${server.url}/api/v1/uploads`, { method: 'POST', headers });
    };
    const path = `${server.url}${(await begin()).headers.get('location')}`;
    const send = (offset: number, body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>) => {
      const told = { 'Upload-Offset': String(offset), 'Content-Type': 'application/offset+octet-stream' };
      return fetch(path, { method: 'PATCH', headers: { ...usual, ...told }, body });
    };
    const offset = async () => {
      const { headers } = await fetch(path, { method: 'HEAD', headers: usual });
      return Number(headers.get('upload-offset'));
    };
    expect((await send(0, bytes.subarray(0, 500_000))).status).toBe(204);
    // It fills up in the middle of a part.
    const filled = new ReadableStream<Uint8Array>({
      async pull(controller) {
        controller.enqueue(bytes.subarray(500_000, 1_000_000));
        await Bun.sleep(0);
        fillDisk(dir);
        controller.enqueue(bytes.subarray(1_000_000));
        controller.close();
      },
    });
    for (const refused of [
      await send(500_000, filled),
      await send(500_000, bytes.subarray(500_000)),
      await begin(),
    ])
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '30']);
    expect(await offset()).toBe(500_000);
    freeDisk(dir);
    const last = await send(500_000, bytes.subarray(500_000));
    expect(last.status).toBe(204);
    const file = await fetch(`${server.url}/api/v1/objects/${last.headers.get('satchel-object')}`, {
      headers: usual,
    });
    expect(sha256(await file.bytes())).toBe(sha256(bytes));
    await server.end('SIGTERM');
  },
);

test.skipIf(part('chromium') === null)(
  'Uppy in a page of another site goes on over a restart and a kill -9, with a key that the page’s origin may use',
  async () => {
    const stage = await startStage();
    await makeKey(stage.data_dir);
    const { data_dir } = stage;
    const made = await satchel(
      [
        'key',
        'create',
        '--project',
        'shop',
        '--name',
        'page',
        '--can',
        'upload',
        '--restricted',
        '--json',
      ].concat([...['--rate-limit', '1000000', '--data-dir', data_dir]]),
    );
    const entry = join(import.meta.dir, 'page.js');
    const { outputs } = await Bun.build({
      entrypoints: [entry],
      files: { [entry]: PAGE },
      target: 'browser',
    });
    const script = (await outputs[0]?.text()) ?? '';
    const site = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: ({ url }) =>
        url.endsWith('.js')
          ? new Response(script, { headers: { 'Content-Type': 'text/javascript' } })
          : new Response('<!doctype html>', { headers: { 'Content-Type': 'text/html' } }),
    });
    const origin = `http://localhost:${site.port}`;
    const rule = ['key', 'origin', 'add', 'page', '--project', 'shop', '--type', 'domain', '--value', origin];
    const ruled = await satchel([...rule, '--data-dir', data_dir]);
    expect([ruled.exit, ruled.stderr]).toEqual([0, ruled.stderr]);
    const browser = await openChromium();
    try {
      const page = await browser.newPage();
      await page.goto(origin);
      const size = 5 * MIB + 3;
      const told = page.evaluate(
        async ([endpoint, key, bytes]) => {
          const path = '/app.js';
          const { uploadFile } = await import(path);
          return uploadFile(endpoint, key, bytes);
        },
        [`${stage.url}/api/v1/uploads`, String(made.json.plaintext_key), size] as const,
      );
      await stage.restartAt(MIB, 'SIGTERM');
      await stage.restartAt(3 * MIB, 'SIGKILL');
      expect(rowOf(data_dir, String(await told))).toEqual({
        original_filename: 'holiday.bin',
        mime_type: 'application/x-holiday',
        visibility: 'public',
        size_bytes: size,
        sha256: sha256(bytesOf(size)),
      });
    } finally {
      site.stop(true);
      await stage.stop();
    }
  },
);
