/** What the server looks at so that it is told soon, what a finding is called, and whom a monitor hears from. */
import { expect, test } from 'bun:test';
import { createMaintenance } from '../../../src/app/maintenance.ts';
import { urgentChecks } from '../../../src/app/urgent-checks.ts';
import { loadConfig } from '../../../src/config.ts';
import { storeAwayCheck } from '../../../src/files/objects/checks.ts';
import { mailboxHealth } from '../../../src/mail/mailboxes/checks.ts';
import { overdueChecks } from '../../../src/operation/backups/checks.ts';
import { noteBackup } from '../../../src/operation/backups/history.ts';
import { replicaAwayCheck } from '../../../src/operation/replica/checks.ts';
import { socketPathOf } from '../../../src/operation/replica/litestream.ts';
import { Heartbeat } from '../../../src/operation/status/service.ts';
import { captureLog } from '../../support/captured-log.ts';
import { atTestEnd } from '../../support/cleanup.ts';
import { run, runRecord, runWith } from '../../support/command.ts';
import { makeProject, startTestApp } from '../../support/helpers.ts';
import { dataOf, listOf } from '../../support/management.ts';
import { makeDataDir, makeTempDir, TestClock } from '../../support/temp.ts';
import { startReceiver } from '../../webhooks/setup.ts';
import { addRelay, DAY, HOUR, MINUTE, OPS, SECOND, startStage } from './setup.ts';

test('a backup is missed where there are projects, from when the last one was made or verified here', async () => {
  const stage = await startStage();
  const { app } = stage;
  const look = async () => {
    const [check] = overdueChecks(app.services);
    const found = (await check?.run()) ?? [];
    return found.map(({ id, status, message }) => `${status} ${id}: ${message}`);
  };
  app.clock.advance(30 * DAY);
  expect(await look()).toEqual([]);
  await makeProject(app);
  expect(await look()).toEqual([]);
  app.clock.advance(2 * DAY);
  expect(await look()).toEqual([expect.stringMatching(/^warning backup_overdue: No backup was ever made/)]);
  app.clock.advance(5 * DAY);
  expect(await look()).toEqual([expect.stringMatching(/^problem backup_overdue: No backup was ever made/)]);
  noteBackup(app.data_dir, { made_ms: app.clock.now() });
  app.clock.advance(2 * DAY - 1);
  expect(await look()).toEqual([]);
  app.clock.advance(1);
  expect(await look()).toEqual([expect.stringMatching(/^warning backup_overdue: .*, 2 days ago\.$/)]);
  // It tells when it was made, and forgets no failure.
  noteBackup(app.data_dir, { failure: { at_ms: 1, message: 'no room' } });
  noteBackup(app.data_dir, { verified_ms: app.clock.now() - DAY });
  noteBackup(app.data_dir, { verified_ms: 1 });
  expect(await look()).toEqual([]);
  expect(dataOf(await stage.call('GET', '/backups/schedule'))).toMatchObject({
    last_failure: { message: 'no room' },
  });
  app.clock.advance(6 * DAY);
  expect(await look()).toEqual([expect.stringMatching(/^problem backup_overdue/)]);
  await stage.call('PUT', '/alerts', { backups_here: false });
  expect(await look()).toEqual([]);
});

test('satchel verify counts, of a sound backup alone', async () => {
  const app = await startTestApp({ clock: new TestClock(new Date().toISOString()) });
  await makeProject(app);
  const file = `${makeTempDir()}/one.tar`;
  expect((await run(app.data_dir, 'backup', file)).exit).toBe(0);
  const other = makeDataDir();
  const told = async () =>
    JSON.stringify(
      await Bun.file(`${other}/last-backup.json`)
        .json()
        .catch(() => null),
    );
  await Bun.write(`${file}.cut`, (await Bun.file(file).bytes()).subarray(0, 5_000));
  expect((await run(other, 'verify', `${file}.cut`)).exit).toBe(1);
  expect(await told()).toBe('null');
  expect((await run(other, 'verify', file)).exit).toBe(0);
  expect(await told()).toMatch(/"verified_ms":\d{13}/);
});

test('each minute is looked at what is urgent: mailboxes, backups, and whether alerts arrive', async () => {
  const stage = await startStage();
  const { app, receiver, call } = stage;
  await addRelay(stage);
  await call('PUT', '/alerts', { url: receiver.url });
  const checks = urgentChecks(app.services);
  const failing = (failures: number, resting_until: number | null) =>
    app.services.database.write((tx) =>
      tx.$client.run('UPDATE mailboxes SET failures = ?, resting_until = ?, last_error = ?', [
        failures,
        resting_until,
        failures === 0 ? null : `refused ${failures}`,
      ]),
    );
  const minute = async () => {
    app.clock.advance(MINUTE);
    await app.services.alerts.tick(checks);
    await stage.tellAfter(10 * SECOND);
    return stage
      .bodies()
      .map(({ findings }) =>
        (findings as { id: string; state: string }[]).map(({ id, state }) => `${state} ${id}`),
      );
  };
  const id = 'mailboxes:hello@mail.example.com';
  await failing(2, null);
  expect(await minute()).toEqual([]);
  await failing(3, app.clock.now() + HOUR);
  expect(await minute()).toEqual([[`new ${id}`]]);
  // Its rest is over, and nothing is mended.
  await failing(4, null);
  expect(await minute()).toHaveLength(1);
  noteBackup(app.data_dir, { failure: { at_ms: 1, message: 'no room' } });
  expect((await minute())[1]).toEqual(['new backup']);
  // A look at everything that was longer ago does not end what is looked at each minute.
  await stage.find();
  expect(await minute()).toHaveLength(2);
  await failing(0, null);
  noteBackup(app.data_dir, { made_ms: app.clock.now() });
  expect((await minute())[2]?.sort()).toEqual(['mended backup', `mended ${id}`]);
});

test('a store is away once it has failed for a minute, a replica once nothing came of it for ten', async () => {
  const clock = new TestClock();
  const since = new Date(clock.now()).toISOString();
  let trouble: { reason: string; since: string; is_of_writing: boolean } | null = null;
  const object_store = {
    place: 's3://b at s3.test',
    get trouble() {
      return trouble;
    },
  };
  const store = storeAwayCheck({ object_store, clock });
  expect(await store.run()).toEqual([]);
  trouble = { reason: 'timed out', since, is_of_writing: false };
  clock.advance(59 * SECOND);
  expect(await store.run()).toEqual([]);
  clock.advance(SECOND);
  expect(await store.run()).toMatchObject([{ id: 'object_store:away', status: 'problem' }]);

  const data_dir = makeTempDir();
  const replica = replicaAwayCheck({ config: { data_dir }, clock });
  clock.advance(HOUR);
  // There is none.
  expect(await replica.run()).toEqual([]);
  let last_sync_at = new Date(clock.now()).toISOString();
  const litestream = Bun.serve({
    unix: socketPathOf(data_dir),
    fetch: () => Response.json({ databases: [{ path: `${data_dir}/satchel.db`, last_sync_at }] }),
  });
  atTestEnd(() => litestream.stop(true));
  await Bun.write(`${data_dir}/.satchel.db-litestream/x`, '');
  clock.advance(10 * MINUTE - 1);
  expect(await replica.run()).toEqual([]);
  clock.advance(1);
  expect(await replica.run()).toMatchObject([{ id: 'replica', status: 'problem' }]);
  last_sync_at = new Date(clock.now()).toISOString();
  expect(await replica.run()).toEqual([]);
  await litestream.stop(true);
  clock.advance(9 * MINUTE);
  expect(await replica.run()).toEqual([]);
  clock.advance(MINUTE);
  expect(await replica.run()).toMatchObject([{ id: 'replica', status: 'problem' }]);
});

test('a finding is called the same whatever its numbers, and another where it is about another', async () => {
  const stage = await startStage();
  await addRelay(stage);
  await addRelay(stage, 'other@second.example.com');
  const ids = async (failures: number) => {
    await stage.app.services.database.write((tx) =>
      tx.$client.run('UPDATE mailboxes SET failures = ?', [failures]),
    );
    const found = await mailboxHealth(stage.app.services).run();
    return found.map(({ id, message }) => [id, message.includes(`${failures} times`)]);
  };
  const both = ['hello@mail.example.com', 'other@second.example.com'];
  expect(await ids(5)).toEqual(both.map((address) => [`mailboxes:${address}`, true]));
  expect(await ids(6)).toEqual(both.map((address) => [`mailboxes:${address}`, true]));
});

test('findings have ids over HTTP and at the shell, with all that the settings hold', async () => {
  const env = { SATCHEL_HEARTBEAT_URL: 'https://hc.example.com/ping/deep-secret' };
  const config = (data_dir: string) => loadConfig({ ...env, SATCHEL_DATA_DIR: data_dir });
  const data_dir = makeDataDir();
  const stage = await startStage({ data_dir, env, maintenance: createMaintenance(config(data_dir)) });
  const listed = listOf(await stage.call('GET', '/findings?per_page=100'));
  expect(listed).toContainEqual(expect.objectContaining({ id: 'disk_space', check: 'disk space' }));
  expect(listed).toContainEqual(
    expect.objectContaining({
      id: 'alerts',
      status: 'ok',
      message: expect.stringContaining('satchel alert set'),
    }),
  );
  expect(JSON.stringify(listed)).not.toContain('deep-secret');
  const { findings } = JSON.parse((await run(data_dir, 'doctor', '--json')).stdout) as {
    findings: { id: string }[];
  };
  expect(findings.map(({ id }) => id)).toEqual(expect.arrayContaining(['disk_space', 'alerts', 'database']));
});

test('satchel alert sets, shows, tries and ends it', async () => {
  const { app, receiver, sink } = await startStage();
  await addRelay({ app, sink });
  const dir = app.data_dir;
  expect((await run(dir, 'alert', 'show')).stdout).toContain('satchel alert set --email ADDRESS');
  const env = {
    SATCHEL_DATA_DIR: dir,
    SATCHEL_WEBHOOK_ALLOW: '127.0.0.1',
    HOOK: `${receiver.url}/deep-secret`,
  };
  const set = await runWith(
    env,
    'alert',
    'set',
    '--email',
    `${OPS},b@example.com`,
    '--url',
    'env:HOOK',
    '--format',
    'gotify',
  );
  expect([set.exit, set.stdout]).toEqual([0, expect.stringContaining(`${receiver.url}/... (gotify)`)]);
  const plain = await runWith(env, 'alert', 'set', '--url', `${receiver.url}/x`);
  expect([plain.exit, plain.stderr]).toEqual([2, expect.stringContaining('process list')]);
  const tested = await runWith(env, 'alert', 'test');
  expect([tested.exit, tested.stdout.trim().split('\n')]).toEqual([
    0,
    [`${OPS}: taken`, 'b@example.com: taken', `${receiver.url}: taken`],
  ]);
  expect([receiver.got.map(({ path }) => path), sink.mails.length]).toEqual([['/deep-secret'], 2]);
  await runWith(env, 'alert', 'set', '--no-backups-here');
  expect(await runRecord(dir, 'alert', 'show')).toMatchObject({
    ...{ email: [OPS, 'b@example.com'], url: receiver.url, format: 'gotify', backups_here: false },
    last_sent_at: expect.any(String),
  });
  receiver.respond = () => new Response(null, { status: 500 });
  const failed = await runWith(env, 'alert', 'test');
  expect([failed.exit, failed.stdout]).toEqual([1, expect.stringContaining('not taken. It answered 500.')]);
  expect((await run(dir, 'alert', 'off')).stdout).toContain('Backups are kept by somebody else.');
  expect((await run(dir, 'alert', 'test')).exit).toBe(1);
  expect(await runRecord(dir, 'alert', 'show')).toMatchObject({ email: [], url: null, problem: null });
});

test('a monitor is asked at the start and every five minutes while health is ok, and of its URL the host alone is told', async () => {
  const receiver = startReceiver();
  const env = { SATCHEL_HEARTBEAT_URL: `${receiver.url}/ping/deep-secret?x=1` };
  const clock = new TestClock('2030-01-15T12:00:30Z');
  const app = await startTestApp({ env, clock });
  await receiver.await('/ping/deep-secret?x=1', 1);
  expect(receiver.got[0]).toMatchObject({
    method: 'GET',
    headers: { 'user-agent': expect.stringMatching(/^Satchel\//) },
  });
  clock.advance(4 * MINUTE);
  await app.app.scheduler.tick();
  expect(receiver.got).toHaveLength(1);
  clock.advance(MINUTE);
  await app.app.scheduler.tick();
  expect(receiver.got).toHaveLength(2);

  const log = captureLog(clock, {});
  let status: 'ok' | 'degraded' = 'degraded';
  const health = () => ({ ...app.services.status.health(), status });
  const heartbeat = new Heartbeat({ config: app.config, status: { health }, logger: log.logger });
  await heartbeat.beat();
  expect(receiver.got).toHaveLength(2);
  status = 'ok';
  receiver.respond = () => new Response('no', { status: 404 });
  await heartbeat.beat();
  expect(log.text()).toContain('404');
  const away = new Heartbeat({
    config: { heartbeat_url: 'http://127.0.0.1:9/ping/deep-secret' },
    ...{ status: { health }, logger: log.logger },
  });
  await away.beat();
  expect(log.text()).toContain('127.0.0.1:9');
  expect(log.text() + app.logs()).not.toContain('deep-secret');
});
