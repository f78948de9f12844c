/** Resumable uploads that break off: clients that go, requests beside one another, restarts, crashes, a store that is away. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { appendFileSync, copyFileSync, existsSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { doctorDeps } from '../../../src/app/checks.ts';
import { UPLOAD_IDLE_TIMEOUT_MS } from '../../../src/limits.ts';
import { BackupReader } from '../../../src/operation/backups/format.ts';
import { backUp } from '../../../src/operation/backups/making.ts';
import { examine } from '../../../src/operation/doctor/service.ts';
import { systemClock } from '../../../src/platform/host/clock.ts';
import { run } from '../../support/command.ts';
import { actor, makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';
import { part } from '../../support/parts.ts';
import { refusal, type S3Server, startS3Server } from '../../support/s3-server.ts';
import { makeTempDir } from '../../support/temp.ts';
import { until } from '../../support/until.ts';
import { Tus } from './tus.ts';

const MIB = 1024 * 1024;
const ENV = { SATCHEL_MAX_UPLOAD_BYTES: String(100 * MIB) };

const idOf = (path: string): string => path.split('/').at(-1) ?? '';
const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');
const randomBytes = (size: number): Buffer => {
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  return bytes;
};

interface Stage {
  app: TestApp;
  /** Bytes of the part from an offset on that have come. */
  came(path: string, from?: number): number;
  tus: Tus;
  key: string;
}

async function start(options: Parameters<typeof startTestApp>[0] = {}): Promise<Stage> {
  const app = await startTestApp({ ...options, env: { ...ENV, ...options.env } });
  const key = await (await makeProject(app)).key();
  return { app, key, tus: new Tus(app, key), came: watch(app.services) };
}

/** The same data directory under another server. */
async function restart({ app, key }: Stage, env: Record<string, string> = {}): Promise<Stage> {
  await app.stop();
  const again = await startTestApp({ data_dir: app.data_dir, clock: app.clock, env: { ...ENV, ...env } });
  return { app: again, key, tus: new Tus(again, key), came: watch(again.services) };
}

/** Bytes of the part from an offset on that have come; an upload that is on its way to the disk is looked at for that. */
function watch({ blobs }: TestApp['services']): (path: string, from?: number) => number {
  const latest = new Map<string, { size_bytes: number }>();
  const original = blobs.continueUpload.bind(blobs);
  blobs.continueUpload = (id, options) => {
    const upload = original(id, options);
    latest.set(`${id} ${options.from}`, upload);
    return upload;
  };
  return (path, from = 0) => latest.get(`${idOf(path)} ${from}`)?.size_bytes ?? 0;
}

/** Has every key refused, or accepted again. */
const setActive = (app: TestApp, is_active: boolean): Promise<void> =>
  app.services.database.write((tx) => {
    tx.run(sql`UPDATE api_keys SET is_active = ${Number(is_active)}`);
  });

const fileOf = (app: TestApp, path: string): string => app.services.blobs.path(idOf(path));
/** Says what a crash may leave: any offset beside any file. */
const setOffset = (app: TestApp, path: string, offset: number): Promise<void> =>
  app.services.database.write((tx) => {
    tx.run(sql`UPDATE uploads SET offset_bytes = ${offset} WHERE id = ${idOf(path)}`);
  });
const objectOf = async ({ tus }: Stage, path: string): Promise<string | null> =>
  (await tus.look(path)).headers.get('satchel-object');

let stage: Stage;
beforeAll(async () => {
  stage = await start();
});

describe('a part that breaks off', () => {
  test('leaves what came, from where the upload goes on to the same file', async () => {
    const { app, tus, came } = stage;
    const bytes = randomBytes(700_000);
    const path = await tus.path(bytes.length);
    const cut = await tus.open(path, 0, bytes.length);
    cut.write(bytes.subarray(0, 300_001));
    await until(() => came(path) > 0);
    cut.breakOff();
    await until(async () => (await tus.offset(path)) > 0);
    const offset = await tus.offset(path);
    expect(statSync(fileOf(app, path)).size).toBe(offset);
    const last = await tus.send(path, offset, bytes.subarray(offset));
    const id = last.headers.get('satchel-object') ?? '';
    expect(app.services.objects.requireAny(id)).toMatchObject({ size_bytes: 700_000, sha256: sha256(bytes) });
  });

  test('leaves nothing where it has a checksum', async () => {
    const { app, tus, came } = stage;
    const path = await tus.path(10);
    await tus.send(path, 0, 'ab');
    const checksum = { 'Upload-Checksum': `sha1 ${createHash('sha1').update('cdefgh').digest('base64')}` };
    const cut = await tus.open(path, 2, 6, checksum);
    cut.write('cde');
    await until(() => came(path, 2) > 0);
    cut.breakOff();
    await until(async () => (await tus.send(path, 2, '')).status === 204);
    expect([await tus.offset(path), statSync(fileOf(app, path)).size]).toEqual([2, 2]);
  });

  test('as the key is revoked is not kept', async () => {
    const { app, tus, came } = await start();
    const path = await tus.path(6);
    const slow = await tus.open(path, 0, 6);
    slow.write('abc');
    await until(() => came(path) > 0);
    await setActive(app, false);
    slow.write('def');
    expect(await slow.status()).toBe(401);
    await setActive(app, true);
    expect(await tus.offset(path)).toBe(0);
    await app.stop();
  });

  test('as the key is revoked goes on later from what was kept of it, and the file has its hash', async () => {
    const on = await start();
    const bytes = randomBytes(18 * MIB);
    const path = await on.tus.path(bytes.length);
    const slow = await on.tus.open(path, 0, bytes.length);
    slow.write(bytes.subarray(0, 17 * MIB));
    await until(async () => (await on.tus.offset(path)) > 0 && on.came(path, await on.tus.offset(path)) > 0);
    await setActive(on.app, false);
    slow.write(bytes.subarray(17 * MIB));
    expect(await slow.status()).toBe(401);
    await setActive(on.app, true);
    const offset = await on.tus.offset(path);
    expect(offset).toBeWithin(16 * MIB, 18 * MIB);
    await on.tus.send(path, offset, bytes.subarray(offset));
    expect(on.app.services.objects.requireAny((await objectOf(on, path)) ?? '').sha256).toBe(sha256(bytes));
    await on.app.stop();
  });
});

describe('beside a part that still comes', () => {
  test('another one is 409, and HEAD tells what is durable', async () => {
    const { tus, came } = stage;
    const path = await tus.path(6);
    await tus.send(path, 0, 'a');
    const slow = await tus.open(path, 1, 5);
    slow.write('bc');
    await until(() => came(path, 1) > 0);
    expect((await tus.send(path, 1, 'bcdef')).status).toBe(409);
    expect(await tus.offset(path)).toBe(1);
    slow.write('def');
    expect([await slow.status(), (await objectOf(stage, path)) !== null]).toEqual([204, true]);
  });

  test('whose client has gone without a word, another one goes on soon', async () => {
    const { tus, came } = stage;
    const path = await tus.path(6);
    const gone = await tus.open(path, 0, 6);
    gone.write('abc');
    await until(() => came(path) > 0);
    // Long before it is silent for too long.
    await until(async () => (await tus.offset(path)) === 3, UPLOAD_IDLE_TIMEOUT_MS - 5_000);
    expect((await tus.send(path, 3, 'def')).headers.get('satchel-object')).toMatch(/./);
    expect(await gone.status()).toBe(503);
  });

  test('the end of the upload ends it', async () => {
    const { app, tus, came } = stage;
    const path = await tus.path(6);
    const slow = await tus.open(path, 0, 6);
    slow.write('abc');
    await until(() => came(path) > 0);
    // Each part finds it gone, rather than being told to go on.
    const answers = [
      tus.send(path, 0, 'abc'),
      tus.end(path),
      tus.send(path, 0, 'abc'),
      tus.send(path, 0, 'abcdef'),
    ];
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect([statuses[1], await slow.status()]).toEqual([204, 404]);
    for (const status of statuses.toSpliced(1, 1)) expect(status).toBeOneOf([404, 409]);
    expect([existsSync(fileOf(app, path)), (await tus.look(path)).status]).toEqual([false, 404]);
  });

  test('the end of the project ends it', async () => {
    const { app, tus, came } = await start();
    const path = await tus.path(6);
    const slow = await tus.open(path, 0, 6);
    slow.write('abc');
    await until(() => came(path) > 0);
    await app.services.projects.remove(actor, 'shop');
    expect([await slow.status(), existsSync(fileOf(app, path))]).toEqual([401, false]);
    await app.stop();
  });

  test('the end of the upload, as its file is made, has none made', async () => {
    const { app, tus } = await start();
    const path = await tus.path(6);
    const { objects, database } = app.services;
    const create = objects.create.bind(objects);
    objects.create = async (...given) => {
      await database.write((tx) => {
        tx.run(sql`DELETE FROM uploads`);
      });
      return create(...given);
    };
    expect((await tus.send(path, 0, 'abcdef')).status).toBe(404);
    expect(database.read.values(sql`SELECT count(*) FROM objects`)).toEqual([[0]]);
    await app.stop();
  });

  test('whoever asks as the last one is made a file of is told the same file', async () => {
    const { tus } = stage;
    const path = await tus.path(3);
    const answers = await Promise.all([tus.send(path, 0, 'abc'), tus.look(path), tus.look(path)]);
    const told = new Set(
      answers.map(({ headers }) => headers.get('satchel-object')).filter((id) => id !== null),
    );
    expect(told.size).toBe(1);
  });
});

describe('a restart', () => {
  test('keeps what a part under way has brought, and the file has its hash', async () => {
    const first = await start();
    const bytes = randomBytes(500_000);
    const path = await first.tus.path(bytes.length, { filename: 'a.bin' });
    await first.tus.send(path, 0, bytes.subarray(0, 100_000));
    const slow = await first.tus.open(path, 100_000, 400_000);
    slow.write(bytes.subarray(100_000, 200_000));
    await until(() => first.came(path, 100_000) > 0);
    const second = await restart(first);
    expect(await slow.status()).toBeOneOf([503, 0]);
    const offset = await second.tus.offset(path);
    expect(offset).toBeGreaterThan(100_000);
    await second.tus.send(path, offset, bytes.subarray(offset));
    const id = (await objectOf(second, path)) ?? '';
    expect(second.app.services.objects.requireAny(id)).toMatchObject({
      ...{ original_filename: 'a.bin', sha256: sha256(bytes) },
    });
    await second.app.stop();
  });

  test('after a crash behind a write goes on from the row: what stands behind it is nothing', async () => {
    const first = await start();
    const text = Buffer.from('abcdüf');
    const path = await first.tus.path(text.length, { filetype: 'text/plain' });
    await first.tus.send(path, 0, 'abc');
    await first.app.stop();
    appendFileSync(fileOf(first.app, path), 'XXXXXXXXXXXX');
    const second = await restart(first);
    expect(await second.tus.offset(path)).toBe(3);
    expect((await second.tus.send(path, 3, 'd')).headers.get('upload-offset')).toBe('4');
    expect(statSync(fileOf(second.app, path)).size).toBe(4);
    const last = await second.tus.send(path, 4, text.subarray(4));
    const id = last.headers.get('satchel-object') ?? '';
    const answer = await second.app.call('GET', `/api/v1/objects/${id}`, { key: second.key });
    expect([answer.text, answer.headers.get('content-type')]).toEqual([
      'abcdüf',
      'text/plain; charset=utf-8',
    ]);
    await second.app.stop();
  });

  test('finishes what was whole, of no bytes too, but not of a key that may not any more, nor what is refused', async () => {
    const first = await start({ env: { SATCHEL_ALLOWED_MIME_TYPES: 'text/plain' } });
    const revoked = new Tus(first.app, await (await makeProject(first.app, 'revoked')).key());
    const whole = async (tus: Tus, begin: string, end: string): Promise<string> => {
      const path = await tus.path(begin.length + end.length);
      await tus.send(path, 0, begin);
      appendFileSync(fileOf(first.app, path), end);
      await setOffset(first.app, path, begin.length + end.length);
      return path;
    };
    const path = await whole(first.tus, 'abc', 'def');
    const refused = await whole(first.tus, '%PDF', '-1.7');
    const of_revoked = await whole(revoked, 'abc', 'def');
    const empty = await first.tus.path(1, { filetype: 'text/plain' });
    await first.app.services.database.write((tx) => {
      tx.run(sql`UPDATE uploads SET size_bytes = 0 WHERE id = ${idOf(empty)}`);
      tx.run(sql`UPDATE api_keys SET is_active = 0 WHERE id = (SELECT max(id) FROM api_keys)`);
    });
    const second = await restart(first, { SATCHEL_ALLOWED_MIME_TYPES: 'text/plain' });
    const { read } = second.app.services.database;
    const rowOf = (at: string) =>
      read.all<{ object_id: string | null }>(sql`SELECT object_id FROM uploads WHERE id = ${idOf(at)}`);
    await until(() => rowOf(refused).length === 0 && typeof rowOf(empty)[0]?.object_id === 'string');
    expect(rowOf(of_revoked)).toEqual([{ object_id: null }]);
    expect([existsSync(fileOf(second.app, refused)), existsSync(fileOf(second.app, of_revoked))]).toEqual([
      false,
      true,
    ]);
    const object = second.app.services.objects.requireAny((await objectOf(second, path)) ?? '');
    expect(object.sha256).toBe(sha256('abcdef'));
    await second.app.stop();
  });

  test('without the bytes that the row tells of has lost the upload: 404, and it counts no more', async () => {
    const first = await start();
    const path = await first.tus.path(6);
    await first.tus.send(path, 0, 'abc');
    await first.app.stop();
    truncateSync(fileOf(first.app, path), 2);
    const second = await restart(first);
    for (const answer of [await second.tus.look(path), await second.tus.send(path, 3, 'def')])
      expect(answer.status).toBe(404);
    // The sweep of the start is at it too.
    await second.app.services.uploads.sweep();
    await until(() => !existsSync(fileOf(second.app, path)));
    expect(second.app.services.database.read.all(sql`SELECT id FROM uploads`)).toEqual([]);
    await second.app.stop();
  });
});

describe('unfinished uploads', () => {
  test('are no finding of doctor and in no backup, and what is restored knows none', async () => {
    const { app, tus, key } = await start();
    const path = await tus.path(6);
    await tus.send(path, 0, 'abc');
    const whole = await tus.path(2);
    const id = (await tus.send(whole, 0, 'ab')).headers.get('satchel-object');
    const found = await examine(app.config, doctorDeps(systemClock));
    expect(found.filter(({ check }) => check === 'objects')).toEqual([
      expect.objectContaining({ status: 'ok', message: 'Stored: 1, each with its bytes.' }),
    ]);
    const file = join(makeTempDir(), 'a.backup');
    expect(await backUp(app.data_dir, { file, clock: systemClock })).toMatchObject({
      objects: 1,
      left_out: [],
    });
    const reader = new BackupReader(file);
    const names: string[] = [];
    for (let entry = await reader.next(); entry; entry = await reader.next()) {
      names.push(entry.name);
      await reader.read(() => {});
    }
    reader.close();
    expect([
      names.some((name) => name.endsWith(idOf(path))),
      names.some((name) => name.endsWith(id ?? '-')),
    ]).toEqual([false, true]);
    const data_dir = join(makeTempDir(), 'restored');
    expect((await run(data_dir, 'restore', file)).exit).toBe(0);
    copyFileSync(join(app.data_dir, 'master.key'), join(data_dir, 'master.key'));
    await app.stop();
    const again = await startTestApp({ data_dir, env: ENV });
    const client = new Tus(again, key);
    expect([(await client.look(path)).status, (await client.look(whole)).status]).toEqual([404, 404]);
    expect((await again.call('GET', `/api/v1/objects/${id}`, { key })).text).toBe('ab');
    await again.stop();
  });
});

describe.skipIf(part('versitygw') === null)('with an object store', () => {
  let server: S3Server;
  let on: Stage;
  beforeAll(async () => {
    server = await startS3Server();
    on = await start({ env: server.env('tus') });
  });

  test('parts are local until all is there, then the store has the file and the disk has nothing', async () => {
    const bytes = randomBytes(9 * MIB);
    const path = await on.tus.path(bytes.length, { filetype: 'application/x-test' });
    await on.tus.send(path, 0, bytes.subarray(0, 5 * MIB));
    expect([statSync(fileOf(on.app, path)).size, server.idsIn('tus')]).toEqual([5 * MIB, []]);
    const last = await on.tus.send(path, 5 * MIB, bytes.subarray(5 * MIB));
    const id = last.headers.get('satchel-object') ?? '';
    expect([server.idsIn('tus'), existsSync(fileOf(on.app, path))]).toEqual([[id], false]);
    expect(on.app.services.objects.requireAny(id)).toMatchObject({ store: 's3', sha256: sha256(bytes) });
    expect((await on.tus.look(path)).headers.get('satchel-object')).toBe(id);
  });

  test('that is away, parts are taken; the last is 503 and HEAD 423, until the store is back', async () => {
    server.proxy.hold = /^(PUT|GET|HEAD|POST)/;
    server.proxy.answer = refusal(403, 'AccessDenied');
    const path = await on.tus.path(6);
    expect((await on.tus.send(path, 0, 'abc')).status).toBe(204);
    const last = await on.tus.send(path, 3, 'def');
    expect([last.status, last.headers.get('retry-after')]).toEqual([503, '30']);
    const look = await on.tus.look(path);
    expect([look.status, look.headers.get('retry-after')]).toEqual([423, '30']);
    server.proxy.hold = null;
    server.proxy.answer = null;
    await on.app.services.uploads.finishWhole();
    const id = (await objectOf(on, path)) ?? '';
    expect((await on.app.call('GET', `/api/v1/objects/${id}`, { key: on.key })).text).toBe('abcdef');
    expect(existsSync(fileOf(on.app, path))).toBe(false);
  });
});
