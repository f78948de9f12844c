/** Objects whose bytes are in an S3 store, on its bad days: away, refusing, busy, breaking off, losing keys. */
import { beforeAll, beforeEach, describe, expect, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import { doctorDeps } from '../../../src/app/checks.ts';
import { createCli } from '../../../src/app/command-line.ts';
import { examine } from '../../../src/operation/doctor/service.ts';
import { STORE_HOLD } from '../../../src/platform/files/store-hold.ts';
import { systemClock } from '../../../src/platform/host/clock.ts';
import { newId } from '../../../src/platform/host/ids.ts';
import { standInProcess } from '../../support/command.ts';
import { addCapturingMailbox, makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';
import { part } from '../../support/parts.ts';
import { loseKey, refusal, type S3Server, startS3Server } from '../../support/s3-server.ts';
import { makeTempDir } from '../../support/temp.ts';
import { until } from '../../support/until.ts';

const skip = part('versitygw') === null;
const MIB = 1024 * 1024;
const PREFIX = 'bad-days';

let server: S3Server;
let app: TestApp;
let key = '';

beforeAll(async () => {
  if (skip) return;
  server = await startS3Server();
  const env = {
    ...server.env(PREFIX),
    SATCHEL_MAX_UPLOAD_BYTES: String(20 * MIB),
    SATCHEL_OBJECT_REDIRECT: '1',
  };
  app = await startTestApp({ env });
  key = await (await makeProject(app)).key();
});
beforeEach(async () => {
  if (skip) return;
  hold(null);
  await app.services.bytes.tend();
  expect(health()).toBe('ok');
});

/** Requests that match are answered so, or not at all. */
function hold(pattern: RegExp | null, answer: Buffer | null = null): void {
  server.proxy.hold = pattern;
  server.proxy.answer = answer;
  server.proxy.held = 0;
  server.proxy.cut();
}

const health = () => app.services.status.health().status;
const get = (id: string, headers: Record<string, string> = {}) =>
  app.call('GET', `/api/v1/objects/${id}`, { key, headers });
const send = (size = 5, fields: Record<string, string> = {}) => {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  form.set('file', new Blob([Buffer.alloc(size, 'hello')], { type: 'text/plain' }), 'a.txt');
  return app.call('POST', '/api/v1/objects', { key, body: form });
};
const stored = async (size?: number): Promise<string> => {
  const { status, body } = await send(size);
  expect(status).toBe(201);
  return String(body.public_id);
};
const rowCount = () => Number(app.services.database.read.values(sql`SELECT count(*) FROM objects`)[0]?.[0]);
const noted = () => app.services.database.read.values(sql`SELECT public_id FROM store_removals`).flat();
const findings = async () =>
  (await examine(app.config, doctorDeps(systemClock))).filter(({ check }) => check === 'object store');

describe.skipIf(skip)('a store that', () => {
  test.each([
    ['refuses', 403, 'AccessDenied'],
    ['has too much to do', 503, 'SlowDown'],
  ])(
    '%s: uploads and downloads are 503, everything else goes on, and health says so',
    async (_, status, code) => {
      const id = await stored();
      const before = [rowCount(), server.idsIn(PREFIX).length];
      hold(/^(PUT|GET|HEAD)/, refusal(status, code));
      for (const answer of [await send(), await get(id)]) {
        expect([answer.status, answer.headers.get('retry-after'), answer.body.success]).toEqual([
          503,
          '30',
          false,
        ]);
        expect(answer.text).not.toContain(code);
      }
      expect([rowCount(), server.idsIn(PREFIX).length]).toEqual(before);
      expect(health()).toBe('degraded');
      expect((await app.call('GET', '/api/v1/objects', { key })).status).toBe(200);
      expect((await get(id, { 'If-None-Match': '*' })).status).toBe(304);
      expect(await findings()).toContainEqual(
        expect.objectContaining({ status: 'problem', message: expect.stringContaining(code) }),
      );
      hold(null);
      await app.services.bytes.tend();
      expect([health(), (await get(id)).text]).toEqual(['ok', 'hello']);
    },
  );

  test('is none, but answers 404 to all, has lost nothing', async () => {
    const id = await stored();
    const page = 'HTTP/1.1 404 Not Found\r\nContent-Length: 9\r\nConnection: close\r\n\r\nNot found';
    hold(/^(GET|DELETE)/, Buffer.from(page));
    expect((await get(id)).status).toBe(503);
    expect((await app.call('DELETE', `/api/v1/objects/${id}`, { key })).status).toBe(200);
    await until(() => server.proxy.held > 1);
    expect(noted()).toEqual([id]);
  });

  test('has too much to do for a moment is asked again', async () => {
    hold(/^PUT/, refusal(503, 'SlowDown'));
    const answer = send();
    await until(() => server.proxy.held === 1);
    server.proxy.hold = null;
    expect((await answer).status).toBe(201);
  });

  test('is away does not hold up a deletion, whose bytes go later', async () => {
    const id = await stored();
    hold(/^DELETE/, refusal(503, 'SlowDown'));
    expect((await app.call('DELETE', `/api/v1/objects/${id}`, { key })).status).toBe(200);
    expect([(await get(id)).status, noted(), server.idsIn(PREFIX).includes(id)]).toEqual([404, [id], true]);
    hold(null);
    await until(async () => {
      await app.services.bytes.tend();
      return noted().length === 0;
    });
    expect(server.idsIn(PREFIX)).not.toContain(id);
  });

  test('has lost a key is told of, until the key is back', async () => {
    const id = await stored();
    loseKey(server, PREFIX, id);
    const answer = await get(id);
    expect([answer.status, answer.body.code]).toEqual([500, 'bytes_missing']);
    expect(await findings()).toContainEqual(
      expect.objectContaining({ status: 'problem', message: expect.stringContaining(id) }),
    );
    writeFileSync(join(server.folderOf(PREFIX), 'objects', id), 'hello');
    expect((await get(id)).text).toBe('hello');
    expect((await findings()).map(({ status }) => status)).toEqual(['ok']);
  });

  test('breaks off in the middle of a file ends the connection: never a short file', async () => {
    const id = await stored(19 * MIB);
    // With an Origin it is not redirected, and a range is not fetched before it is sent.
    const headers = { 'X-API-Key': key, Origin: 'https://a.test', Range: 'bytes=0-' };
    const response = await fetch(`${app.url}/api/v1/objects/${id}`, { headers });
    const reader = response.body?.getReader();
    await reader?.read();
    server.proxy.cut();
    const rest = (async () => {
      for (;;) if ((await reader?.read())?.done !== false) return 'whole';
    })();
    expect(await rest.catch(() => 'broken')).toBe('broken');
    expect(app.logs()).toContain('a download broke off');
  });

  test('loses a part of an upload, or its end, stores nothing and leaves nothing', async () => {
    const before = [rowCount(), server.idsIn(PREFIX).length];
    for (const pattern of [/^PUT .*partNumber=2/, /^POST .*uploadId=/]) {
      hold(pattern, refusal(400, 'InvalidPart'));
      expect((await send(9 * MIB)).status).toBe(503);
      hold(null);
    }
    expect([rowCount(), server.idsIn(PREFIX).length]).toEqual(before);
    // What was begun is aborted behind the answer.
    const uploads = () => readdirSync(server.folderOf(''), { recursive: true }).map(String);
    await until(() => !uploads().some((path) => /multipart\/[^/]+\/[^/]+/.test(path)));
  });
});

describe.skipIf(skip)('in the store', () => {
  test('attachments are fetched as their mail is sent; a store that is away costs no attempt', async () => {
    await addCapturingMailbox(app);
    const sender = await makeProject(app, 'sender');
    const both = await sender.key({ can_write: true, can_read: true, can_send_emails: true });
    const fetched = () =>
      existsSync(join(app.data_dir, 'fetched')) ? readdirSync(join(app.data_dir, 'fetched')) : [];
    const before = fetched();
    const form = new FormData();
    form.set('file', new Blob(['attached bytes']), 'a.txt');
    const id = String((await app.call('POST', '/api/v1/objects', { key: both, body: form })).body.public_id);
    hold(/^GET/, refusal(403, 'AccessDenied'));
    const body = { to: 'a@example.org', subject: 's', body_text: 't', attachments: [id], async: true };
    const sent = await app.call('POST', '/api/v1/emails/send', { key: both, body });
    expect(sent.status).toBe(202);
    const mail = () => app.call('GET', `/api/v1/emails/${String(sent.body.id)}`, { key: both });
    const { engine } = app.app;
    // More often than a mail is tried.
    for (let tries = 0; tries < 5; tries += 1) {
      await engine.whenIdle();
      expect((await mail()).body.status).toBe('queued');
      app.clock.advance(300_000);
      engine.wake();
    }
    // Its object may go meanwhile: the bytes stay until the mail is out.
    await app.call('DELETE', `/api/v1/objects/${id}`, { key: both });
    hold(null);
    await app.services.bytes.workOff();
    expect(server.idsIn(PREFIX)).toContain(id);
    app.clock.advance(300_000);
    engine.wake();
    await until(async () => (await mail()).body.status === 'sent');
    await until(() => !server.idsIn(PREFIX).includes(id));
    expect(fetched().filter((name) => !before.includes(name))).toEqual([]);
  });

  test('keys without a row go after an hour, and not before, nor for a week after a restore', async () => {
    const [old, young] = [newId(Date.now()), newId(Date.now())];
    const kept = await stored();
    const folder = join(server.folderOf(PREFIX), 'objects');
    for (const id of [old, young]) writeFileSync(join(folder, id), 'x');
    const two_hours_ago = new Date(Date.now() - 7_200_000);
    for (const id of [old, kept]) utimesSync(join(folder, id), two_hours_ago, two_hours_ago);
    const { database, bytes } = app.services;
    const holdUntil = (ms: number) =>
      database.write((tx) =>
        tx.run(sql`INSERT OR REPLACE INTO meta (name, value) VALUES (${STORE_HOLD}, ${`${ms} restored`})`),
      );
    await holdUntil(app.clock.now() + 1000);
    expect(await bytes.sweepStore()).toBe(0);
    await holdUntil(app.clock.now());
    expect(await bytes.sweepStore()).toBe(1);
    await until(() => !server.idsIn(PREFIX).includes(old));
    expect(server.idsIn(PREFIX)).toEqual(expect.arrayContaining([kept, young]));
  });

  test('a file whose row cannot be written takes its bytes back', async () => {
    const before = server.idsIn(PREFIX).length;
    const project = await makeProject(app, 'gone');
    const gone = { id: 999_999, public_id: project.public_id };
    const file = { fields: {}, filename: 'a', mime_type: 'text/plain', bytes: bytesOf('x'), max_bytes: 9 };
    await expect(app.services.objects.take(gone, file, () => {})).rejects.toThrow();
    await until(() => server.idsIn(PREFIX).length === before);
  });

  test('large files are fetched there by those who can follow', async () => {
    const id = await stored(MIB + 1);
    const answer = await get(id);
    const location = answer.headers.get('location') ?? '';
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([302, 'private, no-store']);
    const followed = await fetch(location);
    expect([followed.status, (await followed.bytes()).length]).toEqual([200, MIB + 1]);
    expect(followed.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(followed.headers.get('content-disposition')).toContain('a.txt');
    expect(Number(new URL(location).searchParams.get('X-Amz-Expires'))).toBe(300);
    expect((await get(id, { Origin: 'https://a.test' })).status).toBe(200);
    expect((await app.call('HEAD', `/api/v1/objects/${id}`, { key })).status).toBe(200);
    expect((await get(await stored(MIB))).status).toBe(200);
  });

  test('a link of the store tells the charset that the bytes told', async () => {
    const project = await makeProject(app, 'charset');
    const text = `${'x'.repeat(MIB)}ü`;
    const bytes = bytesOf(text);
    const file = { fields: {}, filename: 'a.txt', mime_type: 'text/plain', bytes, max_bytes: 2 * MIB };
    const { public_id } = await app.services.objects.take(project, file, () => {});
    const sent = await app.call('GET', `/api/v1/objects/${public_id}`, { key: await project.key() });
    const followed = await fetch(sent.headers.get('location') ?? '');
    expect(followed.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    const head = await app.call('HEAD', `/api/v1/objects/${public_id}`, { key: await project.key() });
    expect(head.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  });

  test('objects are unreachable without the setting, which doctor says, and there again with it', async () => {
    const id = await stored();
    const without = { ...app.config, object_store: null };
    const found = (await examine(without, doctorDeps(systemClock))).filter(
      ({ check }) => check === 'object store',
    );
    expect(found).toMatchObject([{ status: 'problem', message: expect.stringContaining('None is set') }]);
    expect((await get(id)).text).toBe('hello');
  });
});

describe.skipIf(skip)('doctor --deep', () => {
  test('compares rows and keys, one by one', async () => {
    const own = await startTestApp({ env: server.env('deep') });
    const own_key = await (await makeProject(own)).key();
    const ids: string[] = [];
    for (const text of ['first', 'second', 'third', 'last']) {
      const form = new FormData();
      form.set('file', new Blob([text]), 'a.txt');
      const answer = await own.call('POST', '/api/v1/objects', { key: own_key, body: form });
      ids.push(String(answer.body.public_id));
    }
    const look = async () =>
      (await examine(own.config, doctorDeps(systemClock), [], true))
        .filter(({ check }) => check === 'object store')
        .map(({ status, message }) => `${status} ${message}`)
        .join('\n');
    expect(await look()).not.toContain('problem');
    const [first = '', second = '', , last = ''] = ids;
    for (const id of [first, last]) loseKey(server, 'deep', id);
    writeFileSync(join(server.folderOf('deep'), 'objects', second), 'other size');
    writeFileSync(join(server.folderOf('deep'), 'objects', newId(1)), 'x');
    const found = await look();
    expect(found).toContain(`without bytes in the store: 2 (${first}, ${last})`);
    expect(found).toContain(`another size: 1 (${second})`);
    expect(found).toContain('Keys of no object: 1.');
    await own.stop();
  });
});

describe.skipIf(skip)('a backup', () => {
  test('lists what is in the store, and verify asks the store for it', async () => {
    const prefix = 'backed-up';
    const own = await startTestApp({ env: server.env(prefix) });
    const own_key = await (await makeProject(own)).key();
    const put = async (text: string): Promise<string> => {
      const form = new FormData();
      form.set('file', new Blob([text]), 'a.txt');
      return String((await own.call('POST', '/api/v1/objects', { key: own_key, body: form })).body.public_id);
    };
    const [kept, deleted, damaged] = [await put('kept'), await put('deleted'), await put('damaged')];
    const env = { SATCHEL_DATA_DIR: own.data_dir, ...server.env(prefix) };
    const run = async (...args: string[]) => {
      const { process, written } = standInProcess({ env });
      const exit = await createCli({ ...process, runCommand: async () => 0 }).main([...args, '--json']);
      return { exit, ...JSON.parse(written.stdout) };
    };
    const file = join(makeTempDir(), 'a.tar');
    expect(await run('backup', file)).toMatchObject({
      exit: 0,
      objects: 0,
      stored_objects: 3,
      stored_bytes: 18,
    });
    expect(Bun.spawnSync(['tar', '-xOf', file, 'store-objects.txt']).stdout.toString()).toContain(
      `  4  objects/${kept}\n`,
    );
    expect(await run('verify', file, '--deep')).toMatchObject({
      exit: 0,
      stored_objects: 3,
      deleted_since: 0,
    });
    await own.call('DELETE', `/api/v1/objects/${deleted}`, { key: own_key });
    await until(() => !server.idsIn(prefix).includes(deleted));
    expect(await run('verify', file)).toMatchObject({ exit: 0, ok: true, deleted_since: 1 });
    writeFileSync(join(server.folderOf(prefix), 'objects', damaged), 'dAmaged');
    expect(await run('verify', file)).toMatchObject({ exit: 0 });
    expect(await run('verify', file, '--deep')).toMatchObject({
      exit: 1,
      findings: [expect.stringContaining(damaged)],
    });
    loseKey(server, prefix, kept);
    expect(await run('verify', file)).toMatchObject({ exit: 1, findings: [expect.stringContaining(kept)] });
    loseKey(server, prefix, damaged);
    await own.stop();
    // Restored elsewhere it finds them where they are, and what came since stays for a week.
    const elsewhere = makeTempDir();
    env.SATCHEL_DATA_DIR = elsewhere;
    expect(await run('restore', file)).toMatchObject({ exit: 0, stored_objects: 3, brought_objects: 0 });
  });

  test('brings the bytes along where that is asked for, and gives them back to either place', async () => {
    const own = await startTestApp({ env: server.env('brought') });
    const own_key = await (await makeProject(own)).key();
    const form = new FormData();
    form.set('file', new Blob([Buffer.alloc(9 * MIB, 'xyz')]), 'a.bin');
    const id = String(
      (await own.call('POST', '/api/v1/objects', { key: own_key, body: form })).body.public_id,
    );
    await own.stop();
    const file = join(makeTempDir(), 'a.tar');
    const env = { SATCHEL_DATA_DIR: own.data_dir, ...server.env('brought') };
    const run = async (...args: string[]) => {
      const { process, written } = standInProcess({ env });
      const exit = await createCli({ ...process, runCommand: async () => 0 }).main([...args, '--json']);
      return { exit, ...JSON.parse(written.stdout) };
    };
    const copy_key = readFileSync(join(own.data_dir, 'master.key'));
    expect(await run('backup', file, '--with-store')).toMatchObject({
      exit: 0,
      with_store: true,
      stored_objects: 1,
    });
    expect(await run('verify', file, '--deep')).toMatchObject({ exit: 0, brought_objects: 1 });
    loseKey(server, 'brought', id);
    // Into a store that has another's files it puts none.
    await stored();
    Object.assign(env, server.env(PREFIX), { SATCHEL_DATA_DIR: makeTempDir() });
    const { process, written } = standInProcess({ env });
    const others = server.idsIn(PREFIX);
    expect(await createCli(process).main(['restore', file, '--to', 's3'])).toBe(1);
    expect(written.stderr).toContain('name another prefix in SATCHEL_OBJECT_STORE');
    expect(server.idsIn(PREFIX)).toEqual(others);
    for (const [to, prefix] of [
      ['local', 'brought'],
      ['s3', 'brought-elsewhere'],
    ] as const) {
      const data_dir = makeTempDir();
      writeFileSync(join(data_dir, 'master.key'), copy_key, { mode: 0o600 });
      Object.assign(env, server.env(prefix), { SATCHEL_DATA_DIR: data_dir });
      expect(await run('restore', file, '--to', to)).toMatchObject({ exit: 0, brought_objects: 1 });
      const restored = await startTestApp({ data_dir, env });
      const answer = await restored.call('GET', `/api/v1/objects/${id}`, { key: own_key });
      expect([answer.status, answer.text.length]).toEqual([200, 9 * MIB]);
      expect(restored.services.objects.requireAny(id).store).toBe(to);
      expect([restored.services.blobs.has(id), server.idsIn(prefix).includes(id)]).toEqual([
        to === 'local',
        to === 's3',
      ]);
      await restored.stop();
    }
  });
});

describe.skipIf(skip)('satchel object move', () => {
  test('carries bytes into the store and back, of one project or all, and names what stays', async () => {
    const before = await startTestApp();
    const [shop, other] = [await makeProject(before), await makeProject(before, 'other')];
    const keys = [await shop.key(), await other.key()];
    const put = async (of: string | undefined, size: number): Promise<string> => {
      const form = new FormData();
      form.set('visibility', 'public');
      form.set('file', new Blob([Buffer.alloc(size, 'abc')]), 'a.bin');
      const answer = await before.call('POST', '/api/v1/objects', { key: of ?? '', body: form });
      return String(answer.body.public_id);
    };
    const ids = [await put(keys[0], 0), await put(keys[0], 9 * MIB), await put(keys[0], 5)];
    const [damaged, others] = [await put(keys[0], 100_000), await put(keys[1], 100_001)];
    writeFileSync(before.services.blobs.path(damaged), 'abcabd');
    const { data_dir } = before;
    const env = { SATCHEL_DATA_DIR: data_dir, ...server.env('moved') };
    const move = async (...args: string[]) => {
      const { process, written } = standInProcess({ env });
      const exit = await createCli({ ...process, runCommand: async () => 0 }).main([
        'object',
        'move',
        ...args,
        '--json',
      ]);
      return { exit, ...JSON.parse(written.stdout) };
    };
    await before.stop();
    // Without a server, and then beside one.
    expect(await move('--to', 's3', '--project', 'shop')).toEqual({
      ...{ exit: 1, moved: 3, moved_bytes: 9 * MIB + 5 },
      stayed: [{ public_id: damaged, reason: 'its bytes are not those that were stored' }],
    });
    expect(server.idsIn('moved').sort()).toEqual([...ids].sort());
    const after = await startTestApp({ data_dir, env });
    const { blobs } = after.services;
    expect([...ids, damaged, others].map((id) => blobs.has(id))).toEqual([false, false, false, true, true]);
    const read = async (id: string) => (await fetch(`${after.url}/api/v1/objects/${id}`)).bytes();
    for (const [n, size] of [0, 9 * MIB, 5].entries())
      expect(Bun.hash(await read(ids[n] ?? ''))).toBe(Bun.hash(Buffer.alloc(size, 'abc')));
    expect(await move('--to', 's3')).toMatchObject({ exit: 1, moved: 1, stayed: [{ public_id: damaged }] });
    loseKey(server, 'moved', others);
    expect(await move('--to', 'local')).toMatchObject({ exit: 1, moved: 3, stayed: [{ public_id: others }] });
    expect(server.idsIn('moved')).toEqual([]);
    expect([...ids, others].map((id) => blobs.has(id))).toEqual([true, true, true, false]);
    // The small ones are for the database, from wherever they are; it keeps none that went elsewhere.
    const stores = () => ids.map((id) => after.services.objects.requireAny(id).store);
    expect(await move('--to', 'database')).toEqual({ exit: 0, moved: 2, moved_bytes: 5, stayed: [] });
    expect([stores(), ids.map((id) => blobs.has(id))]).toEqual([
      ['database', 'local', 'database'],
      [false, true, false],
    ]);
    expect(Buffer.from(await read(ids[2] ?? '')).toString()).toBe('abcab');
    expect(await move('--to', 's3', '--project', 'shop')).toMatchObject({ exit: 1, moved: 3 });
    expect(after.services.database.read.values(sql`SELECT count(*) FROM object_contents`)).toEqual([[0]]);
    expect(await move('--to', 'database')).toMatchObject({ exit: 0, moved: 2 });
    await until(() => server.idsIn('moved').length === 1);
    expect(await move('--to', 'local')).toMatchObject({ exit: 1, moved: 3 });
    expect((await read(ids[1] ?? '')).length).toBe(9 * MIB);
    expect(after.services.database.read.values(sql`SELECT count(*) FROM object_contents`)).toEqual([[0]]);
    await after.stop();
  });

  test('says what is missing where no store is set', async () => {
    const { process, written } = standInProcess({ env: { SATCHEL_DATA_DIR: app.data_dir } });
    const exit = await createCli({ ...process, runCommand: async () => 0 }).main([
      'object',
      'move',
      '--to',
      's3',
    ]);
    expect([exit, written.stderr]).toEqual([
      1,
      expect.stringContaining('Set SATCHEL_OBJECT_STORE and its keys'),
    ]);
  });
});

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
