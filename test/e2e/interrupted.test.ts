/**
 * What is cut short or happens twice at once: stops with work in flight, repeated requests, deletes during downloads. Each
 * test has a server of its own and waits most of the time, so they run side by side.
 */
import { Database } from 'bun:sqlite';
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { STOP_REQUESTS_DEADLINE_MS } from '../../src/limits.ts';
import { startSmtpSink } from '../support/smtp-sink.ts';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { addMailbox, makeKey, type Server, startServer, storedFiles } from './binary.ts';
import { exchange, FORM_HEAD, FORM_TAIL, RawConnection, uploadHead } from './raw-http.ts';

setDefaultTimeout(120_000);
/** Decision: a stop takes at most this, most of it for a busy machine: its deadlines add up to 14 s. */
const STOP_MS = 30_000;
/** So much of an upload that its file is on the disk. */
const BEGUN_BYTES = 600_000;
const ROOM = { SATCHEL_UPLOADS_PER_MINUTE: '1000000', SATCHEL_MAX_UPLOAD_BYTES: '60000000' };

interface Answer {
  status: number;
  body: Record<string, unknown>;
}

async function call(server: Server, key: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const response = await fetch(server.url + path, {
    ...init,
    headers: { 'X-API-Key': key, ...Object.fromEntries(new Headers(init.headers)) },
    signal: AbortSignal.timeout(60_000),
  });
  const body: unknown = await response.json();
  return { status: response.status, body: typeof body === 'object' && body ? { ...body } : {} };
}

function fileForm(bytes: Uint8Array<ArrayBuffer>, fields: Record<string, string> = {}): FormData {
  const form = new FormData();
  form.set('file', new Blob([bytes], { type: 'application/x-test' }), 'a.bin');
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  return form;
}

async function putPublic(server: Server, key: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const body = fileForm(bytes, { visibility: 'public' });
  const answer = await call(server, key, '/api/v1/objects', { method: 'POST', body });
  expect(answer.status).toBe(201);
  return String(answer.body.public_id);
}

async function stop(server: Server): Promise<{ exit: number; taken_ms: number }> {
  const started_ms = performance.now();
  const exit = await server.end('SIGTERM');
  return { exit, taken_ms: performance.now() - started_ms };
}

function countObjects(dir: string): number {
  const db = new Database(join(dir, 'satchel.db'), { readonly: true });
  const count = db.query('SELECT count(*) FROM object_contents').values()[0]?.[0];
  db.close();
  return Number(count);
}

const isStopping = (server: Server): boolean => server.stderr().includes('"message":"stopping"');

describe.concurrent('SIGTERM', () => {
  test('lets an upload that still arrives finish', async () => {
    const dir = makeTempDir();
    const server = await startServer(dir, ROOM);
    const key = await makeKey(dir);
    const bytes = randomBytes(2 * BEGUN_BYTES);
    const connection = await RawConnection.open(server.url);
    await connection.send(uploadHead(key, FORM_HEAD.length + bytes.length + FORM_TAIL.length));
    await connection.send(FORM_HEAD);
    await connection.send(bytes.subarray(0, BEGUN_BYTES));
    await until(() => storedFiles(dir).length > 0);
    const stopping = stop(server);
    await until(() => isStopping(server));
    await connection.send(bytes.subarray(BEGUN_BYTES));
    await connection.send(FORM_TAIL);
    const answer = await connection.answer();
    expect(answer?.status).toBe(201);
    const { exit, taken_ms } = await stopping;
    expect([exit, taken_ms < STOP_MS]).toEqual([0, true]);
    const again = await startServer(dir);
    const got = await fetch(`${again.url}/api/v1/objects/${String(answer?.json.public_id)}`, {
      headers: { 'X-API-Key': key },
    });
    expect(Buffer.from(await got.arrayBuffer()).equals(bytes)).toBe(true);
    await again.end('SIGTERM');
  });

  test('is not held by a stalled upload, a stalled download, an idle connection and a mail that hangs', async () => {
    const sink = await startSmtpSink({ hang: 'mail' });
    const dir = makeTempDir();
    const server = await startServer(dir, ROOM);
    const key = await makeKey(dir);
    await addMailbox(dir, sink.port);
    const id = await putPublic(server, key, randomBytes(50_000_000));
    const upload = await RawConnection.open(server.url);
    await upload.send(uploadHead(key, 1_000_000));
    await upload.send(FORM_HEAD);
    const download = await RawConnection.open(server.url);
    download.socket.pause();
    await download.send(`GET /api/v1/objects/${id} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    const idle = await RawConnection.open(server.url);
    const sending = call(server, key, '/api/v1/emails/send', {
      method: 'POST',
      body: JSON.stringify({ to: 'ann@example.org', subject: 's', body_text: 'b', queue: false }),
    }).catch(() => null);
    await sink.until(() => sink.unanswered.length > 0);
    const { exit, taken_ms } = await stop(server);
    expect([exit, taken_ms < STOP_MS]).toEqual([0, true]);
    await sending;
    for (const connection of [upload, download, idle]) connection.destroy();
    expect(storedFiles(dir)).toEqual([id]);
    await sink.stop();
  });

  test('a second one ends at once', async () => {
    const dir = makeTempDir();
    const server = await startServer(dir, ROOM);
    const key = await makeKey(dir);
    const upload = await RawConnection.open(server.url);
    await upload.send(uploadHead(key, 1_000_000));
    await upload.send(FORM_HEAD);
    await upload.send(randomBytes(BEGUN_BYTES));
    await until(() => storedFiles(dir).length > 0);
    server.signal('SIGTERM');
    await until(() => isStopping(server));
    const { exit, taken_ms } = await stop(server);
    expect([exit !== 0, taken_ms < STOP_REQUESTS_DEADLINE_MS]).toEqual([true, true]);
    upload.destroy();
  });
});

describe.concurrent('an Idempotency-Key', () => {
  test('whose first request its client gave up is free again', async () => {
    const dir = makeTempDir();
    const server = await startServer(dir, ROOM);
    const key = await makeKey(dir);
    const bytes = Buffer.from('the bytes');
    const size = FORM_HEAD.length + bytes.length + FORM_TAIL.length;
    for (const announced of [size, 500_000]) {
      const head = uploadHead(key, announced, `Idempotency-Key: given-up-${announced}\r\n`);
      const first = await RawConnection.open(server.url);
      await first.send(head);
      await first.send(FORM_HEAD);
      // Nothing tells that a request has begun to be read.
      await Bun.sleep(50);
      // The second waits for the first, and gets its turn when that is gone.
      const second = exchange(
        server.url,
        uploadHead(key, size, `Idempotency-Key: given-up-${announced}\r\n`),
        FORM_HEAD,
        bytes,
        FORM_TAIL,
      );
      await Bun.sleep(50);
      first.destroy();
      const answer = await second;
      expect([answer?.status, answer?.headers['idempotent-replayed']]).toEqual([201, undefined]);
    }
    await server.end('SIGTERM');
    expect(storedFiles(dir)).toEqual([]);
    expect(countObjects(dir)).toBe(2);
  });
});

describe.concurrent('downloads', () => {
  test('during their deletion are whole, cut off or 404, never other bytes', async () => {
    const dir = makeTempDir();
    const server = await startServer(dir, ROOM);
    const key = await makeKey(dir);
    const seen = new Set<string>();
    // Of which the first is sent in one piece.
    for (const size of [10_000, 400_000, 3_000_000])
      for (let round = 0; round < 4; round += 1) {
        const bytes = randomBytes(size);
        const id = await putPublic(server, key, bytes);
        const url = `${server.url}/api/v1/objects/${id}`;
        let is_deleted = false;
        const readers = Array.from({ length: 8 }, async () => {
          for (let n = 0; n < 200; n += 1) {
            const began_after = is_deleted;
            const response = await fetch(url);
            const got = await response.bytes().catch(() => null);
            if (response.status === 404) return seen.add('404');
            expect([response.status, began_after]).toEqual([200, false]);
            if (got === null) seen.add('cut off');
            else expect(Buffer.from(got).equals(bytes)).toBe(true);
          }
          return seen;
        });
        await Bun.sleep(round);
        expect((await call(server, key, `/api/v1/objects/${id}`, { method: 'DELETE' })).status).toBe(200);
        is_deleted = true;
        await Promise.all(readers);
      }
    expect(seen.has('404')).toBe(true);
    expect(storedFiles(dir)).toEqual([]);
    expect(server.stderr()).not.toContain('"level":"error"');
    await server.end('SIGTERM');
  });

  test('by hundreds of readers that do not read hold up nobody else and keep nothing when they go', async () => {
    const dir = makeTempDir();
    const server = await startServer(dir, { ...ROOM, SATCHEL_LOG_LEVEL: 'warn' });
    const key = await makeKey(dir);
    const ids = [
      await putPublic(server, key, randomBytes(200_000)),
      await putPublic(server, key, randomBytes(3_000_000)),
    ];
    const open_before = readdirSync(`/proc/${server.pid}/fd`).length;
    const slow = await Promise.all(
      Array.from({ length: 400 }, async (_, n) => {
        const connection = await RawConnection.open(server.url);
        connection.socket.pause();
        await connection.send(`GET /api/v1/objects/${ids[n % 2]} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
        return connection;
      }),
    );
    for (let n = 0; n < 200; n += 1) {
      const response = await fetch(`${server.url}/api/v1/objects/${ids[0]}`);
      expect((await response.bytes()).byteLength).toBe(200_000);
    }
    for (const connection of slow) connection.destroy();
    const leaked = () => readdirSync(`/proc/${server.pid}/fd`).length - open_before;
    await until(() => leaked() <= 4);
    expect(await server.end('SIGTERM')).toBe(0);
  });
});
