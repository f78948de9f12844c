// Bytes on disk: durable uploads, what a failure leaves, and the sweep that removes what nobody needs.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  chmodSync,
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
  BLOB_SWEEP_BATCH,
  BLOB_SYNC_EVERY_BYTES,
  BLOB_WRITE_BYTES,
  SNIFF_BYTES,
} from '../../../src/limits.ts';
import { type BlobStore, createBlobStore } from '../../../src/platform/files/store.ts';
import { diskErrorOf } from '../../../src/platform/files/upload.ts';
import { newId } from '../../../src/platform/host/ids.ts';

const NOW_MS = Date.UTC(2030, 0, 1);
const NONE: ReadonlySet<string> = new Set();
let dir = '';
let blobs: BlobStore;

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'blobs-'));
  blobs = createBlobStore(dir);
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
  const upload = into.openUpload();
  await upload.write(Buffer.from(content));
  const id = newId(NOW_MS);
  await upload.commit(id);
  return id;
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
    expect(await blobs.stat(id)).toEqual({ size_bytes: 5 });
    expect(await blobs.read(id).text()).toBe('hello');
    expect(await blobs.read(id, { start: 1, end: 3 }).text()).toBe('el');
  });

  test('is readable by its owner alone, whatever the umask', async () => {
    const umask = process.umask(0);
    try {
      const other = join(dir, 'other');
      mkdirSync(other);
      const open = createBlobStore(other);
      const path = open.path(await store('x', open));
      expect(statSync(path).mode & 0o777).toBe(0o600);
      for (const folder of [join(path, '..'), join(other, 'objects'), join(other, 'objects/tmp')]) {
        expect(statSync(folder).mode & 0o777).toBe(0o700);
      }
    } finally {
      process.umask(umask);
    }
  });

  test('counts, hashes and keeps its first bytes as they come in pieces of any size', async () => {
    const upload = blobs.openUpload();
    const chunks: Uint8Array[] = [];
    const sizes = [1, 0, 5000, 3, 4096, 4095, 100_000, 7, BLOB_WRITE_BYTES, 1, 2 * BLOB_WRITE_BYTES, 4096, 9];
    for (const [index, size] of sizes.entries()) {
      const chunk = new Uint8Array(size).map((_, at) => (at * 31 + index) % 251);
      chunks.push(chunk);
      await upload.write(chunk);
    }
    const whole = Buffer.concat(chunks);
    expect(upload.size_bytes).toBe(whole.length);
    expect(upload.head()).toEqual(new Uint8Array(whole.subarray(0, SNIFF_BYTES)));
    expect(await upload.sha256()).toBe(hashOf(whole));
    const id = newId(NOW_MS);
    await upload.commit(id);
    expect(readFileSync(blobs.path(id)).equals(whole)).toBe(true);
  });

  test('of single bytes, and of nothing, is stored too', async () => {
    const upload = blobs.openUpload();
    for (let at = 0; at < 50_000; at += 1) await upload.write(Uint8Array.of(at % 256));
    const [id, empty_id] = [newId(NOW_MS), newId(NOW_MS)];
    await upload.commit(id);
    await blobs.openUpload().commit(empty_id);
    expect(readFileSync(blobs.path(id))).toEqual(
      Buffer.from(Array.from({ length: 50_000 }, (_, at) => at % 256)),
    );
    expect(await blobs.stat(empty_id)).toEqual({ size_bytes: 0 });
  });

  test('of many megabytes, flushed on the way, is stored whole', async () => {
    const chunk = crypto.getRandomValues(new Uint8Array(65_536));
    const chunks = Array.from({ length: (3 * BLOB_SYNC_EVERY_BYTES) / chunk.length + 1 }, () => chunk);
    const upload = blobs.openUpload();
    for (const each of chunks) await upload.write(each);
    const id = newId(NOW_MS);
    await upload.commit(id);
    expect(hashOf(readFileSync(blobs.path(id)))).toBe(hashOf(...chunks));
  });

  test('many at once end up in the right files', async () => {
    const ids = await Promise.all(Array.from({ length: 64 }, (_, index) => store(`content ${index}`)));
    expect(ids.map((id) => readFileSync(blobs.path(id), 'utf8'))).toEqual(
      ids.map((_, index) => `content ${index}`),
    );
    expect(filesIn(join(dir, 'objects/tmp'))).toEqual([]);
  });

  test('that is aborted leaves nothing, before and after its first write to disk', async () => {
    for (const size of [0, 10, 3 * BLOB_WRITE_BYTES]) {
      const upload = blobs.openUpload();
      await upload.write(new Uint8Array(size));
      await upload.abort();
      await upload.abort();
      expect(filesIn(dir)).toEqual([]);
      await expect(upload.write(Uint8Array.of(1))).rejects.toThrow('takes no more bytes');
      await expect(upload.commit(newId(NOW_MS))).rejects.toThrow('already ended');
    }
  });

  test('that has committed stays, though it is aborted after that', async () => {
    const upload = blobs.openUpload();
    const id = newId(NOW_MS);
    await upload.commit(id);
    await upload.abort();
    expect(existsSync(blobs.path(id))).toBe(true);
  });

  test('that cannot get its name leaves nothing, and keeps what stood there', async () => {
    const id = newId(NOW_MS);
    mkdirSync(join(blobs.path(id), 'occupied'), { recursive: true });
    const upload = blobs.openUpload();
    await upload.write(new Uint8Array(3 * BLOB_WRITE_BYTES));
    const error = await upload.commit(id).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ syscall: 'rename' });
    await upload.abort();
    expect(filesIn(dir)).toEqual([]);
    expect(existsSync(join(blobs.path(id), 'occupied'))).toBe(true);
  });

  test.each(['', '../../etc/passwd', '01ARZ3NDEKTSV4RRFFQ69G5FA', '01arz3ndektsv4rrffq69g5fav', '..'])(
    'has no path for %p, which is no id',
    async (id) => {
      expect(() => blobs.path(id)).toThrow('upper-case ULID');
      const upload = blobs.openUpload();
      await upload.write(Uint8Array.of(1));
      await expect(upload.commit(id)).rejects.toThrow('upper-case ULID');
    },
  );
});

describe('a disk that takes no more', () => {
  test.each([
    ['ENOSPC', /disk is full/],
    ['EDQUOT', /disk is full/],
    ['EIO', /disk is failing or full/],
    ['EROFS', /disk is failing or full/],
  ])('with %s makes the service unavailable', (code, message) => {
    const error = diskErrorOf(Object.assign(new Error(code), { code }));
    expect(error).toBeInstanceOf(AppError);
    expect(error).toMatchObject({ kind: 'unavailable', message: expect.stringMatching(message) });
  });

  test('is told from other errors', () => {
    const error = Object.assign(new Error('EACCES'), { code: 'EACCES' });
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
      const { createBlobStore } = await import('${source}/blobs.ts');
      const { newId } = await import('${source}/ids.ts');
      const at = '${dir}/disk';
      const blobs = createBlobStore(at);
      for (const size of [10, 60_000, 3_000_000]) {
        const upload = blobs.openUpload();
        try {
          for (let left = size; left > 0; left -= 60_000) await upload.write(new Uint8Array(Math.min(left, 60_000)));
          await upload.commit(newId(${NOW_MS}));
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

describe('an upload whose first bytes could not be written', () => {
  /** As when all descriptors are in use: the file cannot be opened, and a moment later it could. */
  async function loseFirstBytes() {
    const upload = blobs.openUpload();
    rmSync(join(dir, 'objects/tmp'), { recursive: true });
    await upload.write(new Uint8Array(BLOB_WRITE_BYTES));
    mkdirSync(join(dir, 'objects/tmp'));
    await upload.write(new Uint8Array(1));
    return upload;
  }

  test('is not stored without them', async () => {
    const upload = await loseFirstBytes();
    await expect(upload.commit(newId(NOW_MS))).rejects.toMatchObject({ code: 'ENOENT' });
    expect(filesIn(dir)).toEqual([]);
  });

  test('has no hash, which would be that of other bytes', async () => {
    const upload = await loseFirstBytes();
    await expect(upload.sha256()).rejects.toMatchObject({ code: 'ENOENT' });
    await upload.abort();
    expect(filesIn(dir)).toEqual([]);
  });
});

describe('making all folders ahead', () => {
  test('makes each one, also while uploads make some themselves', async () => {
    const making = blobs.makeFolders();
    const ids = await Promise.all(Array.from({ length: 40 }, () => store('x')));
    await making;
    const folders = readdirSync(join(dir, 'objects'));
    expect(folders).toHaveLength(32 * 32 + 1);
    expect(ids.filter((id) => !folders.includes(id.slice(-2)))).toEqual([]);
    expect(statSync(join(dir, 'objects', 'ZZ')).mode & 0o777).toBe(0o700);
    await blobs.makeFolders();
    await createBlobStore(dir).makeFolders();
  });
});

describe('removing', () => {
  test('deletes the bytes, and bytes that are missing are fine', async () => {
    const id = await store('x');
    await blobs.remove(id);
    await blobs.remove(id);
    expect(filesIn(dir)).toEqual([]);
    expect(await blobs.stat(id)).toBeNull();
  });
});

describe('the sweep', () => {
  /** A store that a later process opens: it knows nothing of the uploads of the one before. */
  const reopen = (): BlobStore => createBlobStore(dir);

  test('removes bytes without a row and partial uploads that a crash left', async () => {
    const [kept, lost] = [await store('kept'), await store('lost')];
    await blobs.openUpload().write(new Uint8Array(BLOB_WRITE_BYTES));
    expect(filesIn(dir)).toHaveLength(3);
    expect(await reopen().sweep((ids) => new Set(ids.filter((id) => id === kept)))).toBe(2);
    expect(filesIn(dir)).toEqual([`objects/${kept.slice(-2)}/${kept}`]);
    expect(existsSync(blobs.path(lost))).toBe(false);
  });

  test('leaves an upload of this process alone, in progress or committed before its row is written', async () => {
    const upload = blobs.openUpload();
    await upload.write(new Uint8Array(3 * BLOB_WRITE_BYTES));
    const id = await store('row to come');
    expect(await blobs.sweep(() => NONE)).toBe(0);
    const late_id = newId(NOW_MS);
    await upload.commit(late_id);
    expect(await blobs.stat(late_id)).toEqual({ size_bytes: 3 * BLOB_WRITE_BYTES });
    // Once a sweep has seen the rows, their absence means that the objects were deleted.
    expect(await blobs.sweep((ids) => new Set(ids))).toBe(0);
    expect(await blobs.sweep(() => NONE)).toBe(2);
    expect(await blobs.stat(id)).toBeNull();
  });

  test('sweeping again and again while uploads run costs none of them', async () => {
    const rows = new Set<string>();
    let is_done = false;
    const uploads = Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const id = await store(new Uint8Array(index * 20_000));
        await Bun.sleep(index % 3);
        rows.add(id);
      }),
    ).finally(() => {
      is_done = true;
    });
    while (!is_done) {
      await blobs.sweep((ids) => new Set(ids.filter((id) => rows.has(id))));
      await Bun.sleep(0);
    }
    await uploads;
    expect(filesIn(dir)).toHaveLength(100);
  });

  test('leaves alone what was changed lately, when asked to', async () => {
    const [old_id, new_id] = [await store('old'), await store('new')];
    utimesSync(blobs.path(old_id), 1_000, 1_000);
    expect(await reopen().sweep(() => NONE, { older_than_ms: 3_600_000 })).toBe(1);
    expect(existsSync(blobs.path(new_id))).toBe(true);
    expect(await reopen().sweep(() => NONE)).toBe(1);
  });

  test('asks for rows in batches', async () => {
    const ids = Array.from({ length: BLOB_SWEEP_BATCH + 20 }, () => newId(NOW_MS));
    for (const id of ids) {
      mkdirSync(join(blobs.path(id), '..'), { recursive: true });
      writeFileSync(blobs.path(id), 'x');
    }
    const asked: string[][] = [];
    const removed = await blobs.sweep((batch) => {
      asked.push([...batch]);
      return NONE;
    });
    expect(removed).toBe(ids.length);
    expect(asked.map((batch) => batch.length)).toEqual([BLOB_SWEEP_BATCH, 20]);
    expect(asked.flat().sort()).toEqual(ids.sort());
  });

  test('touches no file that is not a blob of this store', async () => {
    const id = newId(NOW_MS);
    const folder = join(dir, 'objects', id.slice(-2));
    const wrong_folder = join(dir, 'objects', id.endsWith('00') ? '11' : '00');
    for (const made of [folder, wrong_folder]) mkdirSync(made, { recursive: true });
    for (const path of [join(folder, 'notes.txt'), join(wrong_folder, id), join(dir, 'objects/readme')]) {
      writeFileSync(path, 'x');
      chmodSync(path, 0o600);
    }
    expect(await reopen().sweep(() => NONE)).toBe(0);
    expect(filesIn(dir)).toHaveLength(3);
  });
});
