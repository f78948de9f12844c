/** What is acknowledged in a folder that Satchel made is not lost with the folder's name: it is synced into its parent first. */
import { expect, test } from 'bun:test';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { makeTempDir } from '../../support/temp.ts';

const SOURCE = join(import.meta.dir, '../../../src');

/** Runs a script and returns which folders it had made and which it synced, in that order: `made PATH`, `synced PATH`. */
function folderCalls(dir: string, script: string): string[] {
  const path = join(makeTempDir(), 'script.ts');
  writeFileSync(
    path,
    `const fs = require('node:fs');
    const { statSync, readlinkSync, existsSync } = fs;
    const tell = (what, path) => path.startsWith('${dir}') && console.log(what, path);
    const synced = (fd) => {
      const path = readlinkSync('/proc/self/fd/' + fd);
      if (statSync(path).isDirectory()) tell('synced', path);
    };
    const { mkdirSync, fsyncSync, fsync } = fs;
    fs.mkdirSync = (path, options) => {
      const missing = [];
      for (let at = path; !existsSync(at); at = require('node:path').dirname(at)) missing.unshift(at);
      const made = mkdirSync(path, options);
      for (const each of missing) tell('made', each);
      return made;
    };
    fs.fsyncSync = (fd) => (synced(fd), fsyncSync(fd));
    fs.fsync = (fd, done) => (synced(fd), fsync(fd, done));
    ${script}`,
  );
  const { stdout, stderr, exitCode } = Bun.spawnSync([process.execPath, path], { stderr: 'pipe' });
  expect([stderr.toString(), exitCode]).toEqual(['', 0]);
  return stdout.toString().trim().split('\n');
}

const isMade = (call: string): boolean => call.startsWith('made ');

test.if(process.platform === 'linux')('the data directory, and those above it that were missing', () => {
  const dir = makeTempDir();
  const data_dir = join(dir, 'a/b');
  const calls = folderCalls(
    dir,
    `const { makeDataDirectory } = await import('${SOURCE}/platform/host/data-directory.ts');
    makeDataDirectory('${data_dir}');`,
  );
  expect(calls.filter(isMade)).toEqual([`made ${join(dir, 'a')}`, `made ${data_dir}`]);
  expect(calls).toContain(`synced ${dir}`);
  expect(calls).toContain(`synced ${join(dir, 'a')}`);
});

test.if(process.platform === 'linux')(
  'the folder of all files, and that of one, before an upload is committed',
  () => {
    const dir = makeTempDir();
    const upload = `const { BlobStore } = await import('${SOURCE}/platform/files/store.ts');
    const blobs = new BlobStore('${dir}');
    const upload = blobs.openUpload('01ARZ3NDEKTSV4RRFFQ69G5FAV');
    await upload.write(new Uint8Array(10));
    await upload.commit();
    process.exit(0);`;
    const objects = join(dir, 'objects');
    const calls = folderCalls(dir, upload);
    expect(calls.filter(isMade)).toEqual([`made ${objects}`, `made ${join(objects, 'AV')}`]);
    for (const made of calls.filter(isMade)) {
      const path = made.slice('made '.length);
      expect(calls.slice(calls.indexOf(made))).toContain(`synced ${dirname(path)}`);
    }
  },
);

test.if(process.platform === 'linux')(
  'one that was there too, as whoever made it may not have got as far',
  () => {
    const dir = makeTempDir();
    mkdirSync(join(dir, 'objects'));
    const calls = folderCalls(
      dir,
      `const { BlobStore } = await import('${SOURCE}/platform/files/store.ts');
    new BlobStore('${dir}');`,
    );
    expect(calls).toEqual([`synced ${dir}`]);
  },
);
