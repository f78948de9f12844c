/** Backups of a real app: beside its writes, with everything in them, and with no row that lacks its bytes. */
import { expect, test } from 'bun:test';
import {
  copyFileSync,
  existsSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { backUp } from '../../../src/operation/backups/making.ts';
import { dropBlobs } from '../../../src/operation/backups/store.ts';
import { isPlainObject } from '../../../src/platform/http/schema.ts';
import { run, runRecord, runSpawned } from '../../support/command.ts';
import {
  blobPath,
  dumpBlobs,
  dumpRows,
  modeOf,
  namesIn,
  readObject,
  sql,
  upload,
  uploadFile,
} from '../../support/deployment.ts';
import { makeProject, startTestApp, type TestApp } from '../../support/helpers.ts';
import { makeTempDir, TestClock } from '../../support/temp.ts';

const UNLIMITED = {
  env: { SATCHEL_UPLOADS_PER_MINUTE: '1000000' },
};

async function startShop(): Promise<{ app: TestApp; key: string; data_dir: string }> {
  const app = await startTestApp(UNLIMITED);
  const project = await makeProject(app);
  const key = await project.key({ can_read: true, can_write: true, rate_limit_per_minute: 1_000_000 });
  return { app, key, data_dir: app.data_dir };
}

/** Restores into a directory of its own, with the master key of the original. */
async function restore(file: string, original: string): Promise<string> {
  const data_dir = join(makeTempDir(), 'restored');
  const done = await run(data_dir, 'restore', file);
  expect([done.exit, done.stderr]).toEqual([0, expect.stringContaining('needs the key')]);
  copyFileSync(join(original, 'master.key'), join(data_dir, 'master.key'));
  return data_dir;
}

test('a restored backup has every row and every byte', async () => {
  const { app, key, data_dir } = await startShop();
  const sizes = [0, 1, 1024, 1024 * 1024, 3 * 1024 * 1024 + 7];
  for (const size of sizes)
    await upload(
      app,
      key,
      crypto
        .getRandomValues(Buffer.alloc(Math.min(size, 65_536)))
        .toString('hex')
        .repeat(Math.ceil(size / 65_536) || 1)
        .slice(0, size),
    );
  const file = join(makeTempDir(), 'a.backup');
  const made = await runRecord(data_dir, 'backup', file);
  expect(made).toMatchObject({ file, objects: sizes.length, left_out: [], size_bytes: statSync(file).size });
  const restored = await restore(file, data_dir);
  expect(dumpRows(restored)).toEqual(dumpRows(data_dir));
  expect(dumpBlobs(restored)).toEqual(dumpBlobs(data_dir));
  // And it is a deployment that works: the sealed copy of the key opens.
  const again = await startTestApp({ data_dir: restored });
  expect((await again.call('GET', '/api/v1/objects', { key })).body.data).toHaveLength(sizes.length);
  const [only] = again.services.keys.list(again.services.projects.require('shop'), {
    page: 1,
    per_page: 1,
  }).data;
  expect(only?.key_prefix).toBe(key.slice(0, only?.key_prefix.length));
  expect(again.services.keys.listUndecryptable(again.services.projects.require('shop'))).toEqual([]);
});

test('the file is for its owner alone, and nothing else is left beside it', async () => {
  const { data_dir } = await startShop();
  const folder = makeTempDir();
  const { stdout, exit } = await run(data_dir, 'backup', join(folder, 'a.backup'));
  expect([exit, namesIn(folder), modeOf(join(folder, 'a.backup'))]).toEqual([0, ['a.backup'], '600']);
  expect(stdout).toContain('The master key');
  expect(stdout).toContain('is not in it');
});

test('the master key is not in the backup', async () => {
  const { data_dir } = await startShop();
  const file = join(makeTempDir(), 'a.backup');
  await runRecord(data_dir, 'backup', file);
  const text = (await Bun.file(join(data_dir, 'master.key')).text()).trim();
  const bytes = Buffer.from(await Bun.file(file).arrayBuffer());
  expect(bytes.includes(text)).toBe(false);
  expect(bytes.includes(Buffer.from(text, 'base64'))).toBe(false);
});

test('a file that exists is never overwritten', async () => {
  const { data_dir } = await startShop();
  const folder = makeTempDir();
  const file = join(folder, 'a.backup');
  writeFileSync(file, 'mine');
  const { exit, stderr } = await run(data_dir, 'backup', file);
  expect([exit, stderr, await Bun.file(file).text()]).toEqual([
    1,
    expect.stringContaining('exists already'),
    'mine',
  ]);
  expect(namesIn(folder)).toEqual(['a.backup']);
});

test('without a database, or a folder to write to, nothing is made', async () => {
  const empty = join(makeTempDir(), 'nothing');
  expect((await run(empty, 'backup', join(makeTempDir(), 'a'))).stderr).toContain('There is no database');
  expect(existsSync(empty)).toBe(false);
  const { data_dir } = await startShop();
  expect((await run(data_dir, 'backup', '/nonexistent-folder/a')).stderr).toContain('does not exist');
});

test('beside uploads and deletions it holds one consistent state, twice over', async () => {
  const { app, key, data_dir } = await startShop();
  const steady = new Map<string, string>();
  for (let n = 0; n < 300; n += 1) {
    // Every third is too large for the database.
    const bytes = `steady ${n} `.repeat(n % 3 === 0 ? 9_000 : 2_000);
    steady.set(await upload(app, key, bytes), bytes);
  }
  const doomed: string[] = [];
  for (let n = 0; n < 300; n += 1)
    doomed.push(await upload(app, key, `doomed ${n} `.repeat(n % 2 === 0 ? 500 : 9_000)));
  let is_over = false;
  let deleted = 0;
  const writers = Array.from({ length: 4 }, async () => {
    while (!is_over) {
      doomed.push(await upload(app, key, 'fleeting'.repeat(deleted % 2 === 0 ? 2_000 : 9_000)));
      const id = doomed.shift();
      if (id === undefined) continue;
      const { status } = await app.call('DELETE', `/api/v1/objects/${id}`, { key });
      expect(status).toBe(200);
      deleted += 1;
    }
  });
  const folder = makeTempDir();
  for (const name of ['one', 'two']) {
    // In a process of its own: in this one the writers would wait for it.
    const { stdout } = await runSpawned(['backup', join(folder, name), '--json'], {
      env: { SATCHEL_DATA_DIR: data_dir },
    });
    expect(JSON.parse(stdout)).toMatchObject({ left_out: [] });
  }
  is_over = true;
  await Promise.all(writers);
  expect(deleted).toBeGreaterThan(50);
  for (const name of ['one', 'two']) {
    const verified = await runRecord(data_dir, 'verify', join(folder, name));
    expect(verified).toMatchObject({ ok: true, findings: [] });
    const restored = await restore(join(folder, name), data_dir);
    const blobs = dumpBlobs(restored);
    const rows = dumpRows(restored).objects ?? [];
    const held = dumpRows(restored).object_contents ?? [];
    // A row for all bytes and bytes for each row, and all that nobody touched is there.
    expect(rows.length).toBe(Object.keys(blobs).length + held.length);
    expect(Math.min(held.length, Object.keys(blobs).length)).toBeGreaterThan(50);
    expect(dumpRows(restored).row_counts).toContain(JSON.stringify(['objects', 1, 'private', rows.length]));
    for (const [id, bytes] of steady) {
      expect(readObject(restored, id)).toBe(bytes);
    }
  }
}, 60_000);

test('an object whose bytes were lost or damaged before is left out, with a warning that names it', async () => {
  const { app, key, data_dir } = await startShop();
  const [sound, lost, cut, altered] = [
    await uploadFile(app, key, 'sound'),
    await uploadFile(app, key, 'lost'),
    await uploadFile(app, key, 'cut short'),
    await uploadFile(app, key, 'altered'),
  ];
  rmSync(blobPath(data_dir, lost));
  truncateSync(blobPath(data_dir, cut), 3);
  writeFileSync(blobPath(data_dir, altered), 'ALTERED');
  const file = join(makeTempDir(), 'a.backup');
  const { exit, stdout, stderr } = await run(data_dir, 'backup', file, '--json');
  const made: unknown = JSON.parse(stdout);
  if (!isPlainObject(made)) throw new Error(stdout);
  expect(exit).toBe(0);
  expect(made.left_out).toEqual([lost, cut, altered]);
  for (const id of [lost, cut, altered]) expect(stderr).toContain(`object ${id} are missing or damaged`);
  expect(await runRecord(data_dir, 'verify', file)).toMatchObject({ ok: true, objects: 1 });
  const restored = await restore(file, data_dir);
  expect(Object.keys(dumpBlobs(restored)).map((name) => name.slice(3))).toEqual([sound]);
  // The live database is not touched.
  expect(dumpRows(data_dir).objects).toHaveLength(4);
});

test('bytes that only a waiting mail keeps are in the backup', async () => {
  const { app, key, data_dir } = await startShop();
  const id = await uploadFile(app, key, 'attached');
  const held = await upload(app, key, 'attached too');
  insertMail(data_dir, 'mail-1', id);
  insertMail(data_dir, 'mail-2', held);
  for (const each of [id, held]) await app.call('DELETE', `/api/v1/objects/${each}`, { key });
  const file = join(makeTempDir(), 'a.backup');
  expect(await runRecord(data_dir, 'backup', file)).toMatchObject({ objects: 1, left_out: [] });
  const restored = await restore(file, data_dir);
  expect(await Bun.file(blobPath(restored, id)).text()).toBe('attached');
  expect(dumpRows(restored).pinned_contents).toEqual(dumpRows(data_dir).pinned_contents);
  expect(dumpRows(restored).pinned_contents).toHaveLength(1);
});

test('a mail that went out after the snapshot, and let go of its attachment, is sent in the backup too', async () => {
  const { app, key, data_dir } = await startShop();
  const gone = await upload(app, key, 'gone');
  const kept = await upload(app, key, 'kept');
  const broken = await upload(app, key, 'broken');
  insertMail(data_dir, 'mail-1', gone);
  insertMail(data_dir, 'mail-2', kept);
  insertMail(data_dir, 'mail-3', gone);
  insertMail(data_dir, 'mail-4', broken);
  const copy = makeTempDir();
  sql(data_dir, 'VACUUM INTO ?', join(copy, 'satchel.db'));
  sql(data_dir, "UPDATE emails SET status = 'sent', sent_at = 9 WHERE id = 'mail-1'");
  sql(data_dir, "UPDATE jobs SET status = 'completed' WHERE id = 'job of mail-1'");
  sql(data_dir, "DELETE FROM attachment_pins WHERE email_id = 'mail-1'");
  sql(data_dir, "DELETE FROM emails WHERE id = 'mail-3'");
  sql(data_dir, "DELETE FROM jobs WHERE id = 'job of mail-3'");
  sql(data_dir, 'DELETE FROM attachment_pins WHERE object_public_id = ? AND email_id <> ?', gone, 'mail-4');
  sql(data_dir, 'DELETE FROM objects WHERE public_id = ?', gone);
  expect(dropBlobs(join(copy, 'satchel.db'), join(data_dir, 'satchel.db'), [gone, broken])).toEqual([broken]);
  const before = dumpRows(data_dir);
  const after = dumpRows(copy);
  const without = (rows: string[] | undefined, id: string): string[] =>
    (rows ?? []).filter((row) => !row.includes(id));
  for (const table of ['emails', 'jobs', 'row_counts']) {
    // The lost object is still counted in the live database.
    const is_counter = (row: string): boolean => table === 'row_counts' && /"object(s|_bytes)"/.test(row);
    expect((after[table] ?? []).filter((row) => !is_counter(row))).toEqual(
      (before[table] ?? []).filter((row) => !is_counter(row)),
    );
  }
  expect(after.objects).toEqual(without(before.objects, broken));
  expect(after.attachment_pins).toEqual(without(before.attachment_pins, broken));
  expect(after.attachment_pins).toEqual([JSON.stringify(['mail-2', kept])]);
});

test('a backup that fails leaves nothing behind', async () => {
  const { data_dir } = await startShop();
  const folder = makeTempDir();
  writeFileSync(join(data_dir, 'broken.db'), 'x');
  const broken = makeTempDir();
  copyFileSync(join(data_dir, 'broken.db'), join(broken, 'satchel.db'));
  await expect(backUp(broken, { file: join(folder, 'a'), clock: new TestClock() })).rejects.toThrow(
    'could not be made',
  );
  expect(readdirSync(folder)).toEqual([]);
});

function insertMail(data_dir: string, id: string, object_public_id: string): void {
  sql(
    data_dir,
    `INSERT INTO jobs (id, project_id, type, status, priority, lane, run_at, max_attempts, payload, queued_at)
     VALUES (?, 1, 'email.send', 'completed', 1, 'x', 4102444800000, 3, '{}', 1)`,
    `job of ${id}`,
  );
  sql(
    data_dir,
    `INSERT INTO emails (id, project_id, job_id, source, status, from_email, domain, to_email, subject, message_id, created_at)
     VALUES (?, 1, ?, 'api', 'queued', 'a@b.test', 'b.test', 'c@d.test', 's', 'm', 1)`,
    id,
    `job of ${id}`,
  );
  sql(
    data_dir,
    'INSERT INTO attachment_pins (email_id, object_public_id) VALUES (?, ?)',
    id,
    object_public_id,
  );
}

/** Preloaded into a command: tells the priority that the process has at its end. */
const PRIORITY_PROBE = `
  import { getPriority } from 'node:os';
  process.on('exit', () => process.stderr.write('priority ' + getPriority() + '\\n'));`;

test('a command that backs up or verifies makes way for others, and nothing else does', async () => {
  const { app, data_dir } = await startShop();
  const own = getPriority();
  const dir = makeTempDir();
  const probe = join(dir, 'probe.ts');
  writeFileSync(probe, PRIORITY_PROBE);
  await backUp(data_dir, { file: join(dir, 'in-process.backup'), clock: app.clock });
  expect(getPriority()).toBe(own);
  for (const verb of ['backup', 'verify']) {
    const env = { SATCHEL_DATA_DIR: data_dir, BUN_OPTIONS: `--preload ${probe}` };
    const { exit, stderr } = await runSpawned([verb, join(dir, 'a.backup')], { env });
    expect([verb, exit, stderr]).toEqual([verb, 0, 'priority 19\n']);
  }
});
