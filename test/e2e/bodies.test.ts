/** Bodies and heads as the network really brings them: in odd pieces, cut off, too large, malformed, reused connections. */
import { Database } from 'bun:sqlite';
import { beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { createHash, randomBytes, randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTempDir } from '../support/temp.ts';
import { until } from '../support/until.ts';
import { makeKey, type Server, startServer } from './binary.ts';
import {
  BOUNDARY,
  chunked,
  exchange,
  FORM_HEAD,
  FORM_TAIL,
  type RawAnswer,
  RawConnection,
  uploadHead,
} from './raw-http.ts';

setDefaultTimeout(120_000);
const MAX_UPLOAD_BYTES = 1_000_000;

let server: Server;
let key = '';
const dir = makeTempDir();

beforeAll(async () => {
  server = await startServer(dir, {
    SATCHEL_MAX_UPLOAD_BYTES: String(MAX_UPLOAD_BYTES),
    SATCHEL_UPLOADS_PER_MINUTE: '1000000',
    SATCHEL_TRUSTED_PROXIES: '127.0.0.1,10.0.0.0/8',
  });
  key = await makeKey(dir);
});

/** Files of uploads that are no objects. */
function partials(): string[] {
  const files = readdirSync(join(dir, 'objects'), { recursive: true, withFileTypes: true });
  const database = new Database(join(dir, 'satchel.db'), { readonly: true });
  const stored = new Set(database.query('SELECT public_id FROM objects').values().flat());
  database.close();
  return files.filter((file) => file.isFile() && !stored.has(file.name)).map((file) => file.name);
}

const descriptors = (): number => readdirSync(`/proc/${server.pid}/fd`).length;

function request(line: string, headers = ''): string {
  return `${line} HTTP/1.1\r\nHost: localhost\r\nX-API-Key: ${key}\r\n${headers}\r\n`;
}

async function expectStored(answer: RawAnswer | null, bytes: Buffer): Promise<void> {
  expect([answer?.status, answer?.json.size_bytes]).toEqual([201, bytes.length]);
  const url = `${server.url}/api/v1/objects/${String(answer?.json.public_id)}`;
  const got = Buffer.from(await (await fetch(url, { headers: { 'X-API-Key': key } })).arrayBuffer());
  expect(sha256(got)).toBe(sha256(bytes));
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** Cuts bytes at random places; small pieces are as likely as large ones. */
function cut(bytes: Buffer, pieces: number): Buffer[] {
  const cuts = Array.from({ length: pieces }, () => randomInt(bytes.length + 1)).sort((a, b) => a - b);
  return [0, ...cuts]
    .map((start, n) => bytes.subarray(start, cuts[n] ?? bytes.length))
    .filter((p) => p.length > 0);
}

describe('uploads in random pieces', () => {
  const SIZES = [
    ...[0, 1, 2, 3, 100, 4095, 4096, 16_383, 16_384, 16_385, 32_768],
    ...Array.from({ length: 40 }, (_, n) => 65_536 - 400 + 20 * n),
    ...[131_072, 131_073, 200_000, 262_143, 262_144, 262_145, 300_000],
    ...Array.from({ length: 40 }, () => randomInt(300_000)),
  ];

  test.each(['announced', 'chunked'])('of every size are stored bit by bit, %s', async (kind) => {
    // A few at once, over connections that are used again.
    const queue = [...SIZES];
    const worker = async (): Promise<void> => {
      const connection = await RawConnection.open(server.url);
      for (let size = queue.pop(); size !== undefined; size = queue.pop()) {
        // Every third one is full of what looks like the beginning of a boundary.
        const bytes =
          size % 3 === 0 ? Buffer.alloc(size, `\r\n--${BOUNDARY.slice(0, -1)}`) : randomBytes(size);
        const body = Buffer.concat([Buffer.from(FORM_HEAD), bytes, Buffer.from(FORM_TAIL)]);
        await connection.send(uploadHead(key, kind === 'chunked' ? null : body.length));
        for (const piece of cut(body, randomInt(1, 8))) {
          await connection.send(kind === 'chunked' ? chunked(piece) : piece);
          if (randomInt(3) === 0) await Bun.sleep(1);
        }
        if (kind === 'chunked') await connection.send('0\r\n\r\n');
        const answer = await connection.answer();
        if (answer?.status !== 201) throw new Error(`${size} bytes, ${kind}: ${answer?.status}`);
        await expectStored(answer, bytes);
      }
      connection.destroy();
    };
    await Promise.all(Array.from({ length: 6 }, worker));
    expect(partials()).toEqual([]);
  });

  test('with a preamble, an epilogue and fields around the file, in single bytes too', async () => {
    const field = (name: string, value: string) =>
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
    for (const [size, pieces] of [
      [0, 400],
      [10, 400],
      [65_300, 5],
      [65_536, 5],
      [70_000, 50],
      [150_000, 9],
    ] as const) {
      const bytes = randomBytes(size);
      const body = Buffer.concat([
        Buffer.from(`a preamble\r\n${field('ignored', 'x')}${FORM_HEAD}`),
        bytes,
        Buffer.from(`\r\n${field('visibility', 'public')}--${BOUNDARY}--\r\nan epilogue`),
      ]);
      const answer = await exchange(server.url, uploadHead(key, body.length), ...cut(body, pieces));
      await expectStored(answer, bytes);
      expect(answer?.json.visibility).toBe('public');
    }
  });
});

describe('a body that is cut off', () => {
  test.each([
    ['announced and small', 5_000, 'announced'],
    ['announced and large', 700_000, 'announced'],
    ['chunked and small', 5_000, 'chunked'],
    ['chunked and large', 700_000, 'chunked'],
  ])('%s leaves no object, no partial file and no descriptor', async (_name, size, kind) => {
    const before = await listTotal();
    const open_before = descriptors();
    const bytes = Buffer.concat([Buffer.from(FORM_HEAD), randomBytes(size)]);
    await Promise.all(
      Array.from({ length: 60 }, async (_, n) => {
        const connection = await RawConnection.open(server.url);
        await connection.send(uploadHead(key, kind === 'chunked' ? null : size + 10_000));
        await connection.send(kind === 'chunked' ? chunked(bytes) : bytes);
        if (n % 2 === 0) await Bun.sleep(randomInt(30));
        connection.destroy();
      }),
    );
    await until(() => partials().length === 0);
    await until(() => descriptors() <= open_before + 3);
    expect(await listTotal()).toBe(before);
  });

  test('ends with the client half closing, and is answered 422', async () => {
    const connection = await RawConnection.open(server.url);
    await connection.send(uploadHead(key, null));
    await connection.send(chunked(FORM_HEAD));
    await connection.send('0\r\n\r\n');
    expect((await connection.answer())?.status).toBe(422);
    connection.destroy();
  });
});

async function listTotal(): Promise<unknown> {
  const response = await fetch(`${server.url}/api/v1/objects`, { headers: { 'X-API-Key': key } });
  const body = (await response.json()) as { meta: { total: number } };
  return body.meta.total;
}

describe('a body that is too large', () => {
  const huge = Buffer.alloc(20_000_000, 'x');

  test('is answered 422, which a client receives that sends all of it first', async () => {
    const announced = await exchange(server.url, uploadHead(key, huge.length), FORM_HEAD, huge);
    const just_over = Buffer.concat([
      Buffer.from(FORM_HEAD),
      huge.subarray(0, MAX_UPLOAD_BYTES + 1),
      Buffer.from(FORM_TAIL),
    ]);
    const over = await exchange(server.url, uploadHead(key, just_over.length), just_over);
    const pieces = Array.from({ length: 20 }, () => chunked(huge.subarray(0, 1_000_000)));
    const unannounced = await exchange(
      server.url,
      uploadHead(key, null),
      chunked(FORM_HEAD),
      ...pieces,
      '0\r\n\r\n',
    );
    const json = await exchange(
      server.url,
      request('POST /api/v1/emails/send', `Content-Length: ${huge.length}\r\n`),
      huge,
    );
    expect([announced?.status, over?.status, unannounced?.status, json?.status]).toEqual([
      422, 422, 422, 422,
    ]);
    expect(announced?.json.errors).toHaveProperty(['file']);
    await until(() => partials().length === 0);
  });

  /** The status that curl was answered (000: none) when it sent too much, and its exit status. */
  async function curl(...options: string[]): Promise<[string, number]> {
    const file = join(makeTempDir(), 'huge');
    writeFileSync(file, huge);
    const child = Bun.spawn(
      [
        ...['curl', '-sS', '-m', '60', '-o', '/dev/null', '-w', '%{http_code}', '-H', `X-API-Key: ${key}`],
        ...options,
        ...['-F', `file=@${file}`, `${server.url}/api/v1/objects`],
      ],
      { stdout: 'pipe', stderr: 'pipe' },
    );
    return [await new Response(child.stdout).text(), await child.exited];
  }

  test.each([[[]], [['-H', 'Transfer-Encoding: chunked']], [['-H', 'Expect:']]])(
    'is answered 422 to curl with %p',
    async (options) => expect(await curl(...options)).toEqual(['422', 0]),
  );

  test('is answered 422 over HTTP/1.0 unless the answer is lost with the connection, which it ends; nothing is stored', async () => {
    const before = await listTotal();
    const [status, exit] = await curl('--http1.0');
    expect(['422', '000']).toContain(status);
    expect([0, 55, 56]).toContain(exit); // 55 and 56: could not send, could not receive.
    await until(() => partials().length === 0);
    expect(await listTotal()).toBe(before);
  });

  test('without a boundary is 422', async () => {
    const head = uploadHead(key, 100).replace(`; boundary=${BOUNDARY}`, '');
    expect((await exchange(server.url, head, Buffer.alloc(100)))?.status).toBe(422);
  });
});

describe('a connection that is used again', () => {
  test.each([
    ['401, body unread', 'bad', 300_000],
    ['401, small body', 'bad', 50],
    ['422, small body', '', 50],
    ['422, body cut short by a limit', '', 3_000_000],
  ])('after a refusal (%s) serves the next request', async (_name, wrong_key, size) => {
    const connection = await RawConnection.open(server.url);
    await connection.send(uploadHead(wrong_key || key, size));
    await connection.send(Buffer.alloc(size, 'y'));
    await connection.send(request('GET /api/v1/objects', 'X-Request-Id: second\r\n'));
    expect((await connection.answer())?.status).toBe(wrong_key ? 401 : 422);
    // Either the next request is answered, or the connection is closed: never is body taken for a request.
    const second = await connection.answer();
    if (second) expect([second.status, second.headers['x-request-id']]).toEqual([200, 'second']);
    connection.destroy();
  });

  test('answers pipelined requests in order', async () => {
    const connection = await RawConnection.open(server.url);
    const ids = Array.from({ length: 16 }, (_, n) => `p-${n}`);
    await connection.send(ids.map((id) => request('GET /api/health', `X-Request-Id: ${id}\r\n`)).join(''));
    const answered: unknown[] = [];
    for (const _ of ids) answered.push((await connection.answer())?.headers['x-request-id']);
    expect(answered).toEqual(ids);
    connection.destroy();
  });
});

describe('odd heads', () => {
  test.each([
    ['GET /api/v1/objects/%', 404],
    ['GET /api/v1/objects/%ZZ', 404],
    ['GET /api/v1/objects/%00', 404],
    ['GET /api/v1/objects/%C3%28', 404],
    ['GET /api/v1/objects/..%2f..%2fmaster.key', 404],
    ['GET /api/v1/jobs/%', 404],
    ['GET /api/v1/emails/templates/%E0%A4%A', 404],
    ['PATCH /api/v1/emails/templates/%', 403],
    ['DELETE /api/v1/objects/%', 404],
    ['GET /api/public/v1/projects/%', 401],
    ['GET /%', 404],
    ['GET //', 404],
    ['GET /api/v1/objects?page=%', 422],
    ['GET /api/v1/objects?page=1&page=2', 200],
    ['GET /api/v1/objects?per_page=20&per_page=x', 422],
    ['GET /api/v1/objects?__proto__=1&constructor=2', 200],
    [`GET /api/v1/objects/${'A'.repeat(8_000)}`, 404],
    [`GET /api/v1/objects?other=${'A'.repeat(8_000)}`, 200],
    [`GET /api/v1/objects?other=${'A'.repeat(30_000)}`, 431],
    ['PROPFIND /api/v1/objects', 404],
    ['TRACE /api/health', 404],
    ['OPTIONS /api/v1/objects', 404],
  ])('%s', async (line, status) => {
    const answer = await exchange(server.url, request(line));
    expect(answer?.status).toBe(status);
    if (status === 431) return; // The listener's own answer: no request came into being.
    expect(answer?.headers['x-request-id']).toBeString();
    const is_management = line.includes('/api/public/');
    if (status >= 400) expect(answer?.json).toHaveProperty(is_management ? 'error' : 'message');
    expect(answer?.body.includes('master.key')).toBe(false);
  });

  test.each(['x', 'api', 's3', 'localhost:1', 'x:', '', '[::1]:80', 'a_b.example', 'x%20y'])(
    'a Host of %p does not matter',
    async (host) => {
      const answer = await exchange(server.url, `GET /api/health?x=1 HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
      expect([answer?.status, answer?.json.status]).toEqual([200, 'ok']);
    },
  );

  test.each([
    'a b',
    'x/y',
    '[::1',
    'x:99999',
    'x:1:2',
    '%',
    'u@x',
    'a,b',
    'x\r\nHost: y',
    'x\r\nhost: x',
    '\r\nHost:',
  ])('a Host of %p is 400, in the envelope of the plane', async (host) => {
    const ask = (path: string) => exchange(server.url, `GET ${path} HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    const health = await ask('/api/health');
    expect([health?.status, typeof health?.json.message]).toEqual([400, 'string']);
    expect(health?.headers['x-request-id']).toBeString();
    const management = await ask('/api/public/v1/projects');
    expect([management?.status, typeof management?.json.error]).toEqual([400, 'object']);
  });

  test('HTTP/1.0 without a Host is answered', async () => {
    const answer = await exchange(server.url, 'GET /api/health HTTP/1.0\r\n\r\n');
    expect([answer?.status, answer?.json.status]).toEqual([200, 'ok']);
  });

  test('bytes that are no HTTP end the connection and nothing else', async () => {
    for (const line of [
      'GET /a\0b HTTP/1.1\r\nHost: x\r\n\r\n',
      'FOO / HTTP/1.1\r\nHost: x\r\n\r\n',
      '\x16\x03\x01\x02\0',
    ]) {
      const connection = await RawConnection.open(server.url);
      await connection.send(line);
      const answer = await connection.answer(500).catch(() => null);
      expect(answer === null || answer.status >= 400).toBe(true);
      connection.destroy();
    }
    expect((await fetch(`${server.url}/api/health`)).status).toBe(200);
  });

  test('HEAD answers as GET does, without the body', async () => {
    const paths = [
      '/api/health',
      '/api/version',
      '/docs',
      '/api/v1/objects',
      '/api/v1/jobs',
      '/api/v1/nope',
      '/api/public/v1/projects',
    ];
    for (const path of paths) {
      const init = { headers: { 'X-API-Key': key } };
      const get = await fetch(server.url + path, init);
      const head = await fetch(server.url + path, { ...init, method: 'HEAD' });
      expect([path, head.status, (await head.text()).length]).toEqual([path, get.status, 0]);
      expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'));
    }
  });

  test('a 304 has no Content-Length, which would be that of its file', async () => {
    const body = Buffer.concat([Buffer.from(FORM_HEAD), Buffer.from('hello'), Buffer.from(FORM_TAIL)]);
    const stored = await exchange(server.url, uploadHead(key, body.length), body);
    const path = `/api/v1/objects/${String(stored?.json.public_id)}`;
    for (const method of ['HEAD', 'GET']) {
      const same = await exchange(server.url, request(`${method} ${path}`, 'If-None-Match: *\r\n'));
      expect([same?.status, same?.headers['content-length']]).toEqual([304, undefined]);
      expect(same?.headers.etag).toBeString();
    }
    const connection = await RawConnection.open(server.url);
    await connection.send(request(`HEAD ${path}`, 'If-None-Match: "other"\r\nConnection: close\r\n'));
    await once(connection.socket, 'close');
    expect(connection.received).toMatch(/^HTTP\/1\.1 200 .*\r\ncontent-length: 5\r\n/is);
  });

  test('a preflight is answered on the data plane and on no other', async () => {
    const ask = (path: string) =>
      fetch(server.url + path, {
        method: 'OPTIONS',
        headers: { Origin: 'https://app.example', 'Access-Control-Request-Method': 'POST' },
      });
    const data = await ask('/api/v1/objects');
    expect([data.status, data.headers.get('access-control-allow-origin')]).toEqual([
      204,
      'https://app.example',
    ]);
    expect(data.headers.get('x-request-id')).toMatch(/^[0-9A-Z]{26}$/);
    const management = await ask('/api/public/v1/projects');
    expect([management.status, management.headers.get('access-control-allow-origin')]).toEqual([404, null]);
  });

  test('a harmless request id comes back, any other is replaced', async () => {
    const idFor = async (id: string) =>
      (await fetch(`${server.url}/api/health`, { headers: { 'X-Request-Id': id } })).headers.get(
        'x-request-id',
      );
    expect(await idFor('abc-1.2_3')).toBe('abc-1.2_3');
    for (const id of ['a b', 'a"b', 'x'.repeat(129)]) expect(await idFor(id)).toMatch(/^[0-9A-Z]{26}$/);
  });

  test('the log names the address that no trusted proxy has', async () => {
    const ips: [string, string][] = [
      ['203.0.113.9', '203.0.113.9'],
      ['1.2.3.4, 203.0.113.9', '203.0.113.9'],
      ['198.51.100.7, 10.1.2.3', '198.51.100.7'],
      ['nonsense', '127.0.0.1'],
    ];
    for (const [n, [forwarded]] of ips.entries()) {
      await fetch(`${server.url}/api/health`, {
        headers: { 'X-Forwarded-For': forwarded, 'X-Real-IP': '9.9.9.9', 'X-Request-Id': `fwd-${n}` },
      });
    }
    await until(() => server.stderr().includes('"fwd-3"'));
    for (const [n, [, ip]] of ips.entries()) {
      const line =
        server
          .stderr()
          .split('\n')
          .find((text) => text.includes(`"fwd-${n}"`)) ?? '';
      expect(line).toContain(`"ip":"${ip}"`);
    }
  });
});
