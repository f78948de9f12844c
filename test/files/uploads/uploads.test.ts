/** Resumable uploads over HTTP: what the protocol asks of each request, and what is refused. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { MAX_UNFINISHED_UPLOADS, UNFINISHED_UPLOAD_MS } from '../../../src/limits.ts';
import { DAY_MS } from '../../../src/platform/host/clock.ts';
import { type Answer, actor, makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';
import { Tus, VERSION } from './tus.ts';

const MAX = 1_000_000;
let app: TestApp;
let project: Awaited<ReturnType<typeof makeProject>>;
let key = '';
let tus: Tus;
let count = 0;

beforeAll(async () => {
  app = await startTestApp({
    env: { SATCHEL_MAX_UPLOAD_BYTES: String(MAX), SATCHEL_PUBLIC_URL: 'https://files.example.com' },
  });
});

beforeEach(async () => {
  count += 1;
  project = await makeProject(app, `p${count}`);
  key = await project.key();
  tus = new Tus(app, key);
});

const idOf = (path: string): string => path.split('/').at(-1) ?? '';
const fileOf = (path: string): string => app.services.blobs.path(idOf(path));
const rowsOf = (path: string) =>
  app.services.database.read.all(sql`SELECT * FROM uploads WHERE id = ${idOf(path)}`).length;

async function begun(length: number, fields: Record<string, string> = {}): Promise<string> {
  return await tus.path(length, fields);
}

function expectRefused(answer: Answer, status: number, field?: string): void {
  expect([answer.status, answer.body.success, typeof answer.body.message]).toEqual([status, false, 'string']);
  expect([answer.headers.get('tus-resumable'), answer.headers.get('tus-version')]).toEqual([
    '1.0.0',
    '1.0.0',
  ]);
  if (field !== undefined) expect(answer.body.errors).toHaveProperty([field]);
}

describe('what is offered', () => {
  test('is told without a key', async () => {
    const answer = await app.call('OPTIONS', '/api/v1/uploads');
    expect([answer.status, answer.text]).toEqual([204, '']);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'tus-resumable': '1.0.0',
      'tus-version': '1.0.0',
      'tus-extension': 'creation,expiration,checksum,termination',
      'tus-max-size': String(MAX),
      'tus-checksum-algorithm': 'sha1,sha256,md5',
    });
  });

  test('may be used by pages: preflights allow its headers and methods, answers show its headers', async () => {
    const asked = { Origin: 'https://app.example.com', 'Access-Control-Request-Method': 'PATCH' };
    const preflight = await app.call('OPTIONS', '/api/v1/uploads/x', { headers: asked });
    const allowed = preflight.headers.get('access-control-allow-headers')?.toLowerCase().split(', ') ?? [];
    expect(preflight.status).toBe(204);
    expect(allowed).toEqual(
      expect.arrayContaining([
        ...['tus-resumable', 'upload-length', 'upload-metadata', 'upload-offset', 'upload-checksum'],
        ...['content-type', 'x-api-key', 'x-request-id', 'x-http-method-override'],
      ]),
    );
    const methods = preflight.headers.get('access-control-allow-methods')?.split(', ') ?? [];
    expect(methods).toEqual(expect.arrayContaining(['POST', 'HEAD', 'PATCH', 'DELETE']));
    const { headers } = await tus.begin(3, {}, { headers: { Origin: 'https://app.example.com' } });
    const shown = headers.get('access-control-expose-headers')?.split(', ') ?? [];
    expect(shown).toEqual(
      expect.arrayContaining([
        ...[
          'Location',
          'Upload-Offset',
          'Upload-Length',
          'Upload-Metadata',
          'Upload-Expires',
          'Tus-Resumable',
        ],
        ...['Tus-Version', 'Tus-Extension', 'Tus-Max-Size', 'Tus-Checksum-Algorithm', 'Satchel-Object'],
      ]),
    );
  });
});

describe('an upload', () => {
  test('comes in parts, and its last one makes the file', async () => {
    const begun = await tus.begin(11, {
      filename: 'note.txt',
      filetype: 'text/x-note',
      visibility: 'public',
      expires_in_days: '2',
      relativePath: 'x/y',
    });
    expect([begun.status, begun.text]).toEqual([201, '']);
    const location = begun.headers.get('location') ?? '';
    expect(location).toMatch(/^\/api\/v1\/uploads\/[0-9A-HJKMNP-TV-Z]{26}$/);
    const expires = new Date(app.clock.now() + UNFINISHED_UPLOAD_MS).toUTCString();
    expect(begun.headers.get('upload-expires')).toBe(expires);
    const path = location;

    const first = await tus.send(path, 0, 'hello ');
    expect([first.status, first.text]).toEqual([204, '']);
    expect(Object.fromEntries(first.headers)).toMatchObject({
      ...{ 'upload-offset': '6', 'tus-resumable': '1.0.0', 'upload-expires': expires },
    });
    expect(first.headers.has('satchel-object')).toBe(false);
    const half = await tus.look(path);
    expect([half.status, half.text]).toEqual([200, '']);
    expect(Object.fromEntries(half.headers)).toMatchObject({
      ...{
        'upload-offset': '6',
        'upload-length': '11',
        'cache-control': 'no-store',
        'tus-resumable': '1.0.0',
      },
      'upload-metadata':
        'filename bm90ZS50eHQ=,filetype dGV4dC94LW5vdGU=,visibility cHVibGlj,expires_in_days Mg==,relativePath eC95',
    });

    const last = await tus.send(path, 6, 'world');
    expect([last.status, last.headers.get('upload-offset')]).toEqual([204, '11']);
    const id = last.headers.get('satchel-object') ?? '';
    expect((await tus.look(path)).headers.get('satchel-object')).toBe(id);
    const object = await app.call('GET', `/api/v1/objects/${id}`);
    expect([object.text, object.headers.get('content-type')]).toEqual(['hello world', 'text/x-note']);
    expect(app.services.objects.requireAny(id)).toMatchObject({
      original_filename: 'note.txt',
      visibility: 'public',
      size_bytes: 11,
      sha256: createHash('sha256').update('hello world').digest('hex'),
      expires_at: app.clock.now() + 2 * DAY_MS,
      created_at: app.clock.now(),
    });
  });

  test('of text that is cut within a character is found to be UTF-8', async () => {
    const text = Buffer.from('Grüße');
    const path = await tus.path(text.length, { filename: 'a.txt', filetype: 'text/plain' });
    await tus.send(path, 0, text.subarray(0, 3));
    const last = await tus.send(path, 3, text.subarray(3));
    const id = last.headers.get('satchel-object') ?? '';
    const answer = await app.call('GET', `/api/v1/objects/${id}`, { key });
    expect([answer.text, answer.headers.get('content-type')]).toEqual(['Grüße', 'text/plain; charset=utf-8']);
    expect(app.services.objects.requireAny(id).mime_type).toBe('text/plain');
  });

  test('of no bytes is a file at once', async () => {
    const answer = await tus.begin(0, { filename: 'empty' });
    const id = answer.headers.get('satchel-object') ?? '';
    expect([answer.status, (await app.call('GET', `/api/v1/objects/${id}`, { key })).text]).toEqual([
      201,
      '',
    ]);
    const look = await tus.look(answer.headers.get('location') ?? '');
    expect([look.headers.get('upload-offset'), look.headers.get('satchel-object')]).toEqual(['0', id]);
  });

  test('without metadata is a private file with a name and the type that its bytes show', async () => {
    const path = await begun(5);
    const id = (await tus.send(path, 0, 'hello')).headers.get('satchel-object') ?? '';
    expect(app.services.objects.requireAny(id)).toMatchObject({
      ...{ original_filename: 'file', visibility: 'private', expires_at: null },
      mime_type: expect.stringMatching(/^text\/plain/),
    });
  });

  test('takes a part of no bytes, and once it is whole no more', async () => {
    const path = await begun(2);
    expect((await tus.send(path, 0, new Uint8Array())).headers.get('upload-offset')).toBe('0');
    const id = (await tus.send(path, 0, 'ab')).headers.get('satchel-object');
    expect((await tus.send(path, 2, new Uint8Array())).headers.get('satchel-object')).toBe(id);
    expectRefused(await tus.send(path, 2, 'c'), 413);
    expect((await app.call('GET', `/api/v1/objects/${id}`, { key })).text).toBe('ab');
  });

  test('can be sent, asked and ended where only POST gets through, with the same checks', async () => {
    const path = await begun(2);
    const post = (method: string, options = {}) =>
      app.call('POST', path, {
        ...{ key, body: 'ab', ...options },
        headers: {
          ...{ ...VERSION, 'X-HTTP-Method-Override': method, 'Upload-Offset': '0' },
          'Content-Type': 'application/offset+octet-stream',
        },
      });
    expectRefused(await post('PUT'), 422, 'X-HTTP-Method-Override');
    expectRefused(await post('DELETE', { key: 'wrong' }), 401);
    expectRefused(await post('DELETE', { key: await project.key({ can_read: true }) }), 403);
    expectRefused(await post('DELETE', { key: await project.key() }), 404);
    expect((await post('HEAD')).headers.get('upload-offset')).toBe('0');
    expect((await post('PATCH')).headers.get('satchel-object')).toMatch(/./);
    expect((await post('DELETE')).status).toBe(204);
    expect((await tus.look(path)).status).toBe(404);
  });
});

describe('refused', () => {
  test.each([[{ 'Tus-Resumable': '0.2.2' }], [{ 'Tus-Resumable': '' }]])(
    'is another version of the protocol (%p), and what is offered is told',
    async (headers) => {
      const path = await begun(3);
      expectRefused(await tus.begin(3, {}, { headers }), 412);
      expectRefused(await tus.look(path, { headers }), 412);
      expectRefused(await tus.send(path, 0, 'abc', headers), 412);
      expectRefused(await tus.end(path, { headers }), 412);
      expect(await tus.offset(path)).toBe(0);
    },
  );

  test.each([
    ['', 422],
    ['-1', 422],
    ['1.5', 422],
    ['1e3', 422],
    ['1'.repeat(16), 422],
    [String(MAX + 1), 413],
  ])('is a length of %p: %p', async (length, status) => {
    expectRefused(await tus.begin(length), status, status === 422 ? 'Upload-Length' : undefined);
    expect((await tus.begin(MAX)).status).toBe(201);
  });

  test('is a field that was good when the upload began and is no more; nothing stays', async () => {
    const path = await begun(2, { expires_at: new Date(app.clock.now() + 1_000).toISOString() });
    app.clock.advance(1_000);
    expectRefused(await tus.send(path, 0, 'ab'), 422, 'expires_at');
    expect([(await tus.look(path)).status, existsSync(fileOf(path))]).toEqual([404, false]);
  });

  test('is a file whose parts are uploads of their own', async () => {
    expectRefused(await tus.begin(2, {}, { headers: { 'Upload-Concat': 'partial' } }), 422, 'Upload-Concat');
  });

  test('is a length that is told later', async () => {
    const headers = { ...VERSION, 'Upload-Defer-Length': '1' };
    const alone = await app.call('POST', '/api/v1/uploads', { key, headers });
    for (const answer of [alone, await tus.begin(2, {}, { headers })])
      expectRefused(answer, 422, 'Upload-Defer-Length');
  });

  test.each([
    'filename !!!!',
    'filename bm90ZQ',
    'filename bm90ZQ== x',
    'fil\tename bm90ZQ==',
    'filename bm90ZQ==,,',
    'filename bm90ZQ==,filename bm90ZQ==',
    'filename /w==',
  ])('is metadata like %p', async (metadata) => {
    const headers = { 'Upload-Metadata': metadata };
    const answer = await tus.begin(3, {}, { headers });
    expectRefused(answer, 422, 'Upload-Metadata');
    expect(answer.text).not.toContain('bm90ZQ');
  });

  test('is metadata of more than 4,096 characters', async () => {
    const most = { 'Upload-Metadata': `xxx ${'AAAA'.repeat(1_023)}` };
    expect((await tus.begin(3, {}, { headers: most })).status).toBe(201);
    const more = { 'Upload-Metadata': `xxxx ${'AAAA'.repeat(1_023)}` };
    expectRefused(await tus.begin(3, {}, { headers: more }), 422, 'Upload-Metadata');
  });

  test.each(['', 'filename', 'filename ', 'is_confidential,filename bm90ZQ==', 'a YQ== , b Yg=='])(
    'is not metadata like %p',
    async (metadata) => {
      expect((await tus.begin(3, {}, { headers: { 'Upload-Metadata': metadata } })).status).toBe(201);
    },
  );

  test.each([
    [{ visibility: 'secret' }, 'visibility'],
    [{ expires_in_days: '0' }, 'expires_in_days'],
    [{ expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
  ])('is a field like %p, before a byte is sent', async (fields, field) => {
    expectRefused(await tus.begin(3, fields), 422, field);
  });

  test('is a part of another type, at another offset, without one, or beyond the length; none of it is kept', async () => {
    const path = await begun(5);
    await tus.send(path, 0, 'ab');
    expectRefused(await tus.send(path, 2, 'cde', { 'Content-Type': 'text/plain' }), 415);
    for (const offset of [0, 1, 3, 5]) expectRefused(await tus.send(path, offset, 'c'), 409);
    for (const offset of ['', 'x', '-2'])
      expectRefused(await tus.send(path, 2, 'c', { 'Upload-Offset': offset }), 422, 'Upload-Offset');
    expectRefused(await tus.send(path, 2, 'cdef'), 413);
    expect(await tus.offset(path)).toBe(2);
    expect((await tus.send(path, 2, 'cde')).headers.get('satchel-object')).toMatch(/./);
  });

  test('is what a key lacks the permission for; one that may only upload does all of it', async () => {
    const path = await begun(2);
    for (const fields of [{ can_read: true }, { can_write: true, permissions: { upload: false } }]) {
      const powerless = new Tus(app, await project.key(fields));
      const is_powerless = fields.can_read === true;
      expect((await powerless.begin(2)).status).toBe(is_powerless ? 403 : 201);
      expect((await powerless.look(path)).status).toBe(is_powerless ? 403 : 404);
    }
    const page = new Tus(app, await project.key({ permissions: { upload: true } }));
    const its = await page.path(2);
    expect((await page.send(its, 0, 'ab')).headers.get('satchel-object')).toMatch(/./);
    expect((await page.end(its)).status).toBe(204);
  });

  test('is another key’s upload, as one that is not there: of the same project too', async () => {
    const path = await begun(3);
    const absent = path.replace(/.{26}$/, '01ARZ3NDEKTSV4RRFFQ69G5FAV');
    const others = [await project.key(), await (await makeProject(app, `other${count}`)).key()];
    for (const other of others.map((each) => new Tus(app, each)))
      for (const ask of [other.look, other.end, (at: string) => other.send(at, 0, 'abc')]) {
        const [foreign, missing] = [await ask.call(other, path), await ask.call(other, absent)];
        expectRefused(foreign, 404);
        expect(foreign.text).toBe(missing.text);
      }
    expect(await tus.offset(path)).toBe(0);
  });

  test('is what comes after the key was revoked or the project went inactive', async () => {
    const path = await begun(4);
    await tus.send(path, 0, 'ab');
    await app.services.projects.update(actor, app.services.projects.require(project.slug), {
      status: 'inactive',
    });
    for (const answer of [await tus.look(path), await tus.send(path, 2, 'cd'), await tus.end(path)])
      expectRefused(answer, 401);
    await app.services.projects.update(actor, app.services.projects.require(project.slug), {
      status: 'active',
    });
    expect(await tus.offset(path)).toBe(2);
  });

  test('is a type that is not allowed, once the bytes show it, and nothing stays', async () => {
    const strict = await startTestApp({ env: { SATCHEL_ALLOWED_MIME_TYPES: 'image/png' } });
    const client = new Tus(strict, await (await makeProject(strict)).key());
    expectRefused(await client.begin(5, { filetype: 'image/svg+xml' }), 422, 'filetype');
    const path = await client.path(5, { filetype: 'image/png' });
    const answer = await client.send(path, 0, '<svg>');
    expectRefused(answer, 422, 'file');
    expect((await client.look(path)).status).toBe(404);
    expect(existsSync(strict.services.blobs.path(idOf(path)))).toBe(false);
    await strict.stop();
  });

  test('is more than fifty unfinished uploads of a key; finished, ended and expired ones do not count', async () => {
    for (let n = 0; n < MAX_UNFINISHED_UPLOADS - 1; n += 1) await begun(1);
    const last = await begun(1);
    const refused = await tus.begin(1);
    expectRefused(refused, 429);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    expect((await new Tus(app, await project.key()).begin(1)).status).toBe(201);
    await tus.send(last, 0, 'x');
    const other = await begun(1);
    expectRefused(await tus.begin(1), 429);
    await tus.end(other);
    await begun(1);
    app.clock.advance(UNFINISHED_UPLOAD_MS);
    expect((await tus.begin(1)).status).toBe(201);
  });

  test('is more than the uploads of a minute, those by form counted along', async () => {
    const slow = await startTestApp({ env: { SATCHEL_UPLOADS_PER_MINUTE: '2' } });
    const slow_key = await (await makeProject(slow)).key();
    const body = new FormData();
    body.set('file', new Blob(['x']), 'a');
    await slow.call('POST', '/api/v1/objects', { key: slow_key, body });
    const client = new Tus(slow, slow_key);
    expect((await client.begin(1)).status).toBe(201);
    expectRefused(await client.begin(1), 429);
    await slow.stop();
  });

  test('is what the disk has no room for, all that was promised counted', async () => {
    const large = await startTestApp({ env: { SATCHEL_MAX_UPLOAD_BYTES: String(2 ** 40) } });
    const client = new Tus(large, await (await makeProject(large)).key());
    const { bavail, bsize } = (await import('node:fs')).statfsSync(large.data_dir);
    const most = Math.floor((bavail * bsize * 2) / 3);
    const path = await client.path(most);
    expectRefused(await client.begin(most), 503);
    await client.end(path);
    expect((await client.begin(most)).status).toBe(201);
    await large.stop();
  });
});

describe('a checksum', () => {
  const hashOf = (algorithm: string, text: string): string =>
    `${algorithm} ${createHash(algorithm).update(text).digest('base64')}`;

  test.each(['sha1', 'sha256', 'md5'])('of %s is compared', async (algorithm) => {
    const path = await begun(6);
    const good = await tus.send(path, 0, 'abc', { 'Upload-Checksum': hashOf(algorithm, 'abc') });
    expect([good.status, good.headers.get('upload-offset')]).toEqual([204, '3']);
    const bad = await tus.send(path, 3, 'dXf', { 'Upload-Checksum': hashOf(algorithm, 'def') });
    expectRefused(bad, 460);
    expect([await tus.offset(path), statSync(fileOf(path)).size]).toEqual([3, 3]);
    const again = await tus.send(path, 3, 'def', { 'Upload-Checksum': hashOf(algorithm, 'def') });
    const id = again.headers.get('satchel-object') ?? '';
    expect(app.services.objects.requireAny(id).sha256).toBe(
      createHash('sha256').update('abcdef').digest('hex'),
    );
  });

  test('that is wrong takes back what of a large part was on the disk already', async () => {
    const path = await begun(900_000);
    await tus.send(path, 0, 'abc');
    const part = new Uint8Array(700_000);
    expectRefused(await tus.send(path, 3, part, { 'Upload-Checksum': hashOf('sha1', 'other') }), 460);
    expect([await tus.offset(path), statSync(fileOf(path)).size]).toEqual([3, 3]);
  });

  test('of another algorithm is 400, and one that is none 422', async () => {
    const path = await begun(3);
    expectRefused(await tus.send(path, 0, 'abc', { 'Upload-Checksum': 'crc32 AAAA' }), 400);
    for (const value of ['sha1', 'sha1 ', 'sha1 !!', 'sha1 AAAA BBBB'])
      expectRefused(await tus.send(path, 0, 'abc', { 'Upload-Checksum': value }), 422, 'Upload-Checksum');
    expect(await tus.offset(path)).toBe(0);
  });
});

describe('the end', () => {
  test('removes what came, and is 404 from then on', async () => {
    const path = await begun(3);
    await tus.send(path, 0, 'ab');
    expect(existsSync(fileOf(path))).toBe(true);
    const answer = await tus.end(path);
    expect([answer.status, answer.text, answer.headers.get('tus-resumable')]).toEqual([204, '', '1.0.0']);
    expect([existsSync(fileOf(path)), rowsOf(path)]).toEqual([false, 0]);
    for (const after of [await tus.look(path), await tus.send(path, 2, 'c'), await tus.end(path)])
      expectRefused(after, 404);
  });

  test('of a finished upload leaves its file', async () => {
    const path = await begun(2);
    const id = (await tus.send(path, 0, 'ab')).headers.get('satchel-object') ?? '';
    expect((await tus.end(path)).status).toBe(204);
    expect((await app.call('GET', `/api/v1/objects/${id}`, { key })).text).toBe('ab');
  });

  test('comes by itself after 24 hours: 404 at once, and swept with its bytes; a finished one is told of as long', async () => {
    const path = await begun(3);
    const whole = await begun(2);
    await tus.send(path, 0, 'ab');
    app.clock.advance(UNFINISHED_UPLOAD_MS - 1);
    const id = (await tus.send(whole, 0, 'ab')).headers.get('satchel-object') ?? '';
    expect(await tus.offset(path)).toBe(2);
    app.clock.advance(1);
    for (const answer of [await tus.look(path), await tus.send(path, 2, 'c'), await tus.end(path)])
      expectRefused(answer, 404);
    expect((await tus.look(whole)).headers.get('satchel-object')).toBe(id);
    await app.services.uploads.sweep();
    expect([existsSync(fileOf(path)), rowsOf(path), rowsOf(whole)]).toEqual([false, 0, 1]);
    app.clock.advance(UNFINISHED_UPLOAD_MS);
    await app.services.uploads.sweep();
    expect([rowsOf(whole), existsSync(fileOf(whole))]).toEqual([0, true]);
  });

  test('of the project takes what came along', async () => {
    const path = await begun(3);
    await tus.send(path, 0, 'ab');
    await app.services.projects.remove(actor, project.slug);
    expect([existsSync(fileOf(path)), rowsOf(path)]).toEqual([false, 0]);
  });

  test('the sweep of bytes without a row leaves what came of unfinished uploads', async () => {
    const path = await begun(3);
    await tus.send(path, 0, 'ab');
    const { blobs, objects } = app.services;
    const isLeftover = blobs.isLeftover;
    blobs.isLeftover = () => true;
    await objects.sweepOrphans();
    expect(await tus.offset(path)).toBe(2);
    await app.services.database.write((tx) => tx.run(sql`DELETE FROM uploads WHERE id = ${idOf(path)}`));
    await objects.sweepOrphans();
    blobs.isLeftover = isLeftover;
    expect(existsSync(fileOf(path))).toBe(false);
  });
});
