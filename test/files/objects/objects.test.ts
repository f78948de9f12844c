/** Objects over HTTP: every status, permission and limit of the four endpoints, and what must not change. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { Objects } from '../../../src/files/objects/service.ts';
import { BlobStore } from '../../../src/platform/files/store.ts';
import { DAY_MS } from '../../../src/platform/host/clock.ts';
import { answer } from '../../../src/platform/http/pipeline.ts';
import type { RequestContext } from '../../../src/platform/http/routes.ts';
import {
  type Answer,
  type CallOptions,
  LARGE_TEXT,
  makeProject,
  startTestApp,
  type TestApp,
} from '../../support/helpers.ts';

let app: TestApp;
let key = '';
let read_only = '';
let write_only = '';
let foreign = '';
let project: Awaited<ReturnType<typeof makeProject>>;
let count = 0;

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

beforeAll(async () => {
  app = await startTestApp({
    env: { SATCHEL_MAX_UPLOAD_BYTES: '100000', SATCHEL_UPLOADS_PER_MINUTE: '100' },
  });
});

beforeEach(async () => {
  count += 1;
  project = await makeProject(app, `p${count}`);
  key = await project.key();
  read_only = await project.key({ can_read: true });
  write_only = await project.key({ can_write: true });
  foreign = await (await makeProject(app, `other${count}`)).key();
});

/** Kept in a file. */
const LARGE = new Blob([LARGE_TEXT], { type: 'text/plain' });

function form(
  fields: Record<string, string> = {},
  file: Blob | null = new Blob(['hello'], { type: 'text/plain' }),
  name = 'note.txt',
): FormData {
  const data = new FormData();
  for (const [field, value] of Object.entries(fields)) data.set(field, value);
  if (file) data.set('file', file, name);
  return data;
}

const upload = (body: unknown = form(), options: CallOptions = {}) =>
  app.call('POST', '/api/v1/objects', { key, body, ...options });

async function stored(fields: Record<string, string> = {}, file?: Blob, name?: string): Promise<string> {
  const answer = await upload(form(fields, file, name));
  expect(answer.status).toBe(201);
  return String(answer.body.public_id);
}

const get = (id: string, options: CallOptions & { query?: string } = {}) =>
  app.call('GET', `/api/v1/objects/${id}${options.query ?? ''}`, options);

/** Every file below objects/, partial uploads included. */
function filesOnDisk(): string[] {
  return readdirSync(join(app.data_dir, 'objects'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}

const rowCount = () => app.services.database.read.values(sql`SELECT count(*) FROM objects`)[0]?.[0];

function expectRefused(answer: Answer, status: number, field?: string): void {
  expect([answer.status, answer.body.success, typeof answer.body.message]).toEqual([status, false, 'string']);
  if (field !== undefined) expect(answer.body.errors).toHaveProperty([field]);
}

describe('upload', () => {
  test('stores the file privately and answers the record of the contract', async () => {
    const answer = await upload();
    expect(answer.status).toBe(201);
    const { public_id } = answer.body;
    expect(public_id).toMatch(/^[0-9A-HJKMNP-TV-Z]{26}$/);
    expect(answer.body).toEqual({
      public_id,
      project_id: project.public_id,
      visibility: 'private',
      mime_type: expect.stringMatching(/^text\/plain/),
      size_bytes: 5,
      url: `http://satchel.test/api/v1/objects/${String(public_id)}`,
      expires_at: null,
    });
  });

  test('needs a file, and no permission to read', async () => {
    const before = [rowCount(), filesOnDisk().length];
    expectRefused(await upload(form({ visibility: 'public' }, null)), 422, 'file');
    expectRefused(await upload({ file: 'x' }), 422);
    expect([rowCount(), filesOnDisk().length]).toEqual(before);
    expect((await upload(form(), { key: write_only })).status).toBe(201);
  });

  test.each([
    [{ visibility: 'secret' }, 'visibility'],
    [{ expires_in_days: '0' }, 'expires_in_days'],
    [{ expires_in_days: '3651' }, 'expires_in_days'],
    [{ expires_in_days: '1.5' }, 'expires_in_days'],
    [{ expires_in_days: 'soon' }, 'expires_in_days'],
    [{ expires_at: 'tomorrow' }, 'expires_at'],
    [{ expires_at: '2030-01-15T12:00:00Z' }, 'expires_at'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
  ])('refuses %p and leaves nothing behind', async (fields, field) => {
    const before = [rowCount(), filesOnDisk().length];
    const answer = await upload(form(fields));
    expectRefused(answer, 422, field);
    expect(answer.text).not.toContain(
      Object.values(fields)[0] === '0' ? '"0"' : String(Object.values(fields)[0]),
    );
    expect([rowCount(), filesOnDisk().length]).toEqual(before);
  });

  test('takes expiry in days or at a moment, the moment winning', async () => {
    const days = await upload(form({ expires_in_days: '3650' }));
    expect(days.body.expires_at).toBe(new Date(app.clock.now() + 3650 * DAY_MS).toISOString());
    const both = await upload(form({ expires_in_days: '3650', expires_at: '2031-01-01T02:00:00+02:00' }));
    expect(both.body.expires_at).toBe('2031-01-01T00:00:00.000Z');
  });

  test('takes an empty file, and one of exactly the limit, but not one byte more', async () => {
    expect((await upload(form({}, new Blob([])))).body).toMatchObject({ size_bytes: 0 });
    expect((await upload(form({}, new Blob([new Uint8Array(100_000)])))).status).toBe(201);
    const before = [rowCount(), filesOnDisk().length];
    const large = await upload(form({}, new Blob([new Uint8Array(100_001)])));
    expectRefused(large, 422, 'file');
    expect(large.body.message).toContain('100000');
    expect([rowCount(), filesOnDisk().length]).toEqual(before);
  });

  test('takes files of every size over a real connection, in however many pieces they arrive', async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(65_536));
    for (const size of [1, 16_383, 65_000, 65_535, 65_536, 66_000, 70_000, 90_000, 99_999]) {
      const file = new Blob([bytes, bytes]).slice(0, size);
      const response = await fetch(`${app.url}/api/v1/objects`, {
        method: 'POST',
        headers: { 'X-API-Key': key },
        body: form({ visibility: 'public' }, file),
      });
      expect([size, response.status]).toEqual([size, 201]);
      const { public_id } = (await response.json()) as { public_id: string };
      const back = await fetch(`${app.url}/api/v1/objects/${public_id}`);
      expect(Bun.hash(await back.arrayBuffer())).toBe(Bun.hash(await file.arrayBuffer()));
    }
  });

  test('without boundary, cut off, or not multipart at all is 422', async () => {
    const headers = { 'Content-Type': 'multipart/form-data; boundary=b' };
    const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhello';
    const before = filesOnDisk().length;
    for (const [type, body] of [
      ['multipart/form-data', `${part}\r\n--b--\r\n`],
      [headers['Content-Type'], part],
      [headers['Content-Type'], `${part}\r\n`],
      [headers['Content-Type'], ''],
      ['text/plain', 'hello'],
      [
        headers['Content-Type'],
        '--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nhello\r\n--b--\r\n',
      ],
    ] as const) {
      expectRefused(await upload(body, { headers: { 'Content-Type': type } }), 422);
    }
    expect(filesOnDisk()).toHaveLength(before);
    expect((await upload(`${part}\r\n--b--\r\n`, { headers })).status).toBe(201);
  });

  test.each([
    ['../../etc/passwd', 'passwd'],
    ['C:\\temp\\a.txt', 'a.txt'],
    ['sp ace "q".txt', 'sp ace "q".txt'],
    ['naïve 😀.txt', 'naïve 😀.txt'],
    ['...', '...'],
    ['/', 'file'],
    ['a\u0007b.txt', 'ab.txt'],
  ])('keeps the name %p as %p', async (given, kept) => {
    await stored({}, new Blob(['x']), given);
    const list = await app.call('GET', '/api/v1/objects', { key });
    expect(list.body.data).toMatchObject([{ original_filename: kept }]);
  });

  test('uploads are limited by key and minute', async () => {
    const few = await startTestApp({ env: { SATCHEL_UPLOADS_PER_MINUTE: '2' } });
    const limited = await (await makeProject(few)).key();
    const statuses: number[] = [];
    for (let n = 0; n < 3; n += 1)
      statuses.push((await few.call('POST', '/api/v1/objects', { key: limited, body: form() })).status);
    expect(statuses).toEqual([201, 201, 429]);
    const refused = await few.call('POST', '/api/v1/objects', { key: limited, body: form() });
    expect(refused.headers.get('retry-after')).toBe('60');
    const rateOf = (answer: Answer) =>
      ['limit', 'remaining', 'reset'].map((name) => answer.headers.get(`ratelimit-${name}`));
    expect(rateOf(refused)).toEqual(['2', '0', '60']);
    // The key's own limit is another one, and a list shows that.
    expect(rateOf(await few.call('GET', '/api/v1/objects', { key: limited }))).toEqual(['600', '595', '60']);
    few.clock.advance(60_000);
    expect((await few.call('POST', '/api/v1/objects', { key: limited, body: form() })).status).toBe(201);
    await few.stop();
  });
});

describe('the media type', () => {
  test('is the part’s own, else sniffed, else by extension, else unknown', async () => {
    const types: unknown[] = [];
    for (const [type, bytes, name] of [
      ['text/csv; charset=utf-8', 'a,b', 'x.bin'],
      ['application/octet-stream', PNG, 'x.bin'],
      ['', new Uint8Array([1, 2, 3, 0, 255]), 'x.woff2'],
      ['', new Uint8Array([1, 2, 3, 0, 255]), 'x'],
    ] as const) {
      types.push((await upload(form({}, new Blob([bytes], { type }), name))).body.mime_type);
    }
    expect(types).toEqual(['text/csv; charset=utf-8', 'image/png', 'font/woff2', 'application/octet-stream']);
  });

  test('is held against the allow-list by its label and by its content', async () => {
    const strict = await startTestApp({ env: { SATCHEL_ALLOWED_MIME_TYPES: 'image/*,text/csv' } });
    const strict_key = await (await makeProject(strict)).key();
    const send = (bytes: string | Uint8Array<ArrayBuffer>, type: string) =>
      strict.call('POST', '/api/v1/objects', {
        key: strict_key,
        body: form({}, new Blob([bytes], { type }), 'a'),
      });
    expect((await send(new Uint8Array(PNG), 'image/png')).status).toBe(201);
    expect((await send('a,b\n1,2\n', 'text/csv')).status).toBe(201);
    expectRefused(await send('hello', 'text/plain'), 422, 'file');
    expectRefused(await send('<!doctype html><script>alert(1)</script>', 'image/png'), 422, 'file');
    expectRefused(await send('%PDF-1.7 ...', 'image/png'), 422, 'file');
    await strict.stop();
  });
});

test('an upload and a download may take their time; once answered, no connection may idle for ever', async () => {
  const answerTo = async (path: string, init: RequestInit, params: Record<string, string> = {}) => {
    const served = init.method === 'HEAD' ? 'GET' : init.method;
    const route = app.app.routes.find(
      ({ plane, ...each }) => plane === 'data' && each.method === served && each.path === path,
    );
    if (!route) throw new Error(`there is no route ${path}`);
    const timeouts: string[] = [];
    const url = new URL(`/api/v1${path}`, app.url);
    const ctx: RequestContext = {
      request: new Request(url.href, { ...init, headers: { 'X-API-Key': key } }),
      ...{ url, params, request_id: 'x', ip: null, user_agent: null, link_project_id: null },
      keepOpen: () => timeouts.push('none'),
      closeWhenIdle: () => timeouts.push('usual'),
    };
    const { status } = await answer(route, ctx, {
      ...app.services,
      authenticateKey: (credentials) => app.services.keys.authenticate(credentials),
      authenticateSession: () => null,
      authenticateToken: () => {
        throw new Error('an upload asks for no token');
      },
      findProject: () => {
        throw new Error('an upload names no project');
      },
      clientIp: () => null,
      guarded: (_check, work) => work(),
      settled: () => null,
      projectAtHost: () => null,
      refuseChanges: () => {},
    });
    return [status, ...timeouts];
  };
  expect(await answerTo('/objects', { method: 'POST', body: form() })).toEqual([201, 'none', 'usual']);
  const refused = await answerTo('/objects', { method: 'POST', body: form({}, null) });
  expect(refused).toEqual([422, 'none', 'usual']);
  const file = { public_id: await stored() };
  expect(await answerTo('/objects/:public_id', { method: 'GET' }, file)).toEqual([200, 'none']);
  // Nothing of the file goes out, after which the server would put the time-out back.
  expect(await answerTo('/objects/:public_id', { method: 'HEAD' }, file)).toEqual([200, 'none', 'usual']);
});

describe('list', () => {
  test('shows the project’s own objects, newest first, with exactly the fields of the contract', async () => {
    const first = await stored({ visibility: 'public' });
    const second = await stored();
    const answer = await app.call('GET', '/api/v1/objects', { key });
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({
      success: true,
      message: expect.any(String),
      meta: { total: 2, per_page: 20, current_page: 1 },
    });
    expect(answer.body.data).toEqual([
      expect.objectContaining({ public_id: second, visibility: 'private' }),
      {
        public_id: first,
        original_filename: 'note.txt',
        mime_type: expect.stringMatching(/^text\/plain/),
        size_bytes: 5,
        visibility: 'public',
        url: `http://satchel.test/api/v1/objects/${first}`,
        created_at: new Date(app.clock.now()).toISOString(),
      },
    ]);
    expect((await app.call('GET', '/api/v1/objects', { key: foreign })).body.data).toEqual([]);
  });

  test('filters by visibility, and pages', async () => {
    for (const visibility of ['public', 'private', 'public']) await stored({ visibility });
    const page = async (query: string) => (await app.call('GET', `/api/v1/objects?${query}`, { key })).body;
    expect(await page('visibility=public')).toMatchObject({ meta: { total: 2 } });
    expect(await page('visibility=private')).toMatchObject({ meta: { total: 1 } });
    expect(await page('per_page=2&page=2')).toMatchObject({
      meta: { total: 3, count: 1, from: 3, to: 3, has_more: false, prev_page: 1 },
    });
    for (const large of ['100', '9'.repeat(30)])
      expect(await page(`per_page=${large}`)).toMatchObject({ meta: { per_page: 50 } });
    expect(await page(`page=${Number.MAX_SAFE_INTEGER}`)).toMatchObject({
      data: [],
      meta: { current_page: Number.MAX_SAFE_INTEGER, from: null, to: null, remaining_items: 0, prev_page: 1 },
    });
    expect(await page('page=9')).toMatchObject({
      data: [],
      meta: { from: null, to: null, remaining_items: 0, prev_page: 1 },
    });
  });

  test.each(['visibility=secret', 'visibility=', 'page=0', 'page=x', 'per_page=-1', 'per_page=1.5'])(
    'refuses ?%s',
    async (query) => {
      expectRefused(await app.call('GET', `/api/v1/objects?${query}`, { key }), 422, query.split('=')[0]);
    },
  );

  test('never shows or counts what has expired', async () => {
    await stored({ expires_in_days: '1' });
    const lasting = await stored();
    app.clock.advance(DAY_MS);
    const answer = await app.call('GET', '/api/v1/objects', { key });
    expect(answer.body).toMatchObject({ data: [{ public_id: lasting }], meta: { total: 1 } });
    expect((await app.call('GET', '/api/v1/objects?visibility=private', { key })).body).toMatchObject({
      meta: { total: 1, count: 1 },
    });
  });
});

describe('download', () => {
  test('a public object needs no key and ignores a wrong or foreign one', async () => {
    const id = await stored({ visibility: 'public' });
    for (const options of [{}, { key: 'nonsense' }, { key: foreign }, { key: write_only }, { key }]) {
      const answer = await get(id, options);
      expect([answer.status, answer.text]).toEqual([200, 'hello']);
    }
    expect((await get(id.toLowerCase())).status).toBe(200);
  });

  test('a private one: 401 without or with a wrong key, 403 without read, 404 from another project', async () => {
    const id = await stored();
    expectRefused(await get(id), 401);
    expectRefused(await get(id, { key: 'nonsense' }), 401);
    expectRefused(await get(id, { key: write_only }), 403);
    const cross = await get(id, { key: foreign });
    expectRefused(cross, 404);
    const missing = await get('01ARZ3NDEKTSV4RRFFQ69G5FAV', { key: foreign });
    expect([missing.status, missing.text]).toEqual([cross.status, cross.text]);
    expect((await get(id, { key: read_only })).text).toBe('hello');
  });

  test('what is unknown, deleted or expired is 404 without a key', async () => {
    const expiring = await stored({ visibility: 'public', expires_in_days: '1' });
    const deleted = await stored();
    await app.call('DELETE', `/api/v1/objects/${deleted}`, { key });
    app.clock.advance(DAY_MS);
    for (const id of [expiring, deleted, '01ARZ3NDEKTSV4RRFFQ69G5FAV', 'x', '..%2F..%2Fmaster.key'])
      expectRefused(await get(id), 404);
  });

  test('what has expired is 404 also while it cannot be deleted, and goes as soon as it can', async () => {
    const id = await stored({ visibility: 'public', expires_in_days: '1' }, LARGE);
    const path = app.services.blobs.path(id);
    const run = (statement: string) => app.services.database.write((tx) => tx.run(sql.raw(statement)));
    app.clock.advance(DAY_MS);
    await run("CREATE TEMP TRIGGER stuck BEFORE DELETE ON objects BEGIN SELECT RAISE(ABORT, 'stuck'); END");
    try {
      expectRefused(await get(id), 404);
      expectRefused(await get(id, { key }), 404);
      expectRefused(await app.call('DELETE', `/api/v1/objects/${id}`, { key }), 404);
      expect(existsSync(path)).toBe(true);
    } finally {
      await run('DROP TRIGGER stuck');
    }
    expectRefused(await get(id), 404);
    expect(existsSync(path)).toBe(false);
  });

  test('headers: type, name, validators, nosniff, sandbox, caching', async () => {
    const sha = createHash('sha256').update('hello').digest('hex');
    const open = await get(await stored({ visibility: 'public' }, undefined, 'naïve.txt'));
    expect(open.headers.get('content-type')).toStartWith('text/plain');
    expect(open.headers.get('etag')).toBe(`"${sha}"`);
    expect(open.headers.get('last-modified')).toBe(new Date(app.clock.now()).toUTCString());
    expect(open.headers.get('accept-ranges')).toBe('bytes');
    expect(open.headers.get('x-content-type-options')).toBe('nosniff');
    expect(open.headers.get('content-security-policy')).toContain('sandbox');
    expect(open.headers.get('cache-control')).toBe('public, max-age=31536000');
    expect(open.headers.get('content-disposition')).toStartWith('inline');
    expect(open.headers.get('content-disposition')).toContain("filename*=UTF-8''na%C3%AFve.txt");
    const secret = await get(await stored(), { key });
    expect(secret.headers.get('cache-control')).toBe('private, no-store');
    const soon = await get(await stored({ visibility: 'public', expires_in_days: '1' }));
    expect(soon.headers.get('cache-control')).toBe('public, max-age=86400');
  });

  test.each([
    ['text/html', 'attachment', true],
    ['image/svg+xml', 'attachment', true],
    ['application/xhtml+xml', 'attachment', true],
    ['text/javascript', 'attachment', true],
    ['image/png', 'inline', true],
    ['video/mp4', 'inline', true],
    ['audio/mpeg', 'inline', true],
    ['application/pdf', 'inline', false],
    ['TEXT/PLAIN; charset=utf-8', 'inline', true],
    ['application/json', 'attachment', true],
  ])('%s is served as %s (sandboxed: %p)', async (type, disposition, sandboxed) => {
    const id = await stored(
      { visibility: 'public' },
      new Blob(['<script>alert(1)</script>'], { type }),
      'a.x',
    );
    const answer = await get(id);
    expect(answer.headers.get('content-disposition')).toStartWith(disposition);
    expect(answer.headers.get('content-security-policy')).toStartWith("default-src 'none'");
    expect(answer.headers.get('content-security-policy')?.includes('sandbox')).toBe(sandboxed);
    expect((await get(id, { query: '?download=1' })).headers.get('content-disposition')).toStartWith(
      'attachment',
    );
  });

  test('ranges and conditions', async () => {
    const id = await stored({ visibility: 'public' }, new Blob(['0123456789']));
    const ask = async (headers: Record<string, string>) => {
      const answer = await get(id, { headers });
      return [answer.status, answer.text, answer.headers.get('content-range')];
    };
    expect(await ask({ Range: 'bytes=2-4' })).toEqual([206, '234', 'bytes 2-4/10']);
    expect(await ask({ Range: 'bytes=7-' })).toEqual([206, '789', 'bytes 7-9/10']);
    expect(await ask({ Range: 'bytes=-3' })).toEqual([206, '789', 'bytes 7-9/10']);
    expect(await ask({ Range: 'bytes=0-99' })).toEqual([206, '0123456789', 'bytes 0-9/10']);
    const beyond = await get(id, { headers: { Range: 'bytes=10-' } });
    expectRefused(beyond, 416);
    expect(beyond.headers.get('content-range')).toBe('bytes */10');
    expect(await ask({ Range: 'bytes=0-1,3-4' })).toEqual([200, '0123456789', null]);
    expect(await ask({ Range: 'lines=1' })).toEqual([200, '0123456789', null]);
    const etag = (await get(id)).headers.get('etag') ?? '';
    const modified = (await get(id)).headers.get('last-modified') ?? '';
    expect(await ask({ 'If-None-Match': `"x", W/${etag}` })).toEqual([304, '', null]);
    expect(await ask({ 'If-Modified-Since': modified })).toEqual([304, '', null]);
    expect((await ask({ 'If-Match': '"x"' }))[0]).toBe(412);
    expect(await ask({ Range: 'bytes=1-1', 'If-Range': etag })).toEqual([206, '1', 'bytes 1-1/10']);
    expect(await ask({ Range: 'bytes=1-1', 'If-Range': '"x"' })).toEqual([200, '0123456789', null]);
  });

  test('HEAD has the headers of GET and no body', async () => {
    const id = await stored({ visibility: 'public' });
    const [head, get_] = await Promise.all(
      ['HEAD', 'GET'].map((method) => fetch(`${app.url}/api/v1/objects/${id}`, { method })),
    );
    for (const name of [
      'content-length',
      'content-type',
      'etag',
      'cache-control',
      'content-disposition',
      'accept-ranges',
    ]) {
      expect([name, head?.headers.get(name)]).toEqual([name, get_?.headers.get(name) ?? 'present']);
    }
    expect([head?.status, head?.headers.get('content-length'), await head?.text()]).toEqual([200, '5', '']);
    const refused = await fetch(`${app.url}/api/v1/objects/${await stored()}`, { method: 'HEAD' });
    expect([refused.status, await refused.text()]).toEqual([401, '']);
  });

  test('bytes that cannot be read are 500, with the id under which the log says why', async () => {
    const id = await stored({ visibility: 'public' }, LARGE);
    rmSync(app.services.blobs.path(id));
    mkdirSync(app.services.blobs.path(id));
    const answer = await fetch(`${app.url}/api/v1/objects/${id}`);
    expect(answer.status).toBe(500);
    expect(await answer.json()).toMatchObject({ success: false, message: expect.any(String) });
    const request_id = answer.headers.get('x-request-id') ?? '';
    expect(request_id).toMatch(/^[0-9A-Z]{26}$/);
    expect(app.logs()).toMatch(new RegExp(`"message":"response failed","request_id":"${request_id}"`));
  });

  test('bytes that go between the look at them and the first of them are 404', async () => {
    const id = await stored({ visibility: 'public' }, LARGE);
    const { blobs } = app.services;
    const { has } = blobs;
    blobs.has = (looked_for) => {
      const is_there = has.call(blobs, looked_for);
      rmSync(blobs.path(looked_for));
      return is_there;
    };
    try {
      const answer = await fetch(`${app.url}/api/v1/objects/${id}`);
      expect([answer.status, await answer.json()]).toMatchObject([404, { success: false }]);
      expect(answer.headers.get('x-request-id')).toMatch(/^[0-9A-Z]{26}$/);
    } finally {
      blobs.has = has;
    }
  });

  test('a row whose bytes are gone is 404', async () => {
    const id = await stored({ visibility: 'public' }, LARGE);
    expect((await get(id)).status).toBe(200);
    expect((await get(id)).status).toBe(200);
    for (const file of filesOnDisk()) if (file.endsWith(id)) rmSync(file);
    expectRefused(await get(id), 404);
    expect(app.logs()).toContain('stored file missing');
  });

  test('objects of an inactive project stay served when public; its keys are 401', async () => {
    const id = await stored({ visibility: 'public' });
    await app.services.database.write((tx) =>
      tx.run(sql`UPDATE projects SET status = 'inactive' WHERE id = ${project.id}`),
    );
    expect((await get(id)).status).toBe(200);
    expectRefused(await app.call('GET', '/api/v1/objects', { key }), 401);
  });
});

describe('delete', () => {
  const remove = (id: string, options: CallOptions = {}) =>
    app.call('DELETE', `/api/v1/objects/${id}`, { key, ...options });

  test('removes the row and the bytes, once', async () => {
    const id = await stored({}, LARGE);
    expect(filesOnDisk().some((file) => file.endsWith(id))).toBe(true);
    const answer = await remove(id);
    expect([answer.status, typeof answer.body.message]).toEqual([200, 'string']);
    expect(filesOnDisk().some((file) => file.endsWith(id))).toBe(false);
    expectRefused(await get(id, { key }), 404);
    expectRefused(await remove(id), 404);
  });

  test('is 200 though the bytes are missing', async () => {
    const id = await stored({}, LARGE);
    for (const file of filesOnDisk()) if (file.endsWith(id)) rmSync(file);
    expect((await remove(id)).status).toBe(200);
  });
});

describe('in the database', () => {
  const count = (table: string) =>
    app.services.database.read.values(sql.raw(`SELECT count(*) FROM ${table}`))[0]?.[0];

  test('are bytes of at most 64 KiB, and they come and go with their row', async () => {
    app.clock.advance(30 * DAY_MS);
    await app.services.objects.sweepExpired();
    const before = [count('object_contents'), filesOnDisk().length];
    const id = await stored({ visibility: 'public', expires_in_days: '1' }, new Blob(['x'.repeat(65_536)]));
    const others = await stored({ expires_in_days: '1' });
    expect([count('object_contents'), filesOnDisk().length]).toEqual([Number(before[0]) + 2, before[1]]);
    await stored({}, new Blob(['x'.repeat(65_537)]));
    expect([count('object_contents'), filesOnDisk().length]).toEqual([
      Number(before[0]) + 2,
      Number(before[1]) + 1,
    ]);
    await app.call('DELETE', `/api/v1/objects/${others}`, { key });
    expect(count('object_contents')).toBe(Number(before[0]) + 1);
    app.clock.advance(DAY_MS);
    await app.services.objects.sweepExpired();
    expect([count('object_contents'), count('pinned_contents')]).toEqual([before[0], 0]);
    expectRefused(await get(id), 404);
  });

  test('a row without them is 404, told in the log, and can be deleted', async () => {
    const id = await stored({ visibility: 'public' });
    await app.services.database.write((tx) =>
      tx.run(
        sql`DELETE FROM object_contents WHERE object_id = (SELECT id FROM objects WHERE public_id = ${id})`,
      ),
    );
    expectRefused(await get(id), 404);
    expect(app.logs()).toContain(`"stored file missing","public_id":"${id}","store":"database"`);
    expect((await app.call('DELETE', `/api/v1/objects/${id}`, { key })).status).toBe(200);
  });

  test('are not left where the change that makes the row is refused', async () => {
    const before = count('object_contents');
    const run = (statement: string) => app.services.database.write((tx) => tx.run(sql.raw(statement)));
    await run("CREATE TEMP TRIGGER stuck AFTER INSERT ON objects BEGIN SELECT RAISE(ABORT, 'stuck'); END");
    try {
      expect((await upload()).status).toBe(500);
    } finally {
      await run('DROP TRIGGER stuck');
    }
    expect(count('object_contents')).toBe(before);
  });
});

describe('expiry', () => {
  test('the first GET after it deletes row and bytes', async () => {
    const id = await stored({ visibility: 'public', expires_in_days: '1' }, LARGE);
    app.clock.advance(DAY_MS - 1);
    expect((await get(id)).status).toBe(200);
    app.clock.advance(1);
    const before = Number(rowCount());
    expectRefused(await get(id), 404);
    expect(rowCount()).toBe(before - 1);
    expect(filesOnDisk().some((file) => file.endsWith(id))).toBe(false);
  });

  test('the sweeper removes what nobody asks for', async () => {
    const id = await stored({ expires_in_days: '1' }, LARGE);
    const lasting = await stored({}, LARGE);
    app.clock.advance(DAY_MS);
    expect(await app.services.objects.sweepExpired()).toBeGreaterThanOrEqual(1);
    const files = filesOnDisk();
    expect([files.some((file) => file.endsWith(id)), files.some((file) => file.endsWith(lasting))]).toEqual([
      false,
      true,
    ]);
  });
});

describe('Idempotency-Key', () => {
  const withKey = (name: string, body: unknown = form(), options: CallOptions = {}) =>
    upload(body, { ...options, headers: { 'Idempotency-Key': name } });

  test('the same upload answers the first one again, even after the object was deleted', async () => {
    const first = await withKey('one');
    await app.call('DELETE', `/api/v1/objects/${String(first.body.public_id)}`, { key });
    const files = filesOnDisk().length;
    const second = await withKey('one');
    expect([second.status, second.body]).toEqual([201, first.body]);
    expect(second.headers.get('idempotent-replayed')).toBe('true');
    expect(filesOnDisk()).toHaveLength(files);
  });

  test('another file, name, type or field under the same key is 409', async () => {
    await withKey('two');
    const before = [rowCount(), filesOnDisk().length];
    for (const body of [
      form({}, new Blob(['other'], { type: 'text/plain' })),
      form({}, undefined, 'other.txt'),
      form({}, new Blob(['hello'], { type: 'text/csv' })),
      form({ visibility: 'public' }),
    ]) {
      expectRefused(await withKey('two', body), 409);
    }
    expect([rowCount(), filesOnDisk().length]).toEqual(before);
  });

  test('concurrent uploads under one key make one object', async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => withKey('three')));
    expect(new Set(answers.map((answer) => answer.body.public_id)).size).toBe(1);
    expect(answers.every((answer) => answer.status === 201)).toBe(true);
    expect((await app.call('GET', '/api/v1/objects', { key })).body).toMatchObject({ meta: { total: 1 } });
  });

  test('refusals are not kept, keys belong to their API key, are free after a day, and have 1 to 255 characters', async () => {
    expectRefused(await withKey('four', form({ visibility: 'x' })), 422);
    const first = await withKey('four');
    expect(first.status).toBe(201);
    expect((await withKey('four', form(), { key: write_only })).body.public_id).not.toBe(
      first.body.public_id,
    );
    app.clock.advance(DAY_MS);
    expect((await withKey('four', form({ visibility: 'public' }))).status).toBe(201);
    expectRefused(await withKey('x'.repeat(256)), 422, 'Idempotency-Key');
    expect((await withKey('x'.repeat(255))).status).toBe(201);
  });
});

describe('after a crash', () => {
  test('the start-up sweep removes bytes without a row, and nothing else', async () => {
    const one = await startTestApp();
    const one_key = await (await makeProject(one)).key();
    const id = String(
      (await one.call('POST', '/api/v1/objects', { key: one_key, body: form({}, LARGE) })).body.public_id,
    );
    await one.stop();
    const kept = one.app.services.blobs.path(id);
    const orphan = one.app.services.blobs.path('01ARZ3NDEKTSV4RRFFQ69G5FAV');
    await Bun.write(orphan, 'orphan');
    const two = await startTestApp({ data_dir: one.data_dir });
    await two.app.whenSwept();
    expect([existsSync(kept), existsSync(orphan)]).toEqual([true, false]);
    expect((await two.call('GET', `/api/v1/objects/${id}`, { key: one_key })).text).toBe(LARGE_TEXT);
    await two.stop();
  });

  test('a sweep that is late takes no upload under way for one of these, nor acknowledges what another removed', async () => {
    const one = await startTestApp();
    const one_key = await (await makeProject(one)).key();
    const { blobs, objects } = one.services;
    const removed: number[] = [];
    const makeDurable = blobs.openUpload.bind(blobs);
    // Another process sweeps, for which the upload is old, at the last moment at which it can.
    const sweeper = new Objects({
      database: one.services.database,
      clock: one.clock,
      logger: one.services.logger,
      blobs: new BlobStore(one.data_dir, { now: () => Date.now() + 60_000 }),
      bytes: one.services.bytes,
      pins: { isPinned: () => false },
      variants: { remove: async () => {} },
      idempotency: one.services.idempotency,
      max_upload_bytes: 0,
      public_url: '',
      allowed_mime_types: [],
    });
    let sweepers: Objects[] = [objects];
    blobs.openUpload = (id) => {
      const upload = makeDurable(id);
      const commit = upload.commit.bind(upload);
      upload.commit = async () => {
        await commit();
        for (const each of sweepers) removed.push(await each.sweepOrphans());
      };
      return upload;
    };
    const send = () =>
      one.call('POST', '/api/v1/objects', {
        key: one_key,
        body: form(),
        headers: { 'Idempotency-Key': 'once' },
      });
    sweepers = [sweeper];
    const refused = await send();
    expect([refused.status, removed]).toEqual([503, [1]]);
    expect((await one.call('GET', '/api/v1/objects', { key: one_key })).body.meta).toMatchObject({
      total: 0,
    });
    sweepers = [objects];
    const stored = await send();
    expect([stored.status, removed]).toEqual([201, [1, 0]]);
    const url = `/api/v1/objects/${String(stored.body.public_id)}`;
    expect((await one.call('GET', url, { key: one_key })).text).toBe('hello');
    expect(await sweeper.sweepOrphans()).toBe(0);
    expect((await one.call('GET', url, { key: one_key })).status).toBe(200);
    await one.stop();
  });
});
