/** What a client sees of objects is the same wherever their bytes are: in files, in the database, or in an S3 store. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { sql } from 'drizzle-orm';
import { DAY_MS } from '../../../src/platform/host/clock.ts';
import {
  actor,
  type CallOptions,
  makeProject,
  moveToFiles,
  startTestApp,
  type TestApp,
} from '../../support/helpers.ts';
import { part } from '../../support/parts.ts';
import { type S3Server, startS3Server } from '../../support/s3-server.ts';
import { until } from '../../support/until.ts';

const versitygw = part('versitygw');
const MIB = 1024 * 1024;
const PREFIX = 'shop/live';

let server: S3Server;
beforeAll(async () => {
  if (versitygw !== null) server = await startS3Server();
});

describe.each(['local', 'database', 's3'])('objects in the store %s', (store) => {
  const skip = store === 's3' && versitygw === null;
  let app: TestApp;
  let key = '';

  beforeAll(async () => {
    if (skip) return;
    const more = store === 's3' ? server.env(PREFIX) : {};
    app = await startTestApp({ env: { SATCHEL_MAX_UPLOAD_BYTES: String(40 * MIB), ...more } });
    key = await (await makeProject(app)).key();
  });

  /** Numbers of rows that may be gone. */
  const numbers = new Map<string, number>();
  const hasBytes = (id: string): boolean => {
    if (store === 's3') return server.idsIn(PREFIX).includes(id);
    const number = numbers.get(id) ?? 0;
    const held = app.services.database.read.values(
      sql`SELECT 1 FROM object_contents WHERE object_id = ${number} UNION ALL SELECT 1 FROM pinned_contents`,
    );
    return store === 'local' ? existsSync(app.services.blobs.path(id)) : held.length > 0;
  };
  const get = (id: string, options: CallOptions = {}) =>
    app.call('GET', `/api/v1/objects/${id}`, { key, ...options });

  async function upload(bytes: Uint8Array<ArrayBuffer> | string, fields: Record<string, string> = {}) {
    const form = new FormData();
    for (const [field, value] of Object.entries(fields)) form.set(field, value);
    form.set('file', new Blob([bytes], { type: 'text/plain' }), 'a.txt');
    const answer = await app.call('POST', '/api/v1/objects', { key, body: form });
    expect([answer.status, answer.text]).toEqual([201, expect.anything()]);
    return settle(String(answer.body.public_id));
  }

  /** Has it where it belongs: what is small goes into the database first. */
  async function settle(id: string): Promise<string> {
    numbers.set(id, app.services.objects.requireAny(id).id);
    if (store === 'local') await moveToFiles(app);
    return id;
  }

  test.skipIf(skip)('come back as they went, of every size at which parts begin and end', async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(65_536));
    for (const size of [0, 1, 65_535, 65_536, 65_537, 8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 17 * MIB]) {
      const whole = new Uint8Array(size);
      for (let at = 0; at < size; at += bytes.length) whole.set(bytes.subarray(0, size - at), at);
      const id = await upload(whole, { visibility: 'public' });
      const back = await fetch(`${app.url}/api/v1/objects/${id}`);
      const got = await back.bytes();
      expect([size, back.status, got.length, Bun.hash(got)]).toEqual([size, 200, size, Bun.hash(whole)]);
      const is_large = store === 'database' && size > 65_536;
      expect([size, hasBytes(id)]).toEqual([size, !is_large]);
      if (is_large) expect(app.services.objects.requireAny(id).store).toBe('local');
    }
  });

  test.skipIf(skip)('say in their record where they are', async () => {
    const id = await upload('hello');
    const row = app.services.objects.requireAny(id);
    expect(app.services.objects.describe(row, { public_id: 'x' })).toMatchObject({ store, size_bytes: 5 });
  });

  test.skipIf(skip)('answer ranges, conditions and HEAD', async () => {
    const id = await upload('hello world');
    for (const [range, status, text, content_range] of [
      ['bytes=0-4', 206, 'hello', 'bytes 0-4/11'],
      ['bytes=6-', 206, 'world', 'bytes 6-10/11'],
      ['bytes=-5', 206, 'world', 'bytes 6-10/11'],
      ['bytes=10-99', 206, 'd', 'bytes 10-10/11'],
      ['bytes=0-0', 206, 'h', 'bytes 0-0/11'],
      ['bytes=11-', 416, undefined, 'bytes */11'],
      ['bytes=0-1,3-4', 200, 'hello world', null],
    ] as const) {
      const answer = await get(id, { headers: { Range: range } });
      expect([range, answer.status, answer.headers.get('content-range')]).toEqual([
        range,
        status,
        content_range,
      ]);
      if (text !== undefined) expect(answer.text).toBe(text);
    }
    const etag = (await get(id)).headers.get('etag') ?? '';
    expect((await get(id, { headers: { 'If-None-Match': etag } })).status).toBe(304);
    expect((await get(id, { headers: { 'If-Match': '"other"' } })).status).toBe(412);
    const head = await fetch(`${app.url}/api/v1/objects/${id}`, {
      method: 'HEAD',
      headers: { 'X-API-Key': key },
    });
    expect([head.status, head.headers.get('content-length'), head.headers.get('etag')]).toEqual([
      200,
      '11',
      etag,
    ]);
  });

  test.skipIf(skip)('are fetched by a signed link', async () => {
    const id = await upload('by link');
    const { body } = await app.call('POST', `/api/v1/objects/${id}/links`, {
      key,
      body: { expires_in_seconds: 60 },
    });
    const path = new URL(String(body.url)).pathname;
    const answer = await app.call('GET', path);
    expect([answer.status, answer.text, answer.headers.get('cache-control')]).toEqual([
      200,
      'by link',
      'private',
    ]);
  });

  test.skipIf(skip)('go when they are deleted or expire, and with their project', async () => {
    const deleted = await upload('to delete');
    expect((await app.call('DELETE', `/api/v1/objects/${deleted}`, { key })).status).toBe(200);
    expect((await get(deleted)).status).toBe(404);
    await until(() => !hasBytes(deleted));
    const other = await makeProject(app, 'other');
    const form = new FormData();
    form.set('file', new Blob(['theirs']), 'b.txt');
    const theirs = await app.call('POST', '/api/v1/objects', { key: await other.key(), body: form });
    const id = await settle(String(theirs.body.public_id));
    expect(hasBytes(id)).toBe(true);
    await app.services.projects.remove(actor, other.slug);
    await until(() => !hasBytes(id));
    const expiring = await upload('to expire', { expires_in_days: '1' });
    app.clock.advance(2 * DAY_MS);
    await app.services.objects.sweepExpired();
    await until(() => !hasBytes(expiring));
    await until(() => app.services.database.read.values(sql`SELECT 1 FROM store_removals`).length === 0);
  });

  test.skipIf(skip)('refused uploads leave nothing', async () => {
    const before = store === 's3' ? server.idsIn(PREFIX).length : 0;
    const form = new FormData();
    form.set('visibility', 'nonsense');
    form.set('file', new Blob([new Uint8Array(9 * MIB)]), 'a.bin');
    expect((await app.call('POST', '/api/v1/objects', { key, body: form })).status).toBe(422);
    if (store === 's3') await until(() => server.idsIn(PREFIX).length === before);
  });
});
