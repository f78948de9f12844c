// Bytes on disk: durable uploads, what a failure leaves, and the sweep that removes what nobody needs.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '../../../src/errors.ts';
import {
  BLOB_SYNC_EVERY_BYTES,
  BLOB_WRITE_BYTES,
  diskErrorOf,
} from '../../../src/platform/files/file-sink.ts';
import { BLOB_SETTLE_MS, BlobStore } from '../../../src/platform/files/store.ts';
import { SNIFF_BYTES } from '../../../src/platform/files/upload.ts';
import { newId } from '../../../src/platform/host/ids.ts';

const NOW_MS = Date.UTC(2030, 0, 1);
let dir = '';
let blobs: BlobStore;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'blobs-'));
  blobs = new BlobStore(dir);
});

afterEach(() => {
  rmSync(dir, { recursive: true });
});

function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(folder, path)).isFile())
    .sort();
}

async function store(content: string | Uint8Array, into: BlobStore = blobs): Promise<string> {
  const upload = into.openUpload(newId(NOW_MS));
  await upload.write(Buffer.from(content));
  await upload.commit();
  return upload.id;
}

function hashOf(...chunks: Uint8Array[]): string {
  const hasher = new Bun.CryptoHasher('sha256');
  for (const chunk of chunks) hasher.update(chunk);
  return hasher.digest('hex');
}

describe('an upload', () => {
  test('becomes one file, named by its id in the folder of its last two characters', async () => {
    const id = await store('hello');
    expect(filesIn(dir)).toEqual([`objects/${id.slice(-2)}/${id}`]);
    expect(blobs.path(id)).toBe(join(dir, 'objects', id.slice(-2), id));
    expect(readFileSync(blobs.path(id), 'utf8')).toBe('hello');
    expect(blobs.has(id)).toBe(true);
    const whole = await blobs.read(id, { start: 0, end: 5, size_bytes: 5 });
    expect(await whole?.text()).toBe('hello');
    expect(await blobs.read('01ARZ3NDEKTSV4RRFFQ69G5FAV', { start: 0, end: 1, size_bytes: 1 })).toBeNull();
  });

  test('is readable by its owner alone, whatever the umask', async () => {
    const umask = process.umask(0);
    try {
      const other = join(dir, 'other');
      mkdirSync(other);
      const open = new BlobStore(other);
      const path = open.path(await store('x', open));
      expect(statSync(path).mode & 0o777).toBe(0o600);
      for (const folder of [join(path, '..'), join(other, 'objects')]) {
        expect(statSync(folder).mode & 0o777).toBe(0o700);
      }
    } finally {
      process.umask(umask);
    }
  });

  test('counts, hashes and keeps its first bytes as they come in pieces of any size', async () => {
    const upload = blobs.openUpload(newId(NOW_MS));
    const chunks: Uint8Array[] = [];
    const sizes = [1, 0, 5000, 3, 4096, 4095, 100_000, 7, BLOB_WRITE_BYTES, 1, 2 * BLOB_WRITE_BYTES, 4096, 9];
    for (const [index, size] of sizes.entries()) {
      const chunk = new Uint8Array(size).map((_, at) => (at * 31 + index) % 251);
      chunks.push(chunk);
      await upload.write(chunk);
    }
    const whole = Buffer.concat(chunks);
    expect(upload.size_bytes).toBe(whole.length);
    expect(Buffer.from(upload.head).equals(whole.subarray(0, SNIFF_BYTES))).toBe(true);
    expect(upload.sha256()).toBe(hashOf(whole));
    await upload.commit();
    expect(readFileSync(blobs.path(upload.id)).equals(whole)).toBe(true);
  });

  test('of single bytes, and of nothing, is stored too', async () => {
    const upload = blobs.openUpload(newId(NOW_MS));
    for (let at = 0; at < 50_000; at += 1) await upload.write(Uint8Array.of(at % 256));
    await upload.commit();
    expect(readFileSync(blobs.path(upload.id))).toEqual(
      Buffer.from(Array.from({ length: 50_000 }, (_, at) => at % 256)),
    );
    expect(readFileSync(blobs.path(await store('')))).toHaveLength(0);
  });

  test('of many megabytes, flushed on the way, is stored whole', async () => {
    const chunk = crypto.getRandomValues(new Uint8Array(65_536));
    const chunks = Array.from({ length: (3 * BLOB_SYNC_EVERY_BYTES) / chunk.length + 1 }, () => chunk);
    const upload = blobs.openUpload(newId(NOW_MS));
    for (const each of chunks) await upload.write(each);
    await upload.commit();
    expect(hashOf(readFileSync(blobs.path(upload.id)))).toBe(hashOf(...chunks));
  });

  test('many at once end up in the right files', async () => {
    const ids = await Promise.all(Array.from({ length: 64 }, (_, index) => store(`content ${index}`)));
    expect(ids.map((id) => readFileSync(blobs.path(id), 'utf8'))).toEqual(
      ids.map((_, index) => `content ${index}`),
    );
    expect(filesIn(dir)).toHaveLength(64);
  });

  test('that is aborted leaves nothing, before and after its first write to disk', async () => {
    for (const size of [0, 10, 3 * BLOB_WRITE_BYTES]) {
      const upload = blobs.openUpload(newId(NOW_MS));
      await upload.write(new Uint8Array(size));
      await upload.abort();
      await upload.abort();
      expect(filesIn(dir)).toEqual([]);
      await expect(upload.write(Uint8Array.of(1))).rejects.toThrow('takes no more bytes');
      await expect(upload.commit()).rejects.toThrow('already ended');
    }
  });

  test('that has committed stays, though it is aborted after that', async () => {
    const upload = blobs.openUpload(newId(NOW_MS));
    await upload.commit();
    await upload.abort();
    expect(existsSync(blobs.path(upload.id))).toBe(true);
  });

  test.each([0, 3 * BLOB_WRITE_BYTES])(
    'of %p bytes leaves alone what stands under its name',
    async (size) => {
      const id = newId(NOW_MS);
      mkdirSync(join(blobs.path(id), '..'), { recursive: true });
      writeFileSync(blobs.path(id), 'there before');
      const upload = blobs.openUpload(id);
      const storing = upload.write(new Uint8Array(size)).then(() => upload.commit());
      await expect(storing).rejects.toMatchObject({ code: 'EEXIST' });
      await upload.abort();
      expect(filesIn(dir)).toHaveLength(1);
      expect(readFileSync(blobs.path(id), 'utf8')).toBe('there before');
    },
  );

  test.each(['', '../../etc/passwd', '01ARZ3NDEKTSV4RRFFQ69G5FA', '01arz3ndektsv4rrffq69g5fav', '..'])(
    'has no path for %p, which is no id',
    (id) => {
      expect(() => blobs.path(id)).toThrow('upper-case ULID');
      expect(() => blobs.openUpload(id)).toThrow('upper-case ULID');
    },
  );
});

describe('a disk that takes no more', () => {
  test.each([
    ['ENOSPC', /disk is full/],
    ['EDQUOT', /disk is full/],
    ['EIO', /disk is failing \(/],
    ['EROFS', /disk is mounted read-only/],
    ['EACCES', /no permission to write to its data directory/],
  ])('with %s makes the service unavailable', (code, message) => {
    const error = diskErrorOf(Object.assign(new Error(code), { code }));
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ kind: 'unavailable', message: expect.stringMatching(message) });
  });

  test('is told from other errors', () => {
    const error = Object.assign(new Error('EINVAL'), { code: 'EINVAL' });
    expect(diskErrorOf(error)).toBe(error);
  });

  /** Runs a script with the store at hand; prints how the upload ended and how many files are left. */
  function runUpload(setup: string, command: (script: string) => string[]): string {
    const source = join(import.meta.dir, '../../../src/platform');
    const script = join(dir, 'upload.ts');
    writeFileSync(
      script,
      `${setup}
      const { readdirSync } = await import('node:fs');
      const { BlobStore } = await import('${source}/files/store.ts');
      const { newId } = await import('${source}/host/ids.ts');
      const at = '${dir}/disk';
      const blobs = new BlobStore(at);
      for (const size of [10, 60_000, 3_000_000]) {
        const upload = blobs.openUpload(newId(${NOW_MS}));
        try {
          for (let left = size; left > 0; left -= 60_000) await upload.write(new Uint8Array(Math.min(left, 60_000)));
          await upload.commit();
          console.log(size, 'stored');
        } catch (error) {
          await upload.abort();
          console.log(size, error.kind);
        }
      }
      const files = readdirSync(at + '/objects', { recursive: true }).filter((path) => /[^/]{20}/.test(path));
      console.log('files', files.length);`,
    );
    mkdirSync(join(dir, 'disk'));
    const { stdout, stderr } = Bun.spawnSync(command(script), { stderr: 'pipe' });
    return stdout.toString() + stderr.toString();
  }

  const can_mount =
    Bun.which('unshare') !== null &&
    Bun.spawnSync(['unshare', '-Urm', 'mount', '-t', 'tmpfs', 'tmpfs', tmpdir()], { stderr: 'ignore' })
      .success;

  test.skipIf(!can_mount)('refuses what does not fit, removes it, and takes what fits', () => {
    const output = runUpload('', (script) => [
      ...['unshare', '-Urm', 'sh', '-c'],
      `mount -t tmpfs -o size=1m tmpfs '${dir}/disk' && exec '${process.execPath}' '${script}'`,
    ]);
    expect(output).toBe('10 stored\n60000 stored\n3000000 unavailable\nfiles 2\n');
  });

  test('and fails to flush leaves no file that might be damaged', () => {
    const setup = `const fs = require('node:fs');
      fs.fsync = (fd, done) => done(Object.assign(new Error('EIO'), { code: 'EIO' }));`;
    const output = runUpload(setup, (script) => [process.execPath, script]);
    expect(output).toBe('10 unavailable\n60000 unavailable\n3000000 unavailable\nfiles 0\n');
  });
});

test('an upload whose first bytes could not be written is not stored without them', async () => {
  const upload = blobs.openUpload(newId(NOW_MS));
  // As when all descriptors are in use: the file cannot be opened, and a moment later it could.
  mkdirSync(blobs.path(upload.id), { recursive: true });
  await expect(upload.write(new Uint8Array(2 * BLOB_WRITE_BYTES + 1))).rejects.toMatchObject({
    code: 'EEXIST',
  });
  rmSync(blobs.path(upload.id), { recursive: true });
  await expect(upload.commit()).rejects.toMatchObject({ code: 'EEXIST' });
  expect(filesIn(dir)).toEqual([]);
});

describe('making all folders ahead', () => {
  test('makes each one, also while uploads make some themselves', async () => {
    const making = blobs.makeFolders();
    const ids = await Promise.all(Array.from({ length: 40 }, () => store('x')));
    await making;
    const folders = readdirSync(join(dir, 'objects'));
    expect(folders).toHaveLength(32 * 32);
    expect(ids.filter((id) => !folders.includes(id.slice(-2)))).toEqual([]);
    expect(statSync(join(dir, 'objects', 'ZZ')).mode & 0o777).toBe(0o700);
    await blobs.makeFolders();
    await new BlobStore(dir).makeFolders();
  });
});

test('uploads that make the same folder at once, in one process and in two, are all stored', async () => {
  const stores = [blobs, blobs, new BlobStore(dir)];
  const ids = stores.map((_, n) => `${newId(NOW_MS).slice(0, -3)}${n}AB`);
  const uploads = stores.map((each, n) => each.openUpload(ids[n] ?? ''));
  await Promise.all(
    uploads.map((upload) => upload.write(Buffer.from(upload.id)).then(() => upload.commit())),
  );
  expect(filesIn(join(dir, 'objects/AB'))).toEqual(ids.sort());
  for (const id of ids) expect(readFileSync(blobs.path(id), 'utf8')).toBe(id);
});

describe('removing', () => {
  test('deletes the bytes, and bytes that are missing are fine', async () => {
    const id = await store('x');
    await blobs.remove(id);
    await blobs.remove(id);
    expect(filesIn(dir)).toEqual([]);
    expect(blobs.has(id)).toBe(false);
  });
});

describe('what a crash left', () => {
  test('is told by its time: older than the store that is open now, and than an hour', async () => {
    const now_ms = Date.now();
    const first = new BlobStore(dir, { now: () => now_ms - 5_000 });
    const upload = first.openUpload(newId(NOW_MS));
    await upload.write(new Uint8Array(3 * BLOB_WRITE_BYTES));
    const id = await store('row to come', first);
    expect([id, upload.id].map((each) => first.isLeftover(each))).toEqual([false, false]);
    // A later process knows nothing of the one before, nor that one of it.
    const later = new BlobStore(dir, { now: () => now_ms + 5_000 });
    expect([id, upload.id].map((each) => later.isLeftover(each))).toEqual([true, true]);
    utimesSync(later.path(id), now_ms / 1000, now_ms / 1000 + 6);
    expect([id, upload.id].map((each) => later.isLeftover(each))).toEqual([false, true]);
    await upload.commit();
    expect(later.isLeftover(newId(NOW_MS))).toBe(false);
  });

  test('is left alone for an hour by the process that may be writing it', async () => {
    let now_ms = Date.now() - 60_000;
    const open = new BlobStore(dir, { now: () => now_ms });
    const id = await store('row to come', open);
    now_ms += BLOB_SETTLE_MS;
    expect(open.isLeftover(id)).toBe(false);
    now_ms += 120_000;
    expect(open.isLeftover(id)).toBe(true);
  });
});

test('ids are listed folder by folder, and nothing that is no blob of this store', async () => {
  const ids = [await store('one'), await store('two')];
  const id = newId(NOW_MS);
  const folder = join(dir, 'objects', id.slice(-2));
  const wrong_folder = join(dir, 'objects', id.endsWith('00') ? '11' : '00');
  for (const made of [folder, wrong_folder]) mkdirSync(made, { recursive: true });
  for (const path of [join(folder, 'notes.txt'), join(wrong_folder, id), join(dir, 'objects/readme')]) {
    writeFileSync(path, 'x');
  }
  const listed = await Array.fromAsync(blobs.listIds());
  expect(listed.flat().sort()).toEqual(ids.sort());
  for (const each of listed) expect(new Set(each.map((name) => name.slice(-2))).size).toBeLessThan(2);
});
