/** Starts on a disk that is mounted read-only: one sentence that names the directory and what mends it. Mounting needs root. */
import { expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { makeTempDir } from '../support/temp.ts';
import { satchel } from './binary.ts';
import { canMount } from './small-disk.ts';

setDefaultTimeout(120_000);

/** Runs a command of Satchel on a file system of its own, prepared by a script and then read-only. */
async function runOnReadOnlyDisk(prepare: string, ...args: string[]) {
  const mount_point = makeTempDir();
  const data_dir = join(mount_point, 'data');
  const script = `mount -t tmpfs -o size=16m none ${mount_point} && cd ${mount_point} && ${prepare} && cd / &&
    mount -o remount,ro ${mount_point} && exec "$0" "$@"`;
  const ran = await satchel([...args, '--data-dir', data_dir], {
    wrap: ['unshare', '-m', 'sh', '-c', script],
  });
  return { data_dir, ...ran };
}

test.skipIf(!canMount).each([
  ['without a directory', 'true', ['serve']],
  ['with an empty directory', 'mkdir -m 700 data', ['serve']],
  ['with one that others may read', 'mkdir -m 755 data', ['serve']],
  ['where a server ran before', 'mkdir -m 700 data && touch data/server.lock data/satchel.db', ['serve']],
  ['with a verb', 'mkdir -m 700 data && touch data/satchel.db', ['project', 'list']],
])('%s', async (_where, prepare, args) => {
  const { data_dir, exit, stdout, stderr } = await runOnReadOnlyDisk(prepare, ...args);
  expect([exit, stdout]).toEqual([1, '']);
  expect(stderr).toBe(
    `satchel: The data directory ${data_dir} is on a disk that is mounted read-only: mount it writable (mount -o remount,rw; ` +
      'dmesg says whether the disk fails), or choose another directory with --data-dir or SATCHEL_DATA_DIR.\n',
  );
});
