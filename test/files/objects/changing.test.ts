/** PATCH of an object: what may be changed, what is refused, and that a refusal changes nothing. */
import { beforeEach, describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../../src/platform/host/clock.ts';
import { type CallOptions, makeProject, startTestApp } from '../../support/helpers.ts';

const app = await startTestApp();
const project = await makeProject(app, 'changing');
const key = await project.key({ can_read: true, can_write: true });
let url = '';
let before: Record<string, unknown> = {};

beforeEach(async () => {
  before = await upload({ expires_in_days: '10' });
  url = `/api/v1/objects/${String(before.public_id)}`;
});

async function upload(fields: Record<string, string>): Promise<Record<string, unknown>> {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', new Blob(['hello'], { type: 'text/plain' }), 'note.txt');
  const answer = await app.call('POST', '/api/v1/objects', { key, body: form });
  expect(answer.status).toBe(201);
  return answer.body;
}

const change = (body: unknown, options: CallOptions = {}) =>
  app.call('PATCH', url, { key, body, ...options });
const totals = async () =>
  Promise.all(
    ['', '?visibility=public', '?visibility=private'].map(async (query) => {
      const { meta } = (await app.call('GET', `/api/v1/objects${query}`, { key })).body;
      return meta instanceof Object && 'total' in meta ? Number(meta.total) : Number.NaN;
    }),
  );
const inDays = (days: number) => new Date(app.clock.now() + days * DAY_MS).toISOString();

describe('a change', () => {
  test('answers the record of the upload, and the name', async () => {
    const answer = await change({ original_filename: 'b.txt' });
    expect([answer.status, answer.body]).toEqual([200, { ...before, original_filename: 'b.txt' }]);
  });

  test('of visibility opens and closes the file, and the lists follow', async () => {
    const [all = 0, open = 0, closed = 0] = await totals();
    expect((await app.call('GET', url)).status).toBe(401);
    expect((await change({ visibility: 'public' })).body).toMatchObject({ visibility: 'public' });
    const got = await app.call('GET', url);
    expect([got.status, got.text, got.headers.get('cache-control')]).toEqual([
      200,
      'hello',
      `public, max-age=${(10 * DAY_MS) / 1000}`,
    ]);
    expect(await totals()).toEqual([all, open + 1, closed - 1]);
    await change({ visibility: 'public' });
    expect(await totals()).toEqual([all, open + 1, closed - 1]);
    await change({ visibility: 'private' });
    expect((await app.call('GET', url)).status).toBe(401);
    expect(await totals()).toEqual([all, open, closed]);
  });

  test.each([
    ['../../über "x".pdf', 'über "x".pdf'],
    ['  a b  ', '  a b  '],
    ['a\r\nb\0.txt', 'ab.txt'],
    ['../..', 'file'],
    [`${'a'.repeat(300)}.txt`, `${'a'.repeat(251)}.txt`],
  ])('of the name to %j gives %j, also to who downloads it', async (original_filename, expected) => {
    expect((await change({ original_filename })).body).toMatchObject({ original_filename: expected });
    const got = await app.call('GET', url, { key });
    expect(got.headers.get('content-disposition')).toContain(
      `filename*=UTF-8''${encodeURIComponent(expected)}`,
    );
  });

  test('of the expiry counts from now, and null is never', async () => {
    app.clock.advance(DAY_MS);
    expect((await change({ expires_in_days: 3 })).body).toMatchObject({ expires_at: inDays(3) });
    app.clock.advance(2 * DAY_MS);
    expect((await change({ expires_in_days: null })).body).toMatchObject({ expires_at: null });
    app.clock.advance(30 * DAY_MS);
    expect((await app.call('GET', url, { key })).status).toBe(200);
    expect((await change({ expires_in_days: 3650 })).body).toMatchObject({ expires_at: inDays(3650) });
  });

  test('of nothing, and of what nobody knows, changes nothing', async () => {
    const same = { ...before, original_filename: 'note.txt' };
    expect((await change({})).body).toEqual(same);
    const unknown = await change({ mime_type: 'text/html', public_id: 'x', size_bytes: 1 });
    expect([unknown.status, unknown.body]).toEqual([200, same]);
    expect(unknown.headers.get('warning')).toBe(
      '299 satchel "ignored fields: mime_type, public_id, size_bytes"',
    );
  });
});

describe('refused is', () => {
  test.each([
    ['visibility', { visibility: null }],
    ['visibility', { visibility: 'secret' }],
    ['original_filename', { original_filename: null }],
    ['original_filename', { original_filename: '' }],
    ['original_filename', { original_filename: 5 }],
    ['expires_in_days', { expires_in_days: 0 }],
    ['expires_in_days', { expires_in_days: 3651 }],
    ['expires_in_days', { expires_in_days: 1.5 }],
    ['expires_in_days', { expires_in_days: '3' }],
  ])('a wrong %s: %j, with all else that was sent beside it', async (field, wrong) => {
    const all = await change({ original_filename: 'b.txt', visibility: 'public', ...wrong });
    expect([all.status, Object.keys(all.body.errors ?? {})]).toEqual([422, [field]]);
    expect((await change({})).body).toEqual({ ...before, original_filename: 'note.txt' });
  });

  test('an object that is not there, has expired, or is of another project: 404 before 422', async () => {
    const foreign = await (await makeProject(app, `other-${String(before.public_id).toLowerCase()}`)).key({
      can_write: true,
    });
    const missing = await app.call('PATCH', '/api/v1/objects/01ARZ3NDEKTSV4RRFFQ69G5FAV', {
      key,
      body: { visibility: null },
    });
    const cross = await change({ visibility: null }, { key: foreign });
    expect([missing.status, cross.status, cross.text]).toEqual([404, 404, missing.text]);
    app.clock.advance(11 * DAY_MS);
    expect((await change({ expires_in_days: null })).status).toBe(404);
  });

  test('a caller without a key, or whose key does not write', async () => {
    const reader = await project.key({ can_read: true, permissions: { upload: true } });
    expect((await app.call('PATCH', url, { body: { visibility: 'public' } })).status).toBe(401);
    expect((await change({ visibility: 'public' }, { key: reader })).status).toBe(403);
    expect((await change({})).body).toMatchObject({ visibility: 'private' });
  });
});
