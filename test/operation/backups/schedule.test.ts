/** Backups that the server makes by itself each day, and what is remembered of those that were made or failed. */
import { expect, test } from 'bun:test';
import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config.ts';
import { run, runRecord } from '../../support/command.ts';
import {
  type Answer,
  actor,
  startTestApp,
  type TestApp,
  type TestAppOptions,
} from '../../support/helpers.ts';
import { dataOf, detailsOf, listOf } from '../../support/management.ts';
import { makeDataDir, makeTempDir, TestClock } from '../../support/temp.ts';
import { until } from '../../support/until.ts';

const PATH = '/backups/schedule';
const DAY_MS = 86_400_000;

interface Stage {
  app: TestApp;
  folder: string;
  call(method: string, path: string, body?: object): Promise<Answer>;
  /** What a minute does, and all that follows from it. */
  minute(): Promise<void>;
  /** Names of the files, without the time in them. */
  there(): string[];
}

async function start(options: TestAppOptions = {}): Promise<Stage> {
  const app = await startTestApp(options);
  const fields = {
    name: 'admin',
    all_projects: true,
    projects: [],
    capabilities: ['can_administer' as const],
  };
  const { token } = await app.services.tokens.create(actor, fields);
  const folder = app.config.backup_dir ?? join(app.data_dir, 'backups');
  return {
    app,
    folder,
    call: (method, path, body) =>
      app.call(method, `/api/public/v1${path}`, { token, ...(body === undefined ? {} : { body }) }),
    async minute() {
      await app.services.backup_schedule.tick();
      await app.services.engine.whenIdle();
    },
    there: () => (existsSync(folder) ? readdirSync(folder).sort() : []),
  };
}

const scheduleOf = async ({ call }: Pick<Stage, 'call'>) => dataOf(await call('GET', PATH));

test('without one nothing is made, and where the master key comes from is told', async () => {
  const stage = await start();
  expect(await scheduleOf(stage)).toEqual({
    at: null,
    timezone: 'UTC',
    keep: 7,
    next_at: null,
    last_backup_at: null,
    last_failure: null,
    directory: stage.folder,
    master_key: { id: stage.app.services.backup_schedule.show().master_key.id, from: 'file' },
  });
  stage.app.clock.advance(2 * DAY_MS);
  await stage.minute();
  expect(stage.there()).toEqual([]);
  const sealed = await start({ env: { SATCHEL_PASSPHRASE: 'a long passphrase' } });
  expect((await scheduleOf(sealed)).master_key).toMatchObject({ from: 'SATCHEL_PASSPHRASE' });
});

test('one is made each day at the time of the zone, the newest stay, and what people made too', async () => {
  const stage = await start({ clock: new TestClock('2030-01-15T12:00:00Z') });
  const set = await stage.call('PUT', PATH, { at: '03:30', timezone: 'Europe/Berlin', keep: 2 });
  expect([set.status, dataOf(set)]).toMatchObject([
    200,
    { at: '03:30', timezone: 'Europe/Berlin', keep: 2, next_at: '2030-01-16T02:30:00.000Z' },
  ]);
  const [told] = stage.app.services.audit.listNewest({}, 1);
  expect(told?.event).toBe('backup.scheduled');
  mkdirSync(stage.folder);
  const unsound = 'nightly-20200101T000000.000Z.tar';
  for (const name of ['satchel-20200101T000000.000Z.tar', unsound, 'nightly-of-mine.tar'])
    writeFileSync(join(stage.folder, name), 'x');
  const kept = stage.there();
  stage.app.clock.at_ms = Date.parse('2030-01-16T02:29:59Z');
  await stage.minute();
  expect(stage.there()).toEqual(kept);
  for (let day = 16; day < 20; day += 1) {
    stage.app.clock.at_ms = Date.parse(`2030-01-${day}T02:30:00Z`);
    await stage.minute();
    // Once a day.
    stage.app.clock.advance(60_000);
    await stage.minute();
  }
  const made = [18, 19].map((day) => `nightly-203001${day}T023000.000Z.tar`);
  expect(stage.there()).toEqual([...kept, ...made].sort());
  expect(await scheduleOf(stage)).toMatchObject({
    next_at: '2030-01-20T02:30:00.000Z',
    last_backup_at: '2030-01-19T02:30:00.000Z',
  });
  expect(listOf(await stage.call('GET', `/backups?name=${made[1]}`))).toMatchObject([
    { status: 'completed' },
  ]);
  const ended = await stage.call('PUT', PATH, { at: null });
  expect(dataOf(ended)).toMatchObject({ at: null, next_at: null, keep: 7 });
  stage.app.clock.advance(3 * DAY_MS);
  await stage.minute();
  expect(stage.there()).toEqual([...kept, ...made].sort());
});

test('what no schedule can be is named field by field, and changes nothing', async () => {
  const stage = await start();
  const bad = { at: '24:00', timezone: 'Mars/Base', keep: 366 };
  const refused = await stage.call('PUT', PATH, bad);
  expect([refused.status, detailsOf(refused)]).toMatchObject([
    422,
    {
      errors: {
        at: ['must be a time of day, such as 03:30'],
        timezone: [expect.stringContaining('IANA')],
        keep: [expect.any(String)],
      },
    },
  ]);
  expect((await stage.call('PUT', PATH, {})).status).toBe(422);
  expect(await scheduleOf(stage)).toMatchObject({ at: null, timezone: 'UTC', keep: 7 });
});

test('a time that was missed is made up for once at the start, and a clock that was ahead holds none up', async () => {
  const data_dir = makeTempDir();
  const first = await start({ data_dir, clock: new TestClock('2030-01-15T12:00:00Z') });
  await first.call('PUT', PATH, { at: '03:00' });
  await first.app.stop();
  const again = await start({ data_dir, clock: new TestClock('2030-01-19T08:00:00Z') });
  await until(() => again.there().length === 1);
  await again.app.services.engine.whenIdle();
  await again.minute();
  expect(again.there()).toEqual([expect.stringMatching(/^nightly-20300119T0800/)]);
  expect(await scheduleOf(again)).toMatchObject({ next_at: '2030-01-20T03:00:00.000Z' });
  again.app.clock.at_ms = Date.parse('2029-01-01T00:00:00Z');
  await again.minute();
  expect(await scheduleOf(again)).toMatchObject({ next_at: '2029-01-01T03:00:00.000Z' });
  expect(again.there()).toHaveLength(1);
});

test('one that is under way is waited for', async () => {
  const release = Promise.withResolvers<void>();
  const never = () => new Promise<never>(() => {});
  const names: string[] = [];
  const stage = await start({
    clock: new TestClock('2030-01-15T12:00:00Z'),
    maintenance: {
      ...{ verify: never, factsOfFile: never, examine: never, stop: () => {} },
      async backUp(file) {
        names.push(file);
        await release.promise;
        return { file, size_bytes: 1 } as never;
      },
    },
  });
  await stage.call('PUT', PATH, { at: '12:30' });
  expect((await stage.call('POST', '/backups')).status).toBe(202);
  await until(() => names.length === 1);
  stage.app.clock.advance(DAY_MS / 24);
  await stage.app.services.backup_schedule.tick();
  expect(await scheduleOf(stage)).toMatchObject({ next_at: '2030-01-15T12:30:00.000Z' });
  release.resolve();
  await stage.app.services.engine.whenIdle();
  expect(names).toHaveLength(1);
  await stage.minute();
  expect(names.map((name) => name.replace(/.*\//, '').replace(/-.*/, ''))).toEqual(['satchel', 'nightly']);
});

test('the folder of SATCHEL_BACKUP_DIR has all of them, and one that fails is a problem until one succeeds', async () => {
  const place = join(makeTempDir(), 'of this one');
  writeFileSync(place, 'no folder');
  const stage = await start({
    env: { SATCHEL_BACKUP_DIR: place },
    clock: new TestClock('2030-01-15T12:00:00Z'),
  });
  await stage.call('PUT', PATH, { at: '12:30' });
  stage.app.clock.advance(DAY_MS / 24);
  await stage.minute();
  expect(await scheduleOf(stage)).toMatchObject({
    directory: place,
    last_backup_at: null,
    last_failure: {
      at: '2030-01-15T13:00:00.000Z',
      message: expect.stringContaining(`The folder ${place} can't be used`),
    },
  });
  const problems = async () =>
    (await stage.app.services.doctor.examine()).filter(
      ({ check, status }) => check === 'backup' && status === 'problem',
    );
  expect(await problems()).toMatchObject([
    {
      message: expect.stringContaining('One failed at 2030-01-15T13:00'),
      remedy: expect.stringContaining('satchel backup'),
    },
  ]);
  rmSync(place);
  stage.app.clock.advance(1_000);
  expect((await stage.call('POST', '/backups')).status).toBe(202);
  await stage.app.services.engine.whenIdle();
  expect([stage.there(), listOf(await stage.call('GET', '/backups'))]).toMatchObject([
    [expect.stringMatching(/^satchel-/)],
    [{ status: 'completed' }, { status: 'failed' }],
  ]);
  expect(existsSync(join(stage.app.data_dir, 'backups'))).toBe(false);
  expect([await problems(), await scheduleOf(stage)]).toMatchObject([
    [],
    { last_failure: null, last_backup_at: expect.any(String) },
  ]);
  expect(() => loadConfig({ SATCHEL_BACKUP_DIR: 'backups' })).toThrow(
    'SATCHEL_BACKUP_DIR must be an absolute path',
  );
  expect(() => loadConfig({ SATCHEL_BACKUP_DIR: '/srv/x/', SATCHEL_DATA_DIR: '/srv/x' })).toThrow(
    'SATCHEL_BACKUP_DIR must be another',
  );
});

test('a verb makes, shows and ends the schedule, and says which options do not go together', async () => {
  const data_dir = makeDataDir();
  const app = await startTestApp({ data_dir });
  await app.stop();
  const show = (...args: string[]) => runRecord(data_dir, 'backup', 'schedule', ...args);
  expect(await show()).toMatchObject({ at: null, keep: 7 });
  expect(await show('--at', '03:30', '--timezone', 'Europe/Berlin')).toMatchObject({
    at: '03:30',
    timezone: 'Europe/Berlin',
    keep: 7,
  });
  // What is not named stays.
  expect(await show('--keep', '14')).toMatchObject({ at: '03:30', timezone: 'Europe/Berlin', keep: 14 });
  expect((await run(data_dir, 'backup', 'schedule')).stdout).toContain('03:30 (Europe/Berlin)');
  const wrong = await run(data_dir, 'backup', 'schedule', '--at', '3:30');
  expect([wrong.exit, wrong.stderr]).toEqual([1, expect.stringContaining('--at must be a time of day')]);
  expect(await show('--off')).toMatchObject({ at: null, next_at: null });
  for (const args of [
    ['schedule', '--keep', '3'],
    ['schedule', '--off', '--at', '03:30'],
    ['schedule', '--with-store'],
    [join(data_dir, 'x.tar'), '--at', '03:30'],
    [join(data_dir, 'x.tar'), '--off'],
  ])
    expect([args, (await run(data_dir, 'backup', ...args)).exit]).toEqual([args, 2]);
  expect(existsSync(join(data_dir, 'x.tar'))).toBe(false);
});

test('what a verb made or failed at is remembered here, and not where its backup is restored', async () => {
  const data_dir = makeDataDir();
  const app = await startTestApp({ data_dir });
  await app.stop();
  const [folder, gone] = [makeTempDir(), join(makeTempDir(), 'none')];
  const show = async (dir = data_dir) => await runRecord(dir, 'backup', 'schedule');
  expect((await run(data_dir, 'backup', '--keep', '1', gone)).exit).toBe(1);
  expect(await show()).toMatchObject({ last_backup_at: null, last_failure: null });
  const { file, created_at } = await runRecord(data_dir, 'backup', '--keep', '1', folder);
  expect(await show()).toMatchObject({ last_backup_at: created_at, last_failure: null });
  const failed = await run(data_dir, 'backup', '/proc/satchel.tar');
  expect([failed.exit, failed.stderr]).toEqual([1, expect.stringContaining('could not be made')]);
  expect(await show()).toMatchObject({
    last_backup_at: created_at,
    last_failure: { message: expect.stringContaining('could not be made') },
  });
  const restored = makeTempDir();
  expect((await run(restored, 'restore', String(file))).exit).toBe(0);
  writeFileSync(join(restored, 'master.key'), await Bun.file(join(data_dir, 'master.key')).text(), {
    mode: 0o600,
  });
  expect(await show(restored)).toMatchObject({ last_backup_at: null, last_failure: null });
});
