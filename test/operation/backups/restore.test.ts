/** Restoring and verifying: what is refused and why, what becomes of the data that was there, and kills in the middle. */
import { beforeAll, describe, expect, test } from 'bun:test';
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { lockDirectory } from '../../../src/platform/host/directory-lock.ts';
import { run, runRecord } from '../../support/command.ts';
import { blobPath, dumpBlobs, dumpRows, modeOf, namesIn, sql, upload } from '../../support/deployment.ts';
import { satchelCommand } from '../../support/executable.ts';
import { makeProject, startTestApp } from '../../support/helpers.ts';
import { makeTempDir } from '../../support/temp.ts';

const MAIN = join(import.meta.dir, '../../../src/main.ts');
const root = makeTempDir();
const old_dir = join(root, 'old');
const new_dir = join(root, 'new');
const file = join(root, 'new.backup');
const new_key = (): string => readFileSync(join(new_dir, 'master.key'), 'utf8');

/** A stopped deployment with some objects. */
async function makeDeployment(data_dir: string, slug: string): Promise<void> {
  mkdirSync(data_dir);
  const app = await startTestApp({ data_dir, env: { SATCHEL_UPLOADS_PER_MINUTE: '100000' } });
  const key = await (await makeProject(app, slug)).key();
  for (let n = 0; n < 40; n += 1)
    await upload(app, key, `${slug} ${n} `.repeat(n % 2 === 0 ? 12_000 : 4_000));
  await app.stop();
}

beforeAll(async () => {
  await makeDeployment(old_dir, 'old');
  await makeDeployment(new_dir, 'new');
  await runRecord(new_dir, 'backup', file);
}, 60_000);

/** A copy of the old deployment with the master key of the new one, as an operator would put it there. */
function copyOfOld(): string {
  const data_dir = join(makeTempDir(), 'data');
  cpSync(old_dir, data_dir, { recursive: true });
  writeFileSync(join(data_dir, 'master.key'), new_key(), { mode: 0o600 });
  return data_dir;
}

test('an empty place gets the whole deployment, for its owner alone, and is told which key it needs', async () => {
  const data_dir = join(makeTempDir(), 'data');
  const { exit, stderr } = await run(data_dir, 'restore', file);
  const id = String((await runRecord(new_dir, 'verify', file)).master_key_id);
  expect([exit, stderr]).toEqual([0, expect.stringContaining(`needs the key ${id}`)]);
  expect(dumpRows(data_dir)).toEqual(dumpRows(new_dir));
  expect(dumpBlobs(data_dir)).toEqual(dumpBlobs(new_dir));
  expect(namesIn(data_dir)).toEqual(['objects', 'satchel.db', 'server.lock', 'server.pid']);
  const folders = readdirSync(join(data_dir, 'objects')).map((name) => join(data_dir, 'objects', name));
  const files = Object.keys(dumpBlobs(data_dir)).map((name) => join(data_dir, 'objects', name));
  expect(new Set([data_dir, ...folders].map(modeOf))).toEqual(new Set(['700']));
  expect(new Set([join(data_dir, 'satchel.db'), ...files].map(modeOf))).toEqual(new Set(['600']));
  // Without the key the server does not start, rather than making a new one.
  expect((await run(data_dir, 'project', 'list')).stderr).toContain(`sealed under the key ${id}`);
});

test('data that is there is replaced only with --yes, and kept as a deployment of its own', async () => {
  const data_dir = copyOfOld();
  const refused = await run(data_dir, 'restore', file);
  expect([refused.exit, refused.stderr]).toEqual([1, expect.stringContaining('Add --yes')]);
  expect(dumpRows(data_dir)).toEqual(dumpRows(old_dir));
  const result = await runRecord(data_dir, 'restore', file, '--yes');
  expect(result).toMatchObject({ projects: 1, objects: 40, master_key_fits: true });
  expect(dumpRows(data_dir)).toEqual(dumpRows(new_dir));
  expect(dumpBlobs(data_dir)).toMatchObject(dumpBlobs(new_dir));
  const replaced = String(result.replaced);
  expect(dumpRows(replaced)).toEqual(dumpRows(old_dir));
  expect(dumpBlobs(replaced)).toEqual(dumpBlobs(old_dir));
  // The next start sweeps up the old files; what was put aside keeps them.
  const app = await startTestApp({ data_dir });
  await app.services.objects.sweepOrphans();
  expect(dumpBlobs(data_dir)).toEqual(dumpBlobs(new_dir));
  expect(dumpBlobs(replaced)).toEqual(dumpBlobs(old_dir));
});

// Only root can make a directory another user's.
test.if(process.getuid?.() === 0)(
  'root is told to give what it restores to the owner of the directory',
  async () => {
    const data_dir = copyOfOld();
    chownSync(data_dir, 65_534, 65_533);
    const { exit, stderr } = await run(data_dir, 'restore', file, '--yes');
    expect([exit, stderr]).toEqual([0, expect.stringContaining(`chown -R 65534:65533 ${data_dir}`)]);
    expect((await run(copyOfOld(), 'restore', file, '--yes')).stderr).not.toContain('chown');
  },
);

test('what stood in the write-ahead log of the old database is kept, and never reaches the new one', async () => {
  const data_dir = copyOfOld();
  const child = Bun.spawn(
    [
      process.execPath,
      '-e',
      `const { Database } = require('bun:sqlite');
       const db = new Database(${JSON.stringify(join(data_dir, 'satchel.db'))});
       db.run('PRAGMA journal_mode = WAL');
       db.run("UPDATE projects SET name = 'from the log'");
       process.kill(process.pid, 'SIGKILL');`,
    ],
    { stdout: 'ignore', stderr: 'inherit' },
  );
  await child.exited;
  expect(existsSync(join(data_dir, 'satchel.db-wal'))).toBe(true);
  const { replaced } = await runRecord(data_dir, 'restore', file, '--yes');
  expect(dumpRows(data_dir)).toEqual(dumpRows(new_dir));
  expect(JSON.stringify(dumpRows(String(replaced)).projects)).toContain('from the log');
});

test('a database that is damaged can be replaced, and is kept as it is', async () => {
  const data_dir = copyOfOld();
  for (const tail of ['-wal', '-shm']) rmSync(join(data_dir, `satchel.db${tail}`), { force: true });
  writeFileSync(
    join(data_dir, 'satchel.db'),
    'no database at all, but somebody may still want to look at it',
  );
  const { replaced } = await runRecord(data_dir, 'restore', file, '--yes');
  expect(dumpRows(data_dir)).toEqual(dumpRows(new_dir));
  expect(readFileSync(join(String(replaced), 'satchel.db'), 'utf8').slice(0, 18)).toBe('no database at all');
});

describe('a restore is refused, and changes nothing,', () => {
  async function refusal(data_dir: string, from = file): Promise<string> {
    const before = [dumpRows(data_dir), dumpBlobs(data_dir)];
    const { exit, stderr } = await run(data_dir, 'restore', from, '--yes');
    expect(exit).toBe(1);
    expect([dumpRows(data_dir), dumpBlobs(data_dir)]).toEqual(before);
    expect(namesIn(data_dir).filter((name) => /^(restoring|replaced)-/.test(name))).toEqual([]);
    return stderr;
  }

  test('while a server serves the directory', async () => {
    const data_dir = copyOfOld();
    const lock = lockDirectory(data_dir, process.pid);
    expect(await refusal(data_dir)).toContain(`(process ${process.pid}) serves the data directory`);
    lock.release();
  });

  test('when the master key is that of another deployment', async () => {
    const data_dir = copyOfOld();
    cpSync(join(old_dir, 'master.key'), join(data_dir, 'master.key'));
    const message = await refusal(data_dir);
    expect(message).toMatch(
      /does not fit this backup.* gives the key [0-9a-f]{16}, but the key [0-9a-f]{16} is needed/s,
    );
    // Who follows the advice must not lose the key of what a restore puts aside.
    expect(message).toContain('Keep the present key: what is there now needs it.');
  });

  test('when the backup is damaged anywhere', async () => {
    const bytes = readFileSync(file);
    const data_dir = copyOfOld();
    for (const share of [0.001, 0.2, 0.5, 0.8, 0.999]) {
      const damaged = Buffer.from(bytes);
      const at = Math.floor(bytes.length * share);
      damaged.writeUInt8(damaged.readUInt8(at) ^ 1, at);
      const path = join(makeTempDir(), 'damaged');
      writeFileSync(path, damaged);
      expect(await refusal(data_dir, path)).toContain('damaged');
    }
  }, 60_000);

  test('when the file is no backup', async () => {
    expect(await refusal(copyOfOld(), MAIN)).toContain('is not a backup of Satchel');
  });

  test('when the database in it is of a newer Satchel', async () => {
    const newer = copyOfOld();
    sql(newer, "INSERT INTO schema_migrations VALUES (999, 'later', 'x', 1)");
    const path = join(makeTempDir(), 'newer.backup');
    // The copy has the new key file, but a backup never asks for the key.
    await runRecord(newer, 'backup', path);
    const data_dir = join(makeTempDir(), 'data');
    const { exit, stderr } = await run(data_dir, 'restore', path);
    expect([exit, stderr, existsSync(data_dir)]).toEqual([
      1,
      expect.stringContaining('newer Satchel'),
      false,
    ]);
  });
});

test('killed at any moment it leaves the old deployment or the new one, and the next restore succeeds', async () => {
  const old_rows = dumpRows(old_dir);
  const new_rows = dumpRows(new_dir);
  const outcomes = new Set<string>();
  for (let round = 0; round < 8; round += 1) {
    const data_dir = copyOfOld();
    const child = Bun.spawn([...satchelCommand(), 'restore', file, '--yes', '--data-dir', data_dir], {
      stdout: 'ignore',
      stderr: 'ignore',
      env: { PATH: process.env.PATH ?? '' },
    });
    const started = (): boolean => readdirSync(data_dir).some((name) => name.startsWith('restoring-'));
    while (child.exitCode === null && !started()) await Bun.sleep(1);
    await Bun.sleep(round * 5);
    child.kill('SIGKILL');
    await child.exited;
    const rows = dumpRows(data_dir);
    const is_old = Bun.deepEquals(rows, old_rows);
    expect(is_old || Bun.deepEquals(rows, new_rows)).toBe(true);
    outcomes.add(is_old ? 'old' : 'new');
    expect(dumpBlobs(data_dir)).toMatchObject(dumpBlobs(is_old ? old_dir : new_dir));
    if (round % 4 === 0) {
      await runRecord(data_dir, 'restore', file, '--yes');
      expect(dumpRows(data_dir)).toEqual(new_rows);
      expect(namesIn(data_dir).filter((name) => name.startsWith('restoring-'))).toEqual([]);
    }
    rmSync(data_dir, { recursive: true });
  }
  expect(outcomes).toContain('old');
}, 60_000);

describe('verify', () => {
  test('calls a sound backup sound, counts what is in it, and leaves nothing behind', async () => {
    const before = namesIn(root);
    const result = await runRecord(root, 'verify', file);
    expect(result).toMatchObject({ ok: true, findings: [], projects: 1, objects: 40, made_by: '0.1.0' });
    expect(namesIn(root)).toEqual(before);
  });

  test('unpacks where it is told to', async () => {
    const scratch = makeTempDir();
    expect(await runRecord(root, 'verify', file, '--scratch-dir', scratch)).toMatchObject({ ok: true });
    expect(namesIn(scratch)).toEqual([]);
  });

  test('says where else to unpack when it can not be done there', async () => {
    const missing = join(makeTempDir(), 'missing', 'below');
    const { exit, stderr } = await run(root, 'verify', file, '--scratch-dir', missing);
    expect([exit, stderr]).toEqual([
      1,
      expect.stringContaining(`There can be no scratch folder in ${missing}: ENOENT`),
    ]);
    expect(stderr).toContain('--scratch-dir');
    expect(existsSync(missing)).toBe(false);
  });

  test('ends with 1 and says what is wrong, as one document with --json', async () => {
    const path = join(makeTempDir(), 'cut');
    writeFileSync(path, readFileSync(file).subarray(0, 100_000));
    const { exit, stdout } = await run(root, 'verify', path, '--json');
    expect(exit).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      ok: false,
      findings: [expect.stringContaining('it ends after 100000 bytes')],
    });
    expect((await run(root, 'verify', MAIN, '--json')).stdout).toContain('is not a backup of Satchel');
  });

  test('finds a row without its bytes, and bytes that are not those of the row', async () => {
    // Satchel never makes such a backup, so another hand does: the rows are changed after the files were copied.
    const data_dir = copyOfOld();
    const path = join(makeTempDir(), 'wrong');
    const { backUpWith } = await import('./wrong-backup.ts');
    const ids = await backUpWith(data_dir, path);
    const { exit, stdout } = await run(root, 'verify', path);
    expect(exit).toBe(1);
    expect(stdout).toContain(`2 objects have no bytes: ${ids.missing}, ${ids.gone}.`);
    expect(stdout).toContain(
      `2 objects have other bytes than their rows tell of: ${ids.other}, ${ids.changed}.`,
    );
    expect(existsSync(blobPath(data_dir, ids.missing))).toBe(true);
  });
});
