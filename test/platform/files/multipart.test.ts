// Reading multipart uploads: what is taken, what is refused, and that a refusal leaves no file behind.
import { afterAll, afterEach, describe, expect, spyOn, test } from 'bun:test';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Dicer } from '@fastify/busboy';
import { AppError, type FieldErrors } from '../../../src/errors.ts';
import { type Multipart, readMultipart } from '../../../src/platform/files/multipart.ts';
import { cleanFilename } from '../../../src/platform/files/multipart-headers.ts';
import { BlobStore } from '../../../src/platform/files/store.ts';
import type { BlobUpload } from '../../../src/platform/files/upload.ts';
import { newId } from '../../../src/platform/host/ids.ts';

const DIR = mkdtempSync(join(tmpdir(), 'multipart-'));
const BLOBS = new BlobStore(DIR);
const MAX_FILE_BYTES = 1024 * 1024;
const TOO_LARGE = 'must be at most 1 MiB (1048576 bytes, SATCHEL_MAX_UPLOAD_BYTES)';
const FORM = { 'content-type': 'multipart/form-data; boundary=XX' };
const NOW_MS = Date.UTC(2030, 0, 1);

afterAll(() => rmSync(DIR, { recursive: true }));

function filesLeft(): string[] {
  return readdirSync(DIR, { recursive: true, encoding: 'utf8' }).filter((path) =>
    statSync(join(DIR, path)).isFile(),
  );
}

afterEach(() => expect(filesLeft()).toEqual([]));

/** Parts as `headers` and content, joined the way a client does. */
function formOf(...parts: [string, string | Uint8Array][]): Buffer {
  const pieces = parts.flatMap(([headers, content]) => [
    Buffer.from(`--XX\r\nContent-Disposition: form-data; ${headers}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from('--XX--\r\n')]);
}

const FILE: [string, string] = ['name="file"; filename="a.txt"\r\nContent-Type: text/plain', 'hello'];

interface ReadOptions {
  headers?: Record<string, string>;
  deadline_ms?: number;
  idle_timeout_ms?: number;
}

type Read = Multipart & { upload: BlobUpload };

function read(body: Body, options: ReadOptions = {}): Promise<Read> {
  const { headers = FORM, ...limits } = options;
  const request = new Request('http://localhost/', { method: 'POST', body, headers });
  return readInto(request, limits);
}

/** As who stores uploads: what is refused is aborted. */
async function readInto(request: Request, limits: Omit<ReadOptions, 'headers'> = {}): Promise<Read> {
  const upload = BLOBS.openUpload(newId(NOW_MS));
  try {
    const form = await readMultipart(request, { max_file_bytes: MAX_FILE_BYTES, upload, ...limits });
    return { ...form, upload };
  } catch (error) {
    await upload.abort();
    throw error;
  }
}

type Body = string | Uint8Array | ReadableStream<Uint8Array> | FormData | null;

/** What the client is told. */
async function refusalOf(reading: Promise<Read>): Promise<FieldErrors> {
  try {
    const { upload } = await reading;
    await upload.abort();
  } catch (error) {
    if (error instanceof AppError && error.kind === 'invalid') return error.errors ?? {};
    throw error;
  }
  throw new Error('the upload was taken');
}

/** The stored content and what was told of it; cleans up after itself. */
async function take(
  reading: Promise<Read>,
): Promise<Record<string, unknown> & { fields: Record<string, string>; content: Buffer }> {
  const { fields, file, upload } = await reading;
  const { id, size_bytes, head } = upload;
  const sha256 = upload.sha256();
  await upload.commit();
  const content = readFileSync(BLOBS.path(id));
  await BLOBS.remove(id);
  return { fields, ...file, size_bytes, sha256, content, head: Buffer.from(head) };
}

function inPieces(bytes: Uint8Array, piece_bytes: number): ReadableStream<Uint8Array> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, at + piece_bytes));
      at += piece_bytes;
    },
  });
}

describe('a complete form', () => {
  test('is a file and its fields', async () => {
    const body = formOf(['name="visibility"', 'public'], FILE, ['name="expires_at"', '2031-01-01T00:00:00Z']);
    expect(await take(read(body))).toEqual({
      fields: { visibility: 'public', expires_at: '2031-01-01T00:00:00Z' },
      filename: 'a.txt',
      mime_type: 'text/plain',
      size_bytes: 5,
      sha256: new Bun.CryptoHasher('sha256').update('hello').digest('hex'),
      content: Buffer.from('hello'),
      head: Buffer.from('hello'),
    });
  });

  test('is read the same in pieces of every size', async () => {
    const content = `\r\n--X\r\n--XY\r\n-${'\r\n--'.repeat(20)}\r`;
    const body = formOf(['name="a"', '\r\n\r\n--'], ['name="file"; filename="f"', content], ['name="b"', '']);
    for (let piece_bytes = 1; piece_bytes <= body.length; piece_bytes += 1) {
      const taken = await take(read(inPieces(body, piece_bytes)));
      expect(taken).toMatchObject({ fields: { a: '\r\n\r\n--', b: '' }, content: Buffer.from(content) });
    }
  });

  test('may have an empty file', async () => {
    const taken = await take(read(formOf(['name="file"; filename="empty"', ''])));
    expect(taken).toMatchObject({ size_bytes: 0, mime_type: null, content: Buffer.alloc(0) });
  });

  test('may have a file of just the largest size', async () => {
    const content = crypto.getRandomValues(new Uint8Array(65_536));
    const whole = Buffer.concat(Array.from({ length: MAX_FILE_BYTES / 65_536 }, () => content));
    const taken = await take(read(formOf(['name="file"; filename="f"', whole])));
    expect(taken.size_bytes).toBe(MAX_FILE_BYTES);
    expect(taken.sha256).toBe(new Bun.CryptoHasher('sha256').update(whole).digest('hex'));
    expect(Bun.hash(taken.content)).toBe(Bun.hash(whole));
  });

  test('is taken as FormData sends it', async () => {
    const form = new FormData();
    form.set('visibility', 'privé');
    form.set('file', new File(['x'], 'na"ïve\n€.txt', { type: 'text/csv;charset=utf-8' }));
    expect(await take(read(form, { headers: {} }))).toMatchObject({
      fields: { visibility: 'privé' },
      filename: 'na"ïve€.txt',
      mime_type: 'text/csv;charset=utf-8',
    });
  });

  test('may have a preamble, an epilogue and a quoted boundary', async () => {
    const headers = { 'content-type': 'Multipart/Form-Data; charset=utf-8; Boundary="X X"' };
    const body = `to whom it may concern\r\n${formOf(FILE).toString().replaceAll('--XX', '--X X')}the end`;
    expect(await take(read(body, { headers }))).toMatchObject({ filename: 'a.txt' });
  });

  test('may have spaces and tabs behind each boundary, in pieces of every size', async () => {
    const plain = formOf(['name="visibility"', 'public'], FILE).toString();
    const padded = Buffer.from(
      plain.replaceAll(/--XX(--)?\r\n/g, (line) => line.replace('\r\n', ' \t  \r\n')),
    );
    expect(padded.length).toBe(plain.length + 12);
    const expected = { fields: { visibility: 'public' }, filename: 'a.txt', content: Buffer.from('hello') };
    for (const bytes of [1, 2, 3, 7, 8, 9, 20, 1000])
      expect(await take(read(inPieces(padded, bytes)))).toMatchObject(expected);
    expect(await take(read(padded.subarray(0, -2)))).toMatchObject(expected);
    // What looks like one within a file is of the file.
    const content = '\r\n--X  \r\n --XX  \r\n\n--XX  \r\n-';
    const body = formOf(['name="file"; filename="a.txt"', content]);
    for (const bytes of [1, 5, 1000])
      expect((await take(read(inPieces(body, bytes)))).content.toString()).toBe(content);
  });

  test('names the last of several fields, and none that reach a prototype', async () => {
    const body = formOf(
      ['name="a"', '1'],
      ['name="a"', '2'],
      ['name="__proto__"', 'x'],
      ['name="constructor"', 'x'],
      FILE,
    );
    const { fields } = await take(read(body));
    expect(Object.keys(fields)).toEqual(['a']);
    expect(fields.a).toBe('2');
    expect(Object.getPrototypeOf(fields)).toBe(Object.prototype);
  });

  test.each([
    ['filename="a%22b%0D%0Ac%25.txt"', 'a"bc%25.txt'],
    ['filename="a\\"b.txt"', 'a"b.txt'],
    ['filename=plain.txt', 'plain.txt'],
    ['filename="C:\\dir\\x.png"', 'x.png'],
    ['filename="../../etc/passwd"', 'passwd'],
    ['filename="grüße €.txt"', 'grüße €.txt'],
    ['filename="x.txt"; filename*=UTF-8\'\'na%C3%AFve%20%2522.txt', 'naïve %22.txt'],
    ["filename*=iso-8859-1'en'caf%E9.txt", 'café.txt'],
    ['filename="x.txt"; filename*=klingon\'\'y.txt', 'x.txt'],
    ['filename="a;b=c.txt"', 'a;b=c.txt'],
    ['filename=".."', 'file'],
  ])('with %s has that file name', async (parameter, filename) => {
    expect(await take(read(formOf([`name="file"; ${parameter}`, 'x'])))).toMatchObject({ filename });
  });

  test('with a file name in Latin-1 has that name', async () => {
    const body = Buffer.from(formOf(['name="file"; filename="café"', 'x']).toString(), 'latin1');
    expect(await take(read(body))).toMatchObject({ filename: 'café' });
  });
});

describe('a refused form', () => {
  const text = (...parts: [string, string][]): string => formOf(...parts).toString('latin1');

  test.each([
    ['JSON', '{}', { 'content-type': 'application/json' }, /^is required: send multipart\/form-data/],
    ['no content type', Buffer.from('x'), {}, /^is required: send multipart\/form-data/],
    ['no file', text(['name="a"', 'x']), FORM, /^is required: no part named file/],
    ['no part at all', '--XX--\r\n', FORM, /^is required: no part named file/],
    ['a file without a file name', text(['name="file"', 'x']), FORM, /must be a file and have a file name/],
    [
      'a file with an empty name',
      text(['name="file"; filename=""', '']),
      FORM,
      /must be a file and have a file name/,
    ],
    ['a file in another part', text(['name="upload"; filename="a"', 'x']), FORM, /parts with other names/],
    ['two files', text(FILE, FILE), FORM, /must be sent once/],
    ['another file beside it', text(FILE, ['name="b"; filename="b"', 'x']), FORM, /parts with other names/],
    [
      'a file in base64',
      text(['name="file"; filename="a"\r\nContent-Transfer-Encoding: BASE64', 'eA==']),
      FORM,
      /without a Content-Transfer-Encoding/,
    ],
  ] as [string, Body, Record<string, string>, RegExp][])('%s', async (_, body, headers, message) => {
    const { file } = await refusalOf(read(body, { headers }));
    expect(file?.[0]).toMatch(message);
  });

  test.each([
    ['no boundary', text(FILE), { 'content-type': 'multipart/form-data' }, /no valid boundary/],
    [
      'too long a boundary',
      text(FILE),
      { 'content-type': `multipart/form-data; boundary=${'X'.repeat(71)}` },
      /no valid boundary/,
    ],
    ['no body', null, FORM, /it is empty/],
    ['an empty body', '', FORM, /it is empty|final boundary/],
    ['another boundary', text(FILE).replaceAll('--XX', '--YY'), FORM, /final boundary/],
    ['line feeds alone', text(FILE).replaceAll('\r\n', '\n'), FORM, /final boundary/],
    ['no final boundary', text(FILE).replace('--XX--\r\n', ''), FORM, /final boundary/],
    ['a body cut in the file', text(FILE).slice(0, -12), FORM, /final boundary/],
    ['a body cut in the final boundary', text(FILE).slice(0, -3), FORM, /final boundary/],
    ['a body cut in the headers', text(FILE).slice(0, 30), FORM, /final boundary/],
    [
      'a part without a name',
      text(FILE, ['x="y"', 'z']),
      FORM,
      /Content-Disposition of form-data with a name/,
    ],
    [
      'a part without headers',
      text(FILE).replace('--XX--', '--XX\r\nnothing here\r\n--XX--'),
      FORM,
      /a part has no headers/,
    ],
    ['a large field', text(FILE, ['name="a"', 'x'.repeat(16_385)]), FORM, /larger than the 16384 bytes/],
    [
      'many parts',
      text(FILE, ...Array.from({ length: 32 }, (): [string, string] => ['name="a"', 'x'])),
      FORM,
      /more than the 32 parts/,
    ],
  ] as [string, Body, Record<string, string>, RegExp][])('%s', async (_, body, headers, message) => {
    const { _: about_body } = await refusalOf(read(body, { headers }));
    expect(about_body?.[0]).toMatch(message);
  });

  test('every body that is cut off before its final boundary', async () => {
    const body = formOf(FILE, ['name="a"', 'b']);
    for (let length = 0; length < body.length - 2; length += 1) {
      const refusal = await refusalOf(read(inPieces(body.subarray(0, length), 7)));
      expect({ length, refusal: Object.keys(refusal) }).toEqual({ length, refusal: ['_'] });
    }
  });

  test('a file of one byte too many, announced or not', async () => {
    const body = formOf(['name="file"; filename="f"', Buffer.alloc(MAX_FILE_BYTES + 1)]);
    const expected = { file: [TOO_LARGE] };
    expect(await refusalOf(read(body))).toEqual(expected);
    expect(await refusalOf(read(inPieces(body, 70_000)))).toEqual(expected);
  });

  test('an endless epilogue', async () => {
    const body = Buffer.concat([formOf(FILE), Buffer.alloc(2 * MAX_FILE_BYTES + 1)]);
    expect(Object.keys(await refusalOf(read(inPieces(body, 70_000))))).toEqual(['file']);
  });

  test('never repeats what was sent', async () => {
    const body = formOf(['name="s3cret"; filename="s3cret.txt"', 's3cret']);
    expect(JSON.stringify(await refusalOf(read(body)))).not.toContain('s3cret');
  });
});

describe('a slow client', () => {
  const stalled = (): ReadableStream<Uint8Array> =>
    new ReadableStream({
      start: (controller) => controller.enqueue(formOf(FILE).subarray(0, -12)),
      pull: () => new Promise(() => {}),
    });

  test('that sends nothing more is refused after the idle time-out', async () => {
    const { _: messages } = await refusalOf(read(stalled(), { idle_timeout_ms: 20 }));
    expect(messages?.[0]).toMatch(/nothing was received for 1 s, which is the time-out/);
  });

  test('that is not done at the deadline is refused', async () => {
    const dripping = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(formOf(FILE).subarray(0, -12)),
      async pull(controller) {
        await Bun.sleep(5);
        controller.enqueue(Buffer.from('x'));
      },
    });
    const { _: messages } = await refusalOf(read(dripping, { deadline_ms: 40 }));
    expect(messages?.[0]).toMatch(/not complete within 1 s, which is the time-out/);
  });
});

describe('over a real connection', () => {
  const outcomes: (number | 'taken')[] = [];
  let settled = Promise.withResolvers<void>();
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    maxRequestBodySize: 2 ** 50,
    async fetch(request) {
      try {
        const { upload } = await readInto(request);
        await upload.abort();
        outcomes.push('taken');
        return Response.json({ sha256: upload.sha256() });
      } catch (error) {
        if (!(error instanceof AppError)) throw error;
        outcomes.push(error.status);
        return Response.json({ message: error.message }, { status: error.status });
      } finally {
        settled.resolve();
      }
    },
  });
  const port = server.port ?? 0;
  const url = `http://127.0.0.1:${port}/`;
  afterAll(() => server.stop(true));
  afterEach(() => {
    outcomes.length = 0;
    settled = Promise.withResolvers();
  });

  const LARGE_BYTES = 50_000_000;

  test('a client that is cut off in the middle leaves nothing', async () => {
    const head = formOf(FILE).subarray(0, -12);
    for (const framing of ['Content-Length: 1000000', 'Transfer-Encoding: chunked']) {
      settled = Promise.withResolvers();
      const socket = connect(port, '127.0.0.1');
      socket.write(
        `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM['content-type']}\r\n${framing}\r\n\r\n`,
      );
      const sent = Buffer.concat([head, Buffer.alloc(800_000)]);
      if (framing.startsWith('Transfer')) socket.write(`${sent.length.toString(16)}\r\n`);
      await new Promise((resolve) => socket.write(sent, resolve));
      // The file has come into being by then, or the test would say nothing.
      while (filesLeft().length === 0) await Bun.sleep(1);
      socket.destroy();
      await settled.promise;
    }
    expect(outcomes).toEqual([422, 422]);
  });

  test('fetch receives the refusal of a file that is far too large, and the next request is served', async () => {
    const form = new FormData();
    form.set('file', new File([Buffer.alloc(LARGE_BYTES)], 'f'));
    const response = await fetch(url, { method: 'POST', body: form });
    expect([response.status, await response.json()]).toEqual([422, { message: `file: ${TOO_LARGE}` }]);
    const next = await fetch(url, { method: 'POST', body: formOf(FILE), headers: FORM });
    expect(next.status).toBe(200);
  });

  test('a client that sends all before it reads receives the refusal too', async () => {
    const body = formOf(['name="file"; filename="f"', Buffer.alloc(LARGE_BYTES)]);
    for (const is_chunked of [false, true]) {
      const socket = connect(port, '127.0.0.1');
      const answer = Promise.withResolvers<string>();
      socket.on('error', answer.reject);
      socket.once('data', (chunk) => answer.resolve(chunk.toString()));
      const framing = is_chunked ? 'Transfer-Encoding: chunked' : `Content-Length: ${body.length}`;
      socket.write(
        `POST / HTTP/1.1\r\nHost: x\r\nContent-Type: ${FORM['content-type']}\r\n${framing}\r\n\r\n`,
      );
      if (is_chunked) socket.write(`${body.length.toString(16)}\r\n`);
      socket.write(body);
      await new Promise((resolve) => socket.write(is_chunked ? '\r\n0\r\n\r\n' : '', resolve));
      expect(await answer.promise).toMatch(/^HTTP\/1\.1 422 /);
      socket.destroy();
    }
  });

  test.skipIf(Bun.which('curl') === null)('curl receives it, waiting for 100 Continue or not', async () => {
    const path = join(tmpdir(), `large-${process.pid}`);
    await Bun.write(path, Buffer.alloc(LARGE_BYTES));
    try {
      for (const expectation of ['Expect: 100-continue', 'Expect:', 'Transfer-Encoding: chunked']) {
        const curl = Bun.spawn(['curl', '-sS', '-H', expectation, '-F', `file=@${path}`, url], {
          stderr: 'pipe',
        });
        const [body, errors] = await Promise.all([curl.stdout.text(), curl.stderr.text()]);
        expect({ expectation, body, errors, code: await curl.exited }).toEqual({
          expectation,
          body: JSON.stringify({ message: `file: ${TOO_LARGE}` }),
          errors: '',
          code: 0,
        });
      }
    } finally {
      rmSync(path);
    }
  });
});

describe('cleaning a file name', () => {
  test.each([
    ['report.pdf', 'report.pdf'],
    ['  a b .txt ', '  a b .txt '],
    ['   ', 'file'],
    [' .. ', 'file'],
    ['/home/ann/x.tar.gz', 'x.tar.gz'],
    ['C:\\Users\\ann/y\\z.txt', 'z.txt'],
    ['a\0b\r\nc\u0085d.txt', 'abcd.txt'],
    ['photo\u202egpj.exe', 'photogpj.exe'],
    ['a\ud800.txt', 'a\ufffd.txt'],
    ['.env', '.env'],
    ['', 'file'],
    ['..', 'file'],
    ['a/..', 'file'],
    ['\t\n', 'file'],
    ['dir/', 'file'],
  ])('%p is %p', (given, expected) => {
    expect(cleanFilename(given)).toBe(expected);
  });

  test.each([
    [`${'a'.repeat(300)}.jpeg`, `${'a'.repeat(250)}.jpeg`],
    [`${'ü'.repeat(200)}.txt`, `${'ü'.repeat(125)}.txt`],
    [`${'😀'.repeat(100)}`, '😀'.repeat(63)],
    [`a.${'b'.repeat(300)}`, `a.${'b'.repeat(253)}`],
    [`${'a'.repeat(255)}`, 'a'.repeat(255)],
  ])('a long one is cut at a code point and keeps its extension (%#)', (given, expected) => {
    expect(cleanFilename(given)).toBe(expected);
  });
});

test('a form of too many parts is not parsed past the piece in which that shows, however much of it came at once', async () => {
  const parsed: number[] = [];
  const write = spyOn(Dicer.prototype, 'write');
  try {
    const parts = Buffer.from('--XX\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n'.repeat(20_000));
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(parts);
        controller.close();
      },
    });
    expect(await refusalOf(read(body))).toEqual({ _: [expect.stringContaining('more than the 32 parts')] });
    for (const [bytes] of write.mock.calls) parsed.push(Buffer.byteLength(bytes));
  } finally {
    write.mockRestore();
  }
  expect(parsed.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan(64 * 1024);
});
