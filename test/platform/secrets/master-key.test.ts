/** `satchel master-key rotate`: from each source, beside a server, and killed at any moment. */
import { expect, test } from 'bun:test';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadConfig } from '../../../src/config.ts';
import { openDataDirectory } from '../../../src/platform/host/data-directory.ts';
import { PLATFORM_SCOPE } from '../../../src/platform/secrets/key-ring.ts';
import { run, runRecord, runWith } from '../../support/command.ts';
import { dumpRows, namesIn } from '../../support/deployment.ts';
import { makeProject, startTestApp } from '../../support/helpers.ts';
import { makeTempDir, TestClock } from '../../support/temp.ts';

const SRC = join(import.meta.dir, '../../../src');
const clock = new TestClock();

test('a key file gets a new key, a running server goes on, and the operator hears what to do next', async () => {
  const app = await startTestApp();
  const project = await makeProject(app);
  const key = await project.key();
  const before = readFileSync(join(app.data_dir, 'master.key'), 'utf8');
  const result = await runRecord(app.data_dir, 'master-key', 'rotate');
  expect(result).toMatchObject({ rewrapped: 1, undecryptable: [] });
  expect(result.master_key_id).not.toBe(result.old_master_key_id);
  expect(result.next_steps).toContainEqual(
    expect.stringContaining(`need the old key (${String(result.old_master_key_id)})`),
  );
  expect(readFileSync(join(app.data_dir, 'master.key'), 'utf8')).not.toBe(before);
  expect(app.services.keys.listUndecryptable(app.services.projects.require('shop'))).toEqual([]);
  expect((await app.call('GET', '/api/v1/objects', { key })).status).toBe(200);
  await project.key();
  expect(dumpRows(app.data_dir).audit_events?.join()).toContain('master_key.rotated');
});

test('a key of the environment needs its new value, from a file rather than from the process list', async () => {
  const data_dir = join(makeTempDir(), 'data');
  const [old_key, new_key] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString('base64'));
  const rotate = async (SATCHEL_MASTER_KEY: string | undefined, ...args: string[]) => {
    const settings = { SATCHEL_DATA_DIR: data_dir, SATCHEL_MASTER_KEY };
    const { exit, stdout, stderr } = await runWith(settings, 'master-key', 'rotate', ...args);
    return [exit, stdout + stderr] as const;
  };
  const open = (SATCHEL_MASTER_KEY: string | undefined) =>
    openDataDirectory(loadConfig({ SATCHEL_DATA_DIR: data_dir, SATCHEL_MASTER_KEY }), { clock });
  await (await open(old_key)).close();
  expect(await rotate(old_key)).toEqual([1, expect.stringContaining('give its new value')]);
  const path = join(makeTempDir(), 'key');
  writeFileSync(path, `${new_key}\n`);
  expect(await rotate(old_key, '--new-key', `@${path}`)).toEqual([
    0,
    expect.stringContaining('Set SATCHEL_MASTER_KEY to the new value'),
  ]);
  await expect(open(old_key)).rejects.toThrow('does not fit');
  await (await open(new_key)).close();
});

test('where there is no deployment none is made', async () => {
  const data_dir = join(makeTempDir(), 'nothing');
  const { exit, stderr } = await run(data_dir, 'master-key', 'rotate');
  expect([exit, stderr]).toEqual([1, expect.stringContaining('There is no database')]);
  expect(existsSync(data_dir)).toBe(false);
});

const ROUNDS = 15;
const ROTATION_MS = 5;

test('killed at any moment, again and again, everything that was sealed still opens', async () => {
  const data_dir = makeTempDir();
  const config = loadConfig({ SATCHEL_DATA_DIR: data_dir });
  const sealed: string[] = [];
  const first = await openDataDirectory(config, { clock });
  await first.database.write((tx) => {
    for (let n = 0; n < 5; n += 1)
      sealed.push(first.key_ring.seal(tx, PLATFORM_SCOPE, ['test', String(n)], `secret ${n}`));
  });
  const ids = new Set([first.key_ring.master_key_id]);
  await first.close();
  const script = `
    const { openDataDirectory } = await import(${JSON.stringify(join(SRC, 'platform/host/data-directory.ts'))});
    const { loadConfig } = await import(${JSON.stringify(join(SRC, 'config.ts'))});
    const config = loadConfig({ SATCHEL_DATA_DIR: ${JSON.stringify(data_dir)} });
    const { key_ring } = await openDataDirectory(config, { clock: { now: () => 1 } });
    for (;;) {
      await key_ring.rotate(null);
      console.log('rotated');
    }`;
  for (let round = 0; round < ROUNDS; round += 1) {
    const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' });
    const { done } = await child.stdout.getReader().read();
    expect(done).toBe(false);
    // A rotation takes about as long as this, so that the kill falls anywhere in one.
    await Bun.sleep(Math.random() * ROTATION_MS);
    child.kill('SIGKILL');
    await child.exited;
    const again = await openDataDirectory(config, { clock });
    const opened = sealed.map((value, n) =>
      again.key_ring.openText(again.database.read, value, ['test', String(n)]),
    );
    expect(opened).toEqual(sealed.map((_, n) => `secret ${n}`));
    ids.add(again.key_ring.master_key_id);
    await again.close();
    expect(namesIn(data_dir).filter((name) => name.startsWith('master.key'))).toEqual(['master.key']);
  }
  // The kills fell among rotations, not before them.
  expect(ids.size).toBe(ROUNDS + 1);
}, 60_000);
