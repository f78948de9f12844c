/** Files on their way to Satchel: whatever they come from, counted as they leave, whole if they are sent again. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { connect } from '../../../src/operation/client/core.ts';
import { SatchelError } from '../../../src/operation/client/core-failures.ts';
import type { Progress, UploadOptions, UploadSource } from '../../../src/operation/client/core-uploads.ts';
import { makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';
import { makeTempDir } from '../../support/temp.ts';

const MIB = 1024 * 1024;
const endings: (() => unknown)[] = [];
afterAll(() => Promise.all(endings.map((end) => end())));

let app: TestApp;
let key = '';
beforeAll(async () => {
  app = await startTestApp();
  key = await (await makeProject(app)).key({ can_read: true, can_write: true });
});

type Fields = UploadOptions & Partial<Record<'visibility' | 'expires_in_days', string | number>>;

function upload(url: string, source: UploadSource, options: Fields = {}): Promise<{ public_id: string }> {
  const call = connect({ url, key });
  return call.upload('POST', '/api/v1/objects', { field: 'file', is_once: true }, source, options);
}

/** What Satchel has of a file. */
async function read({ public_id }: { public_id: string }) {
  const response = await app.call('GET', `/api/v1/objects/${public_id}`, { key });
  const [name] =
    /(?<=filename\*?=(UTF-8'')?"?)[^";]+/.exec(response.headers.get('content-disposition') ?? '') ?? [];
  return { name, type: response.headers.get('content-type')?.split(';')[0], text: response.text };
}

const streamOf = (text: string): ReadableStream<Uint8Array> => new Blob([text]).stream();

test.each<[string, () => UploadSource, string]>([
  ['a File', () => new File(['hello'], 'note.txt', { type: 'text/plain' }), 'note.txt'],
  ['a Blob', () => new Blob(['hello'], { type: 'text/plain' }), 'file'],
  ['bytes', () => new TextEncoder().encode('hello'), 'file'],
  ['a stream', () => streamOf('hello'), 'file'],
])('%s is stored, with its name and the fields beside it', async (_, source, name) => {
  expect(await read(await upload(app.url, source()))).toMatchObject({ name, text: 'hello' });
  const options = { filename: 'other.txt', visibility: 'public', expires_in_days: 3 };
  const stored = await upload(app.url, source(), options);
  expect(await read(stored)).toMatchObject({ name: 'other.txt', text: 'hello', type: 'text/plain' });
  expect(stored).toMatchObject({ visibility: 'public', expires_at: expect.any(String) });
});

test('a file of the disk is stored under its own name, and its path stays here', async () => {
  const path = join(makeTempDir(), 'from the disk.txt');
  await Bun.write(path, 'hello');
  expect(await read(await upload(app.url, Bun.file(path)))).toMatchObject({ text: 'hello' });
  const { body } = await app.call('GET', '/api/v1/objects?q=from%20the%20disk.txt', { key });
  expect(body.data).toMatchObject([{ original_filename: 'from the disk.txt' }]);
  const { url, seen } = serveUploads(0);
  await upload(url, Bun.file(path));
  expect(seen).toMatchObject([{ name: 'from the disk.txt', size: 5 }]);
});

test('an empty file is one as well', async () => {
  expect((await read(await upload(app.url, new Blob([])))).text).toBe('');
  expect((await read(await upload(app.url, streamOf('')))).text).toBe('');
});

test('a name arrives as a form of the runtime would send it', async () => {
  for (const filename of ['a "quoted" name.txt', 'naïve 文.txt', 'two\r\nlines: x.txt', 'semi;colon.txt']) {
    const form = new FormData();
    form.set('file', new Blob(['x']), filename);
    const { public_id } = (await app.call('POST', '/api/v1/objects', { key, body: form })).body;
    const ours = await upload(app.url, new Blob(['x']), { filename });
    expect(await read(ours)).toEqual(await read({ public_id: String(public_id) }));
  }
});

test('the same upload under one key is stored once', async () => {
  const first = await upload(app.url, new Blob(['once']), { idempotencyKey: 'u1' });
  expect(await upload(app.url, new Blob(['once']), { idempotencyKey: 'u1' })).toEqual(first);
  expect(await upload(app.url, new Blob(['once']))).not.toEqual(first);
});

/** A server that refuses the first tries, and answers with what it got. */
function serveUploads(refusals: number) {
  const seen: {
    key: string | null;
    length: string | null;
    name: string;
    size: number;
    fields: string[];
  }[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const { headers } = request;
      const form = await request.formData();
      const file = form.get('file');
      seen.push({
        key: headers.get('idempotency-key'),
        length: headers.get('content-length'),
        name: file instanceof File ? file.name : '',
        size: file instanceof Blob ? file.size : -1,
        fields: [...form.keys()],
      });
      if (seen.length <= refusals)
        return Response.json({ message: 'Busy.' }, { status: 503, headers: { 'Retry-After': '0' } });
      return Response.json({ public_id: 'x' }, { status: 201 });
    },
  });
  endings.push(() => server.stop(true));
  return { url: server.url.href, seen };
}

test('progress counts the bytes of the file as they leave, and begins anew with another try', async () => {
  const { url, seen } = serveUploads(1);
  const told: Progress[] = [];
  await upload(url, new Blob([new Uint8Array(3 * MIB)]), {
    visibility: 'public',
    onProgress: (progress) => told.push(progress),
  });
  expect(seen).toHaveLength(2);
  const [first, again] = seen;
  expect(again).toMatchObject({ size: 3 * MIB, fields: ['visibility', 'file'], key: expect.any(String) });
  expect([again?.key, again?.length]).toEqual([first?.key, first?.length]);
  // Its length is known, and so is where it ends.
  expect(Number(first?.length)).toBeGreaterThan(3 * MIB);
  expect(told.every(({ total }) => total === 3 * MIB)).toBe(true);
  const tries = told
    .map(({ loaded }, index) => loaded < (told[index - 1]?.loaded ?? 0))
    .filter((each) => each);
  expect(tries).toHaveLength(1);
  expect(told.at(-1)).toEqual({ loaded: 3 * MIB, total: 3 * MIB });
  expect(told.length).toBeGreaterThan(4);
});

test('what comes in one piece, as a Blob does in Node 20, leaves in several', async () => {
  const { url, seen } = serveUploads(0);
  const told: Progress[] = [];
  const whole = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(new Uint8Array(3 * MIB));
      controller.close();
    },
  });
  await upload(url, whole, { onProgress: (progress) => told.push(progress) });
  expect(seen).toMatchObject([{ size: 3 * MIB }]);
  expect(told.length).toBeGreaterThan(4);
  expect(told.at(-1)).toEqual({ loaded: 3 * MIB, total: null });
});

test('a stream is sent as it comes, and never again', async () => {
  const { url, seen } = serveUploads(1);
  const told: Progress[] = [];
  const error: unknown = await upload(url, streamOf('some bytes'), {
    onProgress: (progress) => told.push(progress),
  }).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(SatchelError);
  expect(error).toMatchObject({ status: 503, message: 'Busy.' });
  expect(seen).toMatchObject([{ length: null, size: 10 }]);
  expect(told).toEqual([{ loaded: 10, total: null }]);
});

test('a signal breaks an upload off, and closes the stream that it came from', async () => {
  const { url } = serveUploads(0);
  const ending = new AbortController();
  const is_closed = Promise.withResolvers<void>();
  const endless = new ReadableStream<Uint8Array>({
    async pull(controller) {
      await Bun.sleep(1);
      controller.enqueue(new Uint8Array(1024));
    },
    cancel: () => is_closed.resolve(),
  });
  let is_under_way = false;
  const asked = upload(url, endless, {
    signal: ending.signal,
    onProgress() {
      if (!is_under_way) queueMicrotask(() => ending.abort());
      is_under_way = true;
    },
  });
  expect(await asked.catch((error: unknown) => error)).toBe(ending.signal.reason);
  await is_closed.promise;
});

test('a source that cannot be read says so itself, and is read once', async () => {
  const { url, seen } = serveUploads(0);
  const reason = new Error('the disk is gone');
  const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(reason) });
  expect(await upload(url, broken).catch((error: unknown) => error)).toBe(reason);
  const missing: unknown = await upload(url, Bun.file('/nowhere/at all')).catch((error: unknown) => error);
  expect(missing).toMatchObject({ code: 'ENOENT' });
  expect(seen).toEqual([]);
});

test('what is too large says so in the words of Satchel', async () => {
  const error: unknown = await upload(app.url, new Blob([new Uint8Array(11 * MIB)])).catch(
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ status: 422, errors: { file: [expect.stringContaining('10485760')] } });
});
