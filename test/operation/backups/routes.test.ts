/** Backups over the management plane: made in a thread, one at a time, whole or not there, and known after a restart. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { sql } from 'drizzle-orm';
import type { Maintenance } from '../../../src/app/app.ts';
import { connect, readCount } from '../../../src/platform/database/plain-connection.ts';
import {
  type Answer,
  actor,
  LARGE_TEXT,
  makeProject,
  startTestApp,
  type TestApp,
  type TestAppOptions,
} from '../../support/helpers.ts';
import { codeOf, dataOf, detailsOf, listOf } from '../../support/management.ts';
import { makeTempDir } from '../../support/temp.ts';
import { until } from '../../support/until.ts';

interface Stage {
  app: TestApp;
  admin: string;
  folder: string;
  call(method: string, path: string, token?: string | null): Promise<Answer>;
}

async function start(options: TestAppOptions = {}): Promise<Stage> {
  const app = await startTestApp(options);
  const { token: admin } = await app.services.tokens.create(actor, {
    ...{ name: 'admin', all_projects: true, projects: [], capabilities: ['can_administer'] },
  });
  return {
    ...{ app, admin, folder: join(app.data_dir, 'backups') },
    call: (method, path, token = admin) =>
      app.call(method, `/api/public/v1${path}`, token === null ? {} : { token }),
  };
}

/** Work that goes on until it is told how it ended. */
function held(): { maintenance: Maintenance; fail(error: Error): void } {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  const wait = () => promise;
  return {
    fail: reject,
    maintenance: {
      backUp: wait,
      verify: wait,
      factsOfFile: wait,
      examine: wait,
      stop: () => reject(new Error('stopped')),
    },
  };
}

let stage: Stage;
beforeAll(async () => {
  stage = await start();
  const key = await makeProject(stage.app, 'shop').then((project) => project.key());
  const form = new FormData();
  form.set('file', new Blob([LARGE_TEXT]), 'a.txt');
  await stage.app.call('POST', '/api/v1/objects', { key, body: form });
});
afterAll(() => stage.app.stop());

async function make({ app, call }: Stage = stage): Promise<{ name: string; job_id: string }> {
  app.clock.advance(1_000);
  const answer = await call('POST', '/backups');
  expect([answer.status, answer.text]).toMatchObject([202, expect.any(String)]);
  await app.services.engine.whenIdle();
  const { name, job_id } = dataOf(answer);
  return { name: String(name), job_id: String(job_id) };
}

const events = ({ app }: Stage, limit: number) =>
  app.services.audit.listNewest({}, limit).map(({ event, target }) => [event, target]);

describe('a backup', () => {
  test('is made by a job, stands in the folder for its owner alone, and is whole', async () => {
    stage.app.clock.advance(1_000);
    const begun = await stage.call('POST', '/backups');
    const { name, job_id, created_at } = dataOf(begun);
    expect([begun.status, dataOf(begun)]).toMatchObject([202, { status: 'processing', size_bytes: null }]);
    expect(dataOf(await stage.call('GET', `/jobs/${job_id}`))).toMatchObject({
      ...{ id: job_id, type: 'backup.make', finished_at: null },
    });
    await stage.app.services.engine.whenIdle();
    const path = join(stage.folder, String(name));
    const size_bytes = statSync(path).size;
    expect(dataOf(await stage.call('GET', `/jobs/${job_id}`))).toMatchObject({
      ...{ status: 'completed', error: null, result: { name, size_bytes, objects: 1, left_out: [] } },
    });
    expect(listOf(await stage.call('GET', '/backups'))).toEqual([
      { name, size_bytes, created_at, status: 'completed', job_id },
    ]);
    expect([statSync(stage.folder).mode & 0o777, statSync(path).mode & 0o777]).toEqual([0o700, 0o600]);
    expect(readdirSync(stage.folder)).toEqual([String(name)]);
    expect(dataOf(await stage.call('POST', `/backups/${name}/verify`))).toEqual({ ok: true, findings: [] });
    expect(readdirSync(stage.folder)).toEqual([String(name)]);
    expect(events(stage, 1)).toEqual([['backup.started', `backup:${name}`]]);
  });

  test('is downloaded as it is, in ranges too, and that is on record', async () => {
    const { name } = await make();
    const path = join(stage.folder, name);
    const bytes = await Bun.file(path).bytes();
    const url = `http://satchel.test/api/public/v1/backups/${name}`;
    const get = (headers = {}) =>
      stage.app.app.handle(
        new Request(url, { headers: { Authorization: `Bearer ${stage.admin}`, ...headers } }),
      );
    const whole = await get();
    expect(await whole.bytes()).toEqual(bytes);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      'content-type': 'application/x-tar',
      'content-disposition': `attachment; filename="${name}"`,
      'cache-control': 'private, no-store',
    });
    expect(events(stage, 1)).toEqual([['backup.downloaded', `backup:${name}`]]);
    const part = await get({ Range: 'bytes=512-1023' });
    expect([part.status, await part.bytes()]).toEqual([206, bytes.slice(512, 1024)]);
    expect((await get({ Range: `bytes=${bytes.length}-` })).status).toBe(416);
  });

  test('holds neither other backups nor the rows of any', async () => {
    await make();
    const { name } = await make();
    const into = makeTempDir();
    expect(Bun.spawnSync(['tar', '-xf', join(stage.folder, name), '-C', into]).exitCode).toBe(0);
    expect(readdirSync(into).toSorted()).toEqual([
      'SHA256SUMS',
      'objects',
      'satchel-backup.json',
      'satchel.db',
    ]);
    const copy = connect(join(into, 'satchel.db'), { query_only: true });
    expect(readCount(copy, "SELECT count(*) FROM jobs WHERE type = 'backup.make'")).toBe(0);
    expect(readCount(copy, 'SELECT count(*) FROM objects')).toBe(1);
    copy.close();
  });

  test('is deleted with its job, and only it', async () => {
    const [kept, gone] = [await make(), await make()];
    expect(dataOf(await stage.call('DELETE', `/backups/${gone.name}`))).toEqual({ deleted: true });
    expect([existsSync(join(stage.folder, gone.name)), existsSync(join(stage.folder, kept.name))]).toEqual([
      ...[false, true],
    ]);
    expect(events(stage, 1)).toEqual([['backup.deleted', `backup:${gone.name}`]]);
    for (const path of [`/backups/${gone.name}`, `/jobs/${gone.job_id}`])
      expect((await stage.call('GET', path)).status).toBe(404);
  });

  test('that is deleted while somebody begins to download it is theirs whole, or not found', async () => {
    const { url } = stage.app;
    const headers = { Authorization: `Bearer ${stage.admin}` };
    const ask = async (method: string, name: string) => {
      const answer = await fetch(`${url}/api/public/v1/backups/${name}`, { method, headers });
      return [answer.status, (await answer.bytes()).length] as const;
    };
    for (const order of [
      ['DELETE', 'GET'],
      ['GET', 'DELETE'],
    ]) {
      const { name } = await make();
      const size_bytes = statSync(join(stage.folder, name)).size;
      const answers = await Promise.all(order.map((method) => ask(method, name)));
      const [status, length] = answers[order.indexOf('GET')] ?? [];
      expect([200, 404]).toContain(Number(status));
      if (status === 200) expect(length).toBe(size_bytes);
      expect(answers[order.indexOf('DELETE')]?.[0]).toBe(200);
    }
  });

  test('without room for it fails with a job that says so, and leaves nothing behind', async () => {
    const small = await start();
    const key = await makeProject(small.app, 'shop').then((project) => project.key());
    const form = new FormData();
    form.set('file', new Blob([LARGE_TEXT]), 'a.txt');
    await small.app.call('POST', '/api/v1/objects', { key, body: form });
    await small.app.services.database.write((tx) => {
      tx.run(sql`UPDATE objects SET size_bytes = 8e15`);
    });
    const { name, job_id } = await make(small);
    expect(dataOf(await small.call('GET', `/jobs/${job_id}`))).toMatchObject({
      ...{
        status: 'failed',
        result: null,
        error: expect.stringMatching(/no room in .*: a backup needs \d+ MiB/),
      },
    });
    expect(listOf(await small.call('GET', '/backups'))).toMatchObject([
      { name, status: 'failed', size_bytes: null, job_id },
    ]);
    expect(readdirSync(small.folder)).toEqual([]);
    expect((await small.call('GET', `/backups/${name}`)).status).toBe(409);
    expect((await small.app.call('GET', '/api/v1/objects', { key })).status).toBe(200);
    expect((await small.call('DELETE', `/backups/${name}`)).status).toBe(200);
    expect(listOf(await small.call('GET', '/backups'))).toEqual([]);
  });
});

describe('one at a time', () => {
  test('a second is refused with the job of the first, and so is deleting or taking what is not whole', async () => {
    const { maintenance, fail } = held();
    const busy = await start({ maintenance });
    const { name, job_id } = dataOf(await busy.call('POST', '/backups'));
    await until(() => existsSync(busy.folder));
    const partial = join(busy.folder, `.${name}.${process.pid}.partial`);
    writeFileSync(partial, 'x');
    const second = await busy.call('POST', '/backups');
    expect([second.status, codeOf(second), detailsOf(second)]).toEqual([409, 'CONFLICT', { job_id }]);
    for (const [method, path] of [
      ['DELETE', ''],
      ['GET', ''],
      ['POST', '/verify'],
    ])
      expect((await busy.call(method ?? '', `/backups/${name}${path}`)).status).toBe(409);
    expect(events(busy, 5).filter(([event]) => event !== 'token.created')).toHaveLength(1);
    fail(new Error('the thread died'));
    await busy.app.services.engine.whenIdle();
    expect(existsSync(partial)).toBe(false);
    expect(dataOf(await busy.call('GET', `/jobs/${job_id}`))).toMatchObject({
      ...{ status: 'failed', error: 'Something went wrong on the server.' },
    });
    // Within the same second: its name has milliseconds.
    busy.app.clock.advance(1);
    const next = await busy.call('POST', '/backups');
    expect([next.status, dataOf(next).name]).toEqual([
      202,
      expect.stringMatching(/^satchel-\d{8}T\d{6}\.\d{3}Z\.tar$/),
    ]);
  });

  test('nothing is made, verified or deleted while one is verified', async () => {
    const whole = await make();
    const data_dir = makeTempDir();
    mkdirSync(join(data_dir, 'backups'), { mode: 0o700 });
    await Bun.write(join(data_dir, 'backups', whole.name), Bun.file(join(stage.folder, whole.name)));
    const { maintenance, fail } = held();
    const busy = await start({ maintenance, data_dir });
    const verifying = busy.call('POST', `/backups/${whole.name}/verify`);
    await Promise.resolve();
    for (const [method, path] of [
      ['POST', ''],
      ['POST', `/${whole.name}/verify`],
      ['DELETE', `/${whole.name}`],
    ])
      expect((await busy.call(method ?? '', `/backups${path}`)).status).toBe(409);
    fail(new Error('the thread died'));
    expect((await verifying).status).toBe(500);
    expect((await busy.call('DELETE', `/backups/${whole.name}`)).status).toBe(200);
  });
});

describe('after a restart', () => {
  test('one that was cut off is made anew, and what was left of it is gone', async () => {
    const data_dir = makeTempDir();
    const cut = await start({ maintenance: held().maintenance, data_dir });
    const { name, job_id } = dataOf(await cut.call('POST', '/backups'));
    await until(() => cut.app.services.jobs.requireAny(String(job_id)).attempts === 1);
    await cut.app.stop();
    const folder = join(data_dir, 'backups');
    mkdirSync(folder, { recursive: true });
    const dead = Bun.spawnSync(['true']).pid;
    const left = [`.${name}.${dead}.partial`, `.${name}.${process.pid}.snapshot`, `.satchel-verify-${dead}`];
    const others = [`.${name}.${process.ppid}.partial`, 'notes.txt'];
    for (const each of [...left, ...others]) writeFileSync(join(folder, each), 'x');
    const again = await start({ data_dir });
    await again.app.services.engine.whenIdle();
    expect(readdirSync(folder).toSorted()).toEqual([...others, String(name)].toSorted());
    expect(dataOf(await again.call('GET', `/jobs/${job_id}`))).toMatchObject({
      ...{ status: 'completed', result: { name }, attempts: 2 },
    });
    expect(listOf(await again.call('GET', '/backups'))).toMatchObject([
      { name, status: 'completed', job_id },
    ]);
  });

  test('one that was cut off time and again has failed', async () => {
    const data_dir = makeTempDir();
    let job_id: unknown;
    for (let times = 0; times < 3; times += 1) {
      const cut = await start({ maintenance: held().maintenance, data_dir });
      job_id ??= dataOf(await cut.call('POST', '/backups')).job_id;
      await until(() => cut.app.services.jobs.requireAny(String(job_id)).attempts === times + 1);
      await cut.app.stop();
    }
    const again = await start({ data_dir });
    await again.app.services.engine.whenIdle();
    expect(dataOf(await again.call('GET', `/jobs/${job_id}`))).toMatchObject({
      ...{ status: 'failed', error: 'The server stopped before it was done.' },
    });
    expect(listOf(await again.call('GET', '/backups'))).toMatchObject([
      { status: 'failed', size_bytes: null },
    ]);
  });

  test('a folder that can not be looked into keeps no server from its start', async () => {
    const data_dir = makeTempDir();
    writeFileSync(join(data_dir, 'backups'), 'no folder');
    const odd = await start({ data_dir });
    expect((await odd.app.call('GET', '/api/health')).status).toBe(200);
    expect(odd.app.logs()).toContain('removing what is left of backups failed');
  });

  test('one that was whole, and only not written down, is completed', async () => {
    const whole = await make();
    const data_dir = makeTempDir();
    const cut = await start({ maintenance: held().maintenance, data_dir });
    const { name, job_id } = dataOf(await cut.call('POST', '/backups'));
    await until(() => cut.app.services.jobs.requireAny(String(job_id)).attempts === 1);
    await cut.app.stop();
    const path = join(data_dir, 'backups', String(name));
    await Bun.write(path, Bun.file(join(stage.folder, whole.name)));
    const again = await start({ data_dir });
    await again.app.services.engine.whenIdle();
    expect(dataOf(await again.call('GET', `/jobs/${job_id}`))).toMatchObject({
      ...{ status: 'completed', result: { name, size_bytes: statSync(path).size } },
    });
  });
});

describe('what is no backup of the folder', () => {
  test.each([
    '../..',
    '%2e%2e',
    '..%2Fsatchel.db',
    '..%2F..%2Fetc%2Fpasswd',
    '.hidden.tar',
    'notes.txt',
    'link.tar',
    'folder.tar',
    'absent.tar',
    'a%00.tar',
  ])('%s is not found, and nothing is read or removed', async (name) => {
    writeFileSync(join(stage.folder, 'notes.txt'), 'x');
    for (const each of ['link.tar', 'folder.tar'])
      rmSync(join(stage.folder, each), { recursive: true, force: true });
    symlinkSync(join(stage.app.data_dir, 'satchel.db'), join(stage.folder, 'link.tar'));
    mkdirSync(join(stage.folder, 'folder.tar'));
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/verify'],
    ])
      expect([name, (await stage.call(method ?? '', `/backups/${name}${path}`)).status]).toEqual([name, 404]);
    expect(existsSync(join(stage.app.data_dir, 'satchel.db'))).toBe(true);
    expect(readdirSync(stage.folder)).toEqual(
      expect.arrayContaining(['notes.txt', 'link.tar', 'folder.tar']),
    );
    expect(listOf(await stage.call('GET', '/backups')).map((each) => each.name)).not.toContain('link.tar');
  });

  test('one that is damaged does not verify; one that is cut short counts as failed', async () => {
    const [damaged, cut] = [await make(), await make()];
    const file = Bun.file(join(stage.folder, damaged.name));
    const bytes = await file.bytes();
    bytes[1_200] = (bytes[1_200] ?? 0) ^ 1;
    await Bun.write(file, bytes);
    expect(dataOf(await stage.call('POST', `/backups/${damaged.name}/verify`))).toMatchObject({
      ...{ ok: false, findings: [expect.any(String)] },
    });
    truncateSync(join(stage.folder, cut.name), 2_000);
    const listed = listOf(await stage.call('GET', '/backups')).find(({ name }) => name === cut.name);
    expect(listed).toMatchObject({ status: 'failed', size_bytes: null });
    expect((await stage.call('GET', `/backups/${cut.name}`)).status).toBe(409);
    expect((await stage.call('DELETE', `/backups/${cut.name}`)).status).toBe(200);
  });
});

test('a token without can_administer gets and makes none', async () => {
  const { name } = await make();
  const { token } = await stage.app.services.tokens.create(actor, {
    ...{ name: 't', all_projects: true, projects: [], capabilities: ['can_read_vault'] },
  });
  const before = [readdirSync(stage.folder), events(stage, 3)];
  for (const [method, path] of [
    ['GET', ''],
    ['POST', ''],
    ['GET', `/${name}`],
    ['DELETE', `/${name}`],
    ['POST', `/${name}/verify`],
  ]) {
    const answer = await stage.call(method ?? '', `/backups${path}`, token);
    expect([answer.status, detailsOf(answer)]).toEqual([403, { required_scope: 'can_administer' }]);
    expect((await stage.call(method ?? '', `/backups${path}`, null)).status).toBe(401);
  }
  expect([readdirSync(stage.folder), events(stage, 3)]).toEqual(before);
});
